"""Projection and coverage against brute force."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import (
    Atom,
    Consistent,
    Inconsistent,
    Polynomial,
    PortfolioSolver,
    Relation,
    System,
    at_least,
    at_most,
    equal,
    less,
    smt,
)
from comprehensive.algebra.eliminate import project, uncovered
from comprehensive.algebra.sign_sets import Signs
from comprehensive.algebra.tidy import without_factors
from tests.examples import examples
from tests.unit.algebra.strategies import all_hold, assumed, box, machine_atoms, machine_systems

B, s, Z, R, P = (Polynomial.symbol(name) for name in ("B", "s", "Z_B", "R_B", "P_occ"))
space = System((at_least(s, 1), at_least(B, 1), at_least(Z, 0), at_least(R, 0)))
few = settings(max_examples=examples(40), deadline=None)
quick = smt.Limits(resources=300_000, seconds=120)


@few
@given(machine_systems)
def test_a_projected_point_extends_and_a_point_projects(system: System) -> None:
    flat = project(system, ["R_B", "Z_B"])
    assert not {"R_B", "Z_B"} & set(flat.symbols)
    for point in box(("B", "s"), range(1, 5)):
        values = {name: Fraction(value) for name, value in point.items()}
        fiber = System((), tuple(atom.substitute(values) for atom in system.all_atoms))
        expected = isinstance(PortfolioSolver(limits=quick).check(fiber), Consistent)
        assert all_hold(flat.all_atoms, point) == expected


def test_accept_and_refuse_leave_the_condition_that_separates_them() -> None:
    leaf = space.add(at_most(2 * B + 2, Z), less(Z, 2 * s * B + 2), at_most(9, R))
    assert project(leaf, ["Z_B", "R_B"]).format() == ("1 < s",)


def test_a_polynomial_coefficient_of_known_sign_is_eliminated() -> None:
    shares = System((at_least(B, 1), at_least(P, 0), at_most(P, 1)))
    demanded = shares.add(at_most(P * (B + 1), 3), at_least(2 * P, 1))
    assert project(demanded, ["P_occ"]).format() == ("B <= 5",)


def test_projections_are_tidied_as_any_other_conjunction() -> None:
    powers = space.add(at_most(R, s * (B - 3) ** 3), at_least(R, 0))
    assert project(powers, ["R_B"]).format() == ("3 <= B",)


@few
@given(machine_systems, st.sampled_from([Relation.GE, Relation.GT, Relation.EQ]), st.integers(1, 3))
def test_factors_of_known_sign_say_nothing(system: System, relation: Relation, power: int) -> None:
    signs = Signs(assumed)
    for atom in system.atoms:
        grown = Atom(atom.polynomial**power * (-2 * B * s), relation)
        reduced = without_factors(grown, signs)
        assert reduced.polynomial.total_degree <= 2 * atom.polynomial.total_degree
        for point in box(("B", "R_B", "Z_B", "s"), range(1, 4)):
            assert reduced.holds(point) == grown.holds(point)


def test_equations_substitute() -> None:
    flat = project(space.add(equal(Z, 2 * B), equal(Z, R + 3 * s)), ["Z_B", "R_B"])
    assert flat.format(("s", "B")) == ("3*s <= 2*B",)
    assert project(space.add(equal(Z, 2 * B), equal(Z, 3 * s)), ["Z_B"]).atoms == (equal(2 * B, 3 * s),)


def test_a_symbol_that_is_not_linear_is_named() -> None:
    with pytest.raises(ValueError, match="Z_B"):
        project(space.add(at_most(Z * Z, B)), ["Z_B"])
    with pytest.raises(ValueError, match="Z_B"):
        project(space.add(at_most(Z * (s - B), 7)), ["Z_B"])


def test_an_empty_system_projects_to_an_empty_system() -> None:
    flat = project(space.add(less(Z, 2), at_most(3, Z)), ["Z_B"])
    assert isinstance(PortfolioSolver().check(flat), Inconsistent)


def test_the_three_jacobi_leaves_cover_all_with_nine_registers() -> None:
    kept, reduced, registers = 2 * s * B + 2, 2 * B + 2, at_most(9, R)
    leaves = [
        space.add(at_most(kept, Z), registers),
        space.add(at_most(reduced, Z), less(Z, kept), registers),
        space.add(less(Z, reduced), registers),
    ]
    solver = PortfolioSolver(use_smt=False)
    assert uncovered(space.add(registers), leaves, solver) == ()
    gaps = uncovered(space, leaves, solver)
    assert gaps is not None
    assert gaps
    assert all(less(R, 9) in gap.atoms for gap in gaps)
    missing = uncovered(space.add(registers), leaves[:2], solver)
    assert missing is not None
    assert [gap.format(("s", "B"), ("Z_B", "R_B")) for gap in missing] == [("Z_B < 2*B + 2", "9 <= R_B")]


def test_an_equation_is_cut_out_on_both_sides() -> None:
    gaps = uncovered(space, [space.add(equal(Z, 5))], PortfolioSolver())
    assert gaps is not None
    assert {gap.format(isolate=("Z_B",)) for gap in gaps} == {("Z_B < 5",), ("5 < Z_B",)}


def test_gaps_of_a_system_of_several_atoms_are_disjoint() -> None:
    gaps = uncovered(space, [space.add(at_least(Z, 5), at_least(R, 5))], PortfolioSolver())
    assert gaps is not None
    for point in box(("B", "R_B", "Z_B", "s"), (1, 4, 5, 6)):
        inside = point["Z_B"] >= 5 and point["R_B"] >= 5
        assert sum(gap.holds(point) for gap in gaps) == (0 if inside else 1)


def test_an_undecided_region_makes_the_answer_none() -> None:
    P, Q = (
        Polynomial.symbol("P_occ"),
        Polynomial.symbol("P_bw"),
    )  # shares: integers would be told apart by cases
    square = System((), (at_least(P * P + Q * Q, 2 * P * Q),))
    assert uncovered(System(), [square], PortfolioSolver(use_smt=False)) is None
    assert uncovered(System(), [square], PortfolioSolver()) == ()


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.lists(machine_atoms(), min_size=1, max_size=2), max_size=3))
def test_every_point_is_covered_or_in_exactly_one_gap(found: list[list[Atom]]) -> None:
    whole = System(assumed)
    systems = [whole.add(*atoms) for atoms in found]
    gaps = uncovered(whole, systems, PortfolioSolver(limits=quick))
    if gaps is None:
        return
    for point in box(("B", "R_B", "Z_B", "s"), range(1, 4)):
        covered = any(all_hold(system.all_atoms, point) for system in systems)
        homes = sum(all_hold(gap.all_atoms, point) for gap in gaps)
        assert homes == (0 if covered else 1)
