"""The questions of the GPU check of occupancy, and how it tells the answers; no GPU is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu.occupancy import THREADS, Kernel, Point, build, expected, kernels, report, sizes
from comprehensive.machine.device import load_device
from comprehensive.toolchain.nvcc import Tool

ROOT = Path(__file__).resolve().parents[3]
H100 = load_device("sm_90")


def test_there_are_ten_thousand_points_with_opt_in_sizes_and_partial_warps() -> None:
    asked = [(k, threads, size) for k in kernels() for threads in THREADS for size in sizes(H100, k[1])]
    assert len(asked) >= 10_000
    assert len(set(asked)) == len(asked)
    assert any(size > 48 * 1024 for _, _, size in asked)
    assert any(threads % 32 for _, threads, _ in asked)
    assert all(k[1] + size <= H100.optin_shared_bytes_per_block for k, _, size in asked)


def test_the_report_counts_and_lists_what_differs() -> None:
    kernel = Kernel("live8_shared0_cap255", 32, 0, 1024)
    right = expected(H100, kernel, 256, 0)
    points = [Point(kernel, 256, 0, right, right), Point(kernel, 512, 0, 3, 4), Point(kernel, 1024, 0, -1, 0)]
    text = report("abc", "NVIDIA H100", H100, points)
    assert right == 8
    assert "| points | 3 |\n| equal | 2 |\n| different | 1 |" in text
    assert "| live8_shared0_cap255 | 32 | 0 | 512 | 0 | 3 | 4 |" in text
    assert "-1" not in text


def test_it_needs_nothing_but_the_standard_library() -> None:
    program = (
        "import sys, benchmarks.gpu.occupancy; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # -S: no site packages.
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    others = (
        set(done.stdout.split()) - set(sys.stdlib_module_names) - {"__main__", "benchmarks", "comprehensive"}
    )
    assert {name for name in others if not name.startswith("_")} == set()


@pytest.mark.slow
@pytest.mark.toolchain
def test_nvcc_compiles_the_kernels(nvcc: Tool, tmp_path: Path) -> None:
    assert build(tmp_path, str(nvcc.path), "sm_90").stat().st_size > 0
