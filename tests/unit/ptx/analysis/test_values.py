"""SSA, liveness, variance, memory spaces, addresses and aliases of small kernels, written out."""

from __future__ import annotations

import pytest

from comprehensive.ptx.analysis.alias import Relation
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.variance import Level
from comprehensive.ptx.printer import print_statement
from tests.ptx.destruction import destructed
from tests.ptx.random_programs import analysed


def last_value(analyses: Analyses, register: str) -> int:
    """Return the value of the last definition of a register."""
    number = analyses.flow.names[register]
    return max(v for v, value in enumerate(analyses.ssa.values) if value.register == number)


def level(body: str, register: str) -> Level:
    analyses = analysed(body, parameters_are_global=True)
    return analyses.variance.values[last_value(analyses, register)]


def shown(body: str, register: str, tuning: str = "") -> str:
    analyses = analysed(body, tuning)
    form = analyses.affine.values[last_value(analyses, register)]
    assert form is not None
    return analyses.affine.show(form)


# SSA


def test_a_guarded_definition_keeps_the_value_before_it():
    analyses = analysed("mov.u32 %r1, 1;\n@%p1 mov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\nret;")
    ssa = analyses.ssa
    assert ssa.previous[1] == ssa.defines[0]
    assert ssa.uses[2] == (last_value(analyses, "%rd1"), ssa.defines[1][0])


def test_a_register_that_nobody_reads_behind_a_join_has_no_phi():
    body = "@%p1 bra A;\nmov.u32 %r1, 1;\nmov.u32 %r2, 1;\nA: {}ret;"
    assert analysed(body.format("")).ssa.phis[2] == ()
    (phi,) = analysed(body.format("st.global.u32 [%rd1], %r2;\n")).ssa.phis[2]
    assert phi.register == analysed(body.format("")).flow.names["%r2"]


def test_values_that_swap_in_a_loop_swap_through_a_third_register():
    body = """mov.u32 %r1, 1;\nmov.u32 %r2, 2;
    L: mov.u32 %r3, %r1;\nmov.u32 %r1, %r2;\nmov.u32 %r2, %r3;
    @%p1 bra L;\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1], %r2;\nret;"""
    texts = [print_statement(s) for s in destructed(analysed(body).ssa).body]
    edge = texts.index("$ssa_edge_1:")
    assert [text.split()[0] for text in texts[edge + 1 : edge + 4]] == ["mov.b32", "mov.b32", "bra.uni"]


# Liveness and pressure


def test_a_register_of_which_a_part_is_written_is_read_as_well():
    body = """.reg .v4 .b32 v;
    ld.global.v4.b32 v, [%rd1];
    mov.b32 v.x, 7;
    @%p1 bra A;
    st.global.v4.b32 [%rd1], v;
    A: ret;"""
    analyses = analysed(body)
    vector = analyses.flow.names["v"]
    assert analyses.flow.steps[1].defines == analyses.flow.steps[1].uses == (vector,)
    assert analyses.liveness.before[1] >> vector & 1
    assert not analyses.liveness.before[0] >> vector & 1
    assert "mov.b32 v.x, 7;" in [print_statement(s) for s in destructed(analyses.ssa).body]


def test_several_parts_that_one_load_writes_keep_their_registers():
    body = """.reg .v4 .b32 v;
    ld.global.v2.b32 {v.x, %r1}, [%rd1];
    ld.global.v2.b32 {v.y, v.z}, [%rd1];
    st.global.v4.b32 [%rd1+16], v;
    st.global.b32 [%rd1], %r1;
    ret;"""
    analyses = analysed(body)
    texts = [print_statement(s) for s in destructed(analyses.ssa).body if hasattr(s, "opcode")]
    names = analyses.flow.names
    assert analyses.flow.steps[0].defines == (names["v"], names["%r1"])
    assert analyses.flow.steps[0].uses == (names["v"], names["%rd1"])
    assert texts[0].startswith("ld.global.v2.b32 {v.x, %ssa_b32_0}, [")
    assert texts[1].startswith("ld.global.v2.b32 {v.y, v.z}, [")
    assert texts[3].endswith("], %ssa_b32_0;")


