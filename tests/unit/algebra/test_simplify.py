"""Simplification drops atoms and no points."""

from __future__ import annotations

from hypothesis import given, settings

from comprehensive.algebra import Polynomial, System, at_least, at_most, equal, less
from comprehensive.algebra.simplify import simplify
from tests.examples import examples
from tests.unit.algebra.strategies import all_hold, box, machine_systems

B, s, Z, R = (Polynomial.symbol(name) for name in ("B", "s", "Z_B", "R_B"))
space = System((at_least(s, 1), at_least(B, 1), at_least(Z, 0), at_least(R, 0)))


@settings(max_examples=examples(30), deadline=None)
@given(machine_systems)
def test_the_points_stay_the_same(system: System) -> None:
    small = simplify(system)
    assert set(small.atoms) <= set(system.atoms)
    assert small.assumptions == system.assumptions
    for point in box(("B", "R_B", "Z_B", "s"), range(5)):
        assert all_hold(small.all_atoms, point) == all_hold(system.all_atoms, point)


def test_a_dominated_bound_is_dropped() -> None:
    system = space.add(less(Z, 2 * s * B + 2), less(Z, 2 * B + 2))
    assert simplify(system).format(("s", "B"), ("Z_B",)) == ("Z_B < 2*B + 2",)


def test_the_chain_of_a_refuse_path_prints_as_in_figure_7() -> None:
    kept, reduced = 2 * s * B + 2, 2 * B + 2
    system = space.add(less(Z, kept), less(Z, reduced), at_most(0, kept), at_most(9, R), at_most(5, R))
    text = simplify(system).format(("s", "B"), ("Z_B", "R_B"))
    assert text == ("Z_B < 2*B + 2", "9 <= R_B")


def test_bounds_that_do_not_compare_both_stay() -> None:
    system = space.add(at_most(s, Z), at_most(B, Z))
    assert simplify(system) == system


def test_a_bound_implied_by_an_equation_is_dropped() -> None:
    system = space.add(equal(Z, 2 * B), at_most(B, Z))
    assert simplify(system).atoms == (equal(Z, 2 * B),)
