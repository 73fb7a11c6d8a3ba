"""Labels that do not cover each other: candidate places in pixels in, the one with the fewest clashes out.

A label is text in a monospaced font, turned by its angle around the place where its middle is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import cos, radians, sin

from msgspec import Struct

from comprehensive.report.svg import Place

LETTER = 7.3
"""Width of a letter."""
_UP, _DOWN = 11.0, 4.0
_STEP = 4


class Label(Struct, frozen=True):
    """Text whose base line is `shift` below `place`, before it is turned by `angle` degrees."""

    place: Place
    words: str
    angle: float = 0
    shift: float = 4

    def covers(self, point: Place) -> bool:
        """Whether the label hides a point."""
        turn = radians(self.angle)
        right, down = point[0] - self.place[0], point[1] - self.place[1]
        along, across = right * cos(turn) + down * sin(turn), down * cos(turn) - right * sin(turn)
        return abs(along) <= self._half and -_UP <= across - self.shift <= _DOWN

    def points(self) -> Iterator[Place]:
        """Points all over the label, a few pixels apart."""
        turn = radians(self.angle)
        steps = max(2, int(2 * self._half) // _STEP)
        for across in (self.shift - _UP, self.shift - _DOWN, self.shift + _DOWN):
            for step in range(steps + 1):
                along = self._half * (2 * step / steps - 1)
                yield (
                    self.place[0] + along * cos(turn) - across * sin(turn),
                    self.place[1] + along * sin(turn) + across * cos(turn),
                )

    @property
    def _half(self) -> float:
        return len(self.words) * LETTER / 2


def least_clashing(
    candidates: Iterable[Label], taken: Sequence[Label], drawn: Sequence[Place], frame: tuple[Place, Place]
) -> Label:
    """The first of the candidates that hides the least of other labels and of what is drawn, and stays in the frame."""
    (left, top), (right, bottom) = frame

    def clashes(label: Label) -> int:
        inside = [left <= x <= right and top <= y <= bottom for x, y in label.points()]
        hidden = sum(other.covers(point) for point in label.points() for other in taken)
        return hidden + inside.count(False) + sum(map(label.covers, drawn))

    return min(candidates, key=clashes)


def rows(intervals: Iterable[tuple[float, float]]) -> tuple[int, ...]:
    """Return for each interval the first row, from 0, in which it meets none before it."""
    found: list[tuple[int, float, float]] = []
    for low, high in intervals:
        busy = {row for row, start, end in found if start < high and low < end}
        found.append((next(row for row in range(len(found) + 1) if row not in busy), low, high))
    return tuple(row for row, _, _ in found)
