"""Points of systems whose quotients follow from their parameters."""

from __future__ import annotations

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
from comprehensive.optimize.dependents import Dependents, Share
from comprehensive.optimize.nearby import nearby

B, W, P, M, N = (Polynomial.symbol(name) for name in ("B", "W", "P_x", "M", "N"))
GIVEN = (at_least(B, 1), at_least(W, 4), at_least(P, 0), at_most(P, 1))
WARPS = ceiling_of(RationalFunction(B, 32), Signs(GIVEN).of)
SPACE = System((*GIVEN, *WARPS.definition))


def test_a_parameter_moves_with_its_quotient_and_a_share_is_as_large_as_it_may_be() -> None:
    system = SPACE.add(at_most(P * W, WARPS.value), less(W, 2 * P * W), at_least(W, 8))
    start = {"B": 1, "W": 8, "P_x": 0, str(WARPS.value): 1}
    found = nearby(system, start, WARPS.quotients)
    assert found is not None
    assert system.holds(found)
    assert nearby(system, {}, WARPS.quotients) is not None


def test_nothing_is_found_where_nothing_is() -> None:
    assert nearby(SPACE.add(less(B, WARPS.value)), {"B": 1, "W": 4, "P_x": 0}, WARPS.quotients) is None


def test_two_limits_of_a_share_are_helped_one_after_the_other() -> None:
    """No single move helps: the share is the least of two limits, and both are too low."""
    demanded = (at_most(P * W, M), at_most(P * W, N), less(100, P * W))
    limited = System((*GIVEN, at_least(M, 1), at_least(N, 1))).add(*demanded)
    found = nearby(limited, {"B": 1, "W": 4, "P_x": 0, "M": 2, "N": 2}, ())
    assert found is not None
    assert limited.holds(found)


def test_what_a_move_changes_is_what_all_values_computed_anew_are() -> None:
    system = SPACE.add(at_most(P * W, WARPS.value), less(W, 2 * P * W), at_least(W, 8))
    atoms = system.all_atoms
    dependents = Dependents.of(("B", "W"), WARPS.quotients, (Share.of("P_x", atoms),), atoms)
    for start in ({"B": 1, "W": 4}, {"B": 64, "W": 8}, {"B": 33, "W": 100}):
        place = dependents.place(start)
        for name in ("B", "W"):
            for value in (1, 2, 31, 32, 33, 64, 65, 1024):
                anew = dependents.place({**start, name: value})
                moved = dependents.moved(place, name, value)
                if moved is None:
                    assert place.missed <= anew.missed, "no atom that failed depends on what has changed"
                    continue
                assert moved.point == anew.point
                mended = dependents.mended(place, moved, len(atoms))
                helps = bool(place.missed - anew.missed) and len(anew.missed) < len(atoms)
                assert (mended is not None) == helps
                assert mended is None or mended.missed == anew.missed


def test_a_solver_believes_no_point_that_is_none() -> None:
    solver = PortfolioSolver()
    with pytest.raises(ValueError, match="is no point"):
        solver.enter(SPACE, {"B": 64, "W": 4, "P_x": 0, str(WARPS.value): 3})
    point = {"B": 64, "W": 4, "P_x": 0, str(WARPS.value): 2}
    solver.enter(SPACE, point)
    assert solver.check(SPACE) == Consistent(point)
