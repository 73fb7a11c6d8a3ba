"""Quotients of polynomials in lowest terms: two polynomials in, one immutable hashable value out.

    >>> B = Polynomial.symbol("B")
    >>> str(RationalFunction(2 * B * B - 2, B + 1))
    '2*B - 2'

The denominator is primitive (coprime integer coefficients). Its sign is the one that makes it positive where
all symbols are 1: program parameters are at least 1, so a denominator known to be positive stays so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from comprehensive.algebra.polynomial import Polynomial, Scalar


@dataclass(frozen=True, slots=True)
class RationalFunction:
    """The quotient `numerator / denominator`, reduced when built. ZeroDivisionError for a zero denominator."""

    numerator: Polynomial
    denominator: Polynomial = Polynomial(1)

    def __init__(self, numerator: Polynomial | Scalar, denominator: Polynomial | Scalar = 1) -> None:
        above, below = _reduced(_polynomial(numerator), _polynomial(denominator))
        object.__setattr__(self, "numerator", above)
        object.__setattr__(self, "denominator", below)

    def __add__(self, other: RationalFunction | Polynomial | Scalar) -> RationalFunction:
        right = _rational(other)
        return RationalFunction(
            self.numerator * right.denominator + right.numerator * self.denominator,
            self.denominator * right.denominator,
        )

    def __radd__(self, other: Polynomial | Scalar) -> RationalFunction:
        return self + other

    def __neg__(self) -> RationalFunction:
        return RationalFunction(-self.numerator, self.denominator)

    def __sub__(self, other: RationalFunction | Polynomial | Scalar) -> RationalFunction:
        return self + -_rational(other)

    def __rsub__(self, other: Polynomial | Scalar) -> RationalFunction:
        return _rational(other) - self

    def __mul__(self, other: RationalFunction | Polynomial | Scalar) -> RationalFunction:
        right = _rational(other)
        return RationalFunction(self.numerator * right.numerator, self.denominator * right.denominator)

    def __rmul__(self, other: Polynomial | Scalar) -> RationalFunction:
        return self * other

    def __truediv__(self, other: RationalFunction | Polynomial | Scalar) -> RationalFunction:
        right = _rational(other)
        return RationalFunction(self.numerator * right.denominator, self.denominator * right.numerator)

    def __rtruediv__(self, other: Polynomial | Scalar) -> RationalFunction:
        return _rational(other) / self

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names that occur, sorted."""
        return tuple(sorted({*self.numerator.symbols, *self.denominator.symbols}))

    def as_polynomial(self) -> Polynomial | None:
        """The same value as a polynomial, or None when the denominator contains a symbol."""
        return self.numerator if self.denominator.is_constant else None

    def evaluate(self, point: Mapping[str, Scalar]) -> Fraction:
        """The value at a point. KeyError names a missing symbol, ZeroDivisionError tells of a pole."""
        return self.numerator.evaluate(point) / self.denominator.evaluate(point)

    def format(self, order: Sequence[str] = ()) -> str:
        """Return `(numerator)/(denominator)`, with parentheses only around sums and, below, around products."""
        if self.denominator == 1:
            return self.numerator.format(order)
        above, below = self.numerator.format(order), self.denominator.format(order)
        if len(self.numerator.terms()) > 1:
            above = f"({above})"
        if any(sign in below for sign in "+-*"):
            below = f"({below})"
        return f"{above}/{below}"

    def __str__(self) -> str:
        return self.format()


def _reduced(numerator: Polynomial, denominator: Polynomial) -> tuple[Polynomial, Polynomial]:
    if not denominator:
        raise ZeroDivisionError("a rational function needs a denominator other than zero")
    common = numerator.gcd(denominator)
    above, below = numerator.divide_exactly(common), denominator.divide_exactly(common)
    assert above is not None, "a gcd divides its first argument"
    assert below is not None, "a gcd divides its second argument"
    scale = below.content()
    sign = below.sign_at(dict.fromkeys(below.symbols, 1))
    if sign < 0 or (sign == 0 and below.terms()[0].coefficient < 0):
        scale = -scale
    return above * (1 / scale), below * (1 / scale)


def _polynomial(value: Polynomial | Scalar) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial(value)


def _rational(value: RationalFunction | Polynomial | Scalar) -> RationalFunction:
    return value if isinstance(value, RationalFunction) else RationalFunction(value)
