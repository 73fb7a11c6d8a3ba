"""Rational functions as atoms, and atoms without factors of known sign: equivalent at every point that is allowed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.algebra import Atom, Polynomial, RationalFunction, Relation, at_least, equal, less
from comprehensive.algebra.comparison import DenominatorError, compared
from comprehensive.algebra.sign_sets import EITHER, NEGATIVE, POSITIVE, Signs
from comprehensive.algebra.tidy import normalised
from tests.unit.algebra.strategies import polynomials

B, s, n, x, Z = (Polynomial.symbol(name) for name in ("B", "s", "n", "x", "Z_B"))
ASSUMED = (at_least(B, 1), at_least(s, 1), at_least(n, 0), at_least(Z, 0))
SIGNS = Signs(ASSUMED)

shares = st.fractions(0, 3, max_denominator=3)
allowed = st.fixed_dictionaries(
    {
        "B": shares.map(lambda share: share + 1),
        "s": shares.map(lambda share: share + 1),
        "n": shares,
        "Z_B": shares,
        "x": st.fractions(-3, 3, max_denominator=3),
    }
)
factors = st.sampled_from([B, s, n, x, s - 1, s - 2, B - s, n + 1, -B, 1 - B, B * s - 2 * B + 1, Z - s * B])
products = st.lists(st.tuples(factors, st.integers(1, 4)), max_size=4)


@given(products, st.sampled_from(list(Relation)), st.lists(allowed, min_size=1, max_size=12))
def test_the_normal_form_holds_at_the_same_points(
    parts: list[tuple[Polynomial, int]], relation: Relation, points: list[dict[str, Fraction]]
) -> None:
    polynomial = Polynomial(1)
    for factor, power in parts:
        polynomial = polynomial * factor**power
    atom = Atom(polynomial, relation)
    reduced = normalised(atom, SIGNS)
    for point in points:
        assert reduced.holds(point) == atom.holds(point)


@given(polynomials, st.sampled_from(list(Relation)), st.lists(allowed, min_size=1, max_size=12))
def test_so_does_that_of_a_polynomial_without_factors(
    polynomial: Polynomial, relation: Relation, points: list[dict[str, Fraction]]
) -> None:
    atom = Atom(polynomial, relation)
    for point in points:
        assert normalised(atom, SIGNS).holds(point) == atom.holds(point)


@pytest.mark.parametrize(
    ("atom", "expected"),
    [
        (at_least(B * (2 * s * Z - 3), 0), at_least(2 * s * Z, 3)),
        (less(B, B * s), less(1, s)),
        (at_least(-B * B * (s - 2), 0), at_least(2, s)),
        (Atom((s - 2) ** 3 * B, Relation.GT), less(2, s)),
        (equal((s - 2) ** 2 * n, 0), equal((s - 2) * n, 0)),
        (at_least(n * (s - 2), 0), at_least(n * (s - 2), 0)),
        (Atom((s - 2) ** 2 * (B - 2), Relation.GE), at_least((s - 2) ** 2 * (B - 2), 0)),
        (at_least((s - 2) ** 4 * (B - 2) * B, 0), at_least((s - 2) ** 2 * (B - 2), 0)),
    ],
)
def test_factors_that_are_positive_go_and_no_others(atom: Atom, expected: Atom) -> None:
    assert normalised(atom, SIGNS) == expected


def test_the_example_of_the_paper_prints_as_in_its_figure() -> None:
    atom = at_least(B * Z, 2 * s * B * B + 2 * B)
    assert normalised(atom, SIGNS).format(("s", "B"), isolate=("Z_B",)) == "2*s*B + 2 <= Z_B"


def test_a_polynomial_of_high_degree_is_left_alone() -> None:
    atom = at_least(B * (s**40 * 10**200 - x**39 - 1) * (x**40 + s * n + 10**199), 0)
    assert normalised(atom, SIGNS) == atom


@given(polynomials, polynomials, st.sampled_from(list(Relation)), st.lists(allowed, min_size=1, max_size=12))
def test_a_quotient_has_the_sign_of_its_atom_whatever_the_sign_of_the_denominator(
    above: Polynomial, below: Polynomial, relation: Relation, points: list[dict[str, Fraction]]
) -> None:
    if not below:
        return
    value = RationalFunction(above, below)
    for point in points:
        bottom = value.denominator.evaluate(point)
        if not bottom:
            continue
        expected = Atom(Polynomial(value.evaluate(point)), relation).truth
        # Where the point alone is known, its sign; where the denominator is only known to differ from 0, that.
        for known in (EITHER, POSITIVE if bottom > 0 else NEGATIVE):
            assert compared(value, relation, lambda _, known=known: known).holds(point) == expected


@pytest.mark.parametrize("signs", [frozenset({0, 1}), frozenset({-1, 0}), frozenset({-1, 0, 1})])
def test_a_denominator_that_may_be_zero_makes_no_atom(signs: frozenset[int]) -> None:
    with pytest.raises(DenominatorError, match="B - s may be 0"):
        compared(RationalFunction(1, B - s), Relation.GE, lambda _: signs)


def test_no_sign_is_asked_for_where_nothing_is_divided() -> None:
    def refuse(_: Polynomial) -> frozenset[int]:
        raise AssertionError

    assert compared(RationalFunction(B - 1, 2), Relation.GT, refuse) == less(1, B)
