"""The copies that fill the boxes of a nest: what of each box there is, and the element at each of its places.

::

    in[c][y1 + y][y2 + x]:  D x (T1*U1 + 2) x (T2*U2 + 2) elements  -->  copy_in.stage(slot, first element, sizes)
    in[y1 + y < 0 ? 0 : y1 + y][..]                                 -->  copy_in.stage_from(elements, slot, sizes)

Points and steps outside of the limits read nothing: what they alone would read is left out, as is what lies outside of
the bounds of an axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import WIDTH, Box, Comment, KernelStmt, StageBox
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import conjunction, constant, expression, least, product, total
from comprehensive.metafork.ast import Binary, Conditional, Expr, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import plus, times
from comprehensive.schedule.box_nest import MOST_AXES, BoxAxis, ReferenceGroup
from comprehensive.schedule.boxes import Boxes, GroupNames, elements_along
from comprehensive.schedule.context import ONE, ZERO, commented
from comprehensive.schedule.mapped_subscripts import PLACE


class BoxCut(Struct, frozen=True):
    """A box along an axis of which the front may be cut off.

    ``begin`` is the value of the axis' sum from which on it is copied, ``origin`` that of its first place, ``first``
    the least one that the points and steps inside of the limits read.
    """

    begin: str
    origin: Expr
    first: Expr
    axis: BoxAxis

    @property
    def declared(self) -> Stmt:
        low = self.axis.low
        return constant(self.begin, self.first if low is None else _most(self.first, low))

    def valid(self, count: Expr) -> Expr:
        """The number of elements that are copied, of so many that are read."""
        if (self.axis.low, self.axis.high) == (None, None):
            return count
        end = Binary("+", self.first, count)
        return Binary("-", end if self.axis.high is None else least(end, self.axis.high), Name(self.begin))


class CopiedAxis(Struct, frozen=True):
    """An axis as it is copied: its elements, how far apart neighbours are in shared memory (``pitch``) and in global
    memory (``stride``), how many are ``valid``, and the ``number`` of the axis whose subscript is mapped."""

    count: Polynomial
    pitch: Expr
    stride: Expr
    valid: Expr
    number: int | None = None


class BoxCopies(Struct, frozen=True):
    """The copies of all groups of a nest."""

    boxes: Boxes
    inside: tuple[str, ...]
    """The kernel's names for the numbers of points of a tile inside of the limits, along each coordinate."""
    element: tuple[str, ...]
    """The names of the place of an element in a box, along each of its axes as they are copied."""

    @staticmethod
    def of(boxes: Boxes, name: Namer) -> BoxCopies:
        return BoxCopies(
            boxes,
            tuple(name(f"rows{number}") for number in range(len(boxes.context.tile.coordinates))),
            tuple(name(f"at{number}") for number in range(MOST_AXES)),
        )

    def comments(self) -> tuple[Comment, ...]:
        """Return the comment on each box, in the order of :meth:`feeds`."""
        tile = self.boxes.context.tile
        order = (*tile.sizes, tile.depth)
        found: list[Comment] = []
        for group in self.boxes.groups:
            counts = [self.boxes.count(axis).format(order) for axis in group.axes]
            extents = " x ".join(f"({count})" if " " in count else count for count in counts)
            does = f"boxes of {extents} elements into shared memory, {tile.stages} - 1 pieces ahead"
            found.append(commented(self.boxes.context, "stage", [group.array], does))
        return tuple(found)

    def feeds(self) -> tuple[KernelStmt, ...]:
        threads = product([Name(c.threads) for c in self.boxes.context.tile.coordinates])
        anywhere = {loop.iterator: ZERO for loop in self.boxes.loops.path}
        nothing = dict.fromkeys(self.boxes.loops.in_pieces, ZERO)
        return tuple(
            Box(
                names.feed,
                self.boxes.context.nest.array(group.array).type,
                tuple(self.boxes.text(axis.count) for axis in axes),
                tuple(axis.pitch for axis in axes),
                tuple(axis.stride for axis in axes[:-1]),
                Name(WIDTH) if self.boxes.is_vectored(group) else ONE,
                self.boxes.context.name("thread"),
                threads,
            )
            for group, names in zip(self.boxes.groups, self.boxes.names, strict=True)
            for axes in [self._four_axes(group, nothing, self._cuts(group, names, anywhere, nothing))]
        )

    def stages(self, slot: Expr, at: Mapping[str, Expr], left: Mapping[str, Expr]) -> tuple[KernelStmt, ...]:
        """Boxes are begun to be copied to a slot: for the iterators ``at`` these values, ``left`` turns of the loops
        of which a piece has several."""
        found: list[KernelStmt] = []
        for group, names in zip(self.boxes.groups, self.boxes.names, strict=True):
            cuts = self._cuts(group, names, at, left)
            found += [cut.declared for cut in cuts.values()]
            factors = self.boxes.factors(group)
            skipped = [
                times(Binary("-", Name(cut.begin), cut.origin), self.boxes.product_of_sizes(factors[n]))
                for n, cut in cuts.items()
            ]
            shared = total(
                [Name(names.shared), *(e for e in (self.boxes.slot(group, slot), *skipped) if e != ZERO)]
            )
            axes = self._four_axes(group, left, cuts)
            is_mapped = any(axis.of_place is not None for axis in group.axes)
            places = self.element if is_mapped else ()
            source = self._source(group, at, {n: Name(cut.begin) for n, cut in cuts.items()}, axes, places)
            found.append(StageBox(names.feed, shared, source, tuple(a.valid for a in axes), places))
        return tuple(found)

    def _cuts(
        self, group: ReferenceGroup, names: GroupNames, at: Mapping[str, Expr], left: Mapping[str, Expr]
    ) -> dict[int, BoxCut]:
        """Return the axes of which the front may be cut off, by number."""
        return {
            n: BoxCut(f"{names.feed}_from{n}", self._origin(axis, at), self._first(axis, at, left), axis)
            for n, axis in enumerate(group.axes)
            if axis.is_cut
        }

    def is_clear(self, at: Mapping[str, Expr], left: Mapping[str, Expr]) -> Expr:
        """The condition that no bound cuts the boxes of a piece."""
        conditions: list[Expr] = []
        for group in self.boxes.groups:
            for axis in group.axes:
                first = self._first(axis, at, left)
                if axis.low is not None:
                    conditions.append(Binary("<=", axis.low, first))
                if axis.high is not None:
                    conditions.append(Binary("<=", Binary("+", first, self._valid(axis, left)), axis.high))
        return conjunction(conditions)

    def _source(
        self,
        group: ReferenceGroup,
        at: Mapping[str, Expr],
        begins: Mapping[int, Expr],
        axes: Sequence[CopiedAxis],
        places: Sequence[str],
    ) -> Index:
        """The first element of a box, or with ``places`` the one at these along ``axes``; ``begins`` are its first
        subscripts along axes that bounds may cut."""
        subscripts = [
            begins[number] if number in begins else self._origin(axis, at)
            for number, axis in enumerate(group.axes)
        ]
        apart: list[Expr] = []
        for place, axis in zip(places, axes, strict=bool(places)):
            if axis.number is None:
                apart += [] if axis.stride == ZERO else [times(Name(place), axis.stride)]
            else:
                subscripts[axis.number] = plus(subscripts[axis.number], Name(place))
        for number, axis in enumerate(group.axes):
            if axis.of_place is not None:
                sure = {**at, PLACE: subscripts[number]}
                subscripts[number] = substitute(axis.of_place, sure)
        found = flat(Index(group.array, tuple(subscripts)), self.boxes.context.strides)
        return Index(found.array, (total([*found.subscripts, *apart]),)) if apart else found

    def _origin(self, axis: BoxAxis, at: Mapping[str, Expr]) -> Expr:
        """The subscript of the first place of a box along an axis."""
        begins = {
            c.name: self.boxes.context.name(f"o{n}")
            for n, c in enumerate(self.boxes.context.tile.coordinates)
        }
        begins = {**begins, **at, **dict.fromkeys(self.boxes.loops.inner, ZERO)}
        summands = [
            times(
                IntLiteral(factor),
                begins[name] if factor > 0 else plus(begins[name], self.boxes.last(name)),
            )
            for name, factor in axis.factors.items()
        ]
        return total([e for e in (*summands, substitute(axis.rest, at)) if e != ZERO])

    def _first(self, axis: BoxAxis, at: Mapping[str, Expr], left: Mapping[str, Expr]) -> Expr:
        """The least subscript that points and steps inside of the limits read, where so many are ``left``."""
        found, there = self._origin(axis, at), self._inside(left)
        for name, factor in axis.factors.items():
            if factor < 0 and name in there:
                missing = Binary("-", self.boxes.text(self.boxes.extent(name)), there[name])
                found = plus(found, times(IntLiteral(-factor), missing))
        return found

    def _inside(self, left: Mapping[str, Expr]) -> dict[str, Expr]:
        """Return how many points, and steps, of the tile are inside of the limits, by variable."""
        names = {
            c.name: Name(n) for c, n in zip(self.boxes.context.tile.coordinates, self.inside, strict=True)
        }
        return {**names, **left}

    def _axes(
        self, group: ReferenceGroup, left: Mapping[str, Expr], cuts: Mapping[int, BoxCut]
    ) -> list[CopiedAxis]:
        """Return each axis of which there are several elements, as it is copied.

        Axes that are one in global and in shared memory count as one.
        """
        strides = [*(Name(p.name) for p in self.boxes.context.strides[group.array]), ONE]
        found: list[CopiedAxis] = []
        for number, (axis, factors, stride) in enumerate(
            zip(group.axes, self.boxes.factors(group)[:-1], strides, strict=True)
        ):
            count, valid, pitch = (
                self.boxes.count(axis),
                self._valid(axis, left),
                self.boxes.product_of_sizes(factors),
            )
            mapped = None if axis.of_place is None else number
            if number in cuts:
                found.append(CopiedAxis(count, pitch, stride, cuts[number].valid(valid), mapped))
            elif found and self._is_whole(group, number):
                before = found.pop()
                found.append(CopiedAxis(before.count * count, pitch, stride, times(before.valid, valid)))
            elif count != Polynomial.constant(1) or number == len(group.axes) - 1:
                found.append(CopiedAxis(count, pitch, stride, valid, mapped))
        return found

    def _four_axes(
        self, group: ReferenceGroup, left: Mapping[str, Expr], cuts: Mapping[int, BoxCut]
    ) -> list[CopiedAxis]:
        """The same with axes of one element in front."""
        axes = self._axes(group, left, cuts)
        one = CopiedAxis(Polynomial.constant(1), ZERO, ZERO, ONE)
        return [one] * (MOST_AXES - len(axes)) + axes

    def _is_whole(self, group: ReferenceGroup, number: int) -> bool:
        """Whether a box has all of an axis, whose end is next to the beginning of the next row: in both memories."""
        dims = self.boxes.context.nest.array(group.array).dims
        axis = group.axes[number]
        if dims is None or not set(axis.factors) <= set(self.boxes.loops.inner):
            return False
        both = {number - 1, number}
        return (
            not any(group.axes[n].is_cut or group.axes[n].of_place for n in both)
            and self.boxes.contiguous(group) not in both
            and (axis.rest, axis.span) == (ZERO, 0)
            and self.boxes.text(self.boxes.count(axis)) == dims[number]
            and self.boxes.count(group.axes[number - 1]) != Polynomial.constant(1)
        )

    def _valid(self, axis: BoxAxis, left: Mapping[str, Expr]) -> Expr:
        """Return the number of elements along an axis inside of the limits, where so many steps are ``left``."""
        counts: dict[str, Polynomial] = {}
        for name in axis.factors:
            counts[name] = (
                self.boxes.extent(name) if name in self.boxes.loops.inner else Polynomial.symbol(f"{name}")
            )
        return substitute(expression(elements_along(axis, counts)), self._inside(left))

    def counts(self) -> tuple[Stmt, ...]:
        """Return declarations of how many points of the tile are inside of the limits, along each coordinate."""
        return tuple(
            constant(
                name,
                least(Binary("-", self.boxes.context.limit(n), self.boxes.context.name(f"o{n}")), c.extent),
            )
            for n, (name, c) in enumerate(zip(self.inside, self.boxes.context.tile.coordinates, strict=True))
        )


def _most(left: Expr, right: Expr) -> Expr:
    return Conditional(Binary("<", left, right), right, left)