def test_max_live_counts_words_and_leaves_out_what_is_cheap():
    body = """ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nsetp.lt.s32 %p1, %r1, %r2;
    mad.wide.s32 %rd2, %r1, 4, %rd1;\n@%p1 st.global.u32 [%rd2], %r2;\nst.global.u32 [%rd1], %r1;\nret;"""
    analyses = analysed(body)
    pressure = analyses.pressure
    assert (max(pressure.words), max(pressure.not_again), pressure.ml2) == (6, 4, 3)
    assert pressure.words == analyses.live_words
    assert max(pressure.predicates) == 1


# Variance


@pytest.mark.parametrize(
    ("body", "register", "expected"),
    [
        ("ld.param.u32 %r1, [n];\nadd.s32 %r2, %r1, 4;", "%r2", Level.GRID),
        ("mov.u32 %r1, %ctaid.x;\nadd.s32 %r2, %r1, 4;", "%r2", Level.BLOCK),
        ("mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 4;", "%r2", Level.LANE),
        ("mov.u32 %r2, %clock;", "%r2", Level.LANE),
        ("ld.param.u64 %rd1, [a];\nld.global.u32 %r2, [%rd1];", "%r2", Level.WARP),
        ("ld.param.u64 %rd1, [a];\nld.volatile.global.u32 %r2, [%rd1];", "%r2", Level.LANE),
        ("ld.param.u64 %rd1, [a];\natom.global.add.u32 %r2, [%rd1], 1;", "%r2", Level.LANE),
        ("ld.param.u64 %rd1, [a];\nld.local.u32 %r2, [%rd1];", "%r2", Level.LANE),
        ("ld.param.u32 %r1, [n];\nunheard.of.u32 %r2, %r1;", "%r2", Level.LANE),
    ],
)
def test_values_vary_as_what_they_are_made_of(body: str, register: str, expected: Level):
    assert level(f"{body}\nret;", register) == expected


def test_what_is_merged_behind_a_variant_branch_varies():
    body = """mov.u32 %r1, %{}.x;\nsetp.lt.u32 %p1, %r1, 4;\nmov.u32 %r2, 1;
    @%p1 bra A;\nmov.u32 %r2, 2;\nA: mov.u32 %r3, %r2;\nret;"""
    assert level(body.format("tid"), "%r3") == Level.LANE
    assert level(body.format("ctaid"), "%r3") == Level.BLOCK


def test_a_counter_is_uniform_inside_a_loop_that_threads_leave_at_different_times_but_not_outside():
    body = """mov.u32 %r9, %tid.x;\nmov.u32 %r1, 0;
    L: add.s32 %r1, %r1, 1;\nadd.s32 %r2, %r1, 5;\nsetp.lt.u32 %p1, %r1, %r9;\n@%p1 bra L;\n{}ret;"""
    assert level(body.format(""), "%r2") == Level.GRID
    assert level(body.format("add.s32 %r3, %r2, 1;\n"), "%r3") == Level.LANE


# Addresses

INDEX = """ld.param.u64 %rd9, [a];\nld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;
"""


