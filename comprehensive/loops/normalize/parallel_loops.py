"""Parallel loops counted from 0 in steps of 1.

In: the header of a ``meta_for``.  Out: the number of its iterations, and its iterator in terms of their number::

    for (i = lo; i < hi; i += c)   -->   extent (hi - lo + c - 1)/c,   i = lo + it*c
    for (i = 0; i < N; i++)        -->   extent N,                     i = it
    for (i = n; i > 0; i--)        -->   extent n,                     i = n - it

An extent may evaluate to 0 or less: the loop then runs zero times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Binary, Cast, Expr, IntLiteral, MetaFor, Name, ScalarType, Unary
from comprehensive.metafork.scalar_types import promote


@dataclass(frozen=True, slots=True)
class Normalized:
    """``extent`` iterations; ``value`` is the original iterator, None where it is the iteration's number."""

    extent: Expr
    value: Expr | None


def counted_from_zero(loop: MetaFor, iterator: str, types: Mapping[str, ScalarType]) -> Normalized | None:
    """The header counted from 0, for an iterator called ``iterator``; None if it steps away from its bound.

    ``types`` are those of the names that the header reads.  A step that is not a literal is taken for positive,
    or for negative where it is written ``-e`` (the language demands it, since the loop would not end otherwise).
    """
    down, amount = _split_step(loop.step)
    if amount == IntLiteral(0) or (down and loop.relation in ("<", "<=")):
        return None
    if not down and loop.relation in (">", ">="):
        return None
    value = _value(loop, iterator, down, amount, types)
    if loop.start == IntLiteral(0) and loop.relation in ("<", "!=") and loop.step == IntLiteral(1):
        return Normalized(loop.bound, value)
    start, bound = _signed(loop.start, types), _signed(loop.bound, types)
    terms = _difference(start, bound) if down else _difference(bound, start)
    if loop.relation in ("<=", ">="):
        terms = _add(terms, _terms(amount))
    elif loop.relation in ("<", ">"):
        terms = _add(terms, _difference(amount, IntLiteral(1)))
    numerator = _expression(terms)
    if amount == IntLiteral(1):
        return Normalized(numerator, value)
    if isinstance(numerator, IntLiteral) and isinstance(amount, IntLiteral):
        return Normalized(IntLiteral(max(0, numerator.value) // amount.value), value)
    return Normalized(Binary("/", numerator, amount, loop.span), value)


def _split_step(step: Expr) -> tuple[bool, Expr]:
    """Whether the loop counts down, and by how much."""
    match step:
        case IntLiteral(value=value) if value < 0:
            return True, replace(step, value=-value)
        case Unary(operator="-", operand=amount):
            return True, amount
        case _:
            return False, step


def _value(
    loop: MetaFor, iterator: str, down: bool, amount: Expr, types: Mapping[str, ScalarType]
) -> Expr | None:
    counter: Expr = Name(iterator, loop.span)
    # A value of a narrow type is one of int wherever it is read.
    type = promote(loop.type)
    if type is not ScalarType.INT:
        counter = Cast(type, counter, loop.span)
    distance = counter if amount == IntLiteral(1) else Binary("*", counter, amount, loop.span)
    if loop.start == IntLiteral(0):
        value = Unary("-", distance, loop.span) if down else distance
    else:
        value = Binary("-" if down else "+", loop.start, distance, loop.span)
    # Exactly the type of the original iterator: `long i` in `i*n` computes in 64 bits, `unsigned i` wraps.
    if type_of(value, {**types, iterator: ScalarType.INT}) is not type:
        value = Cast(type, value, loop.span)
    return None if value == Name(iterator) else value


def _signed(expr: Expr, types: Mapping[str, ScalarType]) -> Expr:
    """An unsigned bound may not wrap around when a start is subtracted from it."""
    if not type_of(expr, types).wraps:
        return expr
    return Cast(ScalarType.LONG, expr, expr.span)


# A sum is (constant, terms with signs), in the order of the source.
_Sum = tuple[int, tuple[tuple[int, Expr], ...]]


def _terms(expr: Expr, sign: int = 1) -> _Sum:
    match expr:
        case IntLiteral(type=ScalarType.INT):
            return sign * expr.value, ()
        case Binary(operator="+" | "-"):
            right = sign if expr.operator == "+" else -sign
            return _add(_terms(expr.left, sign), _terms(expr.right, right))
        case Unary(operator="-"):
            return _terms(expr.operand, -sign)
        case _:
            return 0, ((sign, expr),)


def _add(left: _Sum, right: _Sum) -> _Sum:
    terms = list(left[1])
    for sign, term in right[1]:
        if (-sign, term) in terms:
            terms.remove((-sign, term))
        else:
            terms.append((sign, term))
    return left[0] + right[0], tuple(terms)


def _difference(left: Expr, right: Expr) -> _Sum:
    return _add(_terms(left), _terms(right, -1))


def _expression(total: _Sum) -> Expr:
    constant, terms = total
    ordered = sorted(terms, key=lambda term: -term[0])  # stable: what is subtracted comes last
    if not ordered:
        return IntLiteral(constant)
    sign, result = ordered[0]
    if sign < 0:
        result = Binary("-", IntLiteral(constant), result)
        constant = 0
    for sign, term in ordered[1:]:
        result = Binary("+" if sign > 0 else "-", result, term)
    if constant == 0:
        return result
    return Binary("+" if constant > 0 else "-", result, IntLiteral(abs(constant)))
