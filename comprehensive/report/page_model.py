"""The expected times of launches, as data for bars: rankings at points in, a table of numbers out.

The model is too large for a page: it is evaluated beforehand, at the starting point and where one slider at a time
moves from there.  The page says so where the sliders stand at another point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from comprehensive.model.ranking import Ranked, Ranking

Point: TypeAlias = tuple[tuple[str, int], ...]


def model_table(rankings: Mapping[Point, Ranking]) -> dict[str, Any]:
    """Return the bounds of every candidate at every point, as JSON data.

    A point is named by its values, ``"n=4096,B=256"``.  Bounds are in cycles, one for each of ``terms``.
    """
    terms: dict[str, int] = {}
    names: dict[str, int] = {}
    points = {
        ",".join(f"{name}={value}" for name, value in point): [
            _candidate(ranked, names, terms) for ranked in (*ranking.fitting, *ranking.others)
        ]
        for point, ranking in rankings.items()
    }
    order = [name for name, _ in next(iter(rankings), ())]
    return {"order": order, "terms": [*terms], "names": [*names], "points": points}


def _candidate(ranked: Ranked, names: dict[str, int], terms: dict[str, int]) -> list[Any]:
    """Name, whether the launcher takes it, sweeps, and cycles with their bounds, or why it does not fit."""
    name = names.setdefault(ranked.name, len(names))
    start = [name, int(ranked.is_chosen), ranked.sweeps]
    if ranked.cost is None:
        return [*start, ranked.because]
    bounds = [
        part
        for t in ranked.cost.terms
        if t.cycles
        for part in (terms.setdefault(t.name, len(terms)), t.cycles)
    ]
    return [*start, ranked.cost.cycles, bounds]
