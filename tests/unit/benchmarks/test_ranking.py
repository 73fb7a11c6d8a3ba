"""Rank correlation and regret."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.gpu.ranking import Compared, rank_correlation, regret


def table(*pairs: tuple[float, float]) -> list[Compared]:
    return [Compared(str(number), *pair) for number, pair in enumerate(pairs)]


def test_the_correlation_of_a_published_example() -> None:
    # IQ and hours of television a week, of the encyclopaedia's article on the coefficient: -29/165.
    iq = (106, 100, 86, 101, 99, 103, 97, 113, 112, 110)
    hours = (7, 27, 2, 50, 28, 29, 20, 12, 6, 17)
    assert rank_correlation(table(*zip(iq, hours, strict=True))) == pytest.approx(-29 / 165)


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    # Ranks 1.5, 1.5, 3 and 1, 2, 3.
    assert rank_correlation(table((1, 1), (1, 2), (5, 9))) == pytest.approx(1.5 / (1.5 * 2) ** 0.5)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2))
def test_only_the_order_counts(pairs: list[tuple[int, int]]) -> None:
    rows = table(*pairs)
    if len({p for p, _ in pairs}) == 1 or len({m for _, m in pairs}) == 1:
        with pytest.raises(ValueError, match="two different values"):
            rank_correlation(rows)
        return
    found = rank_correlation(rows)
    assert -1 - 1e-9 <= found <= 1 + 1e-9
    assert rank_correlation(table(*((exp(p), 3.0 * m + 1) for p, m in pairs))) == pytest.approx(found)
    assert rank_correlation(table(*((-p, m) for p, m in pairs))) == pytest.approx(-found)


def test_regret_is_what_the_best_predicted_version_loses() -> None:
    rows = table((10, 2.0), (20, 1.6), (30, 4.0))
    assert regret(rows) == pytest.approx(0.25)
    assert regret(rows, kept=2) == 0
    assert regret(table((1, 3.0), (1, 2.0))) == pytest.approx(0.5), (
        "of equal predictions the slower one is taken"
    )


@pytest.mark.parametrize(("rows", "kept"), [([], 1), (table((1, 1.0)), 0), (table((1, 0.0)), 1)])
def test_regret_of_nothing_is_refused(rows: list[Compared], kept: int) -> None:
    with pytest.raises(ValueError):
        regret(rows, kept)
