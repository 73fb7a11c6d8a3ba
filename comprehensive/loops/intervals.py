"""The ranges of integer expressions: one and the ranges of its names in, the least and the greatest value out.

::

    0 <= v < 2^31, 1 <= B < 2^31:   (unsigned long)v*B   -->   0 .. (2^31 - 1)^2

Where C wraps around, the interval is that of the type; where it overflows, what it computes has no meaning, so that
the interval is cut off at the type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from comprehensive.loops.integers import POLYNOMIAL_OPERATORS
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Binary, Cast, Conditional, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.precedence import COMPARISONS


class Interval(NamedTuple):
    """The integers from ``least`` to ``greatest``, both included."""

    least: int
    greatest: int

    def within(self, type: ScalarType) -> bool:
        """Whether an integer type holds all of them."""
        return type.lowest <= self.least and self.greatest <= type.highest

    def cut(self, type: ScalarType) -> Interval:
        """Return the values that an integer type holds, or all that it holds where it wraps around."""
        if self.within(type):
            return self
        if type.wraps or self.greatest < type.lowest or self.least > type.highest:
            return of_type(type)
        return Interval(max(self.least, type.lowest), min(self.greatest, type.highest))


Ranges = Mapping[str, Interval]


def of_type(type: ScalarType) -> Interval:
    return Interval(type.lowest, type.highest)


def values_of(expr: Expr, types: Mapping[str, ScalarType], ranges: Ranges) -> Interval:
    """Return the range of values that C computes for an integer expression."""
    kind = type_of(expr, types)
    match expr:
        case IntLiteral():
            return Interval(expr.value, expr.value)
        case Name():
            return ranges.get(expr.identifier, of_type(kind))
        case Cast() if type_of(expr.operand, types).is_integer:
            found = values_of(expr.operand, types, ranges)
            return found if found.within(kind) else of_type(kind)
        case Unary(operator="-" | "+"):
            operand = values_of(expr.operand, types, ranges)
            return (negated(operand) if expr.operator == "-" else operand).cut(kind)
        case Binary() if expr.operator in COMPARISONS:
            return Interval(0, 1)
        case Binary() if expr.operator in POLYNOMIAL_OPERATORS and kind.is_integer:
            left, right = (_operand(side, kind, types, ranges) for side in (expr.left, expr.right))
            return joined(expr.operator, left, right).cut(kind)
        case Binary(operator="/" | "%") if kind.is_integer:
            left, right = (_operand(side, kind, types, ranges) for side in (expr.left, expr.right))
            if left.least < 0 or right.least < 0:
                return of_type(kind)
            return Interval(0, left.greatest if expr.operator == "/" else max(0, right.greatest - 1))
        case Conditional() if kind.is_integer:
            both = [_operand(side, kind, types, ranges) for side in (expr.then, expr.otherwise)]
            return Interval(min(b.least for b in both), max(b.greatest for b in both))
        case _:
            return of_type(kind)


def sum_of(expr: Expr, types: Mapping[str, ScalarType], ranges: Ranges) -> Interval:
    """Return the range of a polynomial in mathematics, its atoms being what C computes."""
    match expr:
        case Unary(operator="-"):
            return negated(sum_of(expr.operand, types, ranges))
        case Unary(operator="+"):
            return sum_of(expr.operand, types, ranges)
        case Binary() if expr.operator in POLYNOMIAL_OPERATORS:
            left, right = sum_of(expr.left, types, ranges), sum_of(expr.right, types, ranges)
            return joined(expr.operator, left, right)
        case _:
            return values_of(expr, types, ranges)


def negated(of: Interval) -> Interval:
    """The numbers with the other sign."""
    return Interval(-of.greatest, -of.least)


def joined(operator: str, left: Interval, right: Interval) -> Interval:
    """Sums, differences or products of two numbers."""
    match operator:
        case "+":
            return Interval(left.least + right.least, left.greatest + right.greatest)
        case "-":
            return Interval(left.least - right.greatest, left.greatest - right.least)
        case _:
            products = [a * b for a in left for b in right]
            return Interval(min(products), max(products))


def _operand(expr: Expr, kind: ScalarType, types: Mapping[str, ScalarType], ranges: Ranges) -> Interval:
    """An operand after its conversion to the type of the operation."""
    found = values_of(expr, types, ranges)
    return found if found.within(kind) else of_type(kind)
