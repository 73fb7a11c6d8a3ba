"""Random parameters and data for a function, the awkward ones first.

In: a host function with the nests of its regions.  Out: :class:`Sample` values: arguments of the function that meet
its preconditions, and the shapes of its arrays.  Sizes of 0 and 1, sizes smaller than a tile, tiles that do not
divide, granularity 1, blocks narrower than a tile and negative offsets all occur, early and by construction.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.loops.access import accesses, names_read
from comprehensive.loops.elements import stored
from comprehensive.loops.interpreter import (
    UndefinedBehaviour,
    c_value,
    holds_preconditions,
    run,
    scalar_values,
)
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.ast import ConstantArray, DoWhile, For, Function, IntLiteral, While
from comprehensive.metafork.walk import all_statements_in, subexpressions
from comprehensive.poly.moments import moments
from comprehensive.soundness.columns import NotEvaluableError
from comprehensive.soundness.index_data import (
    SHARE_OUTSIDE,
    IndexUse,
    TooFewIndicesError,
    data_range,
    drawn_indices,
    index_uses,
    scattered,
)
from comprehensive.soundness.pointed import behind_parameters, data_of, null_tests
from comprehensive.soundness.reach import TooManyIterationsError, reach

SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 20, 23)
TILES = (1, 2, 3, 4, 5, 8)
STEPS = (0, 1, 2, 3, 5, 8)
TURNS = 4
"""Values that stand for a scalar that only the host knows, from 0."""
MOST_MOMENTS = 16
"""The moments of a region that are looked at for those that stand for all."""
COUNTS = 9
"""Integers that host code reads are drawn below it: they may be the sizes of loops."""
ZEROS = (0.0, 0.25, 0.5)
"""The share of zeros in data, in turn: a condition on data is false for some elements, also at the ends of an array."""
NEGATIVES = (-1, -2, -3, -7)
MAX_THREADS = 4096
"""Threads of a region in all, so that an interpreter gets through."""
MAX_SIMPLE_THREADS = 1 << 18
"""The same for a region of fixed size without loops in its points, which runs once: 0.6 to 1 microsecond each.

With 20 points, a leaf and three tiles, 512 x 512 sums of matrices take 15 s to check, 64 x 64 take 4 s.
"""
MAX_BYTES = 1 << 26
"""The most bytes of one array.

