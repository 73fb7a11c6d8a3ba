"""Strips: a loop that is cut into strips by hand, and the loop.

In: a nest.  Out: the same with each such pair of loops as one::

    for (kk = 0; kk < n; kk += 32)  { int end = min(kk + 32, n);  for (k = kk; k < end; k++) S(k) }
        -->  for (k = 0; k < n; k++) S(k)

The steps keep their order, so that it is right whatever they do.  What counts is the value of the inner loop's range:
it begins at the outer iterator and ends at the smaller one of the next strip and of the end of all, or at the next
strip where the strips are a whole number of times in the range.  What is declared between the loops has the type of
their iterators, and the body may not speak of the strip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from comprehensive.algebra import Polynomial
from comprehensive.algebra.whole import integral_quotient
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest
from comprehensive.loops.rewrite import substitute
from comprehensive.loops.traverse import map_bands
from comprehensive.metafork.ast import (
    Binary,
    Break,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    Stmt,
)
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import assigned_scalars, leaves_loop, subexpressions, subexpressions_in

ONE = IntLiteral(1)


def with_joined_strips(nest: Nest) -> Nest:
    """The nest with loops of its threads that are cut into strips as one loop each."""
    return map_bands(nest, lambda band: replace(band, body=_body(band.body)))


def _body(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return tuple(_statement(statement) for statement in body)


def _statement(statement: Stmt) -> Stmt:
    statement = with_bodies(statement, _body)
    if isinstance(statement, For):
        return _joined(statement) or statement
    return statement


def _joined(outer: For) -> For | None:
    """Return the loop that a loop over strips is with the one over a strip; None where it is no such pair."""
    *between, inner = outer.body or (outer,)
    values = {
        s.name: s.initial
        for s in between
        if isinstance(s, Declare) and s.initial is not None and s.type is outer.type
    }
    if not isinstance(inner, For) or inner is outer or len(values) < len(between):
        return None
    kinds = {outer.type, inner.type}
    shapes = {(loop.relation, loop.type is not None) for loop in (outer, inner)}
    if len(kinds) > 1 or shapes != {("<", True)} or inner.step != ONE:
        return None
    start, end = (_with_values(e, values) for e in (inner.start, inner.bound))
    changed = assigned_scalars(outer.body) | {outer.iterator, inner.iterator}
    header = (outer.start, outer.bound, outer.step)
    if any(names_read(e) & changed or any(isinstance(x, Index) for x in subexpressions(e)) for e in header):
        return None
    spoken = {e.identifier for e in subexpressions_in(inner.body) if isinstance(e, Name)}
    if start != Name(outer.iterator) or spoken & {outer.iterator, *values} or leaves_loop(inner.body, Break):
        return None
    if not _ends_with_strip(outer, end):
        return None
    return replace(inner, start=outer.start, bound=outer.bound, span=outer.span)


def _with_values(expression: Expr, values: Mapping[str, Expr]) -> Expr:
    for _ in values:
        expression = substitute(expression, values)
    return expression


def _ends_with_strip(outer: For, end: Expr) -> bool:
    """Whether a strip ends where the next one begins, and the last one where all end."""
    ring = Ring()
    following = ring.read(Binary("+", Name(outer.iterator), outer.step))
    last = ring.read(outer.bound)
    match end:
        case Conditional(
            condition=Binary(operator=relation, left=left, right=right), then=then, otherwise=other
        ):
            sides, chosen = (ring.read(left), ring.read(right)), (ring.read(then), ring.read(other))
            smaller = relation in ("<", "<=") and sides == chosen
            larger = relation in (">", ">=") and sides == (chosen[1], chosen[0])
            return (smaller or larger) and {*chosen} == {following, last}
        case _:
            length = last - ring.read(outer.start)
            step = ring.read(outer.step)
            whole = step != Polynomial.constant(0) and integral_quotient(length, step) is not None
            return whole and ring.read(end) == following
