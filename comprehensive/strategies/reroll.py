"""Copies of a statement become a loop: a nest in, nests with one run of copies rolled up out.

The copies are equal as trees but for subscripts, which grow by the same distance from copy to copy::

    c[j] = a[j];  c[j + d] = a[j + d];      -->      for (int h = 0; h < 2; h++)  c[j + h*d] = a[j + h*d];

The loop runs the copies in their order, so the meaning is the same whether or not they are independent.
Source: comprehensive, figures 1 and 2, where the granularity of a body without any loop is reduced.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from comprehensive.loops.integers import ONE, ZERO, Ring
from comprehensive.loops.ir import Nest
from comprehensive.loops.traverse import fresh_name, map_bands
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import bodies, subexpressions
from comprehensive.records import names_of, replace


class Rerolled(Struct, frozen=True):
    """A nest with one more serial loop, over ``iterator``, in band ``band``."""

    nest: Nest
    band: int
    iterator: str
    copies: int


class _NotCopiesError(Exception):
    pass


def rerollings(nest: Nest) -> Iterator[Rerolled]:
    """Every way to roll up one run of assignments to data, in program order, the largest number of copies first."""
    iterator = fresh_name(nest, "h")
    for number, band in enumerate(nest.bands):
        for body, copies in _rolled_bodies(band.body, iterator):
            rolled = map_bands(nest, lambda each, old, n=number, new=body: new if each == n else old)
            yield Rerolled(rolled, number, iterator, copies)


def _rolled_bodies(body: tuple[Stmt, ...], iterator: str) -> Iterator[tuple[tuple[Stmt, ...], int]]:
    for first, last in _runs(body):
        run = body[first:last]
        for copies in range(len(run), 1, -1):
            if len(run) % copies:
                continue
            rolled = _roll(run, copies, iterator)
            if rolled is not None:
                yield (*body[:first], rolled, *body[last:]), copies
    for position, statement in enumerate(body):
        for inner in bodies(statement):
            for rolled, copies in _rolled_bodies(inner, iterator):
                changed = _with_inner(statement, inner, rolled)
                yield (*body[:position], changed, *body[position + 1 :]), copies


def _with_inner(statement: Stmt, old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> Stmt:
    def change(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return new if body is old else body

    return with_bodies(statement, change)


def _runs(body: tuple[Stmt, ...]) -> Iterator[tuple[int, int]]:
    """Maximal runs of at least two assignments to elements of arrays."""
    first = 0
    for position in range(len(body) + 1):
        if position < len(body) and _is_element_assignment(body[position]):
            continue
        if position - first >= 2:
            yield first, position
        first = position + 1


def _is_element_assignment(statement: Stmt) -> bool:
    return isinstance(statement, Assign) and isinstance(statement.target, Index)


def _roll(run: tuple[Stmt, ...], copies: int, iterator: str) -> For | None:
    size = len(run) // copies
    ring = Ring()
    try:
        body = tuple(_common_statement(run[k::size], iterator, ring) for k in range(size))
    except _NotCopiesError:
        return None
    return For(ScalarType.INT, iterator, ZERO, "<", IntLiteral(copies), ONE, body, run[0].span)


def _common_statement(statements: tuple[Stmt, ...], iterator: str, ring: Ring) -> Stmt:
    assigns = tuple(s for s in statements if isinstance(s, Assign))
    if len({(s.operator, s.atomic) for s in assigns}) != 1:
        raise _NotCopiesError
    target = _common(tuple(s.target for s in assigns), iterator, ring)
    value = _common(tuple(s.value for s in assigns), iterator, ring)
    assert isinstance(target, Index)
    return replace(assigns[0], target=target, value=value)


def _common(trees: tuple[Expr, ...], iterator: str, ring: Ring) -> Expr:
    """The tree that gives the h-th one for every h."""
    first = trees[0]
    if all(tree == first for tree in trees):
        return first
    if any(type(tree) is not type(first) for tree in trees):
        raise _NotCopiesError
    match first:
        case Index():
            others = tuple(t for t in trees if isinstance(t, Index))
            if any(t.array != first.array or len(t.subscripts) != len(first.subscripts) for t in others):
                raise _NotCopiesError
            columns = zip(*(t.subscripts for t in others), strict=True)
            return replace(first, subscripts=tuple(_common_subscript(c, iterator, ring) for c in columns))
        case Unary() | Binary() | Cast() | Conditional():
            changed: dict[str, Expr] = {}
            for name in names_of(type(first)):
                values = tuple(getattr(t, name) for t in trees)
                if name in ("operand", "left", "right", "condition", "then", "otherwise"):
                    changed[name] = _common(values, iterator, ring)
                elif name != "span" and any(v != values[0] for v in values):
                    raise _NotCopiesError
            return replace(first, **changed)
        case Call():
            calls = tuple(t for t in trees if isinstance(t, Call))
            if any(t.function != first.function or len(t.arguments) != len(first.arguments) for t in calls):
                raise _NotCopiesError
            columns = zip(*(t.arguments for t in calls), strict=True)
            return replace(first, arguments=tuple(_common(c, iterator, ring) for c in columns))
        case _:
            raise _NotCopiesError


def _common_subscript(trees: tuple[Expr, ...], iterator: str, ring: Ring) -> Expr:
    values = [ring.read(tree) for tree in trees]
    distance = values[1] - values[0]
    if any(value - values[0] != number * distance for number, value in enumerate(values)):
        raise _NotCopiesError
    if not distance:
        return trees[0]
    step = ring.write(distance)
    if any(isinstance(e, Index | Call | Conditional) for e in subexpressions(step)):
        raise _NotCopiesError
    return plus(trees[0], times(Name(iterator), step))
