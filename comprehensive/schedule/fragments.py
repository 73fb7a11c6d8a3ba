"""The fragments of boxes that a thread holds in registers.

In: the boxes of a nest in shared memory.  Out: loads of a fragment, and the element of it that a reference is::

    in[c][y1 + y][y2 + x];  x < 3;  U2 points  -->  float window_in[U2 + 2], loaded in vectors;  window_in[r2 + x]

A fragment is the part of a row that a thread reads at a time: that of all its points, and of all steps of those
unrolled loops that move along the row.  ``in[..][y2 + x]`` is one fragment of U2 + 2 elements for the three steps of
``x``.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import VECTOR, KernelStmt, Vectors
from comprehensive.kernel_ir.terms import counting, onward, total
from comprehensive.metafork.ast import Binary, Declare, Expr, Index, IntLiteral, Name
from comprehensive.metafork.terms import plus, times
from comprehensive.schedule.box_nest import BoxAxis, ReferenceGroup
from comprehensive.schedule.boxes import FOUR, Boxes, elements_along, rounded_up
from comprehensive.schedule.context import ONE, ZERO


class Fragments(Struct, frozen=True):
    """The fragments of each group of references."""

    boxes: Boxes

    @property
    def is_unrolled(self) -> bool:
        """Whether the steps of a piece are unrolled: a fragment serves all of them."""
        coordinates = {c.name for c in self.boxes.context.tile.coordinates}
        return any(
            self.boxes.split in self.boxes.row(g).factors
            and coordinates & set(self.boxes.row(g).factors)
            and not any(self.boxes.split in a.factors for a in self._others(g))
            for g in self.boxes.groups
        )

    def _others(self, group: ReferenceGroup) -> list[BoxAxis]:
        return [axis for n, axis in enumerate(group.axes) if n != self.boxes.contiguous(group)]

    def _iterators(self, group: ReferenceGroup) -> set[str]:
        return set(group.variables) & {*self.boxes.in_pieces, *self.boxes.loops.inner}

    def _served(self, group: ReferenceGroup) -> set[str]:
        """The loops that one fragment serves."""
        found = self._iterators(group) & set(self.boxes.row(group).factors)
        found -= {name for axis in self._others(group) for name in axis.factors}
        return found - (
            self.boxes.in_pieces - {self.boxes.split} if self.is_unrolled else self.boxes.in_pieces
        )

    def awaited(self, group: ReferenceGroup) -> set[str]:
        """The loops that a fragment is loaded in, each step anew."""
        return self._iterators(group) - self._served(group)

    def _row_offsets(self, group: ReferenceGroup) -> list[tuple[int, ...]]:
        """The rows of a box that references of a group are on, as offsets along all axes but the contiguous one."""
        return sorted({self._row_offset(group, offsets) for offsets in group.offsets.values()})

    def _row_offset(self, group: ReferenceGroup, offsets: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(offset for n, offset in enumerate(offsets) if n != self.boxes.contiguous(group))

    def _across(self, group: ReferenceGroup) -> list[int]:
        """The coordinates along which the points of a thread read different rows."""
        names = [name for axis in self._others(group) for name in axis.factors]
        return [n for n, c in enumerate(self.boxes.context.tile.coordinates) if c.name in names]

    def _along(self, group: ReferenceGroup) -> list[int]:
        """The coordinates along which the points of a thread read one row, side by side."""
        row = self.boxes.row(group).factors
        return [n for n, c in enumerate(self.boxes.context.tile.coordinates) if c.name in row]

    def _length(self, group: ReferenceGroup) -> Polynomial:
        """Elements of a row that a thread reads."""
        row, served = self.boxes.row(group), self._served(group)
        counts = {
            name: self.boxes.extent(name) if name in served else Polynomial.constant(1)
            for name in row.factors
        }
        for along in self._along(group):
            c = self.boxes.context.tile.coordinates[along]
            counts[c.name] = Polynomial.symbol(c.each)
        return elements_along(row, counts)

    def _is_aligned(self, group: ReferenceGroup) -> bool:
        """Whether fragments begin at multiples of a vector."""
        moving = self._iterators(group) & set(self.boxes.row(group).factors)
        return moving <= self._served(group) and self._length(group) != Polynomial.constant(1)

    def fragment(self, number: int, at: Mapping[str, Expr]) -> tuple[KernelStmt, ...]:
        """Return statements that declare a fragment and load it; ``at`` are values of iterators."""
        context, group, names = self.boxes.context, self.boxes.groups[number], self.boxes.names[number]
        rows, across = self._row_offsets(group), self._across(group)
        length, together = self._length(group), ONE
        if self._is_aligned(group):
            length, together = rounded_up(length, VECTOR), FOUR
        shape: list[Expr] = [Name(context.tile.coordinates[n].each) for n in across]
        which = [IntLiteral(len(rows))] if len(rows) > 1 else []
        declared = Declare(
            context.nest.array(group.array).type, names.window, (*shape, *which, self.boxes.text(length))
        )
        apart: Expr = FOUR
        for along in self._along(group):
            if self.boxes.is_together(along):
                continue
            apart = Binary("*", FOUR, Name(context.tile.coordinates[along].threads))
        loads: tuple[KernelStmt, ...] = ()
        for row, offsets in enumerate(rows):
            place = [context.name(f"r{n}") for n in across] + ([IntLiteral(row)] if which else [])
            registers = Index(names.window, (*place, ZERO))
            source = Index(names.shared, (onward(Name(names.piece), self._begin(group, offsets, at)),))
            loads += (Vectors(registers, source, self.boxes.text(length), apart, together),)
        for n in reversed(across):
            each = Name(context.tile.coordinates[n].each)
            loads = (counting(context.names[f"r{n}"], each, loads, unrolled=True, uniform=True),)
        return (declared, *loads)

    def _begin(self, group: ReferenceGroup, offsets: tuple[int, ...], at: Mapping[str, Expr]) -> Expr:
        """Return the start of a fragment in its box."""
        contiguous, factors = self.boxes.contiguous(group), self.boxes.factors(group)
        begin: Expr = ZERO
        coordinates = self.boxes.context.tile.coordinates
        points = {c.name: self.boxes.place_of(n) for n, c in enumerate(coordinates)}
        others = [n for n in range(len(group.axes)) if n != contiguous]
        for n, offset in zip(others, offsets, strict=True):
            place = self.boxes.along(group.axes[n], {**at, **points})
            place = plus(place, IntLiteral(offset)) if offset else place
            begin = plus(begin, times(place, self.boxes.product_of_sizes(factors[n])))
        served, row = self._served(group), group.axes[contiguous]
        within = {name: e for name, e in at.items() if name not in served}
        ends = {c.name: self._least(n, row.factors.get(c.name, 1)) for n, c in enumerate(coordinates)}
        return plus(begin, self.boxes.along(row, {**within, **ends}))

    def _least(self, number: int, factor: int) -> Expr:
        """The point of a thread along a coordinate whose subscript with this factor is the least: the first or last."""
        c, thread = self.boxes.context.tile.coordinates[number], self.boxes.context.name(f"t{number}")
        if factor > 0:
            return times(thread, Name(c.each) if self.boxes.is_together(number) else FOUR)
        return self.boxes.place(number, Binary("-", Name(c.each), ONE))

    def element(self, number: int, reference: Index) -> Index:
        """Return the element of a fragment that a point reads."""
        group, context = self.boxes.groups[number], self.boxes.context
        offsets = group.offsets[reference]
        rows, row = self._row_offsets(group), self.boxes.row(group)
        place: list[Expr] = [context.name(f"r{n}") for n in self._across(group)]
        if len(rows) > 1:
            place.append(IntLiteral(rows.index(self._row_offset(group, offsets))))
        values: dict[str, Expr] = {self.boxes.split: context.name("z")}
        values = {name: values.get(name, Name(name)) for name in self._served(group)}
        counts = {name: self.boxes.extent(name) for name in values}
        for along in self._along(group):
            c = context.tile.coordinates[along]
            values[c.name], counts[c.name] = context.name(f"r{along}"), Polynomial.symbol(c.each)
        terms: list[Expr] = []
        for name in [n for n in row.factors if n in values]:
            factor, value = row.factors[name], values[name]
            if factor < 0:
                value = Binary("-", self.boxes.text(counts[name] - 1), value)
            terms.append(times(IntLiteral(abs(factor)), value))
        offset = offsets[self.boxes.contiguous(group)]
        if offset or not terms:
            terms.append(IntLiteral(offset))
        return Index(self.boxes.names[number].window, (*place, total(terms)))
