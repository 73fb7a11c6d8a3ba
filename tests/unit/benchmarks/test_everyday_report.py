"""The report of the everyday kernels: ratios, means, pairs of spellings, and what did not run."""

from __future__ import annotations

import pytest

from benchmarks.gpu.everyday.report import Ceilings, Row, geometric_mean, report, rows
from benchmarks.gpu.everyday.timed import BY_NAME
from benchmarks.gpu.outcome import Outcome

SIZE = "m=2048 n=2048 k=2048"
DECLARED, LINEAR, OMP = (f"matmul_{spelling} {SIZE}" for spelling in ("declared", "linear", "omp"))
THEIRS = f"matmul {SIZE}"
TILE, LEAF = "tile 1: T0=16", "leaf 0 (1), cached: nothing"
REFUSAL = "refused: CF0104: no meta_schedule"


def ran(case: str, peer: str, median: float, what: str = "") -> Outcome:
    return Outcome(case, peer, (median * 0.9, median, median * 1.2), what)


def found(*outcomes: Outcome) -> list[Row]:
    tasks = [BY_NAME[name] for name in (DECLARED, LINEAR, OMP)]
    told = {(each.case, each.peer): each for each in outcomes}
    return rows(tasks, told, Ceilings(bytes=4e9, operations=6e10))


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
    text = report("A GPU, a day.", found(*ALL))
    mean = geometric_mean([0.8, 16.0])
    assert f"fastest peer: {mean:.2f}**, over 2 points of 2 kernels" in text
    assert "1 kernels that `gen` refuses, 0 points that did not run" in text
    assert f"| matmul_omp {SIZE} | ours | {REFUSAL} |" in text


def test_means_of_groups_and_pairs_of_spellings() -> None:
    text = report("A GPU, a day.", found(*ALL))
    assert "| a tile ran | 1 | 0.80 |" in text
    assert "| no tile ran | 1 | 16.00 |" in text
    assert "| linearised subscripts | 1 | 20.00 | 20.00 | 20.00 |" in text
    assert text.endswith("\n")


def test_a_wrong_result_is_in_no_mean_but_told() -> None:
    wrong = Outcome(LINEAR, "ours", reason="wrong result, off by 1.0e+00 of the largest element")
    text = report("A GPU, a day.", found(*ALL, wrong))
    assert "over 1 points of 1 kernels" in text
    assert "1 points that did not run or were wrong" in text
    assert f"| matmul_linear {SIZE} | ours | wrong result, off by" in text


def test_nothing_ran() -> None:
    assert "fastest peer: none**, over 0 points" in report("A GPU, a day.", [])
