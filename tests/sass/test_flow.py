"""Blocks, edges and loops of machine code."""

from __future__ import annotations

from tests.sass.code import flow, function


def edges(text: str, jumps: dict[int, tuple[int, ...]] | None = None) -> list[tuple[int, ...]]:
    return [block.successors for block in flow(text, jumps).blocks]


def test_a_guarded_branch_falls_through_and_one_without_guard_does_not() -> None:
    assert edges("@P0 BRA 0x30\nMOV R1,R2\nBRA 0x40\nMOV R1,R3\nEXIT") == [(1, 2), (3,), (3,), ()]


def test_a_condition_may_stand_among_the_operands_of_a_branch() -> None:
    assert edges("BRA !P3,0x20\nMOV R1,R2\nEXIT") == [(1, 2), (2,), ()]
    assert edges("BRA.U !UP0,0x20\nMOV R1,R2\nEXIT") == [(1, 2), (2,), ()]


def test_a_guarded_exit_leaves_and_falls_through() -> None:
    first, last = flow("@P0 EXIT\nEXIT").blocks
    assert (first.successors, first.leaves, first.is_fork) == ((1,), True, True)
    assert (last.successors, last.leaves) == ((), True)


def test_where_lanes_meet_again_is_no_edge() -> None:
    text = "BSSY B0,0x40\n@P0 BRA 0x30\nMOV R1,R2\nBSYNC B0\nWARPSYNC.COLLECTIVE R1,0x60\nMOV R1,R2\nEXIT"
    assert edges(text) == [(1, 2), (2,), ()]


def test_a_call_falls_through_and_ends_its_block() -> None:
    found = flow("MOV R4,0x30\nCALL.REL.NOINC slow\nEXIT")
    assert [block.successors for block in found.blocks] == [(1,), ()]
    assert [found.call(block) for block in found.blocks] == ["slow", None]


def test_a_call_of_an_address_is_a_jump() -> None:
    found = flow("@P1 CALL.REL.NOINC 0x20\nBRA 0x0\nEXIT")
    assert [block.successors for block in found.blocks] == [(1, 2), (0,), ()]
    assert found.call(found.blocks[0]) is None


def test_a_jump_through_a_table_goes_to_each_of_its_targets() -> None:
    text = "BRX R4,-0x10\nEXIT\nMOV R1,R2\nEXIT"
    assert edges(text, {0: (0x20, 0x10, 0x20)}) == [(2, 1), (), ()]
    assert flow(text).blocks[0].leaves


def test_loops_are_named_in_the_order_of_the_code_and_know_their_depth() -> None:
    text = "MOV R1,R2\nMOV R1,R3\nMOV R1,R4\n@P0 BRA 0x20\n@P1 BRA 0x10\n@P2 BRA 0x50\nEXIT"
    loops = function(text, "MOV R1,R2\nRET.REL R4").loops
    assert [(loop.name, loop.address, loop.depth) for loop in loops] == [
        ("L0", 0x10, 1),
        ("L1", 0x20, 2),
        ("L2", 0x50, 1),
    ]


def test_what_parted_lanes_take_is_known() -> None:
    assert flow("BRA.DIV UR4,0x20\nEXIT\nSHFL.IDX PT,R1,R2\nBRA 0x10").rare_edges == {(0, 2)}
