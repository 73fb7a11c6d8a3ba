"""A tidy layout of a tree that grows to the right: parents and sizes of boxes in, places of boxes out.

After E. Reingold and J. Tilford, *Tidier drawings of trees* (1981), for boxes of any size: boxes of one depth begin in
one column; subtrees are moved together until they are a gap apart in some column; a parent stands in the middle between
its first and its last child; equal subtrees are drawn equally.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

GAP = 14.0
"""Pixels between two boxes of a column."""


class Box(Struct, frozen=True):
    """A box to be placed: ``room`` pixels are left of it for the words of the arrow that leads to it."""

    parent: int | None
    width: float
    height: float
    room: float


class Layout(Struct, frozen=True):
    """The left and upper ends of boxes, the column ends of their parents' boxes, and the size of the whole."""

    left: tuple[float, ...]
    top: tuple[float, ...]
    width: float
    height: float


def layout(boxes: Sequence[Box]) -> Layout:
    """Places for boxes in preorder, of which the first one is the root."""
    depths: list[int] = []
    children: list[list[int]] = [[] for _ in boxes]
    for number, box in enumerate(boxes):
        depths.append(0 if box.parent is None else depths[box.parent] + 1)
        if box.parent is not None:
            children[box.parent].append(number)
    columns, width = _columns(boxes, depths)
    offsets = _offsets(boxes, children)
    top = [0.0] * len(boxes)
    for number, box in enumerate(boxes):
        top[number] = offsets[number] + (0.0 if box.parent is None else top[box.parent])
    first = min(top)
    top = [each - first for each in top]
    height = max(each + box.height for each, box in zip(top, boxes, strict=True))
    return Layout(tuple(columns[d] for d in depths), tuple(top), width, height)


def _columns(boxes: Sequence[Box], depths: Sequence[int]) -> tuple[list[float], float]:
    """Return the left end of each column of boxes, and where the last one ends."""
    columns: list[float] = []
    end = 0.0
    for depth in range(max(depths) + 1):
        inside = [box for box, own in zip(boxes, depths, strict=True) if own == depth]
        columns.append(end + max(box.room for box in inside))
        end = columns[-1] + max(box.width for box in inside)
    return columns, end


def _offsets(boxes: Sequence[Box], children: Sequence[Sequence[int]]) -> list[float]:
    """Return how far below its parent's upper end each box begins.

    The outline of a subtree is, column by column, its upper and lower end, seen from the upper end of its root.
    """
    offsets = [0.0] * len(boxes)
    outlines: dict[int, list[tuple[float, float]]] = {}
    for number in reversed(range(len(boxes))):  # children come after their parent
        places: list[float] = []
        joined: list[tuple[float, float]] = []
        for child in children[number]:
            outline = outlines.pop(child)
            place = max(
                (low + GAP - high for (_, low), (high, _) in zip(joined, outline, strict=False)), default=0.0
            )
            moved = [(place + high, place + low) for high, low in outline]
            both = [(high, low) for (high, _), (_, low) in zip(joined, moved, strict=False)]
            joined = both + joined[len(both) :] + moved[len(both) :]
            places.append(place)
        own = boxes[number].height
        if places:
            first, last = children[number][0], children[number][-1]
            middle = (places[0] + boxes[first].height / 2 + places[-1] + boxes[last].height / 2) / 2
            begin = middle - own / 2
            for child, place in zip(children[number], places, strict=True):
                offsets[child] = place - begin
            joined = [(high - begin, low - begin) for high, low in joined]
        outlines[number] = [(0.0, own), *joined]
    return offsets
