"""Rational functions are reduced, exact values."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from comprehensive.algebra import Polynomial, RationalFunction
from tests.examples import examples
from tests.unit.algebra.strategies import points, polynomials

B, s = Polynomial.symbol("B"), Polynomial.symbol("s")
few = settings(max_examples=examples(40), deadline=None)


@few
@given(polynomials, polynomials, polynomials, polynomials, points)
def test_arithmetic_agrees_with_fractions(
    a: Polynomial, b: Polynomial, c: Polynomial, d: Polynomial, point: dict[str, Fraction]
) -> None:
    assume(b.evaluate(point) != 0 and d.evaluate(point) != 0 and c.evaluate(point) != 0)
    left, right = RationalFunction(a, b), RationalFunction(c, d)
    x, y = a.evaluate(point) / b.evaluate(point), c.evaluate(point) / d.evaluate(point)
    assert (left + right).evaluate(point) == x + y
    assert (left - right).evaluate(point) == x - y
    assert (left * right).evaluate(point) == x * y
    assert (left / right).evaluate(point) == x / y
    assert (a + right).evaluate(point) == a.evaluate(point) + y
    assert (1 - left).evaluate(point) == 1 - x
    assert (2 / right).evaluate(point) == 2 / y


@few
@given(polynomials, polynomials, polynomials)
def test_a_common_factor_makes_no_difference(a: Polynomial, b: Polynomial, common: Polynomial) -> None:
    assume(b and common)
    assert RationalFunction(a * common, b * common) == RationalFunction(a, b)
    assert hash(RationalFunction(a * common, b * common)) == hash(RationalFunction(a, b))
    assert RationalFunction(-a, -b) == RationalFunction(a, b)


def test_the_denominator_is_primitive_and_positive_where_symbols_are_one() -> None:
    share = RationalFunction(B, 6 - 2 * s)
    assert share.denominator == 3 - s
    assert share.numerator == B * Fraction(1, 2)


def test_a_quotient_that_divides_is_a_polynomial() -> None:
    assert RationalFunction(2 * B * B - 2, 2 * B + 2).as_polynomial() == B - 1
    assert RationalFunction(B, s).as_polynomial() is None
    assert RationalFunction(B, 2).as_polynomial() == B * Fraction(1, 2)


def test_zero_denominators_are_errors() -> None:
    with pytest.raises(ZeroDivisionError):
        RationalFunction(B, B - B)
    with pytest.raises(ZeroDivisionError):
        RationalFunction(1, B - s).evaluate({"B": 2, "s": 2})


def test_it_prints_with_only_the_parentheses_it_needs() -> None:
    assert str(RationalFunction(B + 1, s)) == "(B + 1)/s"
    assert str(RationalFunction(B, 2 * s)) == "1/2*B/s"
    assert str(RationalFunction(B, s * s + 1)) == "B/(s^2 + 1)"
    assert RationalFunction(1, B * s).format(("s", "B")) == "1/(s*B)"
