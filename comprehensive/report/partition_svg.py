"""A partition as a picture to teach from: cells in, one self-contained SVG out.

Leaves are coloured by a scale that rises in lightness (viridis), so that they differ without colours too; dead ends are
hatched. Curves are drawn where the choice changes, with the equation that holds there. Heights of branches are taken
from the exact cells at many x of a column; floats only place what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import atan2, ceil, degrees, dist

from msgspec import Struct

from comprehensive.algebra.regions import Branch, Column, Plane, Reason
from comprehensive.algebra.roots import approximate
from comprehensive.algebra.thresholds import Line
from comprehensive.optimize.partition import Partition
from comprehensive.report.labels import LETTER, Label, least_clashing, rows
from comprehensive.report.partition_words import (
    Titled,
    code,
    condition,
    curve,
    decimal,
    equation,
    example,
    heading,
    name,
    occurring,
)
from comprehensive.report.runs import Run, open_columns, runs
from comprehensive.report.scale import Scale
from comprehensive.report.svg import (
    HATCH,
    INK,
    Place,
    group,
    on_anything,
    picture,
    points,
    rectangle,
    shade,
    stroke,
    text,
)

_WIDTH, _HEIGHT, _STRIP = 600, 480, 90
_LEFT, _TOP, _BELOW, _ROW = 80, 48, 56, 17
PLANE_FRAME = (_LEFT, _TOP, _WIDTH, _HEIGHT)
"""Left, top, width and height of the frame of a plane within the picture of it alone."""
_STEP = 4
# Where along a curve its label may stand, best first.
_PARTS = (0.5, 0.35, 0.65, 0.2, 0.8, 0.1, 0.9)


class _Area(Struct, frozen=True):
    """A run as it is drawn: at each x of `across` from `bottom` to `top`, in pixels."""

    run: Run
    across: tuple[float, ...]
    bottom: tuple[float, ...]
    top: tuple[float, ...]


def partitions_svg(found: Sequence[Titled]) -> str:
    """One picture with a panel for each partition, ending in a newline."""
    panels = [_panel(titled) for titled in found]
    width = max(width for _, width, _ in panels)
    shapes: list[str] = []
    offset = 0
    for lines, _, height in panels:
        shapes.append(group(lines, 0, offset))
        offset += height
    return picture(width, offset, shapes)


def _panel(titled: Titled) -> tuple[list[str], int, int]:
    """The shapes of one partition with width and height."""
    partition = titled.partition
    divided = partition.divided
    colours = _colours(partition)
    if isinstance(divided, Line):
        drawn, height = _line(partition, divided, colours)
    else:
        drawn, height = list(_plane(partition, divided, colours)), _HEIGHT
    legend = list(_legend(partition, colours, _TOP + height + _BELOW))
    title = heading(titled)
    longest = max(len(title) * LETTER, *(start + len(words) * LETTER for words, start, _ in legend))
    width = max(_LEFT + _WIDTH + 40, ceil(_LEFT + longest + 10))
    shapes = [text(_LEFT, 28, title, 'font-weight="bold"'), *drawn, *(shape for _, _, shape in legend)]
    return shapes, width, _TOP + height + _BELOW + _ROW * (len(legend) + 1)


def _colours(partition: Partition) -> Mapping[int | None, str]:
    leaves = [
        choice
        for choice in occurring(partition)
        if choice is not None and partition.cases[choice].kind == "leaf"
    ]
    colours: dict[int | None, str] = dict.fromkeys(range(len(partition.cases)), HATCH)
    colours[None] = "none"
    for place, choice in enumerate(leaves):
        colours[choice] = shade(place, max(len(leaves) - 1, 1))
    return colours


# --- one parameter


def _line(partition: Partition, line: Line, colours: Mapping[int | None, str]) -> tuple[list[str], int]:
    """The shapes, and the height of the strip: each threshold is named in a row where it meets no other name."""
    low, high = line.intervals[0].low, line.intervals[-1].high
    scale = Scale(approximate(low), approximate(high))
    marked: list[tuple[float, str]] = []
    for threshold in line.thresholds:
        shown = " and ".join(
            equation(atom, partition.order, partition.limits) for atom in threshold.equations
        )
        words = f"{line.symbol} = {decimal(threshold.value)}" + (f": {shown}" if shown else "")
        marked.append((_LEFT + _WIDTH * scale.place(approximate(threshold.value)), words))
    halves = ((_inside(at, words), len(words) * LETTER / 2 + 3) for at, words in marked)
    in_row = rows((middle - half, middle + half) for middle, half in halves)
    strip = max(_STRIP, _ROW * (max(in_row, default=0) + 1) + 40)
    return list(_strip(partition, line, colours, scale, [*zip(marked, in_row, strict=True)], strip)), strip


def _strip(
    partition: Partition,
    line: Line,
    colours: Mapping[int | None, str],
    scale: Scale,
    marked: Sequence[tuple[tuple[float, str], int]],
    strip: int,
) -> Iterator[str]:
    places: list[tuple[float, float, int | None]] = []
    for piece in line.pieces:
        start, end = (_LEFT + _WIDTH * scale.place(approximate(at)) for at in (piece.low, piece.high))
        places.append((start, end, piece.choice))
        yield rectangle(start, _TOP, end - start, strip, colours[piece.choice])
    for start, end, choice in places:
        if choice is not None and end - start > len(name(partition, choice)) * LETTER:
            yield _label(Label(((start + end) / 2, _TOP + strip - 20), name(partition, choice)))
    for (at, _), _ in marked:
        yield stroke([(at, _TOP), (at, _TOP + strip)])
    for (at, words), row in marked:
        yield _label(Label((_inside(at, words), _TOP + 14 + _ROW * row), words))
    yield from _frame(strip)
    yield from _horizontal_axis(scale, line.symbol, strip)


# --- two parameters


def _plane(partition: Partition, plane: Plane, colours: Mapping[int | None, str]) -> Iterator[str]:
    box = plane.box
    across, up = Scale(box.x_low, box.x_high), Scale(box.y_low, box.y_high)
    columns = [_areas(plane, column, across, up) for column in open_columns(plane)]
    areas = [area for column in columns for area in column]
    for area in areas:
        outline = [*zip(area.across, area.bottom, strict=True)]
        outline += reversed([*zip(area.across, area.top, strict=True)])
        fill = colours[area.run.choice]
        # A stroke of the same colour hides the seam to the next column.
        yield f'<polygon points="{points(outline)}" fill="{fill}" stroke="{fill}" stroke-width="0.7"/>'
    curves = _curves(partition, plane, columns, across)
    for line in (line for lines in curves.values() for line in lines):
        yield stroke(line, 4, "white", 'class="cf-rim"')
        yield stroke(line)
    labels: list[Label] = []
    for choice in (each for each in occurring(partition) if each is not None):
        named = _named([area for area in areas if area.run.choice == choice], name(partition, choice))
        labels += [] if named is None else [named]
    frame = (float(_LEFT), float(_TOP)), (float(_LEFT + _WIDTH), float(_TOP + _HEIGHT))
    for words, lines in curves.items():
        others = [
            place for other, found in curves.items() if other != words for line in found for place in line
        ]
        labels.append(least_clashing(_along(max(lines, key=_length), words), labels, others, frame))
    yield from map(_label, labels)
    yield from _frame(_HEIGHT)
    yield from _horizontal_axis(across, plane.symbols[0], _HEIGHT)
    yield from _vertical_axis(up, plane.symbols[1])


def _areas(plane: Plane, column: Column, across: Scale, up: Scale) -> list[_Area]:
    low, high = approximate(column.low), approximate(column.high)
    start, end = across.place(low), across.place(high)
    steps = max(2, ceil((end - start) * _WIDTH / _STEP))
    # Strictly inside, where all branches exist; drawn from end to end.
    edge = (high - low) / 10**6
    inside = [
        min(max(across.value(Fraction(start + (end - start) * k / steps)), low + edge), high - edge)
        for k in range(steps + 1)
    ]
    pixels = tuple(_LEFT + _WIDTH * (start + (end - start) * k / steps) for k in range(steps + 1))
    finest = (up.high - up.low) / 10**9

    def heights(branch: Branch) -> tuple[float, ...]:
        exact = (plane.height(branch, x) for x in inside)
        return tuple(_TOP + _HEIGHT * (1 - up.place(approximate(each, finest))) for each in exact)

    return [_Area(run, pixels, heights(run.below), heights(run.above)) for run in runs(column)]


def _curves(
    partition: Partition, plane: Plane, columns: Sequence[Sequence[_Area]], across: Scale
) -> Mapping[str, list[list[Place]]]:
    """Return for each equation the curves, in pixels, along which the choice changes."""
    found: dict[str, list[list[Place]]] = {}
    for areas in columns:
        for area in areas[:-1]:
            words = curve(partition, plane, area.run.above.polynomial)
            _extend(found.setdefault(words, []), list(zip(area.across, area.top, strict=True)))
    for critical, left, right in zip(plane.critical, columns, columns[1:], strict=False):
        at = _LEFT + _WIDTH * across.place(approximate(critical.value))
        for polynomial in (sources[0] for reason, sources in critical.reasons if reason is Reason.VERTICAL):
            for top, bottom in _changes(left, right):
                words = curve(partition, plane, polynomial)
                _extend(found.setdefault(words, []), [(at, bottom), (at, top)])
    return found


def _extend(lines: list[list[Place]], added: list[Place]) -> None:
    """Adds a piece of a curve, to the piece that it goes on from if there is one."""
    for line in lines:
        if dist(line[-1], added[0]) < 1:
            line += added
            return
    lines.append(added)


def _changes(left: Sequence[_Area], right: Sequence[_Area]) -> Iterator[tuple[float, float]]:
    """Yield the stretches of a vertical line, in pixels, where the choices on its sides differ."""
    cuts = {y for area in left for y in (area.top[-1], area.bottom[-1])}
    cuts |= {y for area in right for y in (area.top[0], area.bottom[0])}
    for bottom, top in pairwise(sorted(cuts, reverse=True)):
        middle = (top + bottom) / 2
        before = {area.run.choice for area in left if area.top[-1] <= middle <= area.bottom[-1]}
        after = {area.run.choice for area in right if area.top[0] <= middle <= area.bottom[0]}
        if before != after and bottom - top > 0.5:
            yield top, bottom


def _named(areas: Sequence[_Area], words: str) -> Label | None:
    """The label of the areas of one choice where there is most room for it, upright if need be; None without room."""
    best, wide, high = (0.0, 0.0), -1.0, -1.0
    for area in areas:
        for x, bottom, top in zip(area.across, area.bottom, area.top, strict=True):
            y = (bottom + top) / 2
            room = _room(areas, x, y)
            if min(room, 3 * (bottom - top)) > min(wide, 3 * high):
                best, wide, high = (x, y), room, bottom - top
    length = len(words) * LETTER
    if wide >= length and high >= _ROW:
        return Label(best, words)
    return Label(best, words, -90) if high >= length and wide >= _ROW else None


def _room(areas: Sequence[_Area], x: float, y: float) -> float:
    """The width of the areas at a height, as far as it is centred at x."""
    inside = [
        at
        for area in areas
        for at, bottom, top in zip(area.across, area.bottom, area.top, strict=True)
        if top <= y <= bottom
    ]
    return 2 * min(x - min(inside), max(inside) - x)


# --- shapes


def _along(line: Sequence[Place], words: str) -> Iterator[Label]:
    """Labels on both sides of a curve at several places, in its direction there."""
    half = len(words) * LETTER / 2
    for part in _PARTS:
        index, (x, y) = _part_way(line, part)
        first, last = line[max(index - 4, 0)], line[min(index + 5, len(line) - 1)]
        angle = degrees(atan2(last[1] - first[1], last[0] - first[0]))
        if abs(angle) < 20:
            x = _inside(x, words)
        elif abs(angle) > 70:
            y = min(max(y, _TOP + half), _TOP + _HEIGHT - half)
        yield Label((x, y), words, angle, -5)
        yield Label((x, y), words, angle, 14)


def _part_way(line: Sequence[Place], part: float) -> tuple[int, Place]:
    """Return the piece of a line on which a part of its length ends, and the place where it ends."""
    left = _length(line) * part
    for index, (one, other) in enumerate(pairwise(line)):
        step = dist(one, other)
        if left <= step and step > 0:
            x, y = (a + (b - a) * left / step for a, b in zip(one, other, strict=True))
            return index, (x, y)
        left -= step
    return len(line) - 1, line[-1]


def _inside(x: float, words: str) -> float:
    """Return where the middle of a text must be, from left to right, so that it stays in the frame."""
    half = len(words) * LETTER / 2 + 3
    return min(max(x, _LEFT + half), max(_LEFT + _WIDTH - half, _LEFT + half))


def _length(line: Sequence[Place]) -> float:
    return sum(dist(one, other) for one, other in pairwise(line))


def _legend(
    partition: Partition, colours: Mapping[int | None, str], top: int
) -> Iterator[tuple[str, float, str]]:
    """Rows of text with their shapes: a sample of colour, the case, its condition; its code and one of its points."""
    y = top
    shown = occurring(partition)
    indent = (max(len(name(partition, choice)) for choice in shown) + 2) * LETTER + 24
    for choice in shown:
        y += _ROW
        named, words = name(partition, choice), condition(partition, choice)
        sample = rectangle(_LEFT, y - 11, 16, 12, colours[choice], f'stroke="{INK}" stroke-width="0.6"')
        bold = text(_LEFT + 24, y, named, 'font-weight="bold"')
        yield words, indent, sample + bold + text(_LEFT + indent, y, words)
        y += _ROW
        words = f"{code(partition, choice)}; as at {example(partition, choice)}"
        yield words, indent, text(_LEFT + indent, y, words, 'opacity="0.75"')
    absent = [name(partition, choice) for choice in range(len(partition.cases)) if choice not in shown]
    if absent:
        words = f"not in this range: {', '.join(absent)}"
        yield words, 24, text(_LEFT + 24, y + _ROW, words)


def _frame(height: int) -> Iterator[str]:
    yield rectangle(_LEFT, _TOP, _WIDTH, height, "none", f'stroke="{INK}"')


def _horizontal_axis(scale: Scale, symbol: str, height: int) -> Iterator[str]:
    base = _TOP + height
    for tick in scale.ticks():
        x = _LEFT + _WIDTH * scale.place(Fraction(tick))
        yield stroke([(x, base), (x, base + 5)], 1)
        yield text(x, base + 18, str(tick), 'text-anchor="middle"')
    kind = " (logarithmic)" if scale.is_logarithmic else ""
    yield text(_LEFT + _WIDTH / 2, base + 40, symbol + kind, 'text-anchor="middle" font-weight="bold"')


def _vertical_axis(scale: Scale, symbol: str) -> Iterator[str]:
    for tick in scale.ticks():
        y = _TOP + _HEIGHT * (1 - scale.place(Fraction(tick)))
        yield stroke([(_LEFT - 5, y), (_LEFT, y)], 1)
        yield text(_LEFT - 8, y + 4, str(tick), 'text-anchor="end"')
    kind = " (logarithmic)" if scale.is_logarithmic else ""
    x, y = 20, _TOP + _HEIGHT / 2
    turned = f'transform="rotate(-90 {x} {y})" text-anchor="middle" font-weight="bold"'
    yield text(x, y, symbol + kind, turned)


def _label(label: Label) -> str:
    """A label, readable on every colour."""
    rim = on_anything(' text-anchor="middle"')
    x, y = label.place
    turned = f' transform="rotate({label.angle:.1f} {x:.1f} {y:.1f})"' if label.angle else ""
    return text(x, y, label.words, f'{rim}{turned} dy="{label.shift:g}"')
