"""The layout of a nest's boxes in shared memory, and what copies them there.

::

    in[c][y1 + y][y2 + x], k[y0][c][y][x];  D steps of c;  y, x < 3
        -->  in: D x (T1*U1 + 2) rows of T2*U2 + 2;  k: 9*D rows of T0*U0, turned: neighbouring points find neighbours

Each group of references (`reference_groups.py`) has a slot for each of the ``S`` steps in flight.  Of a box that axis
is contiguous in shared memory along which the points of a thread lie; rows begin at 4 words modulo 8, so that threads
that read vectors of neighbouring rows (`fragments.py`) find different banks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive.algebra import Polynomial, product_of, sum_of
from comprehensive.kernel_ir.kernel import (
    TOGETHER,
    VECTOR,
    Alignment,
    Box,
    Comment,
    KernelStmt,
    StageBox,
)
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import (
    conjunction,
    constant,
    expression,
    least,
    plus,
    product,
    times,
    total,
)
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.access import names_read
from comprehensive.loops.rewrite import substitute
from comprehensive.metafork.ast import Binary, Conditional, Expr, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.schedule.box_nest import MOST_AXES, BoxAxis, LoopNest, ReferenceGroup
from comprehensive.schedule.comments import commented
from comprehensive.schedule.context import ONE, ZERO, TileContext

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


@dataclass(frozen=True, slots=True)
class GroupNames:
    """The names of a group."""

    shared: str
    feed: str
    piece: str
    window: str

    @staticmethod
    def of(array: str, name: Namer) -> GroupNames:
        return GroupNames(*(name(f"{base}_{array}") for base in ("shared", "feed", "piece", "window")))


@dataclass(frozen=True, slots=True)
class BoxCut:
    """A box along an axis of which the front may be cut off: ``begin`` is the subscript from which on it is copied,
    ``origin`` that of its first place, ``first`` the least one that the points and steps inside of the limits read."""

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


@dataclass(frozen=True, slots=True)
class Boxes:
    """The boxes of all groups of a nest of loops, those with the widest elements first."""

    context: TileContext
    loops: LoopNest
    groups: tuple[ReferenceGroup, ...]
    names: tuple[GroupNames, ...]
    inside: tuple[str, ...]
    """The kernel's names for the numbers of points of a tile inside of the limits, along each coordinate."""

    @staticmethod
    def of(context: TileContext, loops: LoopNest, name: Namer) -> Boxes:
        groups = sorted(loops.groups, key=lambda g: -context.nest.array(g.array).type.size_bytes)
        return Boxes(
            context,
            loops,
            tuple(groups),
            tuple(GroupNames.of(group.array, name) for group in groups),
            tuple(name(f"rows{number}") for number in range(len(context.tile.coordinates))),
        )

    # --- sizes

    def words(self) -> Polynomial:
        """4-byte words of shared memory of a block."""
        return sum_of([self._words(g) for g in self.groups])

    def _words(self, group: ReferenceGroup) -> Polynomial:
        size = words_per_element(self.context.nest.array(group.array).type)
        return Polynomial.symbol(self.context.tile.stages) * self._elements(group) * size

    def demands(self) -> tuple[Expr, ...]:
        """The conditions on sizes that the layout needs."""
        tile = self.context.tile
        numbers: list[tuple[Expr, int]] = []
        for number, c in enumerate(tile.coordinates):
            if self.is_contiguous(number):
                numbers += [(Name(c.each), VECTOR), (c.extent, BANKS)]
        if any(self.split in g.axes[self.contiguous(g)].factors for g in self.groups):
            numbers.append((Name(tile.depth), BANKS))
        multiples = (Binary("==", Binary("%", e, IntLiteral(count)), ZERO) for e, count in numbers)
        return (*multiples, Binary(">=", Name(tile.stages), IntLiteral(2)))

    def alignments(self) -> tuple[Alignment, ...]:
        """The alignments that copies of several elements ask for."""
        found: dict[str, dict[Expr, None]] = {}
        for group in self.groups:
            if self._is_vectored(group):
                rest = group.axes[-1].rest
                found.setdefault(group.array, {}).update({} if rest == ZERO else {rest: None})
        return tuple(Alignment(array, tuple(multiples)) for array, multiples in found.items())

    def _is_vectored(self, group: ReferenceGroup) -> bool:
        """Whether several elements can be copied at once: what the box begins with is known to launches."""
        last = group.axes[-1]
        scalars = {s.name for s in self.context.nest.scalars}
        is_row = self.contiguous(group) == len(group.axes) - 1 and names_read(last.rest) <= scalars
        return is_row and not last.is_cut

    @property
    def split(self) -> str:
        return self.loops.split.iterator

    def extent(self, variable: str) -> Polynomial:
        if variable == self.split:
            return Polynomial.symbol(self.context.tile.depth)
        if variable in self.loops.inner:
            return Polynomial.constant(self.loops.inner[variable])
        (c,) = (c for c in self.context.tile.coordinates if c.name == variable)
        return Polynomial.symbol(c.threads) * Polynomial.symbol(c.each)

    def _count(self, axis: BoxAxis) -> Polynomial:
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
        apart: tuple[Polynomial, ...] = (_padded(self._count(group.axes[contiguous])),)
        for number in reversed(range(len(group.axes))):
            if number != contiguous:
                factors[number] = apart
                apart = (self._count(group.axes[number]), *apart)
        return (*factors, apart)

    def _elements(self, group: ReferenceGroup) -> Polynomial:
        """Elements of a slot."""
        return product_of(self.factors(group)[-1])

    def _slot(self, group: ReferenceGroup, slot: Expr) -> Expr:
        """Return the start of a slot, as an offset into the memory of the group."""
        return times(slot, self.product_of_sizes(self.factors(group)[-1]))

    def product_of_sizes(self, factors: Sequence[Polynomial]) -> Expr:
        return product([self.text(f) for f in factors if f != Polynomial.constant(1)])

    def text(self, polynomial: Polynomial) -> Expr:
        tile = self.context.tile
        return expression(polynomial, (*tile.sizes, tile.depth, tile.stages))

    # --- declarations and copies

    def tiles(self) -> tuple[KernelStmt, ...]:
        return self.context.shared_tiles(
            (names.shared, self.context.nest.array(group.array).type, self._words(group), group.array)
            for group, names in zip(self.groups, self.names, strict=True)
        )

    def comments(self) -> tuple[Comment, ...]:
        """Return the comment on each box, in the order of :meth:`feeds`."""
        tile = self.context.tile
        order = (*tile.sizes, tile.depth)
        found: list[Comment] = []
        for group in self.groups:
            counts = [self._count(axis).format(order) for axis in group.axes]
            extents = " x ".join(f"({count})" if " " in count else count for count in counts)
            does = f"boxes of {extents} elements into shared memory, {tile.stages} - 1 pieces ahead"
            found.append(commented(self.context, "stage", [group.array], does))
        return tuple(found)

    def feeds(self) -> tuple[KernelStmt, ...]:
        threads = product([Name(c.threads) for c in self.context.tile.coordinates])
        anywhere = {loop.iterator: ZERO for loop in self.loops.path}
        return tuple(
            Box(
                names.feed,
                self.context.nest.array(group.array).type,
                tuple(self.text(count) for count, _, _, _ in axes),
                tuple(pitch for _, pitch, _, _ in axes),
                tuple(stride for _, _, stride, _ in axes[:-1]),
                Name(TOGETHER) if self._is_vectored(group) else ONE,
                self.context.name("thread"),
                threads,
            )
            for group, names in zip(self.groups, self.names, strict=True)
            for axes in [self._four_axes(group, ZERO, self._cuts(group, names, anywhere, ZERO))]
        )

    def stages(self, slot: Expr, at: Mapping[str, Expr], left: Expr) -> tuple[KernelStmt, ...]:
        """Boxes are begun to be copied to a slot: for the iterators ``at`` these values, ``left`` steps of the last."""
        found: list[KernelStmt] = []
        for group, names in zip(self.groups, self.names, strict=True):
            cuts = self._cuts(group, names, at, left)
            found += [cut.declared for cut in cuts.values()]
            factors = self.factors(group)
            skipped = [
                times(Binary("-", Name(cut.begin), cut.origin), self.product_of_sizes(factors[n]))
                for n, cut in cuts.items()
            ]
            found.append(
                StageBox(
                    names.feed,
                    total(
                        [Name(names.shared), *(e for e in (self._slot(group, slot), *skipped) if e != ZERO)]
                    ),
                    self._source(group, at, {n: Name(cut.begin) for n, cut in cuts.items()}),
                    tuple(valid for _, _, _, valid in self._four_axes(group, left, cuts)),
                )
            )
        return tuple(found)

    def _cuts(
        self, group: ReferenceGroup, names: GroupNames, at: Mapping[str, Expr], left: Expr
    ) -> dict[int, BoxCut]:
        """Return the axes of which the front may be cut off, by number."""
        return {
            n: BoxCut(f"{names.feed}_from{n}", self._origin(axis, at), self._first(axis, at, left), axis)
            for n, axis in enumerate(group.axes)
            if axis.is_cut
        }

    def is_clear(self, at: Mapping[str, Expr], left: Expr) -> Expr:
        """The condition that no bound cuts the boxes of a piece."""
        conditions: list[Expr] = []
        for group in self.groups:
            for axis in group.axes:
                first = self._first(axis, at, left)
                if axis.low is not None:
                    conditions.append(Binary("<=", axis.low, first))
                if axis.high is not None:
                    conditions.append(Binary("<=", Binary("+", first, self._valid(axis, left)), axis.high))
        return conjunction(conditions)

    def _source(self, group: ReferenceGroup, at: Mapping[str, Expr], begins: Mapping[int, Expr]) -> Index:
        """The first element of a box; ``begins`` are its subscripts along axes that bounds may cut."""
        subscripts = tuple(
            begins[number] if number in begins else self._origin(axis, at)
            for number, axis in enumerate(group.axes)
        )
        return flat(Index(group.array, subscripts), self.context.strides)

    def _origin(self, axis: BoxAxis, at: Mapping[str, Expr]) -> Expr:
        """The subscript of the first place of a box along an axis."""
        begins = {c.name: self.context.name(f"o{n}") for n, c in enumerate(self.context.tile.coordinates)}
        begins = {**begins, **at, **dict.fromkeys(self.loops.inner, ZERO)}
        summands = [
            times(
                IntLiteral(factor),
                begins[name] if factor > 0 else plus(begins[name], self._last(name)),
            )
            for name, factor in axis.factors.items()
        ]
        return total([e for e in (*summands, substitute(axis.rest, at)) if e != ZERO])

    def _first(self, axis: BoxAxis, at: Mapping[str, Expr], left: Expr) -> Expr:
        """The least subscript that points and steps inside of the limits read, where ``left`` steps are left."""
        found, there = self._origin(axis, at), self._inside(left)
        for name, factor in axis.factors.items():
            if factor < 0 and name in there:
                missing = Binary("-", self.text(self.extent(name)), there[name])
                found = plus(found, times(IntLiteral(-factor), missing))
        return found

    def _inside(self, left: Expr) -> dict[str, Expr]:
        """Return how many points, and steps, of the tile are inside of the limits, by variable."""
        names = {c.name: Name(n) for c, n in zip(self.context.tile.coordinates, self.inside, strict=True)}
        return {**names, self.split: left}

    def _last(self, name: str) -> Expr:
        """The last value of a variable, counted from where a box begins."""
        return self.text(self.extent(name) - 1)

    def along(self, axis: BoxAxis, values: Mapping[str, Expr]) -> Expr:
        """The place in a box, along an axis, of these values of variables, counted from where the box begins; what has
        none is at its least place."""
        found: Expr = ZERO
        for name, factor in axis.factors.items():
            if name in values:
                value = values[name] if factor > 0 else Binary("-", self._last(name), values[name])
                found = plus(found, times(IntLiteral(abs(factor)), value))
        return found

    def _axes(
        self, group: ReferenceGroup, left: Expr, cuts: Mapping[int, BoxCut]
    ) -> list[tuple[Polynomial, Expr, Expr, Expr]]:
        """Elements, pitch, stride and elements that are there, along each axis of which there are several elements.

        Axes that are one in global and in shared memory count as one.
        """
        strides = [*(Name(p.name) for p in self.context.strides[group.array]), ONE]
        found: list[tuple[Polynomial, Expr, Expr, Expr]] = []
        for number, (axis, factors, stride) in enumerate(
            zip(group.axes, self.factors(group)[:-1], strides, strict=True)
        ):
            count, valid, pitch = self._count(axis), self._valid(axis, left), self.product_of_sizes(factors)
            if number in cuts:
                found.append((count, pitch, stride, cuts[number].valid(valid)))
            elif found and self._is_whole(group, number):
                before, _, _, of_before = found.pop()
                found.append((before * count, pitch, stride, times(of_before, valid)))
            elif count != Polynomial.constant(1) or number == len(group.axes) - 1:
                found.append((count, pitch, stride, valid))
        return found

    def _four_axes(
        self, group: ReferenceGroup, left: Expr, cuts: Mapping[int, BoxCut]
    ) -> list[tuple[Polynomial, Expr, Expr, Expr]]:
        """The same with axes of one element in front."""
        axes = self._axes(group, left, cuts)
        one = (Polynomial.constant(1), ZERO, ZERO, ONE)
        return [one] * (MOST_AXES - len(axes)) + axes

    def _is_whole(self, group: ReferenceGroup, number: int) -> bool:
        """Whether a box has all of an axis, whose end is next to the beginning of the next row: in both memories."""
        dims = self.context.nest.array(group.array).dims
        axis = group.axes[number]
        if dims is None or not set(axis.factors) <= set(self.loops.inner):
            return False
        both = {number - 1, number}
        return (
            not any(group.axes[n].is_cut for n in both)
            and self.contiguous(group) not in both
            and (axis.rest, axis.span) == (ZERO, 0)
            and self.text(self._count(axis)) == dims[number]
            and self._count(group.axes[number - 1]) != Polynomial.constant(1)
        )

    def _valid(self, axis: BoxAxis, left: Expr) -> Expr:
        """Return the number of elements along an axis inside of the limits, where ``left`` steps are left."""
        counts: dict[str, Polynomial] = {}
        for name in axis.factors:
            counts[name] = self.extent(name) if name in self.loops.inner else Polynomial.symbol(f"{name}")
        return substitute(expression(elements_along(axis, counts)), self._inside(left))

    def counts(self) -> tuple[Stmt, ...]:
        """Return declarations of how many points of the tile are inside of the limits, along each coordinate."""
        return tuple(
            constant(name, least(Binary("-", self.context.limit(n), self.context.name(f"o{n}")), c.extent))
            for n, (name, c) in enumerate(zip(self.inside, self.context.tile.coordinates, strict=True))
        )

    def begins(self, slot: Expr) -> tuple[Stmt, ...]:
        """Return statements that say where boxes in a slot begin, as offsets into their memory."""
        return tuple(
            constant(names.piece, self._slot(group, slot))
            for group, names in zip(self.groups, self.names, strict=True)
        )

    # --- where points are

    def is_contiguous(self, number: int) -> bool:
        """Whether points along a coordinate find neighbours side by side in shared memory."""
        name = self.context.tile.coordinates[number].name
        return any(name in self.row(group).factors for group in self.groups)

    def is_together(self, number: int) -> bool:
        """Whether the points of a thread along a coordinate are neighbours: they share what they read of a row."""
        name = self.context.tile.coordinates[number].name
        rows = [self.row(group) for group in self.groups]
        return any(
            name in row.factors and (len(row.factors) > 1 or row.factors[name] != 1 or row.span)
            for row in rows
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


def _most(left: Expr, right: Expr) -> Expr:
    return Conditional(Binary("<", left, right), right, left)


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