@pytest.mark.parametrize(
    ("body", "register", "expected"),
    [
        ("mul.wide.s32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd9, %rd1;", "%rd2", "a + 4*%tid.x"),
        ("add.s32 %r5, %r1, 3;\nmul.wide.s32 %rd1, %r5, 4;", "%rd1", "4*%tid.x + 12"),
        ("mul.wide.s32 %rd1, %r4, 4;", "%rd1", "4*s(%tid.x + %ctaid.x*%ntid.x)"),
        ("add.s32 %r5, %r4, 1;\ncvt.s64.s32 %rd1, %r5;", "%rd1", "s(%tid.x + %ctaid.x*%ntid.x + 1)"),
        ("add.s32 %r5, %r9, 1;\ncvt.u64.u32 %rd1, %r5;", "%rd1", "u(n + 1)"),
        ("cvt.s64.s32 %rd1, %r9;\ncvt.u32.u64 %r5, %rd1;\nadd.s32 %r5, %r5, 1;", "%r5", "n + 1"),
        ("shl.b32 %r5, %r1, 3;\nor.b32 %r6, %r5, 7;", "%r6", "8*%tid.x + 7"),
        ("and.b32 %r5, %r9, 31;\nand.b32 %r6, %r9, -32;\nadd.s32 %r7, %r5, %r6;", "%r7", "n"),
        ("and.b32 %r5, %r1, 1023;", "%r5", "%tid.x"),
        ("shl.b32 %r5, %r1, 3;\nshr.u32 %r6, %r5, 2;", "%r6", "2*%tid.x"),
        ("mov.u64 %rd1, tile;\nadd.s64 %rd2, %rd1, 8;", "%rd2", "tile + 8"),
    ],
)
def test_sums_are_widened_only_where_they_do_not_wrap(body: str, register: str, expected: str):
    assert shown(f"{INDEX}{body}\nret;", register) == expected


def test_a_comparison_that_was_true_lets_a_neighbour_be_the_same_sum():
    body = f"{INDEX}setp.ge.s32 %p1, %r4, %r9;\n@%p1 bra E;\nadd.s32 %r5, %r4, 1;\ncvt.s64.s32 %rd1, %r5;\nE: ret;"
    assert shown(body, "%rd1") == "s(%tid.x + %ctaid.x*%ntid.x) + 1"


def test_a_comparison_says_nothing_of_a_sum_that_may_still_wrap():
    body = f"{INDEX}setp.ge.s32 %p1, %r4, %r9;\n@%p1 bra E;\nadd.s32 %r5, %r4, 2;\ncvt.s64.s32 %rd1, %r5;\nE: ret;"
    assert shown(body, "%rd1") == "s(%tid.x + %ctaid.x*%ntid.x + 2)"


def test_a_disjunction_that_was_false_says_both():
    body = f"""{INDEX}setp.ge.s32 %p1, %r4, %r9;\nsetp.lt.s32 %p2, %r4, 1;\nor.pred %p3, %p1, %p2;\n@%p3 bra E;
    add.s32 %r5, %r4, 1;\ncvt.s64.s32 %rd1, %r5;\nadd.s32 %r6, %r4, -1;\ncvt.s64.s32 %rd2, %r6;\nE: ret;"""
    assert shown(body, "%rd1") == "s(%tid.x + %ctaid.x*%ntid.x) + 1"
    assert shown(body, "%rd2") == "s(%tid.x + %ctaid.x*%ntid.x) + -1"


def test_a_required_block_size_is_a_number():
    assert shown(f"{INDEX}ret;", "%r4", "\n.reqntid 256\n") == "%tid.x + 256*%ctaid.x"


def test_counters_of_loops_are_sums_with_the_iteration():
    body = f"""{INDEX}mov.u32 %r5, %r1;\nmov.u64 %rd1, %rd9;\nL: add.s32 %r5, %r5, 256;\nadd.s64 %rd1, %rd1, 1024;
    setp.lt.s32 %p1, %r5, %r9;\n@%p1 bra L;\nret;"""
    assert shown(body, "%r5") == "%tid.x + 256*count(0) + 256"
    assert shown(body, "%rd1") == "a + 1024*count(0) + 1024"


def test_equal_operations_on_equal_values_are_one_symbol():
    body = f"{INDEX}shr.u32 %r5, %r9, 3;\nshr.u32 %r6, %r9, 3;\nsub.s32 %r7, %r5, %r6;\nret;"
    assert shown(body, "%r7") == "0"


# Aliases

POINTERS = "ld.param.u64 %rd9, [a];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %rd1, %r1, 4, %rd9;\n"


def pair(body: str, relation: Relation = Relation.SAME_VISIT, **options: bool) -> bool:
    """Return whether the last two accesses may touch the same byte."""
    analyses = analysed(f"{POINTERS}{body}\nret;", **options)
    *_, one, other = analyses.accesses.values()
    return analyses.alias.may_alias(one, other, relation)


