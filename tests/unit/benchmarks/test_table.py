"""Ratios of made-up times, and reasons where there are none."""

from __future__ import annotations

import pytest

from benchmarks.gpu.table import report
from tests.unit.benchmarks.made_up import MOVE, PRODUCT, SWEEPS, TALL, failed, ran, results

TRAFFIC_MS = MOVE.traffic / 3000e6
OPERATIONS_MS = PRODUCT.operations / 50e9


def _row(text: str, *cells: str) -> list[str]:
    """The one line of a table that begins with the cells."""
    (line,) = [line for line in text.splitlines() if line.startswith("| " + " | ".join(cells) + " |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_case_that_moves_data_is_held_against_the_best_copy() -> None:
    found = results(ran(MOVE.name, "ours", 2 * TRAFFIC_MS))
    assert found.share(MOVE, found.outcomes[MOVE.name, "ours"]) == pytest.approx(0.5)


def test_a_product_is_held_against_multiply_adds() -> None:
    found = results(ran(PRODUCT.name, "cublas", 4 * OPERATIONS_MS))
    assert found.share(PRODUCT, found.outcomes[PRODUCT.name, "cublas"]) == pytest.approx(0.25)


def test_without_ceilings_there_is_no_share() -> None:
    found = results(ran(MOVE.name, "ours", 1.0), ceilings=False)
    assert found.share(MOVE, found.outcomes[MOVE.name, "ours"]) is None
    assert _row(report(found), MOVE.name, "ours")[5] == ""


def test_speeds_are_relative_to_the_fastest_peer_that_ran() -> None:
    text = report(
        results(
            ran(PRODUCT.name, "ours", 0.5, "B0=16 (leaf 0)", "10 of 11 ran"),
            ran(PRODUCT.name, "cublas", 0.25, "sgemm"),
            ran(PRODUCT.name, "naive", 1.0),
            ran(PRODUCT.name, "figure4", 2.0),
            failed(PRODUCT.name, "triton", "no such thing"),
        )
    )
    summary = next(line for line in text.splitlines() if line.startswith("| matmul 1024 | 0.500 |"))
    assert [cell.strip() for cell in summary.strip("|").split("|")][5:] == [
        "cuBLAS",
        "0.250",
        "0.50",
        "4.00",
        "B0=16 (leaf 0)",
    ]
    assert _row(text, PRODUCT.name, "ours")[2:4] == ["0.500", "0.450..0.600"]
    assert _row(text, PRODUCT.name, "ours")[6:] == ["0.50", "B0=16 (leaf 0)", "10 of 11 ran"]
    assert _row(text, PRODUCT.name, "cuBLAS")[6] == "1.00"
    assert _row(text, PRODUCT.name, "naive kernel")[6] == "0.25"
    assert _row(text, PRODUCT.name, "Triton, autotuned")[-1] == "no such thing"


def test_a_case_that_ours_lacks_says_why_beside_its_fastest_peer() -> None:
    text = report(results(failed(TALL.name, "ours", "no spec"), ran(TALL.name, "torch", 0.4)))
    assert _row(text, TALL.name, "did not run")[5:] == ["torch, eager", "0.400", "", "", "no spec"]


def test_ours_alone_has_no_peer_to_compare_with() -> None:
    text = report(results(ran(SWEEPS.name, "ours", 3.0)))
    assert _row(text, SWEEPS.name, "3.000")[5:9] == ["", "", "", ""]


def test_bars_inside_a_cell_do_not_end_it() -> None:
    assert "a \\| b" in report(results(failed(MOVE.name, "ours", "a | b")))


def test_ceilings_come_with_their_rates() -> None:
    text = report(results())
    assert _row(text, "copy by float4 kernel")[3] == "3000 GB/s"
    assert _row(text, "fp32 multiply-adds in registers")[3] == "50.00 TFLOP/s"
