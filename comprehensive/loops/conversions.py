"""Conversions between integer types as a ring sees them: an expression in, one without those that it sees through, out.

C computes with an unsigned type modulo a power of two, and with a signed one as with the integers.  A conversion to an
unsigned type, or to a wider signed one, keeps sums and products; so polynomials pass through it::

    (unsigned long)v*B + t    -->    v*B + t       the same modulo 2^64, where v, B and t are of int
    (long)(u + 1)             -->    stays         u + 1 wraps around at 2^32, which an integer does not

What is not passed through is one atom, as a quotient is: a sum that wraps around earlier than what it is in has a
conversion to its own type around it, which changes nothing and which polynomials do not read through.
"""

from __future__ import annotations

from collections.abc import Mapping

from comprehensive.loops.integers import POLYNOMIAL_OPERATORS
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Binary, Cast, Expr, IntLiteral, ScalarType, Unary
from comprehensive.metafork.scalar_types import promote
from comprehensive.records import replace

Types = Mapping[str, ScalarType]


def without_conversions(expr: Expr, types: Types) -> Expr:
    """An expression whose polynomial has the value of an integer expression: modulo the range of its type where that
    wraps around, exactly where it does not."""
    match expr:
        case Unary(operator="-" | "+"):
            return replace(expr, operand=_part(expr.operand, promote(type_of(expr, types)), types))
        case Binary() if expr.operator in POLYNOMIAL_OPERATORS:
            kind = promote(type_of(expr, types))
            return replace(expr, left=_part(expr.left, kind, types), right=_part(expr.right, kind, types))
        case Cast() if keeps_sums(expr.type, expr.operand, types):
            return without_conversions(expr.operand, types)
        case _:
            return expr


def keeps_sums(to: ScalarType, operand: Expr, types: Types) -> bool:
    """Whether a conversion of the operand to a type commutes with sums and products."""
    of = promote(type_of(operand, types))
    if not of.is_integer or not to.is_integer or to.is_narrow:
        return False
    if to.is_exact:
        return of.is_exact and of.bits <= to.bits
    return of.is_exact or of.bits >= to.bits


def in_type(expr: Expr, kind: ScalarType, types: Types) -> Expr:
    """A polynomial computed in a type: its parts, but for literals of ``int``, are converted to it where they are of
    another."""
    converted = _converted(expr, kind, types)
    return converted if promote(type_of(converted, types)) is kind else Cast(kind, converted, expr.span)


def _converted(expr: Expr, kind: ScalarType, types: Types) -> Expr:
    match expr:
        case IntLiteral(value=value):
            fits = ScalarType.INT.lowest <= value <= ScalarType.INT.highest
            return expr if fits else replace(expr, value=kind.wrapped(value), type=kind)
        case Unary(operator="-" | "+"):
            return replace(expr, operand=_converted(expr.operand, kind, types))
        case Binary() if expr.operator in POLYNOMIAL_OPERATORS:
            left, right = _converted(expr.left, kind, types), _converted(expr.right, kind, types)
            return replace(expr, left=left, right=right)
        case Cast() if expr.type is promote(type_of(expr.operand, types)):
            return Cast(kind, expr.operand, expr.span)
        case _:
            return expr if promote(type_of(expr, types)) is kind else Cast(kind, expr, expr.span)


def _part(expr: Expr, whole: ScalarType, types: Types) -> Expr:
    """A part of a sum or product that is computed in a type."""
    if keeps_sums(whole, expr, types):
        return without_conversions(expr, types)
    is_sum = isinstance(expr, Unary) or (isinstance(expr, Binary) and expr.operator in POLYNOMIAL_OPERATORS)
    return Cast(type_of(expr, types), expr, expr.span) if is_sum else expr
