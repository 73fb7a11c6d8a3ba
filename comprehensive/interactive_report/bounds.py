"""The points at which the model is evaluated for a page: the start of the sliders in, rankings by point out.

All points at which one slider at a time moves from where it started to any of its stops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from comprehensive.asserts import Asserts
from comprehensive.explanation import ranking_at
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.machine.device import Device
from comprehensive.model.ranking import Ranking
from comprehensive.plan.plan import RegionPlan
from comprehensive.records import replace
from comprehensive.report.page import Control
from comprehensive.report.page_model import Point
from comprehensive.watch import UNWATCHED, Watch


def rankings_of(
    region: RegionPlan,
    device: Device,
    asserts: Asserts,
    sliders: Iterable[Control],
    watch: Watch = UNWATCHED,
) -> tuple[Mapping[Point, Ranking], bool]:
    """The rankings of a region where a call is not refused, and whether there was time for all of them.

    The start comes first, whatever the time, if a call is not refused there.
    """
    tilings = tuple(replace(plan, work=cache(plan.work)) for plan in region.tilings)
    remembered = replace(region, tilings=tilings)
    found: dict[Point, Ranking] = {}
    for point in _star([*sliders]):
        values = dict(point)
        if point in found or asserts.violated(values):
            continue
        if found and watch.is_over():
            return found, False
        try:
            ranking, _, _ = ranking_at(remembered, device, values)
        except UndefinedBehaviour:  # host code divides by what is 0 there
            continue
        if ranking is not None:
            found[point] = ranking
    return found, True


def _star(sliders: list[Control]) -> Iterator[Point]:
    start = {slider.name: slider.start for slider in sliders}
    yield tuple(start.items())
    for slider in sliders:
        for stop in slider.stops:
            yield tuple({**start, slider.name: stop}.items())
