"""Reads that are the same in all turns of a loop come before it.

::

    for (j < n) f += x[j] - x[i];    -->    float x_of = 0 < n ? x[i] : 0;  for (j < n) f += x[j] - x_of;

Only elements that depend on the point: what is the same for all points is a matter of the cache.  The element is read
where the loop runs at all, and a loop in it that reads it, so that nothing is read which the program does not read; the
array is one that the points do not write.  An element that turns read under a condition (``if (j != i) ..``) is read
so, too, where the array is declared to have it for every point.  Before a loop that may have no turn the element is
read only if it has one (:func:`read_before`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.integers import ONE, ZERO, Ring
from comprehensive.loops.ir import Array
from comprehensive.loops.traverse import always_evaluated, declared_names
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Break,
    Conditional,
    Continue,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.metafork.terms import conjunction
from comprehensive.metafork.walk import assigned_scalars, elements, expressions_in, statements_in
from comprehensive.records import replace


def with_invariant_reads_first(
    body: tuple[Stmt, ...],
    coordinates: Mapping[str, Expr],
    read_only: Mapping[str, ScalarType],
    arrays: Sequence[Array],
    name: Namer,
) -> tuple[Stmt, ...]:
    """The body with what its loops read again and again in scalars.

    ``coordinates`` have limits, ``read_only`` are the types of the arrays that no point writes.
    """
    extents = {a.name: a.dims for a in arrays if a.dims is not None and a.whole_rows}

    def is_there(index: Index) -> bool:
        return _is_there(index, extents.get(index.array, ()), coordinates)

    result: list[Stmt] = []
    for statement in body:
        if isinstance(statement, For):
            invariant = _invariant(statement, coordinates.keys(), read_only, is_there)
            found = {index: name(f"{index.array}_of") for index in invariant}
            for index, loops in invariant.items():
                declared = Declare(read_only[index.array], found[index], span=statement.span)
                result.append(replace(declared, initial=read_before(index, *loops)))
            result.append(replace(statement, body=_with_scalars(statement.body, found)))
        else:
            result.append(statement)
    return tuple(result)


def _invariant(
    loop: For,
    points: Set[str],
    read_only: Mapping[str, ScalarType],
    is_there: Callable[[Index], bool],
) -> dict[Index, tuple[For, ...]]:
    """The elements that every turn of a loop reads, and that it may read, in order, each with the loops that have to
    have a turn."""
    changing = assigned_scalars(loop.body) | declared_names(loop.body) | {loop.iterator}
    found: dict[Index, tuple[For, ...]] = {}
    for index, loops in _read_in_turns(loop, is_there):
        headers = (names_read(e) for inner in loops[1:] for e in (inner.start, inner.bound))
        names = names_read(index)
        read = names.union(*headers)
        if index.array in read_only and names & points and not read & changing:
            found.setdefault(index, loops)
    return found


def _is_there(index: Index, extents: Sequence[Expr | None], coordinates: Mapping[str, Expr]) -> bool:
    """Whether an array with these extents has an element at every point."""
    ring = Ring()

    def is_inside(subscript: Expr, extent: Expr | None) -> bool:
        match subscript, extent:
            case Name(identifier=name), _ if extent is not None and name in coordinates:
                return ring.read(coordinates[name]) == ring.read(extent)
            case IntLiteral(value=value), IntLiteral(value=most):
                return 0 <= value < most
            case _:
                return False

    return len(extents) == len(index.subscripts) and all(
        is_inside(subscript, extent) for subscript, extent in zip(index.subscripts, extents, strict=True)
    )


def _read_in_turns(loop: For, is_there: Callable[[Index], bool]) -> Iterator[tuple[Index, tuple[For, ...]]]:
    """All references to arrays that every turn of a loop evaluates, or every turn of the loops in it, and those to
    elements that are there in any case."""
    leaves_early = any(isinstance(s, Break | Continue) for s in statements_in(loop.body))
    if leaves_early or (loop.relation, loop.step) != ("<", ONE):
        return
    for statement in loop.body:
        if isinstance(statement, Declare | Assign):
            for expr in expressions_in((statement,)):
                yield from ((e, (loop,)) for e in always_evaluated(expr) if isinstance(e, Index))
                yield from ((e, (loop,)) for e in elements(expr) if is_there(e))
        elif isinstance(statement, For):
            yield from ((e, (loop, *loops)) for e, loops in _read_in_turns(statement, is_there))


def _with_scalars(body: tuple[Stmt, ...], scalars: Mapping[Index, str]) -> tuple[Stmt, ...]:
    def replaced(expr: Expr) -> Expr:
        return Name(scalars[expr], expr.span) if isinstance(expr, Index) and expr in scalars else expr

    return map_expressions(body, lambda e: map_expression(e, replaced)) if scalars else body


def read_before(value: Expr, *loops: For) -> Expr:
    """Return the value if all these loops have a turn."""
    runs = [fold(Binary("<", loop.start, loop.bound)) for loop in loops]
    if any(isinstance(e, IntLiteral) and not e.value for e in runs):
        return ZERO
    conditions = dict.fromkeys(e for e in runs if not isinstance(e, IntLiteral))
    if not conditions:
        return value
    return Conditional(conjunction(tuple(conditions)), value, ZERO)
