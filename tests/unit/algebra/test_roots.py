"""Real roots are isolated, compared and separated exactly."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import isqrt, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial, product_of
from comprehensive.algebra.roots import (
    Algebraic,
    RealNumber,
    approximate,
    ascending,
    between,
    compare,
    is_root,
    real_roots,
)
from tests.examples import examples

x, y = Polynomial.symbol("x"), Polynomial.symbol("y")
some = settings(max_examples=examples(60), deadline=None)
rationals = st.builds(Fraction, st.integers(-40, 40), st.integers(1, 12))
univariate = (
    st.lists(st.integers(-9, 9), min_size=2, max_size=7)
    .map(lambda cs: sum((c * x**i for i, c in enumerate(cs)), Polynomial(0)))
    .filter(lambda p: not p.is_constant)
)


def test_rational_roots_stay_rational_and_come_sorted_once() -> None:
    assert real_roots((2 * x - 3) ** 2 * (x + 1) * x) == (-1, 0, Fraction(3, 2))


def test_irrational_roots_are_named_by_minimal_polynomial_and_place() -> None:
    low, high = real_roots((x * x - 2) * (x * x + 1))
    assert isinstance(low, Algebraic)
    assert isinstance(high, Algebraic)
    assert (low.coefficients, low.index, str(low)) == ((-2, 0, 1), 0, "root 0 of x^2 - 2")
    assert (high.coefficients, high.index) == ((-2, 0, 1), 1)
    fine = high.refined(Fraction(1, 10**30))
    assert fine == high
    assert hash(fine) == hash(high)
    assert fine.low**2 < 2 < fine.high**2
    assert fine.high - fine.low <= Fraction(1, 10**30)


def test_equal_numbers_from_different_polynomials_are_equal() -> None:
    one = real_roots(x * x - 2)[1]
    other = real_roots((x * x - 2) * (x - 7) * (x * x - 3))[2]
    assert one == other
    assert compare(one, other) == 0


def test_roots_that_lie_close_together_are_told_apart() -> None:
    # Mignotte: two roots near 1/1000 that differ by about 10^-11.
    roots = real_roots(x**7 - 2 * (1000 * x - 1) ** 2)
    assert len(roots) == 3
    assert [compare(a, b) for a, b in itertools.pairwise(roots)] == [-1, -1]
    separator = between(roots[0], roots[1])
    assert compare(roots[0], separator) == -1
    assert compare(separator, roots[1]) == -1


@pytest.mark.parametrize("polynomial", [Polynomial(0), x * y - 1], ids=str)
def test_what_has_no_roots_to_list_is_refused(polynomial: Polynomial) -> None:
    with pytest.raises(ValueError, match="in one symbol"):
        real_roots(polynomial)


def test_a_constant_has_no_roots() -> None:
    assert real_roots(Polynomial(3)) == ()


@some
@given(st.lists(rationals, min_size=1, max_size=5))
def test_a_product_of_linear_factors_has_their_roots(values: list[Fraction]) -> None:
    assert list(real_roots(product_of(x - value for value in values))) == sorted(set(values))


@some
@given(st.lists(st.integers(1, 60), min_size=1, max_size=3))
def test_square_roots_compare_as_their_squares_do(squares: list[int]) -> None:
    found = real_roots(product_of(x * x - n for n in squares))
    exact = sorted({(sign, n) for n in squares for sign in (-1, 1)}, key=lambda item: item[0] * item[1])
    assert len(found) == len(exact)
    for root, (sign, n) in zip(found, exact, strict=True):
        if isqrt(n) ** 2 == n:
            assert root == sign * isqrt(n)
        near = approximate(root, Fraction(1, 10**9))
        assert abs(near * near - n) < Fraction(1, 10**6)


@some
@given(univariate)
def test_roots_are_where_the_sign_changes_and_nowhere_else(polynomial: Polynomial) -> None:
    roots = real_roots(polynomial)
    bound = Fraction(1000)
    cuts: list[RealNumber] = [-bound, *roots, bound]
    samples = [between(a, b) for a, b in itertools.pairwise(cuts)]
    # Between two neighbours in `cuts` the sign is that of the product over the factors' parities.
    _, factors = polynomial.factor()
    for left, root, right in zip(samples, roots, samples[1:], strict=False):
        power = prod(exponent for factor, exponent in factors if is_root(factor, root))
        signs = polynomial.sign_at({"x": left}), polynomial.sign_at({"x": right})
        assert signs[0] * signs[1] == (-1 if power % 2 else 1)
        assert is_root(polynomial, root)
    for left, inside in zip(cuts, samples, strict=False):
        start = approximate(left)
        nearer = start + (inside - start) / 3
        assert compare(left, inside) == -1
        assert polynomial.sign_at({"x": nearer}) == polynomial.sign_at({"x": inside})


@some
@given(rationals, rationals)
def test_a_number_between_two_is_an_integer_where_there_is_one(one: Fraction, other: Fraction) -> None:
    if one == other:
        return
    low, high = min(one, other), max(one, other)
    found = between(low, high)
    assert low < found < high
    assert (found.denominator == 1) == any(low < n < high for n in range(-41, 42))


def test_between_irrational_numbers_an_integer_is_preferred() -> None:
    root2, root5 = real_roots(x * x - 2)[1], real_roots(x * x - 5)[1]
    assert between(root2, root5) == 2
    assert root2.index == 1 if isinstance(root2, Algebraic) else False
    assert ascending([root5, Fraction(2), root2, root5]) == (root2, Fraction(2), root5)
    close = between(root2, real_roots(x * x - 3)[1])
    assert 2 < close * close < 3
