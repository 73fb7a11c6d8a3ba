"""Loop headers counted from 0 in steps of 1.

In: the header of a loop.  Out: the number of its iterations, and its iterator in terms of their number::

    for (i = lo; i < hi; i += c)   -->   extent (hi - lo + c - 1)/c,   i = lo + it*c
    for (i = 0; i < N; i++)        -->   extent N,                     i = it
    for (i = n; i > 0; i--)        -->   extent n,                     i = n - it

An extent may evaluate to 0 or less: the loop then runs zero times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.algebra.whole import integral_quotient
from comprehensive.diagnostics import Span
from comprehensive.loops.integers import Ring
from comprehensive.loops.normalize.iterators import tidy
from comprehensive.loops.normalize.sums import Sum
from comprehensive.loops.types import as_type, type_of
from comprehensive.metafork.ast import Binary, Cast, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.headers import split_step
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.scalar_types import promote


class Header(Protocol):
    """``type iterator = start; iterator relation bound; iterator += step``"""

    @property
    def start(self) -> Expr: ...
    @property
    def relation(self) -> str: ...
    @property
    def bound(self) -> Expr: ...
    @property
    def step(self) -> Expr: ...
    @property
    def span(self) -> Span: ...


class Normalized(Struct, frozen=True):
    """``extent`` iterations; ``value`` is the original iterator, None where it is the iteration's number."""

    extent: Expr
    value: Expr | None


def counted_from_zero(
    loop: Header,
    type: ScalarType,
    iterator: str,
    types: Mapping[str, ScalarType],
    counter: ScalarType = ScalarType.INT,
) -> Normalized | None:
    """The header of an iterator of this type counted from 0, for a counter called ``iterator``; None if it steps away
    from its bound.

    ``types`` are those of the names that the header reads.  A step that is not a literal is taken for positive,
    or for negative where it is written ``-e`` (the language demands it, since the loop would not end otherwise).
    """
    down, amount = split_step(loop.step)
    if amount == IntLiteral(0) or (down and loop.relation in ("<", "<=")):
        return None
    if not down and loop.relation in (">", ">="):
        return None
    value = _value(loop, type, iterator, down, amount, types, counter)
    if loop.start == IntLiteral(0) and loop.relation in ("<", "!=") and loop.step == IntLiteral(1):
        return Normalized(loop.bound, value)
    start, bound = (Sum.of(_widened(side, types, counter)) for side in (loop.start, loop.bound))
    terms = start - bound if down else bound - start
    if loop.relation in ("<=", ">="):
        terms += Sum.of(amount)
    elif loop.relation in ("<", ">"):
        terms += Sum.of(amount) - Sum(1)
    numerator = terms.expression()
    if amount == IntLiteral(1):
        return Normalized(numerator, value)
    if isinstance(numerator, IntLiteral) and isinstance(amount, IntLiteral):
        return Normalized(IntLiteral(max(0, numerator.value) // amount.value), value)
    if loop.relation in ("<", ">") and isinstance(amount, IntLiteral):
        ring = Ring()
        distance = ring.read((start - bound if down else bound - start).expression())
        whole = integral_quotient(distance, Polynomial.constant(amount.value))
        if whole is not None:
            return Normalized(ring.write(whole), value)
    return Normalized(Binary("/", numerator, amount, loop.span), value)


def _value(
    loop: Header,
    type: ScalarType,
    iterator: str,
    down: bool,
    amount: Expr,
    types: Mapping[str, ScalarType],
    counter: ScalarType,
) -> Expr | None:
    number: Expr = Name(iterator, loop.span)
    # A value of a narrow type is one of int wherever it is read.
    type = promote(type)
    if type not in (ScalarType.INT, counter):
        number = Cast(type, number, loop.span)
    distance = number if amount == IntLiteral(1) else Binary("*", number, amount, loop.span)
    if loop.start == IntLiteral(0):
        value = Unary("-", distance, loop.span) if down else distance
    else:
        value = Binary("-" if down else "+", loop.start, distance, loop.span)
    # Exactly the type of the original iterator: `long i` in `i*n` computes in 64 bits, `unsigned i` wraps.
    if type_of(value, {**types, iterator: counter}) is not type:
        value = Cast(type, value, loop.span)
    return None if value == Name(iterator) else value


def _widened(expr: Expr, types: Mapping[str, ScalarType], counter: ScalarType) -> Expr:
    """An unsigned bound may not wrap around when a start is subtracted from it; and where iterations are counted in
    64 bits, their number is computed in 64 bits."""
    found = promote(type_of(expr, types))
    if found.wraps:
        return Cast(ScalarType.LONG, expr, expr.span)
    if counter is ScalarType.INT or found.is_wide or isinstance(expr, IntLiteral):
        return expr
    return Cast(ScalarType.LONG, expr, expr.span)


def end_of(loop: Header, iterator: str, kind: ScalarType, types: Mapping[str, ScalarType]) -> Expr | None:
    """The value at which an iterator of a kind ends that a loop moves by a literal, if it runs; None where that is not
    known."""
    if not constant_value(loop.step) or loop.relation == "!=":
        return None
    counted = counted_from_zero(loop, kind, iterator, types, kind)
    if counted is None:
        return None
    value = Name(iterator) if counted.value is None else counted.value
    return as_type(tidy(substitute(value, {iterator: counted.extent}), types), kind, types)
