"""The number of elements behind a pointer that a nest touches at concrete parameters.

In: a nest and the values of its scalars.  Out: for each pointer the number of elements that its buffer needs, so
that tests can allocate it exactly and catch what reads past its end::

    reach(reverse, {"n": 10, "B": 4, "s": 2, ...}) == {"in": 10, "out": 10}

Every loop is expanded into numpy columns; conditions on data count as true.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np

from comprehensive.loops.access import Access, SerialLoop, accesses
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.if_conversion import if_converted
from comprehensive.loops.normalize.single_assignment import single_assigned
from comprehensive.loops.traverse import all_names, map_bands
from comprehensive.loops.types import type_of, unambiguous
from comprehensive.metafork.ast import Expr, ScalarType
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.scalar_types import common_type
from comprehensive.metafork.walk import all_statements_in, declared
from comprehensive.soundness.columns import Columns, NotEvaluableError, Types, converted, evaluate
from comprehensive.soundness.conversions import with_conversions

MAX_ITERATIONS = 1 << 22
"""The most iterations of all loops around one access together; a wrapped bound of an unsigned loop is beyond
it."""


class TooManyIterationsError(Exception):
    """The loops around an access run too often to be expanded."""


def reach(nest: Nest, arguments: Mapping[str, int | float], *, corners: bool = False) -> dict[str, int]:
    """Elements needed behind each pointer, and rows of an array with an open first extent; 0 where none is touched.

    ``arguments`` give every scalar of the nest.  With ``corners`` loops do their first and last iterations only and
    all conditions count as true: at any size no less than what is needed, where subscripts grow or fall along loops.
    Raises NotEvaluableError where a subscript depends on data, and TooManyIterationsError.
    """
    needed = {a.name: 0 for a in nest.arrays if a.dims is None or a.dims[0] is None}
    if not needed:
        return needed
    nest = _with_choices(nest)
    types = types_of(nest)
    for access in accesses(with_conversions(nest, types)):
        if access.array in needed:
            with np.errstate(over="ignore"):  # of a product of two unsigned numbers the low bits count
                columns = _iterations(nest, access, arguments, types, corners)
                index: Any = np.asarray(evaluate(access.subscripts[0], columns, types))
            if len(_column(columns)):
                needed[access.array] = max(needed[access.array], int(index.max()) + 1)
    return needed


def _with_choices(nest: Nest) -> Nest:
    """The nest with integers that it changes step by step (``if (a < 0) a = -a;``) as choices where they are read."""
    name = Namer(all_names(nest))
    # A name with two types is none of these integers.
    types = {**dict.fromkeys(all_names(nest), ScalarType.DOUBLE), **types_of(nest)}
    types |= {a.name: a.type for a in nest.arrays}
    nest = map_bands(nest, lambda _, body: if_converted(body, types, name))
    converted = {**types, **types_of(nest)}
    return map_bands(nest, lambda _, body: single_assigned(body, converted, name))


def types_of(nest: Nest) -> Types:
    """Return the types of scalars and iterators; an iterator that has two types in the nest is left out."""
    pairs = chain(
        ((s.name, s.type) for s in nest.scalars),
        ((loop.iterator, ScalarType.INT) for loop in nest.grid),
        (pair for statement in all_statements_in(nest.body) for pair in declared(statement).items()),
    )
    return unambiguous(pairs)


def _is_column(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _column(columns: Columns) -> Any:
    return next(v for v in columns.values() if _is_column(v))


def _iterations(
    nest: Nest, access: Access, arguments: Mapping[str, int | float], types: Types, corners: bool
) -> Columns:
    columns: Columns = dict(arguments)
    band = nest.bands[access.context.band]
    columns["@"] = np.zeros(1, dtype=np.int64)
    known = {name: types[name] for name in arguments}
    for loop in (*nest.grid, *band.loops):
        columns = _expand(columns, loop.iterator, int(c_value(loop.extent, arguments, known)), corners)
    for serial in access.context.loops:
        columns = _expand_serial(columns, serial, types, corners)
    for guard in () if corners else access.context.guards:
        try:
            holds = np.asarray(evaluate(guard, columns, types)) != 0
        except NotEvaluableError:
            continue
        columns = _select(columns, np.broadcast_to(holds, _column(columns).shape))
    return columns


def _expand(columns: Columns, iterator: str, extent: int, corners: bool) -> Columns:
    last = max(0, extent) - 1
    turns = 1 + min(last, 1) if corners else last + 1
    count = len(_column(columns))
    _limit(count * turns)
    expanded: Columns = {k: np.repeat(v, turns) if _is_column(v) else v for k, v in columns.items()}
    expanded[iterator] = np.tile(np.arange(turns, dtype=np.int64) * (last if corners else 1), count)
    return expanded


def _expand_serial(columns: Columns, loop: SerialLoop, types: Types, corners: bool) -> Columns:
    shape = _column(columns).shape
    if loop.iterator not in types:
        raise NotEvaluableError(loop.iterator)
    iterator = types[loop.iterator]

    def column(expr: Expr) -> Any:
        return np.broadcast_to(np.asarray(evaluate(expr, columns, types), dtype=np.int64), shape)

    start, bound, step = (
        _signed(converted(column(loop.start), iterator)),
        column(loop.bound),
        column(loop.step),
    )
    if (stepped := type_of(loop.step, types)).wraps:
        signed = ScalarType.LONG if stepped.is_wide else ScalarType.INT
        step = converted(step, signed)  # `w -= s` adds a number that wraps around to a decrement
    common = common_type(iterator, type_of(loop.bound, types))
    first, bound = _signed(converted(start, common)), _signed(converted(bound, common))
    match loop.relation:
        case "<":
            trips = -((first - bound) // step)
        case "<=":
            trips = -((first - bound - 1) // step)
        case ">":
            trips = -((first - bound) // step)
        case ">=":
            trips = -((first - bound + 1) // step)
        case _:
            trips = (bound - first) // step
    trips = np.clip(trips, 0, MAX_ITERATIONS + 1)
    apart: Any = np.int64(1)  # between iterations that are looked at
    if corners:
        apart, trips = np.maximum(trips - 1, 1), np.minimum(trips, 2)
        apart = np.repeat(apart, trips)
    _limit(int(trips.sum()))
    expanded: Columns = {k: np.repeat(v, trips) if _is_column(v) else v for k, v in columns.items()}
    ends = np.cumsum(trips)
    number = np.arange(int(trips.sum()), dtype=np.int64) - np.repeat(ends - trips, trips)
    expanded[loop.iterator] = np.repeat(start, trips) + number * apart * np.repeat(step, trips)
    return expanded


def _signed(column: Any) -> Any:
    """Return the column as ``int64``, clipped where that does not hold a number: no loop runs that far."""
    return np.minimum(column, 2**63 - 1).astype(np.int64)


def _limit(iterations: int) -> None:
    if iterations > MAX_ITERATIONS:
        raise TooManyIterationsError


def _select(columns: Columns, keep: Any) -> Columns:
    return {k: v[keep] if _is_column(v) else v for k, v in columns.items()}