A sample at which the program asks for more is passed over: an unsigned subscript that wraps around asks for 32 GiB.
"""
OFTEN = 4
"""The number of times that values for which there are kernels stand among those from which a size is drawn."""
MAX_DRAWS = 20000
"""Draws in a row without a sample; after so many there is none."""


class NotSampledError(Exception):
    """An error for a function of which there are no samples; the message says why."""


class Sample(Struct, frozen=True):
    """A sample: ``arguments`` by name of scalar parameter; ``shapes`` by name of array, in elements.

    Among the arguments are the scalars that say whether data is there.
    """

    arguments: Mapping[str, int | float]
    shapes: Mapping[str, tuple[int, ...]]


class Ranges(Struct, frozen=True):
    """The values from which sizes, tiles and time steps are drawn, and how many threads a region may have."""

    sizes: tuple[int, ...] = SIZES
    tiles: tuple[int, ...] = TILES
    steps: tuple[int, ...] = STEPS
    max_threads: int = MAX_THREADS


def samples(
    function: Function,
    nests: tuple[Nest, ...],
    seed: int,
    ranges: Ranges | None = None,
    any_sign: frozenset[str] = frozenset(),
    guess: int | None = None,
    *,
    duplicates: bool = False,
    also: Mapping[str, tuple[int, ...]] | None = None,
) -> Iterator[Sample]:
    """An endless stream of samples, the same for the same seed.

    ``any_sign`` names scalars that may be negative; such a value is kept only where every region is defined for it.
    ``guess`` is a first number of elements for a buffer whose size depends on data.  Arrays of places of plain stores
    have room for indices that all differ or, with ``duplicates``, for two that do not.  ``also`` are further values of
    sizes, by name: kernels may be for these alone.

    Raises NotSampledError, with the reasons, when no sample is found in MAX_DRAWS draws, and when the size of what is
    behind a pointer depends on data and there is no guess.
    """
    ranges = ranges or Ranges()
    rng = random.Random(seed)
    roles = {s.name: s.role for nest in nests for s in nest.scalars}
    scalars = [p for p in function.parameters if not p.is_data]
    # A cube of the largest size would keep an interpreter busy for minutes.
    largest = max((a.rank for nest in nests for a in nest.arrays), default=1)
    sizes = tuple(n for n in ranges.sizes if largest < 3 or n <= max(12, ranges.sizes[-1] // 4))
    uses = index_uses(nests)
    number = 0
    failures: Counter[str] = Counter()
    while True:
        arguments: dict[str, int | float] = {}
        for parameter in scalars:
            if not parameter.type.is_integer:
                arguments[parameter.name] = float(np.float32(rng.uniform(-2, 2)))
                continue
            role = roles.get(parameter.name)
            values = ranges.tiles if role is Role.PROGRAM else ranges.steps if role is None else sizes
            values = (*values, *(() if also is None else also.get(parameter.name, ()) * OFTEN))
            if parameter.name in any_sign:
                arguments[parameter.name] = _draw_any_sign(rng, values, number)
            else:
                arguments[parameter.name] = _draw(rng, values, number, is_tile=role is Role.PROGRAM)
        arguments |= {name: rng.randrange(2) for name in null_tests(function)}
        number += 1
        sample = _sample(function, nests, arguments, ranges.max_threads, guess)
        if isinstance(sample, Sample):
            obstacle = _obstacle(function, nests, sample, uses, any_sign, duplicates)
            if obstacle is None:
                yield sample
                continue
            sample = obstacle
        failures[sample] += 1
        if failures.total() > MAX_DRAWS:
            reasons = ", ".join(reason for reason, _ in failures.most_common())
            raise NotSampledError(f"found no parameters of {function.name}: {reasons}")


def _sample(
    function: Function,
    nests: tuple[Nest, ...],
    arguments: Mapping[str, int | float],
    max_threads: int,
    guess: int | None,
) -> Sample | str:
    """Return a sample, or why there is none at these arguments.

    NotSampledError where the size of a buffer depends on data.
    """
    obstacle = _misfit(function, nests, arguments, max_threads)
    if obstacle is not None:
        return obstacle
    try:
        return Sample(arguments, _shapes(function, nests, arguments, guess))
    except TooManyIterationsError:
        return "loops run too often to be followed"
    except NotEvaluableError as error:
        raise NotSampledError(f"the size of a buffer depends on data: {error}") from None


def _obstacle(
    function: Function,
    nests: tuple[Nest, ...],
    sample: Sample,
    uses: tuple[IndexUse, ...],
    any_sign: frozenset[str],
    duplicates: bool,
) -> str | None:
    """Return why no data can be drawn for a sample, or no region run on it; None where nothing is in the way."""
    for data in data_of(function):
        shape = sample.shapes[data.name]
        if min(shape) < 0:
            return f"an extent of '{data.name}' is negative"
        if math.prod(shape) * np.dtype(data.type.numpy_name).itemsize > MAX_BYTES:
            return f"'{data.name}' has more than {MAX_BYTES >> 20} MiB"
    if not _has_room(uses, sample, duplicates):
        return "places of stores are too few for the indices"
    if not _is_defined(function, nests, sample, any_sign):
        return "a region is not defined for negative values"
    return None


def _has_room(uses: tuple[IndexUse, ...], sample: Sample, duplicates: bool) -> bool:
    """Return whether indices that must differ can, or, with ``duplicates``, whether some can be equal."""
    if duplicates:
        sizes = [math.prod(sample.shapes[name]) for name in scattered(uses) if name in sample.shapes]
        return not sizes or max(sizes) >= 2
    try:
        drawn_indices(uses, sample.shapes, np.random.default_rng(0))
    except TooFewIndicesError:
        return False
    return True


def _is_defined(
    function: Function, nests: tuple[Nest, ...], sample: Sample, any_sign: frozenset[str]
) -> bool:
    """Return whether no region leaves its arrays, or the like, because a scalar is negative."""
    if all(sample.arguments[name] >= 0 for name in any_sign):
        return True
    data = random_data(function, nests, sample, 0)
    try:
        for nest in nests:
            run(nest, all_scalars(nest, sample.arguments), {a.name: data[a.name] for a in nest.arrays})
    except UndefinedBehaviour:
        return False
    return True


def _draw_any_sign(rng: random.Random, values: tuple[int, ...], number: int) -> int:
    """Draw as for a size, but with negative values among the first draws and about every third later."""
    if number < 8:
        return NEGATIVES[number // 4] if number % 4 == 1 else _draw(rng, values, number, is_tile=False)
    return rng.choice(NEGATIVES if rng.random() < 1 / 3 else values)


def _draw(rng: random.Random, values: tuple[int, ...], number: int, *, is_tile: bool) -> int:
    """The first draws are corners: smallest, sizes below any tile, tiles of 1, tiles above any size."""
    if is_tile and number % 8 in (0, 3):
        return 1
    if is_tile and number % 8 == 2:
        return values[-1]
    if not is_tile and number < 8:
        return values[min(number // 2, len(values) - 1)]
    return rng.choice(values)


def all_scalars(nest: Nest, arguments: Mapping[str, int | float], step: int = 0) -> dict[str, int | float]:
    """Values of all scalars of the nest, in one of the turns of host code, ``step``.

    A scalar of the host of which neither a definition nor a loop says its values is ``step`` itself.
    """
    given = (
        {s.name: step for s in nest.with_role(Role.HOST)} | _of_host(nest, arguments, step) | dict(arguments)
    )
    return {
        name: value if isinstance(value, int) else float(value)
        for name, value in scalar_values(nest, given).items()
    }


def comes_to(nest: Nest, arguments: Mapping[str, int | float]) -> bool:
    """Whether host code comes to a region in a call with these arguments, as far as that is known."""
    integers = {name: value for name, value in arguments.items() if isinstance(value, int)}
    return not nest.state.loops or any(True for _ in moments(nest, integers))


def _of_host(nest: Nest, arguments: Mapping[str, int | float], step: int) -> dict[str, int]:
    """The scalars of loops of host code around the region in one of the turns in which it runs; empty without any."""
    if not nest.state.loops:
        return {}
    integers = {name: value for name, value in arguments.items() if isinstance(value, int)}
    turns = [m.point for m in islice(moments(nest, integers), MOST_MOMENTS) if not m.guessed]
    if not turns:
        return {}
    return {s.name: turns[step % len(turns)][s.name] for s in nest.with_role(Role.HOST) if s.type.is_integer}


def _misfit(
    function: Function, nests: tuple[Nest, ...], arguments: Mapping[str, int | float], max_threads: int
) -> str | None:
    """Return why regions cannot be run with the arguments; None where they can."""
    for nest in nests:
        try:
            values = all_scalars(nest, arguments)
        except UndefinedBehaviour:
            return "host code is not defined"  # a division by a size of 0, say
        if not holds_preconditions(nest, values):
            return "asserts do not hold"
        threads = 1
        for loop in (*nest.grid, *nest.thread_loops):
            threads *= max(0, int(c_value(loop.extent, values)))
        allowed = max_threads
        if _is_of_fixed_size(nest):
            allowed = max(allowed, MAX_SIMPLE_THREADS) if _is_simple(function, nest) else allowed
            if threads > allowed:
                return f"a region has more than {allowed} threads, and no parameter makes it smaller: {_smaller(nest)}"
        if threads > allowed:
            return f"a region has more than {allowed} threads"
    return None


def _is_of_fixed_size(nest: Nest) -> bool:
    """Whether the extents of a region are constants, up to how it is cut into blocks."""
    chosen = {s.name for s in nest.with_role(Role.PROGRAM)}
    for scalar in nest.with_role(Role.HOST):  # each after those that it is made of
        if scalar.value is not None and names_read(scalar.value) <= chosen:
            chosen.add(scalar.name)
    return all(names_read(loop.extent) <= chosen for loop in (*nest.grid, *nest.thread_loops))


def _smaller(nest: Nest) -> str:
    """Return what to do for smaller extents: a number that a macro stands for has the name of the macro as its text."""
    extents = [loop.extent for loop in (*nest.grid, *nest.thread_loops)]
    extents += [dim for array in nest.arrays for dim in array.dims or () if dim is not None]
    numbers = [e.span.text for extent in extents for e in subexpressions(extent) if isinstance(e, IntLiteral)]
    names = [text for text in dict.fromkeys(numbers) if text.isidentifier()] or ["N"]
    given = " ".join(f"-D {name}=20" for name in names)
    return f"check it with {given}, where '#ifndef' and '#endif' are around each '#define'"


def _is_simple(function: Function, nest: Nest) -> bool:
    """Whether the regions of a function run once in a call, and no point of this one has a loop."""
    loops = (For, While, DoWhile)
    once = all(region.is_certain and not region.loops for region in function.regions)
    return once and not any(isinstance(s, loops) for s in all_statements_in(nest.body))


def _shapes(
    function: Function, nests: tuple[Nest, ...], arguments: Mapping[str, int | float], guess: int | None
) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for nest in nests:
        # A scalar that only the host knows may serve as a subscript: `s[t]` in a loop of the host.
        unknown = any(scalar.value is None for scalar in nest.with_role(Role.HOST))
        for turn in range(TURNS if unknown else 1):
            values = all_scalars(nest, arguments, turn)
            try:
                needed = reach(nest, values)
            except NotEvaluableError:
                if guess is None:
                    raise
                needed = {a.name: guess for a in nest.arrays if a.dims is None or a.dims[0] is None}
            for name, elements in needed.items():
                shapes[name] = (max(elements, *shapes.get(name, (0,))),)
    rows = {name: shape[0] for name, shape in shapes.items()}
    try:
        rows = behind_parameters(function, rows, arguments)
    except NotEvaluableError:
        if guess is None:
            raise
    for data in data_of(function):
        extents = tuple(int(c_value(d, arguments)) for d in data.dims if d is not None)
        is_open = not data.dims or data.dims[0] is None
        shapes[data.name] = (*((rows.get(data.name, 0),) if is_open else ()), *extents)
    return shapes


def subscript_names(nests: tuple[Nest, ...]) -> frozenset[str]:
    """Return the names from which subscripts are computed: scalars, iterators, and arrays."""
    return frozenset(
        name
        for nest in nests
        for access in accesses(nest)
        for subscript in access.subscripts
        for name in names_read(subscript)
    )


def _read_by_host(function: Function) -> frozenset[str]:
    """The names in host code around the regions."""
    return frozenset(
        word for part in function.parts if isinstance(part, Span) for word in re.findall(r"\w+", part.text)
    )


def random_data(
    function: Function,
    nests: tuple[Nest, ...],
    sample: Sample,
    seed: int,
    *,
    duplicates: bool = False,
) -> dict[str, Any]:
    """Arrays for all data of the function; integers that serve as subscripts or sizes are small and not negative.

    No index occurs twice in an array that says where a plain store goes, unless with ``duplicates``.
    Raises TooFewIndicesError where there are too few places for that.
    """
    rng = np.random.default_rng(seed)
    subscripts, counts, uses = subscript_names(nests), _read_by_host(function), index_uses(nests)
    outside = seed % SHARE_OUTSIDE == SHARE_OUTSIDE - 1
    indices = drawn_indices(uses, sample.shapes, rng, duplicates=duplicates, outside=outside)
    data: dict[str, Any] = {}
    for parameter in data_of(function):
        shape = sample.shapes[parameter.name]
        dtype = parameter.type.numpy_name
        if isinstance(parameter, ConstantArray):
            elements = [c_value(value, {}) for value in parameter.values]
            data[parameter.name] = np.array(elements, dtype=dtype).reshape(shape)
            continue
        if parameter.name in indices:
            data[parameter.name] = indices[parameter.name].astype(dtype)
            continue
        if parameter.type.is_integer and parameter.name in counts:
            data[parameter.name] = rng.integers(0, COUNTS, size=shape).astype(dtype)
        elif parameter.type.is_integer:
            low, high = data_range(parameter.type)
            low = 0 if parameter.name in subscripts else low
            data[parameter.name] = rng.integers(low, high + 1, size=shape).astype(dtype)
        else:
            data[parameter.name] = stored(rng.standard_normal(size=shape), parameter.type)
        data[parameter.name][rng.random(size=shape) < ZEROS[seed % len(ZEROS)]] = 0
    return data
