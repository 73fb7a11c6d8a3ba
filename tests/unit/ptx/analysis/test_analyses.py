"""The analyses of a function are computed once."""

from __future__ import annotations

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.space import Space
from tests.ptx.random_programs import analysed

BODY = "ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1]; add.s32 %r1, %r1, 1; st.u32 [%rd1], %r1; ret;"


def test_two_who_ask_the_same_of_a_function_share_the_answer() -> None:
    first = analysed(BODY)
    second = Analyses(first.function, first.module)
    assert second.pressure is first.pressure
    assert second.alias is first.alias


def test_who_vouches_for_more_shares_only_what_does_not_depend_on_that() -> None:
    first = analysed(BODY)
    second = Analyses(first.function, first.module, parameters_are_global=True, assume_noalias=True)
    assert second.affine is first.affine
    assert second.alias is not first.alias
    assert [each.accesses[3].space for each in (first, second)] == [Space.ANY, Space.GLOBAL]


def test_a_changed_function_has_analyses_of_its_own() -> None:
    first = analysed(BODY)
    changed = first.function.with_body([*first.function.body[:-2], first.function.body[-1]])
    assert len(Analyses(changed, first.module).flow.steps) == len(first.flow.steps) - 1
