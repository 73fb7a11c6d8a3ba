"""The curve of a kernel's time over its occupancy, as a picture: figures 1, 2 and 10 of the paper *Orion*.

In: levels with their times.  Out: one self-contained SVG, a panel for each kernel.  A point is a version; the line
joins the fastest one of each occupancy; the band holds what is within 2 % of the fastest, and the ring is the one that
is kept.  Where times were measured, a dashed line joins the least predictions beside them, each over the original's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from xml.sax.saxutils import escape

from comprehensive.occupancy_tuning.plateau import NEAR
from comprehensive.report.levels_text import Shown, over_first
from comprehensive.report.svg import INK, group, picture

_WIDTH, _HEIGHT, _LEFT, _TOP, _BELOW = 520, 220, 64, 40, 48
_LINE, _POINT = "#31688e", "#35b779"
_BAND = 'fill="#5ec962" fill-opacity="0.25"'
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def to_svg(shown: Sequence[Shown]) -> str:
    """A picture, ending in a newline; kernels of which no time is known are left out."""
    panels = [each for each in shown if any(time is not None for time in each.times)]
    high = _TOP + _HEIGHT + _BELOW
    width, height = _LEFT + _WIDTH + 40, high * max(1, len(panels))
    return picture(
        width, height, (group(_panel(each), 0, number * high) for number, each in enumerate(panels))
    )


def _panel(shown: Shown) -> Iterator[str]:
    times = [time for time in shown.relative if time is not None]
    beside = over_first(shown.predicted) if shown.is_measured else ()
    every = [*times, *(time for time in beside if time is not None)]
    low, top = 0.95 * min(every), 1.05 * max(every)

    def x(fraction: float) -> float:
        return round(_LEFT + _WIDTH * fraction, 1)

    def y(time: float) -> float:
        return round(_TOP + _HEIGHT * (top - time) / (top - low), 1)

    what = "measured (dashed: predicted)" if shown.is_measured else "predicted"
    yield f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(shown.symbol)}: {what} time by occupancy</text>'
    best = min(times)
    upper, lower = y(best * (1 + NEAR)), y(best)
    yield f'<rect x="{_LEFT}" y="{upper}" width="{_WIDTH}" height="{round(lower - upper, 1)}" {_BAND}/>'
    yield f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="{INK}"/>'
    for tick in _TICKS:
        yield f'<text x="{x(tick)}" y="{_TOP + _HEIGHT + 18}" text-anchor="middle">{100 * tick:.0f} %</text>'
    for time in (low, (low + top) / 2, top):
        yield f'<text x="{_LEFT - 8}" y="{y(time) + 4}" text-anchor="end">{time:.2f}</text>'
    yield f'<text x="{_LEFT}" y="{_TOP + _HEIGHT + 36}">warps on a multiprocessor over the most there can be</text>'
    if beside:
        yield f'<polyline points="{_way(shown, beside, x, y)}" fill="none" stroke="{INK}" stroke-dasharray="4 3"/>'
    yield from _points(shown, x, y)


def _points(shown: Shown, x: Callable[[float], float], y: Callable[[float], float]) -> Iterator[str]:
    found = shown.plateau
    points: list[str] = []
    for number, (level, time) in enumerate(zip(shown.levels, shown.relative, strict=True)):
        if time is None:
            continue
        fraction = float(level.fraction)
        label = escape(f"{level.setting}: {level.registers} registers, {time:.3f}")
        points.append(
            f'<circle cx="{x(fraction)}" cy="{y(time)}" r="4" fill="{_POINT}"><title>{label}</title></circle>'
        )
        if found is not None and number == found.chosen:
            points.append(f'<circle cx="{x(fraction)}" cy="{y(time)}" r="8" fill="none" stroke="{INK}"/>')
    way = _way(shown, shown.relative, x, y)
    yield f'<polyline points="{way}" fill="none" stroke="{_LINE}" stroke-width="2"/>'
    yield from points


def _way(
    shown: Shown, times: Sequence[float | None], x: Callable[[float], float], y: Callable[[float], float]
) -> str:
    """Return the points of a line through the least time of each occupancy."""
    fastest: dict[float, float] = {}
    for level, time in zip(shown.levels, times, strict=True):
        if time is not None:
            fraction = float(level.fraction)
            fastest[fraction] = min(time, fastest.get(fraction, time))
    return " ".join(f"{x(fraction)},{y(time)}" for fraction, time in sorted(fastest.items()))
