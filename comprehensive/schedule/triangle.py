"""Triangle: tiles on one side of a slanted edge, launched as a rectangle that has few others.

::

    if (j <= i) ..    tiles of 64 x 64 of 2,048 x 2,048 points: 528 of 1,024 have work
        -->  a launch of 16 rows of 33 tiles: a row of tiles, and from its end on the one that is as short as it is long

Tiles without work end at once, but a multiprocessor that has two with work takes twice as long as one that has one:
what is launched is to have work.  The numbers of the rectangle are the host's (`kernel_ir/staircase.py`); a tile finds
its place from them::

    turned0 = place1 < blocks1 && place1*e1 <= (blocks0 - 1 - place0)*e0 + e0 - 1 ? place0 : mirror - place0;
    turned1 = turned0 == place0 ? place1 : columns - 1 - place1;
    i0 = blocks0 - 1 - turned0;   i1 = turned1;

The predicate stays and decides: which tiles are launched is of no consequence for what is computed, as long as each
tile with work is among them once.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.kernel_ir.kernel import KernelParameter, Source
from comprehensive.kernel_ir.staircase import Shape, Staircase
from comprehensive.kernel_ir.terms import conjunction, constant
from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.ir import Coordinate
from comprehensive.metafork.ast import Binary, Cast, Conditional, Expr, Name, ScalarType, Stmt
from comprehensive.metafork.rewrite import substitute
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.predicate import Edge, edges

PLAIN = frozenset((ScalarType.INT, ScalarType.LONG))
"""Types of scalars whose values host and device compute alike."""


class Triangle(Struct, frozen=True):
    """The launch of the tiles of two coordinates inside of an edge."""

    context: TileContext
    edge: Edge

    @property
    def staircase(self) -> Staircase:
        """The launch as the host computes it, over scalars of the nest and the constants of the kernel."""
        first: Mapping[str, Expr] = {c.name: ZERO for c in self._coordinates}
        places = self.edge.easiest(self.context, first)
        most: Expr = Binary("-", substitute(self.edge.more, places), substitute(self.edge.less, places))
        if self.edge.relation == "<":
            most = Binary("-", most, ONE)
        for c in self._coordinates:
            if self._is_turned(c):
                most = Binary("+", most, Binary("*", c.step, Binary("-", c.tiles(c.limit), ONE)))
        row, column = self._coordinates
        extents = [c.tiles(c.limit) for c in self._coordinates]
        return Staircase(Shape.FOLDED, row.name, column.name, (*extents, row.step, column.step, fold(most)))

    @property
    def parameters(self) -> tuple[KernelParameter, ...]:
        return tuple(
            KernelParameter(self.context.names[of], ScalarType.INT, Source.STAIRCASE, of)
            for of in ("rows", "columns", "mirror")
        )

    def placed(self) -> tuple[Stmt, ...]:
        """The numbers of the tile along both coordinates, from its place in the launch."""
        place, turned = self._names("place"), self._names("turned")
        columns = self.context.name("columns")
        numbers = [self._counted(number, place[number]) for number in range(2)]
        origins = {c.name: Binary("*", numbers[n], c.step) for n, c in enumerate(self._coordinates)}
        easiest = self.edge.easiest(self.context, origins)
        inside = self.edge.at({name: Cast(ScalarType.LONG, value) for name, value in easiest.items()})
        is_there = Binary("<", place[1], self.context.name("blocks1"))
        from_end = Binary("-", self.context.name("mirror"), place[0])
        across = Binary("-", Binary("-", columns, ONE), place[1])
        stays = Binary("==", turned[0], place[0])
        return (
            constant(turned[0].identifier, Conditional(Binary("&&", is_there, inside), place[0], from_end)),
            constant(turned[1].identifier, Conditional(stays, place[1], across)),
            *(constant(self.context.names[f"i{n}"], self._counted(n, turned[n])) for n in range(2)),
        )

    def has_tile(self) -> Expr:
        """The condition that there is a tile at this place of the launch."""
        place, turned = self._names("place"), self._names("turned")
        return conjunction(
            [
                Binary("<=", place[0], turned[0]),
                *(Binary("<", turned[n], self.context.name(f"blocks{n}")) for n in range(2)),
            ]
        )

    @property
    def _coordinates(self) -> tuple[Coordinate, ...]:
        return self.context.tile.coordinates

    def _names(self, base: str) -> tuple[Name, Name]:
        return self.context.name(f"{base}0"), self.context.name(f"{base}1")

    def _is_turned(self, c: Coordinate) -> bool:
        """Whether tiles along a coordinate are counted from the other end, so that the longest row is the first."""
        return self.edge.steps[c.name] == 1

    def _counted(self, number: int, place: Expr) -> Expr:
        if not self._is_turned(self._coordinates[number]):
            return place
        return Binary("-", Binary("-", self.context.name(f"blocks{number}"), ONE), place)


def triangle_of(context: TileContext) -> Triangle | None:
    """The triangle of a tile whose predicate has an edge between two coordinates; None where there is none."""
    coordinates = context.tile.coordinates
    if (
        context.tile.masked
        or len(coordinates) != 2
        or any(c.shift or c.lead is not None for c in coordinates)
    ):
        return None
    types = {s.name: s.type for s in context.nest.scalars}
    names = {c.name for c in coordinates}
    for edge in edges(context):
        read = names_read(edge.less) | names_read(edge.more)
        if set(edge.steps) == names and all(types.get(name) in PLAIN for name in read - names):
            return Triangle(context, edge)
    return None
