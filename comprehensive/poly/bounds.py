"""Subscripts outside their array, by concrete runs over small parameters.

In: a nest.  Out: at most one :class:`OutOfBounds` for each reference, every one of them real: sizes of data from 0,
program parameters from 1, preconditions and guards evaluated exactly.  An array has an element: C wants extents to be
greater than 0 (C11 6.7.6.2, paragraph 5), so that ``float a[n]`` says that ``n`` is 1 at least.  References that depend
on arguments which are not sizes, or on host variables whose values are not known, are not judged: their callers may
know better.
Example: ``float a[n]; ... a[i + 1]`` for ``i < n`` is found at n = 1.
"""

from __future__ import annotations

from comprehensive.loops.access import names_read
from comprehensive.loops.definitions import names_behind
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.ast import Expr
from comprehensive.poly.memo import remembered_in_text
from comprehensive.poly.model import OutOfBounds
from comprehensive.poly.moments import moments
from comprehensive.poly.search import (
    NotEvaluableError,
    Point,
    Runner,
    TooLongError,
    arguments,
    ends,
    evaluate,
    runners,
)

_MOST_ENTRIES = 12_000
_ENTRIES_A_RUN = 500


@remembered_in_text(64)
def out_of_bounds(nest: Nest) -> tuple[OutOfBounds, ...]:
    """References with a subscript that leaves its declared extents, in walk order."""
    declared = [r for r in runners(nest) if nest.array(r.access.array).dims is not None]
    judged = {r.access.ordinal: read for r in declared if (read := _judged_by(nest, r)) is not None}
    waiting = [r for r in declared if r.access.ordinal in judged]
    found: dict[int, OutOfBounds] = {}
    left = _MOST_ENTRIES
    names = {s.name for s in nest.scalars}
    shaping = {s.name for s in nest.with_role(Role.PROGRAM)}
    for given in arguments(nest, generous=True):
        moment = next(moments(nest, given), None)
        if moment is None:
            continue
        point = {name: value for name, value in moment.point.items() if name in names}
        for runner in list(waiting):
            if judged[runner.access.ordinal] & moment.guessed:
                continue
            try:
                is_constant = judged[runner.access.ordinal] <= shaping
                violation, cost = _violation(nest, runner, point, is_constant)
            except (TooLongError, NotEvaluableError, ZeroDivisionError, ValueError, OverflowError):
                left -= _ENTRIES_A_RUN
                continue
            left -= cost + 20
            if violation is not None:
                found[runner.access.ordinal] = violation
                waiting.remove(runner)
        if left <= 0 or not waiting:
            break
    return tuple(found[ordinal] for ordinal in sorted(found))


def _judged_by(nest: Nest, runner: Runner) -> frozenset[str] | None:
    """The scalars that determine the run of a reference, if all are sizes, program parameters and what follows."""
    context = runner.access.context
    band = nest.bands[context.band].loops if context.band >= 0 else ()
    parts: list[Expr] = [*runner.access.subscripts, *context.guards]
    parts += [e for loop in context.loops for e in (loop.start, loop.bound, loop.step)]
    parts += [loop.extent for loop in (*nest.grid, *band)]
    scalars = {s.name: s for s in nest.scalars}
    read = names_behind((n for e in parts for n in names_read(e)), nest.scalars) & scalars.keys()
    is_free = any(
        scalars[name].role is Role.SCALAR or (scalars[name].role is Role.HOST and scalars[name].value is None)
        for name in read
    )
    return None if is_free else frozenset(read)


def _violation(nest: Nest, runner: Runner, point: Point, is_constant: bool) -> tuple[OutOfBounds | None, int]:
    """A subscript that leaves its array at a point, and how many were looked at.

    What is long although it ``is_constant`` is long wherever it is tried: the ends of its loops have to do.
    """
    dims = nest.array(runner.access.array).dims or ()
    extents = [None if d is None else evaluate(d, point) for d in dims]
    if any(extent is not None and extent < 1 for extent in extents):
        return None, 0  # C knows no such array: there is no such call
    try:
        touched = runner.run(point, _ENTRIES_A_RUN)
    except TooLongError:
        if not is_constant:
            raise
        touched = runner.run(point, _ENTRIES_A_RUN, ends)
    if all(_all_inside([s[number] for _, s in touched], extent) for number, extent in enumerate(extents)):
        return None, len(touched)
    for iteration, subscripts in touched:
        for number, (value, extent) in enumerate(zip(subscripts, extents, strict=True)):
            if value < 0 or (extent is not None and value >= extent):
                where = dict(sorted(point.items())) | dict(zip(runner.iterators, iteration, strict=True))
                access = runner.access
                shown = 0 if extent is None else extent
                return OutOfBounds(access.array, number, value, shown, where, access.span), len(touched)
    return None, len(touched)


def _all_inside(values: list[int], extent: int | None) -> bool:
    """Whether all values of one subscript are inside: most runs are found right by two passes over the numbers."""
    return not values or (min(values) >= 0 and (extent is None or max(values) < extent))
