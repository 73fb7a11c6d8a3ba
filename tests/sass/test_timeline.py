"""The cycles that one warp takes, counted by hand."""

from __future__ import annotations

import pytest

from comprehensive.sass.instruction import Instruction
from comprehensive.sass.timeline import warp_cycles
from tests.sass.code import flow


def taken(text: str, *weights: float) -> float:
    found = flow(text)
    return warp_cycles(
        found, weights or [1.0] * len(found.blocks), latency, operand_cycles=20, barrier_cycles=30
    )


def latency(each: Instruction) -> float:
    return 500 if each.base == "LDG" else 100


LOAD = "stall=2 write=0 | LDG.E R4,[R2]\n"
USE = "stall=4 wait=0 | FADD R5,R4,R4\n"


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("stall=4 | FADD R1,R2,R3\nstall=2 | FADD R1,R2,R3\nstall=5 | EXIT", 11),
        ("stall=0 | FADD R1,R2,R3\n| EXIT", 2),  # an instruction takes a place in issue at least
        (LOAD + USE + "| EXIT", 500 + 4 + 1),
        (LOAD + "stall=9 | FADD R1,R2,R3\n" + USE + "| EXIT", 500 + 4 + 1),
        (LOAD + LOAD + USE + "| EXIT", 2 + 500 + 4 + 1),  # both are under way at once
        (LOAD + USE + LOAD + USE + "| EXIT", 2 * (500 + 4) + 1),
        ("read=3 | STS [R1],R2\nwait=3 | MOV R2,R4\n| EXIT", 20 + 1 + 1),
        ("stall=5 | BAR.SYNC 0x0\n| EXIT", 5 + 30 + 1),
        ("stall=5 | BAR.ARV 0x0\n| EXIT", 5 + 1),
    ],
)
def test_a_block_takes_its_stalls_and_what_it_waits_for(text: str, cycles: float) -> None:
    assert taken(text) == cycles


def test_a_partial_wait_lets_the_last_ones_go_on() -> None:
    started = "write=0 | LDG.E R4,[R2]\nstall=10 | MOV R1,R2\nwrite=0 | LDG.E R5,[R2]\n"
    assert taken(started + "| DEPBAR.LE SB0,0x1\n| EXIT") == 500 + 2
    assert taken(started + "| DEPBAR.LE SB0,0x0\n| EXIT") == 11 + 500 + 2
    assert taken(started + "| DEPBAR.LE SB0,0x3\n| EXIT") == 12 + 2


def test_loads_for_the_next_round_of_a_loop_are_under_way_meanwhile() -> None:
    at_once = "write=0 | LDG.E R4,[R2]\nstall=15 wait=0 | FADD R5,R4,R4\nstall=5 | @P0 BRA 0x0\n| EXIT"
    ahead = "stall=15 wait=0 | FADD R5,R4,R4\nwrite=0 | LDG.E R4,[R2]\nstall=5 | @P0 BRA 0x0\n| EXIT"
    assert taken(at_once, 10, 1) == 10 * (500 + 15 + 5) + 1
    # The load stands behind what uses it: of its 500 cycles all but those of the branch are waited for.
    assert taken(ahead, 10, 1) == 10 * (500 - 6 + 15 + 1 + 5) + 1


def test_a_block_that_never_runs_takes_nothing() -> None:
    assert taken("@P0 BRA 0x30\n" + LOAD + USE + "| EXIT", 1, 0, 1) == 1 + 1
