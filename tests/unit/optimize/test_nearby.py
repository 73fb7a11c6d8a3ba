"""Points of systems whose quotients follow from their parameters."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from comprehensive.algebra import (
    Consistent,
    Polynomial,
    PortfolioSolver,
    RationalFunction,
    System,
    at_least,
    at_most,
    ceiling_of,
    less,
)
from comprehensive.algebra.sign_sets import Signs
from comprehensive.optimize.dependents import Dependents, Least, Share
from comprehensive.optimize.nearby import Effort, nearby

B, W, P, M, N = (Polynomial.symbol(name) for name in ("B", "W", "P_x", "M", "N"))
GIVEN = (at_least(B, 1), at_least(W, 4), at_least(P, 0), at_most(P, 1))
WARPS = ceiling_of(RationalFunction(B, 32), Signs(GIVEN).of)
SPACE = System((*GIVEN, *WARPS.definition))


def test_a_parameter_moves_with_its_quotient_and_a_share_is_as_large_as_it_may_be() -> None:
    system = SPACE.add(at_most(P * W, WARPS.value), less(W, 2 * P * W), at_least(W, 8))
    start = {"B": 1, "W": 8, "P_x": 0, str(WARPS.value): 1}
    found = nearby(system, [start], WARPS.quotients)
    assert found is not None
    assert system.holds(found)
    assert nearby(system, (), WARPS.quotients) is not None


def test_nothing_is_found_where_nothing_is() -> None:
    assert nearby(SPACE.add(less(B, WARPS.value)), [{"B": 1, "W": 4, "P_x": 0}], WARPS.quotients) is None


def test_two_limits_of_a_share_are_helped_one_after_the_other() -> None:
    """No single move helps: the share is the least of two limits, and both are too low."""
    demanded = (at_most(P * W, M), at_most(P * W, N), less(100, P * W))
    limited = System((*GIVEN, at_least(M, 1), at_least(N, 1))).add(*demanded)
    found = nearby(limited, [{"B": 1, "W": 4, "P_x": 0, "M": 2, "N": 2}], ())
    assert found is not None
    assert limited.holds(found)


def test_a_start_that_is_a_point_is_taken_as_it_is() -> None:
    system = SPACE.add(at_most(40, B), at_most(9, W))
    assert nearby(system, [{"B": 41, "W": 9, "P_x": 0}], WARPS.quotients, Effort(moves=0, places=1)) == {
        "B": 41,
        "W": 9,
        "P_x": 1,
        str(WARPS.value): 2,
    }


def test_a_start_between_integers_is_rounded() -> None:
    system = SPACE.add(at_most(40, B), at_most(9, W))
    found = nearby(system, [{"B": Fraction(81, 2), "W": Fraction(19, 2), "P_x": 0}], WARPS.quotients)
    assert found is not None
    assert all(value.denominator == 1 for value in found.values())


@pytest.mark.parametrize("least", [(), (Least("M", ()),)])
def test_columns_say_what_exact_arithmetic_says_of_each_place(least: tuple[Least, ...]) -> None:
    demanded = (at_most(P * W, WARPS.value), less(W, 2 * P * W), at_least(W, 8), less(3 * B, 2 * M))
    atoms = SPACE.add(*demanded).all_atoms
    followers = (Share.of("P_x", atoms), *(Least.of(each.name, atoms) or each for each in least))
    dependents = Dependents.of(("B", "W", "M"), WARPS.quotients, followers, atoms)
    places = [
        {"B": b, "W": w, "M": m}
        for b, w, m in product((0, 1, 31, 32, 33, 64, 1024), (0, 1, 4, 8, 100), (1, 90))
    ]
    judged = dependents.judged(
        {name: np.array([float(place[name]) for place in places]) for name in ("B", "W", "M")}
    )
    for place, missed, excess in zip(places, judged.missed, judged.excess, strict=True):
        point = dependents.point(place)
        assert missed == sum(not atom.holds(point) for atom in atoms), place
        assert excess >= 1
        assert missed or excess == 1


def test_the_share_is_the_least_of_what_the_lines_allow() -> None:
    atoms = SPACE.add(at_most(P * W, M), at_most(2 * P * W, N), at_least(P * W, -5)).all_atoms
    share = Share.of("P_x", atoms)
    assert share.value({"W": 10, "M": 3, "N": 4}) == Fraction(1, 5)
    assert share.value({"W": 1, "M": 3, "N": 4}) == 1
    assert share.value({"W": 1, "M": -3, "N": 4}) == 0


def test_a_solver_believes_no_point_that_is_none() -> None:
    solver = PortfolioSolver()
    with pytest.raises(ValueError, match="is no point"):
        solver.enter(SPACE, {"B": 64, "W": 4, "P_x": 0, str(WARPS.value): 3})
    point = {"B": 64, "W": 4, "P_x": 0, str(WARPS.value): 2}
    solver.enter(SPACE, point)
    assert solver.check(SPACE) == Consistent(point)
