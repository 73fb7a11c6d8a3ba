"""Searches for points: what they return are points, small boxes are decided, and both are the same in every run."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings

from comprehensive.algebra import Atom, Polynomial, System, at_least, at_most, equal, less
from comprehensive.algebra.exhaustion import exhaust
from comprehensive.algebra.local_search import search
from comprehensive.algebra.points import Point, is_integral, plan_for
from tests.examples import examples
from tests.unit.algebra.strategies import first_point, free_systems, machine_systems

x, y, z, Z, R = (Polynomial.symbol(name) for name in ("x", "y", "z", "Z_B", "R_B"))
low = tuple(at_least(symbol, 1) for symbol in (x, y, z))


def found(atoms: tuple[Atom, ...], start: Point | None = None, steps: int = 60) -> Point | None:
    return search(atoms, plan_for(atoms), [start or {}], steps)


FAR = {
    "a product in a window": (
        *low,
        at_least(x * y, 10_000),
        at_most(x * x * y * y, 11_000**2),
        at_most(y, 30),
    ),
    "a machine parameter between two products": (
        *low,
        at_least(Z, 8 * x * y * z + 12),
        less(Z, 8 * x * y * z + x),
        at_least(x, y * z + 3),
        at_least(y, 9),
    ),
    "a ratio": (*low, at_least(x, 500 * y), at_most(x * y, 20_000 * z), at_least(y * z, 77)),
    "an equation": (*low, equal(x * y, 36), less(x, y), less(2, x)),
    "negative values": (equal(x + y * z, -40), at_most(x, -7), at_least(z, 5), at_most(y * y, 9)),
}


@pytest.mark.parametrize("name", FAR)
def test_points_are_found_far_from_the_start(name: str) -> None:
    point = found(FAR[name])
    assert point is not None
    assert System((), FAR[name]).holds(point)
    assert is_integral(point)
    assert point == found(FAR[name])


def test_a_start_that_is_a_point_needs_no_more_than_one_step() -> None:
    atoms = (equal(x * x * y - 3 * y, 1_000_000 * 97 * 97 - 3_000_000),)
    assert found(atoms, {"x": Fraction(97), "y": Fraction(1_000_000)}, steps=1) is not None


def test_shares_are_not_moved() -> None:
    share = Polynomial.symbol("P_a")
    assert found((at_least(share * share * x, 1), at_most(share, 1))) is None


@settings(max_examples=examples(80), deadline=None)
@given(machine_systems | free_systems)
def test_what_is_found_is_an_integer_point(system: System) -> None:
    point = found(system.all_atoms, steps=15)
    if point is not None:
        assert system.holds(point)
        assert is_integral(point)


@settings(max_examples=examples(60), deadline=None)
@given(free_systems | machine_systems)
def test_small_boxes_are_decided_as_brute_force_does(system: System) -> None:
    walls = [
        wall
        for name in system.symbols
        if not name.endswith("_B")
        for symbol in [Polynomial.symbol(name)]
        for wall in (at_least(symbol, -2), at_most(symbol, 3))
    ]
    atoms = (*system.all_atoms, *walls)
    answer = exhaust(atoms, 10_000, 4)
    if isinstance(answer, tuple):
        assert set(answer) <= set(atoms)
        assert first_point(answer, range(-3, 5)) is None
    elif answer is not None:
        assert System((), atoms).holds(answer)
        assert is_integral(answer)


def test_a_box_is_gone_through_only_if_it_is_finite_and_small() -> None:
    wall = (at_least(x, 1), at_most(x, 80), at_least(y, 70), at_most(y, 90))
    assert exhaust((*wall, equal(x**2 + y**2, 8633)), 2_000) == {"x": 52, "y": 77}
    assert exhaust((*wall, equal(x**2 + y**2, 8634)), 5) is None
    core = exhaust((*wall, at_least(z, 1), at_most(z, 2), equal(x**2 + y**2, 8634)), 4_000, 8)
    assert isinstance(core, tuple)
    assert at_least(z, 1) not in core
    assert exhaust((at_least(x, 1), equal(x * y, 5)), 10_000) is None
