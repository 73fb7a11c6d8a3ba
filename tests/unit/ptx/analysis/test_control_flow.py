"""Blocks, dominance and loops of small kernels, written out."""

from __future__ import annotations

from tests.ptx.destruction import in_sequence
from tests.ptx.random_programs import analysed


def edges(body: str) -> list[tuple[tuple[int, ...], bool]]:
    return [(block.successors, block.leaves) for block in analysed(body).cfg.blocks]


def test_a_guarded_branch_falls_through_first():
    assert edges("@%p1 bra A;\nmov.u32 %r1, 1;\nA: ret;") == [((1, 2), False), ((2,), False), ((), True)]


def test_an_exit_under_a_guard_leaves_and_falls_through():
    for code in ("exit", "ret", "trap"):
        assert edges(f"@!%p1 {code};\n{code};") == [((1,), True), ((), True)]


def test_a_branch_to_the_end_of_the_body_leaves():
    assert edges("@%p1 bra E;\nmov.u32 %r1, 1;\nE:") == [((1,), True), ((), True)]


def test_the_first_instruction_as_a_target_gets_an_empty_entry_before_it():
    assert edges("A: @%p1 bra A;\nret;") == [((1,), False), ((2, 1), False), ((), True)]


def test_an_indirect_branch_goes_to_every_label_of_its_table_once():
    body = "t: .branchtargets A, B, A;\nbrx.idx %r1, t;\nA: ret;\nB: ret;"
    assert edges(body) == [((1, 2), False), ((), True), ((), True)]


def test_a_call_falls_through_also_where_it_may_not_return():
    analyses = analysed("call.uni __assertfail, (a);\nmov.u32 %r1, 1;\nret;")
    assert len(analyses.cfg.blocks) == 1


def test_a_body_without_instructions_is_one_block_that_leaves():
    assert edges("") == [((), True)]


def test_what_no_way_leads_to_is_unreachable():
    cfg = analysed("ret;\nmov.u32 %r1, 1;\nret;").cfg
    assert cfg.unreachable == (1,)
    assert cfg.order == (0,)


def test_an_infinite_loop_is_given_a_way_out():
    post = analysed("@%p1 bra L;\nret;\nL: mov.u32 %r1, 1;\nbra L;").postdominators
    assert post.given == (2,)
    assert post.parent == (3, 3, 3, 3)


LOOP = """
mov.u32 %r1, 0;
OUTER: mov.u32 %r2, 0;
INNER: add.s32 %r2, %r2, 1;
setp.lt.s32 %p1, %r2, 10;
@%p1 bra INNER;
add.s32 %r1, %r1, 2;
setp.ne.s32 %p2, %r1, 64;
@%p2 bra OUTER;
ret;
"""


def test_nested_loops_have_headers_and_trips():
    analyses = analysed(LOOP)
    outer, inner = analyses.loops.loops
    assert (outer.header, outer.blocks, outer.depth, outer.parent) == (1, {1, 2, 3}, 1, -1)
    assert (inner.header, inner.blocks, inner.depth, inner.parent) == (2, {2}, 2, 0)
    assert inner.latches == (2,)
    assert inner.exits == ((2, 3),)
    trips = analyses.affine.trips
    assert (trips[0].constant, trips[1].constant) == (31, 9)
    assert trips[0].is_only


def test_a_cycle_with_two_entries_is_no_loop():
    analyses = analysed("@%p1 bra B;\nA: mov.u32 %r1, 1;\nB: @%p2 bra A;\nret;")
    assert analyses.loops.loops == ()
    assert analyses.loops.irregular == ((2, 1),)


def test_a_symbolic_bound_is_a_form_and_no_constant():
    analyses = analysed(
        "ld.param.u32 %r9, [n];\nmov.u32 %r1, 5;\n"
        "L: add.s32 %r1, %r1, 3;\nsetp.lt.s32 %p1, %r1, %r9;\n@%p1 bra L;\nret;"
    )
    trips = analyses.affine.trips[0]
    assert (trips.constant, trips.relation, trips.step) == (None, "lt", 3)
    assert analyses.affine.show(trips.bound) == "n"
    assert analyses.affine.show(trips.first) == "8"


def test_copies_of_a_swap_use_one_more_place_and_those_of_a_chain_none():
    assert in_sequence([("a", "b"), ("b", "a")], lambda name: f"spare of {name}") == (
        ("spare of a", "a"),
        ("a", "b"),
        ("b", "spare of a"),
    )
    assert in_sequence([("a", "b"), ("b", "c"), ("x", "x")], lambda name: "!") == (("a", "b"), ("b", "c"))
