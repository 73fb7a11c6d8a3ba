"""A partition for a terminal: cells in, a map of characters, its legend and the critical values out.

B from 1 to 2048
  0000000000000000000000000000000000000000000####
  0  leaf 0      B <= T_B, 2*s*B + 2 <= Z_B
                 cached: a; decisions (3a) (4a) (1); as at B = 512
the choice changes
  at B = 1024, where B = T_B: leaf 0 below, leaf 0 there, dead end 3 above
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from comprehensive.algebra.regions import Cell, Plane
from comprehensive.algebra.roots import RealNumber, compare
from comprehensive.algebra.thresholds import Line, Piece, Threshold
from comprehensive.optimize.partition import Partition
from comprehensive.report.partition_words import (
    Titled,
    code,
    condition,
    curve,
    equation,
    example,
    heading,
    name,
    number,
    occurring,
)
from comprehensive.report.runs import seen_critical, seen_curves
from comprehensive.report.scale import Scale

_WIDTH, _HEIGHT = 64, 24
_LEAVES = "0123456789abcdefghijklmnopqrstuvwxyz"
_DEAD_ENDS = "#%&@$+=*"
_REFUSED = "!"


def partition_text(titled: Titled) -> str:
    """The partition, ending in a newline."""
    partition = titled.partition
    marks = _marks(partition)
    divided = partition.divided
    if isinstance(divided, Line):
        drawn = _line(divided, marks)
        critical = _thresholds(partition, divided)
    else:
        drawn = _plane(divided, marks)
        critical = _critical(partition, divided)
    unchecked = [f"not checked here: {each}" for each in titled.unchecked]
    lines = [heading(titled), *drawn, "", *_legend(partition, marks), "", *critical, *unchecked]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _marks(partition: Partition) -> Mapping[int | None, str]:
    """A character for every case: leaves have their number, in base 36, dead ends a sign, all asserts the same."""
    marks: dict[int | None, str] = {None: " "}
    for choice, case in enumerate(partition.cases):
        match case.kind:
            case "leaf":
                known, place = _LEAVES, case.index
            case "dead end":
                known, place = _DEAD_ENDS, case.index
            case "assert":
                known, place = _REFUSED, 0
            case _:
                assert_never(case.kind)
        marks[choice] = known[place] if place < len(known) else known[-1]
    return marks


def _line(line: Line, marks: Mapping[int | None, str]) -> Iterator[str]:
    scale = Scale(*_ends(line))
    yield f"{line.symbol} from {scale.low} to {scale.high}{_kind(scale)}"
    places = [scale.value(Fraction(2 * column + 1, 2 * _WIDTH)) for column in range(_WIDTH)]
    yield "  " + "".join(marks[_piece_at(line, at).choice] for at in places)


def _ends(line: Line) -> tuple[Fraction, Fraction]:
    low, high = line.intervals[0].low, line.intervals[-1].high
    assert isinstance(low, Fraction), "the ends of a range are rational"
    assert isinstance(high, Fraction), "the ends of a range are rational"
    return low, high


def _piece_at(line: Line, at: Fraction) -> Piece:
    for piece in line.pieces:
        above = compare(at, piece.high)
        if above < 0 or (above == 0 and piece.has_high):
            return piece
    raise ValueError(f"{at} is not in the range")


def _plane(plane: Plane, marks: Mapping[int | None, str]) -> Iterator[str]:
    box = plane.box
    across, up = Scale(box.x_low, box.x_high), Scale(box.y_low, box.y_high)
    columns: list[str] = []
    heights = [up.value(Fraction(2 * row + 1, 2 * _HEIGHT)) for row in range(_HEIGHT)]
    for column in range(_WIDTH):
        cells = plane.over(across.value(Fraction(2 * column + 1, 2 * _WIDTH)))
        columns.append("".join(marks[_cell_at(cells, height).choice] for height in heights))
    x, y = plane.symbols
    yield f"{y} upwards from {up.low} to {up.high}{_kind(up)}"
    for row in reversed(range(_HEIGHT)):
        yield "  |" + "".join(column[row] for column in columns)
    yield "  +" + "-" * _WIDTH
    yield f"   {x} from {across.low} to {across.high}{_kind(across)}"


def _cell_at(cells: Sequence[tuple[RealNumber, RealNumber, Cell]], height: Fraction) -> Cell:
    """The first cell that ends above the height; one on a curve may also end at it."""
    return next(cell for _, high, cell in cells if compare(height, high) < (1 if cell.is_curve else 0))


def _kind(scale: Scale) -> str:
    return " (logarithmic)" if scale.is_logarithmic else ""


def _legend(partition: Partition, marks: Mapping[int | None, str]) -> Iterator[str]:
    shown = occurring(partition)
    width = max(len(name(partition, choice)) for choice in shown)
    for choice in shown:
        yield f"  {marks[choice]}  {name(partition, choice):{width}}  {condition(partition, choice)}"
        yield f"     {'':{width}}  {code(partition, choice)}; as at {example(partition, choice)}"
    absent = [name(partition, choice) for choice in range(len(partition.cases)) if choice not in shown]
    if absent:
        yield f"  not in this range: {', '.join(absent)}"


def _thresholds(partition: Partition, line: Line) -> Iterator[str]:
    if not line.thresholds:
        yield "the choice does not change in this range"
        return
    yield "the choice changes"
    for threshold in line.thresholds:
        yield f"  at {line.symbol} = {number(threshold.value, line.symbol)}{_where(partition, threshold)}"
        below, at, above = (
            name(partition, choice) for choice in (threshold.below, threshold.at, threshold.above)
        )
        yield f"     {below} below, {at} there, {above} above"


def _where(partition: Partition, threshold: Threshold) -> str:
    shown = [equation(atom, partition.order, partition.limits) for atom in threshold.equations]
    return f", where {' and '.join(shown)}" if shown else ""


def _critical(partition: Partition, plane: Plane) -> Iterator[str]:
    x = plane.symbols[0]
    curves, critical = seen_curves(plane), seen_critical(plane)
    yield "the choice changes along" if curves else "the choice does not change in this range"
    for polynomial in curves:
        yield f"  {curve(partition, plane, polynomial)}"
    if critical:
        yield f"and the picture at these critical values of {x}"
    for each in critical:
        yield f"  {x} = {number(each.value, x)}"
        for reason, sources in each.reasons:
            named = " and ".join(curve(partition, plane, polynomial) for polynomial in sources)
            yield f"     {reason.value}: {named}"
