"""The layout of a nest's boxes in shared memory.

::

    in[c][y1 + y][y2 + x], k[y0][c][y][x];  D steps of c;  y, x < 3
        -->  in: D x (T1*U1 + 2) rows of T2*U2 + 2;  k: 9*D rows of T0*U0, turned: neighbouring points find neighbours

Each group of references (`reference_groups.py`) has a slot for each of the ``S`` steps in flight.  Of a box that axis
is contiguous in shared memory along which the points of a thread lie; rows begin at 4 words modulo 8, so that threads
that read vectors of neighbouring rows (`fragments.py`) find different banks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial, product_of, sum_of
from comprehensive.kernel_ir.kernel import (
    VECTOR,
    Alignment,
    KernelStmt,
)
from comprehensive.kernel_ir.terms import constant, expression, product
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import RegisterTile
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.terms import plus, times
from comprehensive.schedule.box_nest import BoxAxis, LoopNest, ReferenceGroup
from comprehensive.schedule.context import ZERO, TileContext

FOUR = IntLiteral(VECTOR)
BANKS = 8
"""Words after which vectors of four are in the same banks as one that is a row further, if rows begin there."""


def contiguous_axis(group: ReferenceGroup, coordinates: Sequence[str]) -> int:
    """The axis that is contiguous in shared memory: that of the last coordinate that there is, else the last one."""
    for name in reversed(coordinates):
        along = [number for number, axis in enumerate(group.axes) if name in axis.factors]
        if along:
            return along[-1]
    return max(number for number, axis in enumerate(group.axes) if axis.factors)


def contiguous_axes(tile: RegisterTile, nests: Sequence[LoopNest]) -> tuple[BoxAxis, ...]:
    """The axes that are contiguous in shared memory, of all boxes of loops beside each other."""
    coordinates = [c.name for c in tile.coordinates]
    groups = (group for loops in nests for group in loops.groups)
    return tuple(group.axes[contiguous_axis(group, coordinates)] for group in groups)


class GroupNames(Struct, frozen=True):
    """The names of a group."""

    shared: str
    feed: str
    piece: str
    window: str

    @staticmethod
    def of(array: str, name: Namer) -> GroupNames:
        return GroupNames(*(name(f"{base}_{array}") for base in ("shared", "copy", "piece", "window")))


class Boxes(Struct, frozen=True):
    """The boxes of all groups of a nest of loops, those with the widest elements first."""

    context: TileContext
    loops: LoopNest
    groups: tuple[ReferenceGroup, ...]
    names: tuple[GroupNames, ...]
    rows: tuple[BoxAxis, ...]
    """The contiguous axes of the boxes of all loops of a point: registers are those of the same points in all loops."""

    @staticmethod
    def of(context: TileContext, loops: LoopNest, rows: tuple[BoxAxis, ...], name: Namer) -> Boxes:
        groups = sorted(loops.groups, key=lambda g: -context.nest.array(g.array).type.size_bytes)
        return Boxes(
            context,
            loops,
            tuple(groups),
            tuple(GroupNames.of(group.array, name) for group in groups),
            rows,
        )

    # --- sizes

    def words(self) -> Polynomial:
        """4-byte words of shared memory of a block."""
        return sum_of([self._words(g) for g in self.groups])

    def _words(self, group: ReferenceGroup) -> Polynomial:
        size = words_per_element(self.context.nest.array(group.array).type)
        return Polynomial.symbol(self.context.tile.stages) * self._elements(group) * size

    def constraints(self) -> tuple[Expr, ...]:
        """The conditions on sizes that the layout needs."""
        tile = self.context.tile
        numbers: list[tuple[Expr, int]] = []
        for number, c in enumerate(tile.coordinates):
            if self.is_contiguous(number):
                numbers += [(Name(c.each), VECTOR), (c.extent, BANKS)]
        if any(not self.in_pieces.isdisjoint(self.row(g).factors) for g in self.groups):
            numbers.append((Name(tile.depth), BANKS))
        multiples = (Binary("==", Binary("%", e, IntLiteral(count)), ZERO) for e, count in numbers)
        return (*multiples, Binary(">=", Name(tile.stages), IntLiteral(2)))

    def alignments(self) -> tuple[Alignment, ...]:
        """The alignments that copies of several elements ask for."""
        found: dict[str, dict[Expr, None]] = {}
        for group in self.groups:
            if self.is_vectored(group):
                rest = group.axes[-1].rest
                found.setdefault(group.array, {}).update({} if rest == ZERO else {rest: None})
        return tuple(Alignment(array, tuple(multiples)) for array, multiples in found.items())

    def is_vectored(self, group: ReferenceGroup) -> bool:
        """Whether several elements can be copied at once: what the box begins with is known to launches."""
        last = group.axes[-1]
        scalars = {s.name for s in self.context.nest.scalars}
        is_row = self.contiguous(group) == len(group.axes) - 1 and names_read(last.rest) <= scalars
        return is_row and not last.is_cut and last.of_place is None

    @property
    def split(self) -> str:
        return self.loops.split.iterator

    @property
    def in_pieces(self) -> frozenset[str]:
        return frozenset(self.loops.in_pieces)

    def extent(self, variable: str) -> Polynomial:
        if variable in self.in_pieces:
            return Polynomial.symbol(self.context.tile.depth)
        if variable in self.loops.inner:
            return Polynomial.constant(self.loops.inner[variable])
        (c,) = (c for c in self.context.tile.coordinates if c.name == variable)
        return Polynomial.symbol(c.threads) * Polynomial.symbol(c.each)

    def count(self, axis: BoxAxis) -> Polynomial:
        """Elements along an axis."""
        return elements_along(axis, {name: self.extent(name) for name in axis.factors})

    def contiguous(self, group: ReferenceGroup) -> int:
        return contiguous_axis(group, [c.name for c in self.context.tile.coordinates])

    def row(self, group: ReferenceGroup) -> BoxAxis:
        return group.axes[self.contiguous(group)]

    def factors(self, group: ReferenceGroup) -> tuple[tuple[Polynomial, ...], ...]:
        """Return the distance of neighbours along each axis in shared memory, as factors; last the size of a slot."""
        contiguous = self.contiguous(group)
        factors: list[tuple[Polynomial, ...]] = [()] * len(group.axes)
        apart: tuple[Polynomial, ...] = (_padded(self.count(group.axes[contiguous])),)
        for number in reversed(range(len(group.axes))):
            if number != contiguous:
                factors[number] = apart
                apart = (self.count(group.axes[number]), *apart)
        return (*factors, apart)

    def _elements(self, group: ReferenceGroup) -> Polynomial:
        """Elements of a slot."""
        return product_of(self.factors(group)[-1])

    def slot(self, group: ReferenceGroup, slot: Expr) -> Expr:
        """Return the start of a slot, as an offset into the memory of the group."""
        return times(slot, self.product_of_sizes(self.factors(group)[-1]))

    def product_of_sizes(self, factors: Sequence[Polynomial]) -> Expr:
        return product([self.text(f) for f in factors if f != Polynomial.constant(1)])

    def text(self, polynomial: Polynomial) -> Expr:
        tile = self.context.tile
        return expression(polynomial, (*tile.sizes, tile.depth, tile.stages))

    # --- declarations

    def tiles(self) -> tuple[KernelStmt, ...]:
        return self.context.shared_tiles(
            (names.shared, self.context.nest.array(group.array).type, self._words(group), group.array)
            for group, names in zip(self.groups, self.names, strict=True)
        )

    def last(self, name: str) -> Expr:
        """The last value of a variable, counted from where a box begins."""
        return self.text(self.extent(name) - 1)

    def along(self, axis: BoxAxis, values: Mapping[str, Expr]) -> Expr:
        """The place in a box, along an axis, of these values of variables, counted from where the box begins; what has
        none is at its least place."""
        found: Expr = ZERO
        for name, factor in axis.factors.items():
            if name in values:
                value = values[name] if factor > 0 else Binary("-", self.last(name), values[name])
                found = plus(found, times(IntLiteral(abs(factor)), value))
        return found

    def begins(self, slot: Expr) -> tuple[Stmt, ...]:
        """Return statements that say where boxes in a slot begin, as offsets into their memory."""
        return tuple(
            constant(names.piece, self.slot(group, slot))
            for group, names in zip(self.groups, self.names, strict=True)
        )

    # --- where points are

    def is_contiguous(self, number: int) -> bool:
        """Whether points along a coordinate find neighbours side by side in shared memory."""
        name = self.context.tile.coordinates[number].name
        return any(name in row.factors for row in self.rows)

    def is_together(self, number: int) -> bool:
        """Whether the points of a thread along a coordinate are neighbours: they share what they read of a row."""
        name = self.context.tile.coordinates[number].name
        return any(
            name in row.factors and (len(row.factors) > 1 or row.factors[name] != 1 or row.span)
            for row in self.rows
        )

    def place(self, number: int, value: Expr) -> Expr:
        """The place in the tile of a thread's point ``value`` along a coordinate.

        Neighbours, or in vectors of four, or single points that are a block's threads apart.
        """
        c, thread = self.context.tile.coordinates[number], self.context.name(f"t{number}")
        if self.is_together(number):
            return plus(times(thread, Name(c.each)), value)
        if not self.is_contiguous(number):
            return Binary("+", Binary("*", value, Name(c.threads)), thread)
        apart = Binary("*", Binary("/", value, FOUR), Binary("*", FOUR, Name(c.threads)))
        return Binary("+", Binary("+", apart, Binary("*", FOUR, thread)), Binary("%", value, FOUR))

    def place_of(self, number: int) -> Expr:
        """The place of a thread's point in the tile along a coordinate."""
        return self.place(number, self.context.name(f"r{number}"))

    def places(self) -> tuple[Expr, ...]:
        """Return the places of a thread's points, by the numbers ``r`` that they have along each coordinate."""
        return tuple(
            self.place(n, self.context.name(f"r{n}")) for n in range(len(self.context.tile.coordinates))
        )


def elements_along(axis: BoxAxis, counts: Mapping[str, Polynomial]) -> Polynomial:
    """Elements along an axis where its variables have so many values."""
    moved = [(counts[name] - 1) * abs(factor) for name, factor in axis.factors.items()]
    return sum_of(moved) + axis.span + 1


def rounded_up(count: Polynomial, multiple: int) -> Polynomial:
    """The count, rounded up: what is no constant of it is such a multiple."""
    rest = int(count.evaluate(dict.fromkeys(count.symbols, 0)))
    return count + -rest % multiple


def _padded(count: Polynomial) -> Polynomial:
    """The elements from one row to the next."""
    rounded = rounded_up(count, VECTOR)
    rest = int(rounded.evaluate(dict.fromkeys(rounded.symbols, 0)))
    return rounded if rounded.is_constant or rest % BANKS else rounded + VECTOR
