"""Cliffs of the occupancy: the same as a count of blocks finds."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.machine.device import load_device
from comprehensive.ptx.build import ALONE
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.occupancy_gate import is_near_cap, next_cliff, register_cap


def _blocks(registers: int, threads: int) -> int:
    """Blocks on a multiprocessor: registers of a warp are a multiple of 256, and in one of four parts of it."""
    warps = -(-threads // 32)
    of_a_warp = -(-registers * 32 // 256) * 256
    return min(32, 64 // warps, 16384 // of_a_warp * 4 // warps)


@pytest.mark.parametrize(
    ("registers", "cliff"),
    [
        (16, 32),
        (32, 32),
        (33, 40),
        (41, 48),
        (49, 64),
        (65, 80),
        (81, 128),
        (129, 255),
        (255, 255),
        (400, 255),
    ],
)
def test_cliffs_of_256_threads_are_those_of_the_literature(registers: int, cliff: int) -> None:
    assert next_cliff(registers, 256, load_device("sm_90")) == cliff


@pytest.mark.parametrize("threads", [32, 64, 96, 128, 256, 512, 1000, 1024])
def test_up_to_a_cliff_as_many_blocks_fit_and_behind_it_fewer(threads: int) -> None:
    for registers in range(1, 255):
        cliff = next_cliff(registers, threads, load_device("sm_90"))
        if registers <= cliff < 255:
            assert _blocks(cliff, threads) == _blocks(registers, threads)
            assert _blocks(cliff + 1, threads) < _blocks(cliff, threads)


@pytest.mark.parametrize(
    ("tuning", "cap"),
    [
        ("", 255),
        (".maxnreg 40", 40),
        (".maxntid 256, 1, 1", 255),
        (".maxntid 32, 32", 64),
        (".maxntid 256, 1, 1\n.minnctapersm 2", 128),
        (".reqntid 256\n.minnctapersm 3", 80),
        (".maxntid 256\n.maxnreg 96", 96),
    ],
)
def test_directives_say_how_many_registers_there_are(tuning: str, cap: int) -> None:
    text = f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f()\n{tuning}\n{{\nret;\n}}\n"
    (function,) = parse(SourceFile("f.ptx", text)).functions.values()
    assert register_cap(function, ALONE, load_device("sm_90")) == cap


def test_near_the_cap_is_what_the_error_of_the_prediction_reaches() -> None:
    assert is_near_cap(118, 128)
    assert is_near_cap(140, 128)
    assert not is_near_cap(110, 128)
