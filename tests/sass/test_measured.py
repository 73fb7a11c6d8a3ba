"""Predictions beside times of an H200 that are known: streams of 2^28 floats, blocks of 256 threads.

The times are medians of one H200 at 1.98 GHz (2026-11-20, CUDA 13.0); occupancy was lowered with dynamic shared memory.
They show that bytes in flight count, as accesses of a thread or as warps.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.gpu.ranking import Compared, rank_correlation, regret
from comprehensive.machine.device import load_device
from comprehensive.sass.launch import Launch
from comprehensive.sass.predict import predict
from comprehensive.sass.read import read_all
from comprehensive.toolchain.nvcc import Tool, compile_cubin

SOURCE = Path(__file__).with_name("streams.cu")
H200 = load_device("h200")
CYCLES_PER_MS = 1.98e6
FLOATS = 1 << 28

# Kernel, floats that a thread moves, arrays that pass the memory, milliseconds by blocks on a multiprocessor.
MEASURED = (
    ("copy1", 1, 2, {8: 0.779, 6: 0.989, 4: 1.379, 2: 2.493, 1: 4.674}),
    ("copy2", 2, 2, {8: 0.551}),
    ("copy4", 4, 2, {8: 0.506, 6: 0.541, 4: 0.582, 2: 0.886, 1: 1.518}),
    ("copy1x4", 4, 2, {8: 0.505}),
    ("copy4x2", 8, 2, {8: 0.521}),
    ("axpy1", 1, 3, {8: 0.919, 6: 1.121, 4: 1.535, 2: 2.785, 1: 5.238}),
    ("axpy4", 4, 3, {8: 0.742, 6: 0.757, 4: 0.772, 2: 1.031, 1: 1.707}),
)


@pytest.fixture(scope="module")
def compared(nvcc: Tool, nvdisasm: Tool) -> list[Compared]:
    functions = read_all(compile_cubin(nvcc, SOURCE, "sm_90").output)
    rows: list[Compared] = []
    for name, floats, arrays, times in MEASURED:
        for blocks, milliseconds in times.items():
            taken = H200.shared_bytes_per_sm // blocks - H200.reserved_shared_bytes_per_block
            launch = Launch(
                threads_per_block=256,
                blocks=FLOATS // floats // 256,
                shared_bytes=0 if blocks == 8 else taken // 128 * 128,
                global_bytes=4 * FLOATS * arrays,
            )
            found = predict(functions[name], H200, launch)
            assert found.occupancy.blocks_per_sm == blocks
            rows.append(Compared(f"{name} {blocks}", found.cycles / CYCLES_PER_MS, milliseconds))
    return rows


@pytest.mark.toolchain
def test_streams_are_ranked_as_they_were_measured(compared: list[Compared]) -> None:
    assert rank_correlation(compared) > 0.95
    # Six copies are predicted to be as fast as the memory: of these the slowest counts.
    copies = [row for row in compared if row.variant.startswith("copy")]
    assert regret(copies) < 0.2
    assert regret(copies, kept=6) == 0


@pytest.mark.toolchain
def test_no_prediction_of_a_stream_is_far_from_its_time(compared: list[Compared]) -> None:
    for row in compared:
        assert 0.6 < row.predicted / row.measured < 1.1, row
