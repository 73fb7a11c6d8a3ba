"""Cliffs of the occupancy: the same as a count of blocks finds."""

from __future__ import annotations

import pytest

from comprehensive.ptx.passes.occupancy_gate import next_cliff


def _blocks(registers: int, threads: int) -> int:
    """Blocks on a multiprocessor: registers of a warp are a multiple of 256."""
    warps = -(-threads // 32)
    of_a_warp = -(-registers * 32 // 256) * 256
    return min(32, 64 // warps, 65536 // (of_a_warp * warps))


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
    assert next_cliff(registers, 256) == cliff


@pytest.mark.parametrize("threads", [32, 64, 96, 128, 256, 512, 1000, 1024])
def test_up_to_a_cliff_as_many_blocks_fit_and_behind_it_fewer(threads: int) -> None:
    for registers in range(1, 255):
        cliff = next_cliff(registers, threads)
        if registers <= cliff < 255:
            assert _blocks(cliff, threads) == _blocks(registers, threads)
            assert _blocks(cliff + 1, threads) < _blocks(cliff, threads)
