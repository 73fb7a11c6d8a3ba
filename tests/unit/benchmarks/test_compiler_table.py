"""The table of the CUDA compiler paper tells made-up counts right, and its optimizations are passes that there are."""

from __future__ import annotations

import pytest

from benchmarks.compiler_table import (
    ALL,
    OPTIMIZATIONS,
    PUBLISHED,
    Counts,
    Kernel,
    improvement,
    instructions_in,
    pipeline,
    report,
    summary,
)
from comprehensive.ptx.passes.pipeline_text import passes_of


def kernel(name: str, **executed: int) -> Kernel:
    counts = {each: Counts(executed.get(each, 100), 50, 32) for each in (ALL, *OPTIMIZATIONS)}
    return Kernel("source", name, counts)


KERNELS = (kernel("faster", LPRE=130), kernel("same", LPRE=102), kernel("slower", LPRE=80))


def test_improvement_is_what_there_is_more_without_an_optimization() -> None:
    assert improvement(100, 130) == 30.0
    assert improvement(100, 80) == -20.0
    assert improvement(0, 80) == 0.0


def test_three_per_cent_are_no_change() -> None:
    assert summary(KERNELS, "LPRE", "executed") == (1, 1, 1, -20.0, 30.0)
    assert summary(KERNELS, "EPRE", "executed") == (0, 3, 0, 0.0, 0.0)


def test_each_optimization_can_be_left_out_of_the_pipeline() -> None:
    every = [each.name for each in passes_of(pipeline())]
    assert every[-1] == "dce"
    for name in OPTIMIZATIONS:
        assert len(passes_of(pipeline(name))) < len(every)


def test_published_rows_count_521_kernels() -> None:
    assert all(better + same + worse == 521 for _, better, same, worse, _, _ in PUBLISHED)


def test_report_has_published_and_own_counts_side_by_side() -> None:
    text = report({"O1": KERNELS}, {"O1": ["strange (it is)"]}, "Today.")
    (row,) = [line for line in text.splitlines() if line.startswith("| LPRE |")]
    assert "47 (9.0 %), 430 (82.5 %), 44 (8.4 %) | -25.5, 29.4" in row
    assert "1 (33.3 %), 1 (33.3 %), 1 (33.3 %) | -20.0, 30.0" in row
    assert "3 kernels" in text
    assert "Left out: strange (it is)." in text
    assert "| Hoisting |" in text


@pytest.mark.parametrize(("padding", "expected"), [(0, 2), (3, 2)])
def test_padding_of_code_is_no_instruction(padding: int, expected: int) -> None:
    word = bytes([0x24, 0x76]) + bytes(14)
    no_operation = bytes([0x18, 0x79]) + bytes(14)
    assert instructions_in(word * 2 + no_operation * padding) == expected
