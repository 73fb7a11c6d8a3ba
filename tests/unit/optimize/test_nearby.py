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
from comprehensive.optimize.nearby import nearby

B, W, P = (Polynomial.symbol(name) for name in ("B", "W", "P_x"))
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


def test_a_solver_believes_no_point_that_is_none() -> None:
    solver = PortfolioSolver()
    with pytest.raises(ValueError, match="is no point"):
        solver.enter(SPACE, {"B": 64, "W": 4, "P_x": 0, str(WARPS.value): 3})
    point = {"B": 64, "W": 4, "P_x": 0, str(WARPS.value): 2}
    solver.enter(SPACE, point)
    assert solver.check(SPACE) == Consistent(point)
