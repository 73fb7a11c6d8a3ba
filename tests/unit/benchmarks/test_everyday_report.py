"""The report of the everyday kernels: ratios, means, pairs of spellings, and what did not run."""

from __future__ import annotations

import pytest

from benchmarks.gpu.everyday.compare import Point, compared, points
from benchmarks.gpu.everyday.report import Ceilings, Row, geometric_mean, report, rows
from benchmarks.gpu.everyday.timed import BY_NAME
from benchmarks.gpu.outcome import Outcome

SIZE = "m=2048 n=2048 k=2048"
DECLARED, LINEAR, OMP = (f"matmul_{spelling} {SIZE}" for spelling in ("declared", "linear", "omp"))
THEIRS = f"matmul {SIZE}"
TILE, LEAF = "tile 1: T0=16", "leaf 0 (1), cached: nothing"
CEILINGS = Ceilings(bytes=4e9, operations=6e10)
REFUSAL = "refused: CF0104: no meta_schedule"


def ran(case: str, peer: str, median: float, what: str = "") -> Outcome:
    return Outcome(case, peer, (median * 0.9, median, median * 1.2), what)


def written(*outcomes: Outcome) -> str:
    return report("A GPU, a day.", found(*outcomes), CEILINGS)


def found(*outcomes: Outcome) -> list[Row]:
    tasks = [BY_NAME[name] for name in (DECLARED, LINEAR, OMP)]
    told = {(each.case, each.peer): each for each in outcomes}
    return rows(tasks, told, CEILINGS)


ALL = (
    ran(DECLARED, "ours", 0.4, TILE),
    ran(LINEAR, "ours", 8.0, LEAF),
    Outcome(OMP, "ours", reason=REFUSAL),
    ran(THEIRS, "torch", 0.5),
    ran(THEIRS, "plain", 2.5),
)


def test_ratios_are_over_the_fastest_peer() -> None:
    assert [row.ratio for row in found(*ALL)] == [pytest.approx(0.8), pytest.approx(16.0), None]
    slow = Outcome(THEIRS, "torch", reason="out of memory")
    assert found(*ALL, slow)[0].ratio == pytest.approx(0.16)


def test_the_ceiling_is_the_longer_of_traffic_and_operations() -> None:
    row = found(*ALL)[0]
    assert row.floor == pytest.approx(2 * 2048**3 / 6e10)
    assert row.share == pytest.approx(2 * 2048**3 / 6e10 / 0.4)


def test_one_mean_and_what_is_not_in_it() -> None:
    text = written(*ALL)
    assert "4000 GB/s for the best copy, 60.00 TFLOP/s" in text
    mean = geometric_mean([0.8, 16.0])
    assert f"fastest peer: {mean:.2f}**, over 2 points of 2 kernels" in text
    assert "1 kernels that `gen` refuses, 0 points that did not run" in text
    assert f"| matmul_omp {SIZE} | ours | {REFUSAL} |" in text


def test_means_of_groups_and_pairs_of_spellings() -> None:
    text = written(*ALL)
    assert "| a tile ran | 1 | 0.80 |" in text
    assert "| no tile ran | 1 | 16.00 |" in text
    assert "| linearised subscripts | 1 | 20.00 | 20.00 | 20.00 |" in text
    assert text.endswith("\n")


def test_a_wrong_result_is_in_no_mean_but_told() -> None:
    wrong = Outcome(LINEAR, "ours", reason="wrong result, off by 1.0e+00 of the largest element")
    text = written(*ALL, wrong)
    assert "over 1 points of 1 kernels" in text
    assert "1 points that did not run or were wrong" in text
    assert f"| matmul_linear {SIZE} | ours | wrong result, off by" in text


def test_reports_are_compared_over_the_points_of_both() -> None:
    old = points(written(*ALL))
    faster = ran(LINEAR, "ours", 0.41, TILE)
    new = points(written(*ALL, faster, ran(OMP, "ours", 0.4, TILE)))
    assert {kernel for kernel, _ in old} == {"matmul_declared", "matmul_linear"}
    assert new["matmul_linear", SIZE] == Point(0.41, 0.82, TILE)
    text = compared(old, new)
    assert (
        f"2 points of both: {geometric_mean([0.8, 16.0]):.2f} before, {geometric_mean([0.8, 0.82]):.2f} after"
        in text
    )
    assert "Only in the first: 0; only in the second: 1." in text
    assert f"| matmul_linear | {SIZE} | 16.00 | 0.82 | 0.051 | {TILE} |" in text
    assert "| matmul_declared" not in text
    assert compared(old, {}) == "No point ran in both.\n"


@pytest.mark.parametrize(("median", "told"), [(0.0021996, "0.002200"), (0.31234, "0.3123"), (1379.9, "1380")])
def test_times_have_four_digits(median: float, told: str) -> None:
    assert f"| {told} |" in written(ran(DECLARED, "ours", median))


def test_nothing_ran() -> None:
    assert "fastest peer: none**, over 0 points" in report("A GPU, a day.", [], None)
