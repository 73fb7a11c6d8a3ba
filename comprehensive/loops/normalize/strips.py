"""Strips: a loop that is cut into strips by hand, and the loop.

In: a nest.  Out: the same with each such pair of loops as one::

    for (kk = 0; kk < n; kk += 32)  { int end = min(kk + 32, n);  for (k = kk; k < end; k++) S(k) }
        -->  for (k = 0; k < n; k++) S(k)

    for (q = 0; q < (n + 31) / 32; q++)  for (k = 32 * q; k < min(32 * q + 32, n); k++) S(k)
        -->  for (k = 0; k < n; k++) S(k)

The steps keep their order, so that it is right whatever they do.  What counts is the value of the inner loop's range:
it begins at the outer iterator, or at a multiple of it, and ends where the next strip begins, or at the end of all
where that comes first.  What is declared between the loops has the type of their iterators, and the body may not speak
of the strip.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.algebra.whole import integral_quotient
from comprehensive.loops.access import names_read
from comprehensive.loops.extremes import lesser
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest
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
from comprehensive.metafork.rewrite import substitute, with_bodies
from comprehensive.metafork.walk import assigned_scalars, leaves_loop, subexpressions, subexpressions_in
from comprehensive.records import replace

ONE = IntLiteral(1)


def with_joined_strips(nest: Nest) -> Nest:
    """The nest with loops of its threads that are cut into strips as one loop each."""
    return map_bands(nest, lambda _, body: of_strips(body))


def of_strips(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with loops that are cut into strips as one loop each."""
    return tuple(_statement(statement) for statement in body)


def _statement(statement: Stmt) -> Stmt:
    statement = with_bodies(statement, of_strips)
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
    changed = assigned_scalars(outer.body) | {outer.iterator, inner.iterator}
    if any(names_read(e) & changed for e in (outer.start, outer.bound, outer.step)):
        return None
    spoken = {e.identifier for e in subexpressions_in(inner.body) if isinstance(e, Name)}
    if spoken & {outer.iterator, *values} or leaves_loop(inner.body, Break):
        return None
    start, end = (_with_values(e, values) for e in (inner.start, inner.bound))
    return loop_of_strips(outer, replace(inner, start=start, bound=end))


def loop_of_strips(outer: For, inner: For) -> For | None:
    """Return the loop over all strips, with the body of the one over a strip; None where ``outer`` is no loop over the
    strips of ``inner``.

    Names in the headers are the same in all turns, but for the iterators.
    """
    kinds = {outer.type, inner.type}
    shapes = {(loop.relation, loop.type is not None) for loop in (outer, inner)}
    if len(kinds) > 1 or shapes != {("<", True)} or inner.step != ONE:
        return None
    headers = (outer.start, outer.bound, outer.step, inner.start, inner.bound)
    if any(isinstance(x, Index) for e in headers for x in subexpressions(e)):
        return None
    ring = Ring()
    strip = _Strip.of(ring, outer, inner.start)
    if strip is None:
        return None
    chosen = lesser(ring, inner.bound)
    ends = (inner.bound,) if chosen is None else chosen
    others = [e for e in ends if ring.read(e) != strip.following]
    if len(others) == len(ends) or any(outer.iterator in names_read(e) for e in others):
        return None
    (last,) = others or (None,)
    bound = strip.bound(outer, last)
    if bound is None:
        return None
    return replace(inner, start=strip.place(outer.start), bound=bound, span=outer.span)


def _with_values(expression: Expr, values: Mapping[str, Expr]) -> Expr:
    for _ in values:
        expression = substitute(expression, values)
    return expression


class _Strip(Struct, frozen=True):
    """A strip that begins at ``factor*q + rest`` for the value ``q`` of an iterator, and the place where the
    ``following`` one does."""

    ring: Ring
    factor: Polynomial
    rest: Polynomial
    following: Polynomial

    @staticmethod
    def of(ring: Ring, outer: For, start: Expr) -> _Strip | None:
        begin = ring.read(start)
        iterator = ring.read(Name(outer.iterator))
        (symbol,) = iterator.symbols
        factor, rest = begin.coefficient(symbol, 1), begin.coefficient(symbol, 0)
        if begin.degree(symbol) != 1 or outer.iterator in ring.names_in(factor) | ring.names_in(rest):
            return None
        is_itself = factor == Polynomial.constant(1)
        if not is_itself and not (factor.is_constant and factor.constant_value() > 0 and outer.step == ONE):
            return None
        return _Strip(ring, factor, rest, begin + factor * ring.read(outer.step))

    def place(self, value: Expr) -> Expr:
        """The place where the strip of a value of the iterator begins."""
        return self.ring.write(self.factor * self.ring.read(value) + self.rest)

    def bound(self, outer: For, last: Expr | None) -> Expr | None:
        """The end of all strips, of which none goes beyond ``last``; None where that is not known."""
        end = self._end(outer)
        if last is None:
            return None if end is None else self.place(end)
        if self._reaches(outer, last):
            return last
        if end is None:
            return None
        place = self.place(end)
        return Conditional(Binary("<", place, last), place, last)

    def _end(self, outer: For) -> Expr | None:
        """The value of the iterator behind its last one."""
        length = self.ring.read(outer.bound) - self.ring.read(outer.start)
        step = self.ring.read(outer.step)
        if step == Polynomial.constant(0):
            return None
        if integral_quotient(length, step) is not None:
            return outer.bound
        if not (step.is_constant and step.constant_value() > 0):
            return None
        number = Binary("/", self.ring.write(length + step - 1), outer.step)
        return self.ring.write(self.ring.read(outer.start) + step * self.ring.read(number))

    def _reaches(self, outer: For, last: Expr) -> bool:
        """Whether the last strip surely ends at ``last`` or would behind it."""
        if self.place(outer.bound) == self.ring.write(self.ring.read(last)):
            return True
        match outer.bound:
            case Binary("/", left=left, right=right) if (
                outer.step == ONE and self.rest == Polynomial.constant(0)
            ):
                over = self.ring.read(left) - self.ring.read(last) - self.factor + 1
                return self.ring.read(right) == self.factor and over == Polynomial.constant(0)
            case _:
                return False
