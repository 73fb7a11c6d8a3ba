"""Atoms: normal form, complement, sides for the dispatcher, and text as in figure 7."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Atom, Polynomial, Relation, at_least, at_most, equal, less
from tests.examples import examples
from tests.unit.algebra.strategies import NAMES, all_hold, atoms, points, polynomials

B, s, Z, P = (Polynomial.symbol(name) for name in ("B", "s", "Z_B", "P_occ"))
few = settings(max_examples=examples(50), deadline=None)


@few
@given(atoms, points)
def test_the_negation_holds_exactly_where_the_atom_does_not(atom: Atom, point: dict[str, Fraction]) -> None:
    held = [complement.holds(point) for complement in atom.complements()]
    assert held.count(True) == (0 if atom.holds(point) else 1)
    if atom.relation is not Relation.EQ:
        assert atom.negate().holds(point) != atom.holds(point)
        assert atom.negate().negate() == atom


def test_an_equation_has_no_single_complement() -> None:
    with pytest.raises(ValueError, match="complement"):
        equal(B, s).negate()


@few
@given(atoms, st.fixed_dictionaries({name: st.integers(0, 50) for name in NAMES}))
def test_the_positive_sides_decide_the_atom_without_subtraction(atom: Atom, point: dict[str, int]) -> None:
    left, right = atom.positive_sides()
    assert all(term.coefficient > 0 for side in (left, right) for term in side.terms())
    a, b = left.evaluate(point), right.evaluate(point)
    assert atom.holds(point) == {Relation.GE: a <= b, Relation.GT: a < b, Relation.EQ: a == b}[atom.relation]
    assert atom.holds(point) == all_hold([atom], point)


@few
@given(polynomials, polynomials, points)
def test_constructors_compare_their_sides(a: Polynomial, b: Polynomial, point: dict[str, Fraction]) -> None:
    x, y = a.evaluate(point), b.evaluate(point)
    assert at_most(a, b).holds(point) == (x <= y)
    assert less(a, b).holds(point) == (x < y)
    assert at_least(a, b).holds(point) == (x >= y)
    assert equal(a, b).holds(point) == (x == y)


def test_multiples_are_one_atom() -> None:
    assert at_most(4 * B, 6) == at_most(B * Fraction(1, 3), Fraction(1, 2))
    assert at_most(4 * B, 6).polynomial == 3 - 2 * B
    assert equal(B, s) == equal(2 * s, 2 * B)
    assert at_most(B, s) != at_most(s, B)


def test_constant_atoms_have_a_truth_value() -> None:
    assert at_most(B, B + 1).truth is True
    assert less(B, B).truth is False
    assert at_most(B, B).truth is True
    assert equal(2, 3).truth is False
    assert at_most(B, 1).truth is None


def test_machine_parameters_print_alone_on_one_side_as_in_figure_7() -> None:
    def text(atom: Atom) -> str:
        return atom.format(("s", "B"), isolate=("Z_B",))

    assert text(at_most(2 * s * B + 2, Z)) == "2*s*B + 2 <= Z_B"
    assert text(less(Z, 2 * s * B + 2)) == "Z_B < 2*s*B + 2"
    assert text(at_least(Z, 0)) == "0 <= Z_B"
    assert text(equal(Z, 2 * B)) == "Z_B == 2*B"
    assert text(equal(2 * B, Z)) == "Z_B == 2*B"
    assert text(at_most(s, B + 1)) == "s <= B + 1"
    assert at_least(B, 1).format() == "1 <= B"


def test_isolated_terms_of_both_signs_fall_back_to_positive_sides() -> None:
    T, R = Polynomial.symbol("T"), Polynomial.symbol("R")
    assert at_most(R * T, Z + 3).format(isolate=("R", "T", "Z_B")) == "R*T <= Z_B + 3"