def test_neighbours_alias_as_far_as_they_are_wide():
    assert not pair("st.global.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd1+4];")
    assert pair("st.global.u64 [%rd1], %rd1;\nld.global.u32 %r2, [%rd1+4];")
    assert not pair("st.global.u64 [%rd1], %rd1;\nld.global.u32 %r2, [%rd1+-4];")


def test_other_threads_may_have_the_neighbour():
    assert pair("st.global.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd1+4];", Relation.ANY_THREAD)
    body = "mad.wide.u32 %rd2, %r1, 8, %rd9;\nst.global.u32 [%rd2], %r1;\nld.global.u32 %r2, [%rd2+4];"
    assert not pair(body, Relation.ANY_THREAD)


def test_other_iterations_may_have_the_neighbour():
    body = "L: add.s64 %rd1, %rd1, 4;\nst.global.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd1+4];\n@%p1 bra L;"
    assert not pair(body)
    assert pair(body, Relation.ANY_VISIT)


def test_what_nobody_writes_and_other_memories_alias_no_store():
    assert not pair("st.global.u32 [%rd1], %r1;\nld.global.nc.u32 %r2, [%rd7];")
    assert not pair("st.shared.u32 [%rd6], %r1;\nld.global.u32 %r2, [%rd7];")
    assert pair("st.u32 [%rd6], %r1;\nld.global.u32 %r2, [%rd7];")
    assert not pair("st.shared.u32 [tile], %r1;\nld.shared.u32 %r2, [tile+4];")


def test_barriers_calls_and_unknown_opcodes_may_touch_everything():
    for code in ("bar.sync 0", "call.uni f, (a)", "unheard.of.u32 %r5, %r6"):
        assert pair(f"ld.global.u32 %r2, [%rd1];\n{code};")


def test_different_variables_do_not_alias_and_different_parameters_only_where_the_user_says_so():
    two = """.shared .align 4 .b8 other[64];\nmov.u64 %rd2, tile;\nmov.u64 %rd3, other;
    mad.wide.u32 %rd4, %r1, 4, %rd2;\n"""
    assert not pair(f"{two}st.shared.u32 [%rd4], %r1;\nld.shared.u32 %r2, [%rd3];")
    loaded = f"{two}ld.global.s32 %r3, [%rd1];\nmad.wide.s32 %rd4, %r3, 4, %rd2;\n"
    assert not pair(f"{loaded}st.shared.u32 [%rd4], %r1;\nld.shared.u32 %r2, [%rd3];")
    again = two.replace(".shared .align 4 .b8 other[64]", ".extern .shared .b8 other[]")
    assert pair(f"{again}st.shared.u32 [%rd4], %r1;\nld.shared.u32 %r2, [%rd3];")


def test_what_holds_the_distance_to_another_variable_leads_there():
    two = ".shared .align 4 .b8 other[64];\nmov.u64 %rd2, tile;\nmov.u64 %rd3, other;\nsub.s64 %rd5, %rd3, %rd2;\n"
    body = f"{two}shr.s64 %rd5, %rd5, 2;\nshl.b64 %rd5, %rd5, 2;\nadd.s64 %rd4, %rd2, %rd5;\n"
    assert pair(f"{body}st.shared.u32 [%rd4], %r1;\nld.shared.u32 %r2, [%rd3];")
    read = "ld.global.u64 %rd5, [%rd1];\nmad.lo.s64 %rd4, %rd5, 4, %rd2;\n"
    assert pair(f"{two}{read}st.shared.u32 [%rd4], %r1;\nld.shared.u32 %r2, [%rd3];")


def test_the_distance_of_two_accesses_is_a_number_of_bytes():
    analyses = analysed(f"{POINTERS}ld.global.u32 %r2, [%rd1+4];\nld.global.u32 %r3, [%rd1+-8];\nret;")
    *_, one, other = analyses.accesses.values()
    assert analyses.alias.distance(one, other) == -12


def test_an_analysis_is_computed_once():
    analyses = analysed("ret;")
    assert analyses.affine is analyses.affine
    assert analyses.affine.ssa is analyses.ssa
