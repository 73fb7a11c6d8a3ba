"""The synthetic trees that the solver is timed on: strategies lower values, decisions divide the space."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.tree_models import Adversarial, Code, GpuLike
from comprehensive.algebra import at_most, less


@pytest.mark.parametrize("variables", [3, 4, 6, 12])
def test_a_strategy_never_raises_the_value_that_it_is_taken_for(variables: int) -> None:
    model, random = GpuLike(1, variables), Random(0)
    system, state = model.root
    assert len(system.symbols) == variables
    refusals = 0
    for _ in range(200):
        decision, counter = model.decide(state), state.waiting[0]
        value = model.value(state, counter)
        assert decision.accept == at_most(value, model.machine[counter])
        assert decision.refuse == less(model.machine[counter], value)
        assert value.total_degree <= 4
        if decision.refused is not None and random.random() < 0.6:
            lowered = model.value(decision.refused, counter)
            point = {name: random.randint(1, 9) for name in system.symbols}
            assert lowered.evaluate(point) <= value.evaluate(point)
            state, refusals = decision.refused, refusals + 1
        else:
            assert decision.accepted is not None
            state = decision.accepted
    assert refusals > 50


def test_decisions_depend_on_the_seed_and_the_state_alone() -> None:
    state = Code(3, (2, 0, 1), (1, 2))
    assert GpuLike(5, 9).decide(state) == GpuLike(5, 9).decide(state)
    assert GpuLike(5, 9).decide(state) != GpuLike(6, 9).decide(state)
    assert Adversarial(5, 9).decide("ar") == Adversarial(5, 9).decide("ar")
    assert Adversarial(5, 9).decide("ar") != Adversarial(5, 9).decide("ra")


def test_adversarial_decisions_have_mixed_signs_and_are_complements() -> None:
    model = Adversarial(1, 4)
    for path in ("", "a", "r", "ara"):
        decision = model.decide(path)
        assert decision.refuse == decision.accept.negate()
        assert len(decision.accept.symbols) >= 1
        assert decision.accept.polynomial.total_degree <= 4
