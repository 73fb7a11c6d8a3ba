"""Medians, spreads, and the way through a line of JSON."""

from __future__ import annotations

import pytest

from benchmarks.gpu.cases import COPY, FMA, Case
from benchmarks.gpu.outcome import Outcome


def test_the_median_of_an_even_number_lies_between_the_middle_two() -> None:
    outcome = Outcome("case", "peer", (4.0, 1.0, 3.0, 9.0))
    assert outcome.median == 3.5
    assert outcome.spread == (1.0, 9.0)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("a", "b", (0.1, 1 / 3), 'what "it" was', "π"),
        Outcome("a", "b", reason="line\nbreak"),
    ],
)
def test_an_outcome_travels_as_one_line(outcome: Outcome) -> None:
    line = outcome.to_line()
    assert "\n" not in line
    assert Outcome.from_line(line) == outcome


def test_without_times_nothing_ran() -> None:
    assert not Outcome("a", "b", reason="no").ran


def test_rates_are_those_of_the_least_work() -> None:
    product = Case("p", "matmul", (1, 1, 1), 4e12, 1e9, "")
    assert product.rate(1000.0) == pytest.approx(4.0)
    assert product.measured_in == "TFLOP/s"
    assert COPY.rate(1.0) == pytest.approx(COPY.traffic / 1e6)
    assert FMA.measured_in == "TFLOP/s"
