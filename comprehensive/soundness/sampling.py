"""Random parameters and data for a function, the awkward ones first.

In: a host function with the nests of its regions.  Out: :class:`Sample` values: arguments of the function that meet
its preconditions, and the shapes of its arrays.  Sizes of 0 and 1, sizes smaller than a tile, tiles that do not
divide, granularity 1 and blocks narrower than a tile all occur, early and by construction.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from comprehensive.loops.access import accesses, names_read
from comprehensive.loops.interpreter import (
    DTYPES,
    UndefinedBehaviour,
    c_value,
    holds_preconditions,
    scalar_values,
)
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.ast import Function, ScalarType
from comprehensive.soundness.reach import reach

SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 20, 23)
TILES = (1, 2, 3, 4, 5, 8)
STEPS = (0, 1, 2, 3)
MAX_THREADS = 4096
"""Threads of a region in all, so that an interpreter gets through."""


@dataclass(frozen=True, slots=True)
class Sample:
    """``arguments`` by name of scalar parameter; ``shapes`` by name of array, in elements."""

    arguments: Mapping[str, int | float]
    shapes: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Ranges:
    """From what sizes, tiles and time steps are drawn, and how many threads a region may have."""

    sizes: tuple[int, ...] = SIZES
    tiles: tuple[int, ...] = TILES
    steps: tuple[int, ...] = STEPS
    max_threads: int = MAX_THREADS


def samples(
    function: Function, nests: tuple[Nest, ...], seed: int, ranges: Ranges | None = None
) -> Iterator[Sample]:
    """An endless stream of samples, the same for the same seed.

    Raises ValueError when no sample that meets the preconditions is found in 20,000 draws, and NotEvaluableError when
    the size behind a pointer depends on data.
    """
    ranges = ranges or Ranges()
    rng = random.Random(seed)
    roles = {s.name: s.role for nest in nests for s in nest.scalars}
    scalars = [p for p in function.parameters if not p.is_data]
    # A cube of the largest size would keep an interpreter busy for minutes.
    largest = max((a.rank for nest in nests for a in nest.arrays), default=1)
    sizes = tuple(n for n in ranges.sizes if largest < 3 or n <= max(12, ranges.sizes[-1] // 4))
    number = 0
    failures = 0
    while True:
        arguments: dict[str, int | float] = {}
        for parameter in scalars:
            if not parameter.type.is_integer:
                arguments[parameter.name] = float(np.float32(rng.uniform(-2, 2)))
                continue
            role = roles.get(parameter.name)
            values = ranges.tiles if role is Role.PROGRAM else ranges.steps if role is None else sizes
            arguments[parameter.name] = _draw(rng, values, number, is_tile=role is Role.PROGRAM)
        number += 1
        if not _fits(nests, arguments, ranges.max_threads):
            failures += 1
            if failures > 20000:
                raise ValueError(f"found no parameters of {function.name} that meet its asserts")
            continue
        yield Sample(arguments, _shapes(function, nests, arguments))


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
    """Values of all scalars of the nest; ``step`` for one of the host without a known definition."""
    given = {s.name: step for s in nest.with_role(Role.HOST)} | dict(arguments)
    return {
        name: value if isinstance(value, int) else float(value)
        for name, value in scalar_values(nest, given).items()
    }


def _fits(nests: tuple[Nest, ...], arguments: Mapping[str, int | float], max_threads: int) -> bool:
    for nest in nests:
        try:
            values = all_scalars(nest, arguments)
        except UndefinedBehaviour:
            return False  # a division by a size of 0, say
        if not holds_preconditions(nest, values):
            return False
        threads = 1
        for loop in (*nest.grid, *nest.thread_loops):
            threads *= max(0, int(c_value(loop.extent, values)))
        if threads > max_threads:
            return False
    return True


def _shapes(
    function: Function, nests: tuple[Nest, ...], arguments: Mapping[str, int | float]
) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for nest in nests:
        values = all_scalars(nest, arguments)
        for name, elements in reach(nest, values).items():
            shapes[name] = (max(elements, *shapes.get(name, (0,))),)
    for parameter in function.parameters:
        if parameter.dims:
            extents = tuple(int(c_value(d, arguments)) for d in parameter.dims if d is not None)
            rows = shapes.get(parameter.name, (0,)) if parameter.dims[0] is None else ()
            shapes[parameter.name] = (*rows, *extents)
        elif parameter.is_data:
            shapes.setdefault(parameter.name, (0,))
    return shapes


def random_data(function: Function, nests: tuple[Nest, ...], sample: Sample, seed: int) -> dict[str, Any]:
    """Arrays for all data of the function; integers that serve as subscripts are small and not negative."""
    rng = np.random.default_rng(seed)
    subscripts = {
        name
        for nest in nests
        for access in accesses(nest)
        for subscript in access.subscripts
        for name in names_read(subscript)
    }
    data: dict[str, Any] = {}
    for parameter in function.parameters:
        if not parameter.is_data:
            continue
        shape = sample.shapes[parameter.name]
        dtype = DTYPES[parameter.type]
        if parameter.type.is_integer:
            low = 0 if parameter.name in subscripts or parameter.type is not ScalarType.INT else -50
            data[parameter.name] = rng.integers(low, 51, size=shape).astype(dtype)
        else:
            data[parameter.name] = rng.standard_normal(size=shape).astype(dtype)
    return data
