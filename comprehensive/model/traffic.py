"""The least memory traffic of a launch by array, whatever its tiles are.

In: a region over tiles, with the names of its limits.  Out: bytes for each combination of values of coordinates (and of
the serial loop) that the subscripts of an array read::

    c[y0][y1] += a[y0][k] * b[k][y1]      c: 8 bytes for each y0, y1;  a: 4 for each y0, k;  b: 4 for each k, y1

Elements count once, however many points read them; a subscript that a point computes is taken to differ at every point.
Of an array that is read at several constant subscripts, as of coefficients ``c[0][y]`` and ``c[1][y]``, each part
counts.
Where there are several cases, as for the turns of two grids, the first one stands for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from math import prod

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Stmt,
)
from comprehensive.metafork.walk import expressions_in, statements_in, subexpressions
from comprehensive.plan.plan import Traffic
from comprehensive.schedule.collapse_coordinates import has_rows
from comprehensive.schedule.limiting_loops import limiting_loops
from comprehensive.schedule.operands import loops_beside


def traffic(nest: Nest, tile: RegisterTile) -> tuple[Traffic, ...]:
    """Return an entry for each combination of coordinates and loops along which a launch accesses data.

    Views of the same data that lie along the same ones are taken to touch the same elements, as neighbours of a point
    do: they count once. One of elements that nothing writes (`strategies/apart_reads.py`) counts for itself.
    """
    limiting, beside = limiting_loops(nest, tile), loops_beside(nest, tile)
    first, last = len(tile.coordinates), len(tile.coordinates) + len(limiting)
    of_points = {c.name: number for number, c in enumerate(tile.coordinates)}
    of_points |= {b.name: last + number for number, b in enumerate(tile.batch)}
    of_limits = tile.limits
    statements = list(statements_in(tile.bodies[0]))
    computed = {s.name for s in statements if isinstance(s, Declare)}
    turns = {
        s.iterator: s.bound.value
        for s in statements
        if isinstance(s, For) and isinstance(s.bound, IntLiteral)
    }
    found: dict[tuple[str, bool, tuple[int, ...]], Traffic] = {}
    for body, loops in _parts(tile.bodies[0], limiting, beside):
        places = of_points | {iterator: first + number for iterator, number in loops.items()}
        varying = {*places, *computed}
        for array in nest.arrays:
            read = [e for e in _read(body) if e.array == array.name]
            assigned = [e for e in _assigned(body) if e.array == array.name]
            if not (references := [*read, *assigned]):
                continue
            moves = [_moves(e, of_limits, {*loops, *turns}) for r in references for e in r.subscripts]
            names = frozenset[str]().union(*moves)
            limits = {place for name, place in places.items() if names & computed or name in names}
            turns_apart = prod(turns[name] for name in names if name in turns and name not in loops)
            parts = len({_part(r, varying, of_limits) for r in read}) + len(
                {_part(r, varying, of_limits) for r in assigned}
            )
            key = (array.pointer, array.const, tuple(sorted(limits)))
            before, bytes_ = found.get(key), array.type.size_bytes * parts * turns_apart
            if before is None or before.bytes < bytes_:
                found[key] = Traffic(array.name, bytes_, tuple(sorted(limits)))
    return tuple(found.values())


def _parts(
    body: tuple[Stmt, ...], limiting: Sequence[For], beside: Sequence[For]
) -> list[tuple[tuple[Stmt, ...], Mapping[str, int]]]:
    """Return the statements with loops of one bound together, each with the numbers of the bounds of its iterators."""
    if len(limiting) == 1 or not beside:
        numbers = {loop.iterator: number for number, loop in enumerate(limiting)}
        return [(body, numbers | {loop.iterator: 0 for loop in beside})]
    parts: list[tuple[tuple[Stmt, ...], Mapping[str, int]]] = [
        (tuple(s for s in body if s not in beside), {})
    ]
    for number, one in enumerate(limiting):
        own = tuple(loop for loop in beside if loop.bound == one.bound)
        parts.append((own, {loop.iterator: number for loop in own}))
    return parts


def _part(reference: Index, varying: Set[str], limits: Mapping[str, Expr]) -> tuple[str, ...]:
    """Return in which part of an array a reference lies: its subscripts without what varies.

    A few steps of what varies lead to a neighbour in the same part, as in ``a[i*n + n + j]``, and so do a few rows.
    """
    ring = Ring()
    found: list[str] = []
    for subscript in reference.subscripts:
        rest = value = ring.read(subscript)
        steps: list[Polynomial] = []
        for name in sorted(ring.names_in(value) & varying):
            steps.append(value.coefficient(name, 1))
            rest = rest.coefficient(name, 0)
        terms = [Polynomial.from_terms((term,)) for term in rest.terms()]
        terms = [t for t in terms if not ring.names_in(t) & varying]  # what is read from data or chosen
        rows = [limits[name] for name in ring.names_in(value) & limits.keys()]
        apart = [
            t
            for t in terms
            if not (any(_is_few(t, step) for step in steps) or any(_is_few_rows(t, limit) for limit in rows))
        ]
        found.append(" + ".join(map(str, apart)))
    return tuple(found)


def _is_few(distance: Polynomial, step: Polynomial) -> bool:
    """Whether a distance is a constant number of steps."""
    number = None if step == Polynomial.constant(0) else distance.divide_exactly(step)
    return number is not None and number.is_constant


def _moves(subscript: Expr, limits: Mapping[str, Expr], loops: Set[str]) -> frozenset[str]:
    """The names in a subscript without loops that only move what a point reads: ``y`` of ``y + k``, not ``k``.

    ``limits`` are those of coordinates.  A subscript that stops at the border, or begins anew there, moves as what it
    is elsewhere; one that does so at the end of each row, of a coordinate that numbers whole rows, has few elements.
    """
    match subscript:
        case Conditional(then=then, otherwise=otherwise):
            return _moves(then, limits, loops) | _moves(otherwise, limits, loops)
        case Binary(operator="%", left=inside, right=length):
            moving, row = _moves(inside, limits, loops), Ring().read(length)
            return frozenset(name for name in moving if name not in limits or not has_rows(limits[name], row))
        case _:
            pass
    ring = Ring()
    value = ring.read(subscript)
    names = ring.names_in(value)
    steps = {n: value.coefficient(n, 1) for n in names if value.degree(n) == 1}
    points = [limits[n] for n, step in steps.items() if step.is_constant and n in limits]
    moving = {
        n
        for n, step in steps.items()
        if step.is_constant or any(_is_few_rows(step, limit) for limit in points)
    }
    return names - (moving & loops) if points else names


def _is_few_rows(distance: Polynomial, limit: Expr) -> bool:
    """Whether a distance is a constant number of rows, of a coordinate with that limit that numbers whole rows."""
    terms = distance.terms()
    return len(terms) == 1 and has_rows(limit, distance * (1 / terms[0].coefficient))


def _read(body: tuple[Stmt, ...]) -> Iterator[Index]:
    """References whose elements are read: in values, conditions and subscripts, and what ``+=`` adds to."""
    targets = {id(e) for e in _assigned(body)}
    for expression in expressions_in(body):
        yield from (e for e in subexpressions(expression) if isinstance(e, Index) and id(e) not in targets)
    for statement in statements_in(body):
        if (
            isinstance(statement, Assign)
            and isinstance(statement.target, Index)
            and statement.operator != "="
        ):
            yield statement.target


def _assigned(body: tuple[Stmt, ...]) -> Iterator[Index]:
    for statement in statements_in(body):
        if isinstance(statement, Assign) and isinstance(statement.target, Index):
            yield statement.target
