"""A decision tree as a picture: outlines of regions in, one self-contained SVG out.

A tree grows to the right.  A box is a counter with its value, a leaf (filled), a dead end (hatched) or a pruned branch
(dashed); accept edges are drawn through, refuse edges are dashed, each with its condition.  Systems, and why
alternatives do not apply, are told where one points at a box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from comprehensive.report.labels import LETTER
from comprehensive.report.svg import (
    HATCH,
    INK,
    group,
    on_anything,
    picture,
    points,
    rectangle,
    stroke,
    text,
    with_hint,
)
from comprehensive.report.tidy import Box, Layout, layout
from comprehensive.report.tree_outline import Arrow, Item, Kind

_ROW, _PAD, _MARGIN, _BETWEEN = 16, 8, 16.0, 30.0
_BOX_LETTERS, _ARROW_LETTERS = 36, 30
_LEAF = 'fill="#5ec962" fill-opacity="0.3"'
_FILLS: dict[Kind, str] = {
    "root": 'fill="none"',
    "recipe": 'fill="#3b528b" fill-opacity="0.2" rx="9"',
    "not applied": 'fill="none" stroke-dasharray="2 3" rx="9"',
    "branch": 'fill="none"',
    "leaf": _LEAF,
    "dead end": f'fill="{HATCH}"',
    "pruned": 'fill="none" stroke-dasharray="2 3"',
}


def trees_svg(regions: Sequence[tuple[Item, ...]], title: str) -> str:
    """One picture with a tree below another, ending in a newline."""
    shapes: list[str] = []
    width, down = 0.0, _MARGIN
    for items in regions:
        drawn = _Drawn(items)
        shapes.append(group(drawn.shapes(), _MARGIN, down))
        width, down = max(width, drawn.places.width), down + drawn.places.height + _BETWEEN
    return picture(width + 2 * _MARGIN, down - _BETWEEN + _MARGIN, shapes, title)


class _Drawn:
    """The items of a region with the lines of their words and the places of their boxes."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.words = [_wrapped(item.words, _BOX_LETTERS) for item in items]
        arrows = [item.above or Arrow(0, "alternative") for item in items]
        self.above = [_wrapped(arrow.words, _ARROW_LETTERS) for arrow in arrows]
        self.below = [_wrapped(filter(None, (arrow.consequence,)), _ARROW_LETTERS) for arrow in arrows]
        self.boxes = [
            Box(
                None if item.above is None else item.above.start,
                _width(words) + 2 * _PAD,
                max(len(words), 2 * len(above), 2 * len(below)) * _ROW + _PAD,
                0.0 if item.above is None else max(36.0, _width((*above, *below)) + 34.0),
            )
            for item, words, above, below in zip(items, self.words, self.above, self.below, strict=True)
        ]
        self.places: Layout = layout(self.boxes)

    def shapes(self) -> Iterator[str]:
        for number, item in enumerate(self.items):
            if item.above is not None:
                yield with_hint("".join(self._arrow(number, item.above)), item.above.more)
        for number, item in enumerate(self.items):
            yield with_hint("".join(self._box(number)), item.more)

    def _box(self, number: int) -> Iterator[str]:
        words, box = self.words[number], self.boxes[number]
        left, height = self.places.left[number], len(words) * _ROW + _PAD
        top = self._middle(number) - height / 2
        look = f'stroke="{INK}" {_FILLS[self.items[number].kind]}'
        # Paper below, so that hatching and lines do not run through words.
        yield rectangle(left, top, box.width, height, "white", 'class="cf-paper"')
        yield f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{height:.1f}" {look}/>'
        rim = on_anything() if self.items[number].kind == "dead end" else ""
        for row, words_of_row in enumerate(words):
            bold = 'font-weight="bold"' if row == 0 else ""
            yield text(left + _PAD, top + (row + 1) * _ROW, words_of_row, f"{rim} {bold}".strip())

    def _arrow(self, number: int, above: Arrow) -> Iterator[str]:
        start, left = above.start, self.places.left[number]
        from_x, from_y = self.places.left[start] + self.boxes[start].width, self._middle(start)
        y = self._middle(number)
        # All arrows into a column turn at one place.
        turn = left - max(self.boxes[n].room for n, p in enumerate(self.places.left) if p == left) + 12
        dashes = 'stroke-dasharray="5 4"' if above.kind == "refuse" else ""
        yield stroke([(from_x, from_y), (turn, from_y), (turn, y), (left, y)], 1.2, INK, dashes)
        yield f'<polygon points="{points([(left, y), (left - 7, y - 3.5), (left - 7, y + 3.5)])}"/>'
        for row, words in enumerate(reversed(self.above[number])):
            yield text(turn + 8, y - 5 - row * _ROW, words)
        for row, words in enumerate(self.below[number]):
            yield text(turn + 8, y + (row + 1) * _ROW - 2, words)

    def _middle(self, number: int) -> float:
        return self.places.top[number] + self.boxes[number].height / 2


def _wrapped(words: Iterable[str], letters: int) -> list[str]:
    return [
        part
        for each in words
        for part in wrap(each, letters, break_long_words=False, break_on_hyphens=False) or [""]
    ]


def _width(words: Sequence[str]) -> float:
    return max((len(each) * LETTER for each in words), default=0.0)
