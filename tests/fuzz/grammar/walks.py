"""Loops along the rows of a point, with recurrences, and values carried from one loop to the next.

In: the pieces of a program, and its coordinate.  Out: the lines of a body::

    float s = a[i][0];
    for (int k = 1; k < n + 1; k++) { s = s * 0.5f + a[i][k - 1]; a[i][k] = b[i][k + 1] - s; }
    for (int l = 0; l < n; l++) b[i][l] -= a[i][l + 1];
"""

from __future__ import annotations

from tests.fuzz.grammar.pieces import Pieces
from tests.fuzz.grammar.scope import INTEGERS, Array, Coordinate, Extent

PAD = 4
"""Elements of a row beyond those that a size says: a loop goes to 2 of them, and looks 2 farther."""
FARTHEST = 2


class Walks:
    """Draws the body of a point that owns a row of each array."""

    def __init__(self, pieces: Pieces, point: Coordinate) -> None:
        draw = self.draw = pieces.draw
        self.names, self.point = pieces.names, point
        self.along = draw.pick(pieces.sizes)
        kind = pieces.element_type()
        rows = (Extent(point.size, max(0, point.above)), Extent(self.along, PAD))
        self.rows = tuple(
            Array(
                pieces.names.new("a", "b", "y", "out"),
                kind if draw.chance(0.8) else pieces.element_type(),
                rows,
                pointer=draw.on("linearised", 0.3),
            )
            for _ in range(draw.number(1, 4))
        )
        self.vector = Array(pieces.names.new("x", "w"), kind, (Extent(self.along, PAD),), pointer=False)
        self.kind = "float" if kind in INTEGERS else kind
        pieces.arrays = (*self.rows, self.vector)
        pieces.ever_written |= {row.name for row in self.rows}

    def body(self, loops: int) -> list[str]:
        """Return so many loops, and a statement that stores what they carry."""
        draw = self.draw
        carried = self.names.new("s", "acc")
        first = self._element(draw.pick(self.rows), str(draw.number(0, PAD - 1)))
        lines = [f"{self.kind} {carried} = {draw.pick(['0', '1', first])};"]
        for _ in range(loops):
            lines += self._loop(carried)
        last = draw.pick(self.rows)
        if draw.chance(0.6) or loops == 1:
            lines.append(
                f"{self._element(last, str(draw.number(0, PAD - 1)))} = {self._stored(last, carried)};"
            )
        return lines

    def _loop(self, carried: str) -> list[str]:
        draw = self.draw
        name, low, above = self.names.new("k", "l", "z"), draw.number(0, FARTHEST), draw.number(-1, FARTHEST)
        lines: list[str] = []
        for _ in range(draw.number(1, 3)):
            value = self._value(name, low, carried)
            target = draw.pick(self.rows)
            place = self._near(name, low) if draw.chance(0.3) else name
            element = self._element(target, place)
            lines.append(
                draw.pick(
                    [
                        f"{carried} += {value};",
                        f"{carried} = {carried} * 0.5f + {value};",
                        f"{carried} = {carried} > {value} ? {carried} : {value};",
                        f"{element} = {self._stored(target, value)};",
                        f"{element} = {self._stored(target, value)};",
                        f"{element} += {self._stored(target, value)};",
                    ]
                )
            )
        bound = Extent(self.along, above).text
        return [f"for (int {name} = {low}; {name} < {bound}; {name}++) {{", *lines, "}"]

    def _value(self, name: str, low: int, carried: str) -> str:
        """Return a sum or a difference of elements near an iterator, each times something small."""
        draw = self.draw
        terms: list[str] = []
        for _ in range(draw.number(1, 3)):
            place = self._near(name, low)
            kind = draw.number(0, 6)
            element = self._element(self.vector if kind == 0 else draw.pick(self.rows), place)
            terms.append(carried if kind == 1 else f"{element} * 0.5f" if draw.chance(0.5) else element)
        value = terms[0]
        for term in terms[1:]:
            value = f"({value} {draw.pick(['+', '-'])} {term})"
        return value

    def _near(self, name: str, low: int) -> str:
        shift = self.draw.number(-low, FARTHEST - 1) if self.draw.on("stencil", 0.6) else 0
        return name if shift == 0 else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}"

    def _element(self, array: Array, place: str) -> str:
        if len(array.extents) == 1:
            return f"{array.name}[{place}]"
        if array.pointer:
            return f"{array.name}[{self.point.name} * ({array.extents[1].text}) + {place}]"
        return f"{array.name}[{self.point.name}][{place}]"

    def _stored(self, target: Array, value: str) -> str:
        """The value as an element of an array may have it: integers stay small."""
        return f"(int)fminf(fmaxf({value}, 0.0f), 90.0f)" if target.is_integer else value
