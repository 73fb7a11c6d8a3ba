"""Strategies on compiled kernels: what they ask the compiler, and what counters make of what it says."""

from __future__ import annotations

import pytest

from comprehensive.algebra import Polynomial
from comprehensive.counters.occupancy import Occupancy
from comprehensive.counters.shared_words import SharedWords
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Applied, Evaluation, Kind, NotApplicable
from comprehensive.records import replace
from comprehensive.strategies.caching import initial_caching
from comprehensive.strategies.fewer_registers import FewerRegisters, LocalSpills, compiled_strategies
from comprehensive.strategies.register_pressure import RegisterPressure
from tests.laws.nests import all_nests

CACHED = Variant(initial_caching(all_nests()["jacobi1d"]))


def _applied(outcome: Applied[Variant] | NotApplicable) -> Variant:
    assert isinstance(outcome, Applied), outcome
    return outcome.fragment


CAPPED = replace(CACHED, register_cap=24)
DEMOTED = replace(CAPPED, demoted=True)


@pytest.mark.parametrize(
    ("demotes", "found", "note"),
    [
        (False, CAPPED, "at most 24 registers, without spills"),
        (True, DEMOTED, "at most 24 registers, the others in shared memory"),
    ],
)
def test_the_limit_is_the_one_that_the_compiler_keeps(demotes: bool, found: Variant, note: str) -> None:
    outcome = FewerRegisters("fewer", lambda _: 24, demotes).apply(CACHED)
    assert outcome == Applied(found, note)


def test_slots_are_counted_for_whole_warps_of_threads() -> None:
    counter = SharedWords(slots=lambda kernel: 3 if kernel.demoted and kernel.register_cap == 24 else 0)
    own, b = SharedWords().evaluate(CACHED).value, Polynomial.symbol("B")
    assert counter.evaluate(CAPPED).value == own
    assert counter.evaluate(DEMOTED) == Evaluation(own + 3 * b + 93, "upper bound")
    for threads in (1, 31, 32, 33, 256):
        assert 3 * threads + 93 >= 3 * 32 * -(-threads // 32)
    hidden = Occupancy("shared_memory", shared_words=counter).evaluate(DEMOTED)
    assert hidden != Occupancy("shared_memory").evaluate(CACHED)


def test_the_compiler_is_asked_about_the_kernel_and_its_reason_is_told() -> None:
    asked: list[Kernel] = []

    def lowered(kernel: Kernel) -> str:
        asked.append(kernel)
        return "it is small enough"

    outcome = FewerRegisters("register-cap", lowered, demotes=False).apply(CACHED)
    assert outcome == NotApplicable("it is small enough")
    assert [kernel.shared_words for kernel in asked] == [SharedWords().evaluate(CACHED).value]


def test_what_lies_in_shared_memory_is_spilled_where_that_does_not_suffice() -> None:
    assert _applied(LocalSpills().apply(DEMOTED)) == CAPPED
    assert isinstance(LocalSpills().apply(CACHED), NotApplicable)
    again = FewerRegisters("demote-registers", lambda _: pytest.fail("asked"), demotes=True).apply(DEMOTED)
    assert isinstance(again, NotApplicable)


def test_spilling_to_the_least_registers_takes_values_out_of_shared_memory() -> None:
    demoted = replace(CACHED, register_cap=80, demoted=True)
    assert _applied(RegisterPressure(3).apply(demoted)) == replace(CACHED, register_cap=32)


@pytest.mark.parametrize(("needed", "cap"), [(108, 32), (255, 32), (256, 255), (405, 255)])
def test_a_kernel_that_needs_more_than_a_thread_may_have_keeps_all_that_it_may(needed: int, cap: int) -> None:
    class Needed:
        name, limit, kind = "registers_per_thread", "R_B", Kind.RESOURCE

        def evaluate(self, fragment: Variant) -> Evaluation:
            return Evaluation(Polynomial.constant(needed), "ptxas sm_90")

    assert _applied(RegisterPressure(3, registers=Needed()).apply(CACHED)).register_cap == cap


def test_the_order_is_from_the_cheapest_to_the_dearest() -> None:
    made = compiled_strategies({"register-cap": lambda _: "", "demote-registers": lambda _: ""})
    assert [each.name for each in made] == ["register-cap", "demote-registers", "local-spills"]
