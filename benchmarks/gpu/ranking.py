"""The quality of a ranking by predictions, beside what was measured.

In: a table of versions with what was predicted and measured of each.  Out: two numbers::

    rows = (Compared("a", 120.0, 1.5), Compared("b", 100.0, 1.4))
    rank_correlation(rows)         # 1.0: the same order
    regret(rows)                   # 0.0: the version that was predicted to be the best one is
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import correlation


@dataclass(frozen=True, slots=True)
class Compared:
    """A version of a kernel; less is better in both numbers, and their units do not matter."""

    variant: str
    predicted: float
    measured: float


def rank_correlation(rows: Sequence[Compared]) -> float:
    """Return Spearman's rank correlation: 1 for the same order, -1 for the opposite one.

    Equal values have the mean of their ranks. ValueError where all values of a column are equal: there is no order.
    """
    predicted = _ranks([row.predicted for row in rows])
    measured = _ranks([row.measured for row in rows])
    if len(set(predicted)) < 2 or len(set(measured)) < 2:
        raise ValueError("a rank correlation needs at least two different values in each column")
    return correlation(predicted, measured)


def regret(rows: Sequence[Compared], kept: int = 1) -> float:
    """Return how much slower than the best version the best of the ``kept`` is that were predicted to be fastest.

    0.1 is ten percent. Where equal predictions leave open which ones are kept, the slower ones are. ValueError for
    an empty table, nothing kept, and times that are not positive.
    """
    if not rows or kept < 1:
        raise ValueError("regret needs a version, and at least one that is kept")
    best = min(row.measured for row in rows)
    if best <= 0:
        raise ValueError(f"{best} is no time")
    chosen = sorted(rows, key=lambda row: (row.predicted, -row.measured))[:kept]
    return min(row.measured for row in chosen) / best - 1


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]
