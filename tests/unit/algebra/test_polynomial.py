"""Polynomials are exact values: ring laws, evaluation, identity, factors and text."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial, product_of, sum_of
from comprehensive.algebra.notation import Term
from tests.examples import examples
from tests.unit.algebra.strategies import NAMES, fractions, points, polynomials

B, s, Z = (Polynomial.symbol(name) for name in ("B", "s", "Z_B"))
few = settings(max_examples=examples(50), deadline=None)


@few
@given(polynomials, polynomials, polynomials)
def test_addition_and_multiplication_obey_the_ring_laws(a: Polynomial, b: Polynomial, c: Polynomial) -> None:
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - a == 0
    assert a - b == -(b - a)
    assert a * 1 == a
    assert a + 0 == a


@few
@given(polynomials, polynomials, fractions, points)
def test_evaluation_commutes_with_arithmetic(
    a: Polynomial, b: Polynomial, scalar: Fraction, point: dict[str, Fraction]
) -> None:
    x, y = a.evaluate(point), b.evaluate(point)
    assert (a + b).evaluate(point) == x + y
    assert (a * b).evaluate(point) == x * y
    assert (scalar - a).evaluate(point) == scalar - x
    assert (scalar * a).evaluate(point) == scalar * x
    assert (a**3).evaluate(point) == x**3
    assert a.sign_at(point) == (x > 0) - (x < 0)


@few
@given(polynomials, points)
def test_evaluation_agrees_with_plain_arithmetic_on_the_terms(
    a: Polynomial, point: dict[str, Fraction]
) -> None:
    expected = Fraction(0)
    for term in a.terms():
        value = term.coefficient
        for name, power in term.powers:
            value *= point[name] ** power
        expected += value
    assert a.evaluate(point) == expected


@few
@given(polynomials, polynomials)
def test_equal_polynomials_are_equal_values_however_they_were_built(a: Polynomial, b: Polynomial) -> None:
    detour = a + b * Polynomial.symbol("other") - b * Polynomial.symbol("other")
    assert detour == a
    assert hash(detour) == hash(a)
    assert detour.symbols == a.symbols
    assert str(detour) == str(a)
    assert Polynomial.from_terms(reversed(a.terms())) == a
    assert pickle.loads(pickle.dumps(a)) == a
    assert (a == b) == (not a - b)


def test_a_constant_equals_its_number_and_hashes_like_it() -> None:
    assert Polynomial(3) == 3
    assert hash(B - B + Fraction(1, 2)) == hash(Fraction(1, 2))
    assert {Polynomial.constant(3), 3} == {3}
    assert Polynomial(3) != B


@few
@given(polynomials, polynomials, polynomials, points)
def test_substitution_is_evaluation_of_the_image(
    a: Polynomial, left: Polynomial, right: Polynomial, point: dict[str, Fraction]
) -> None:
    image = a.substitute({"B": left, "s": right})
    moved = point | {"B": left.evaluate(point), "s": right.evaluate(point)}
    assert image.evaluate(point) == a.evaluate(moved)


def test_substitution_replaces_all_symbols_at_once() -> None:
    assert (B - 2 * s).substitute({"B": s, "s": B}) == s - 2 * B
    assert (B * s + 2).substitute({"s": Fraction(1, 2)}) == B * Fraction(1, 2) + 2


@few
@given(polynomials, st.sampled_from(NAMES))
def test_a_polynomial_is_the_sum_of_its_coefficients_times_powers(a: Polynomial, name: str) -> None:
    x = Polynomial.symbol(name)
    parts = [a.coefficient(name, power) * x**power for power in range(a.degree(name) + 1)]
    assert sum_of(parts) == a
    assert all(name not in a.coefficient(name, power).symbols for power in range(a.degree(name) + 1))


@few
@given(polynomials, polynomials)
def test_exact_division_undoes_multiplication_and_refuses_the_rest(a: Polynomial, b: Polynomial) -> None:
    if b:
        assert (a * b).divide_exactly(b) == a
        assert (a * b + 1).divide_exactly(b) is None or b.is_constant
    else:
        with pytest.raises(ZeroDivisionError):
            a.divide_exactly(b)


@few
@given(polynomials, polynomials)
def test_factors_multiply_back(a: Polynomial, b: Polynomial) -> None:
    constant, factors = (a * b).factor()
    assert product_of(factor**power for factor, power in factors) * constant == a * b
    for factor, power in factors:
        assert power >= 1
        assert factor.content() == 1
        assert factor.terms()[0].coefficient > 0


@few
@given(polynomials)
def test_content_is_positive_and_leaves_coprime_integers(a: Polynomial) -> None:
    assert a.primitive() * a.content() == a
    if a:
        assert a.content() > 0
        assert a.primitive().is_integral
        assert a.primitive().content() == 1


def test_terms_come_by_descending_degree_with_sorted_powers() -> None:
    assert (2 + 2 * s * B - B**2).terms() == (
        Term(Fraction(-1), (("B", 2),)),
        Term(Fraction(2), (("B", 1), ("s", 1))),
        Term(Fraction(2), ()),
    )
    assert Polynomial(0).terms() == ()


def test_degrees_and_symbols_count_only_what_occurs() -> None:
    p = 2 * s * B + s**2 - s * B * 2
    assert p.symbols == ("s",)
    assert (p.degree("s"), p.degree("B"), p.total_degree) == (2, 0, 2)
    assert Polynomial(0).total_degree == 0
    assert p.coefficient("B", 0) == p
    assert p.coefficient("B", 1) == 0


def test_it_prints_as_in_the_paper() -> None:
    B0, ub1 = Polynomial.symbol("B0"), Polynomial.symbol("ub1")
    assert (2 * s * B + 2).format(("s", "B")) == "2*s*B + 2"
    assert str(2 * s * B + 2) == "2*B*s + 2"
    assert str(B0**2 + B0 * s) == "B0^2 + B0*s"
    assert str(B0 * s * ub1 - B0**2) == "B0*s*ub1 - B0^2"
    assert str(-B + Fraction(1, 2) * s - 1) == "-B + 1/2*s - 1"
    assert str(Polynomial(0)) == "0"
    assert str(-Polynomial(1)) == "-1"
    assert str(Polynomial.symbol("z") * Z * Polynomial.symbol("a")) == "a*z*Z_B"


def test_a_missing_symbol_is_named() -> None:
    with pytest.raises(KeyError, match="Z_B"):
        (Z + B).evaluate({"B": 1})


def test_what_is_no_polynomial_is_refused() -> None:
    with pytest.raises(ValueError, match="no power -1"):
        B**-1
    with pytest.raises(TypeError):
        B + 0.5  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
    with pytest.raises(ValueError, match="not a constant"):
        B.constant_value()
    with pytest.raises(ValueError, match="ASCII"):
        Polynomial.symbol("β")


def test_large_coefficients_stay_exact() -> None:
    p = (B + 2**70) ** 3
    assert p.evaluate({"B": -(2**70) + 1}) == 1
    assert p.coefficient("B", 0) == 2**210
