"""The demoted values: enough, nothing in vain, and in the paper's order; slots are shared by values that allow it."""

from __future__ import annotations

import random

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.demotion_choice import Strategy, choose
from comprehensive.ptx.passes.demotion_slots import slots_of
from comprehensive.ptx.passes.demotion_values import Value, values_of
from tests.ptx.many_values import many_values


def _analysed(seed: int) -> Analyses:
    module = parse(SourceFile("many.ptx", many_values(random.Random(seed))))
    return Analyses(module.functions["f"], module)


def _peak(analyses: Analyses, demoted: list[Value]) -> int:
    """The most words that are live, by the registers that are live before each step and not in a slot there."""
    words: list[int] = []
    for step, count in enumerate(analyses.pressure.variant):
        away = (v.words for v in demoted if any(begin <= step < end for begin, end in v.relieved))
        words.append(count - sum(away))
    return max(words)


@pytest.mark.parametrize("seed", range(8))
def test_by_pressure_enough_is_demoted_and_nothing_in_vain(seed: int) -> None:
    analyses = _analysed(seed)
    values = values_of(analyses, 0).found
    peak = _peak(analyses, [])
    for target in (peak - 2, peak - 6, peak - 10):
        chosen = list(choose(values, analyses.pressure.variant, target, Strategy.PRESSURE, analyses.flow))
        reached = _peak(analyses, chosen)
        assert reached <= target or reached == _peak(analyses, list(values))
        limit = max(target, reached)
        assert all(_peak(analyses, [v for v in chosen if v is not each]) > limit for each in chosen)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", [Strategy.STATIC, Strategy.LIVERANGE, Strategy.CONFLICTS])
def test_the_orders_of_the_paper_take_no_two_operands_of_one_instruction(
    strategy: Strategy, seed: int
) -> None:
    analyses = _analysed(seed)
    values = values_of(analyses, 0).found
    chosen = choose(values, analyses.pressure.variant, 1, strategy, analyses.flow)
    numbers = {value.register.number for value in chosen}
    assert len(chosen) > 1
    for step in analyses.flow.steps:
        assert len(numbers.intersection((*step.reads, *step.defines))) <= 1
    if strategy is not Strategy.CONFLICTS:
        costs = [v.accesses if strategy is Strategy.STATIC else v.weighted for v in chosen]
        assert costs == sorted(costs)


@pytest.mark.parametrize("seed", range(8))
def test_no_value_is_stored_into_a_slot_that_is_to_be_read_for_another(seed: int) -> None:
    analyses = _analysed(seed)
    values = values_of(analyses, 4).found
    slots = slots_of(values, analyses.liveness, most=1000)
    assert slots.count < sum(value.words for value in values)
    for value in values:
        for other in values:
            if value is other or set(slots.of[value.register.number]).isdisjoint(
                slots.of[other.register.number]
            ):
                continue
            for step in value.stores:
                assert not analyses.liveness.after[step] >> other.register.number & 1


def test_uses_near_each_other_share_a_load_and_what_nobody_reads_is_not_stored() -> None:
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 .ptr .global .align 16 a)
{
.reg .f32 %f<9>;
.reg .b64 %rd<9>;
ld.param.u64 %rd1, [a];
ld.global.f32 %f1, [%rd1];
ld.global.f32 %f2, [%rd1+4];
bar.sync 0;
bar.sync 0;
add.f32 %f3, %f1, %f2;
add.f32 %f4, %f1, %f3;
bar.sync 0;
bar.sync 0;
add.f32 %f5, %f1, %f4;
st.global.f32 [%rd1], %f5;
ret;
}
"""
    module = parse(SourceFile("f.ptx", text))
    analyses = Analyses(module.functions["f"], module)
    of = {value.register.name: value for value in values_of(analyses, 2).found}
    assert (of["%f1"].stores, of["%f1"].reloads) == ((1,), (5, 9))
    assert (of["%f3"].stores, of["%f3"].reloads) == ((), ())
    assert (of["%f4"].stores, of["%f4"].reloads) == ((6,), (9,))
    # Before its first use and between the clusters, not before steps 5 and 6.
    assert of["%f1"].relieved == ((2, 5), (7, 9))
