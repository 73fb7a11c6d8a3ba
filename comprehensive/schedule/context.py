"""The context that all tiled kernels share: names, limits, the places of blocks and threads, flat references.

In: a nest and its register tile.  Out: a :class:`TileContext`, and the statements that a kernel over tiles begins
with::

    const int block = blockIdx.x;  const int i1 = block % blocks1;  const int o1 = i1 * (T1 * U1);

Every stage of a kernel has a comment on itself (:func:`commented`), with the names that the program has for arrays::

    // stage(a): D x T1*U1 elements into shared memory
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import Comment, KernelParameter, KernelStmt, SharedTile, Source
from comprehensive.kernel_ir.names import names_in_kernel
from comprehensive.kernel_ir.parameters import Strides, flat, strides_of, used_parameters
from comprehensive.kernel_ir.terms import conjunction, constant, expression, product
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import AXES, Nest, RegisterTile
from comprehensive.metafork.ast import (
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.terms import conjuncts
from comprehensive.metafork.walk import arrays_assigned, statements_in
from comprehensive.records import replace
from comprehensive.schedule.short_loops import is_short

ZERO, ONE = IntLiteral(0), IntLiteral(1)

PATCH = (4, 8)
"""Threads of a warp along the two coordinates of a reduction, unless a recipe has other patches."""
OF_ARRAYS_IN_LOOPS = ("shared", "piece", "copy", "fragment")
"""The bases of the names that each array has in a loop that stages it."""
OF_ARRAYS = (*OF_ARRAYS_IN_LOOPS, "private", "window", "value", "read")
"""The bases of the names that each array has."""
OF_LOOPS = ("step", "steps", "ahead", "slot", "next", "last", "whole", "z", "held")
"""The bases of the names that each loop over staged pieces has."""
GROUP = 8
"""Rows of tiles that neighbouring blocks share, so that what they read is in the second-level cache."""


class BlockOrder(Enum):
    """The orders in which blocks with neighbouring numbers take tiles."""

    ROWS = "rows"
    """Side by side along the last coordinate."""
    COLUMNS = "columns"
    """Side by side along the first one, for stores that run along it: stores in order matter more than reads in order.

    Measured on one H200, a transposition of 16384 x 16384 floats in tiles of 64 x 64: 0.939 of a copy in the order of
    rows, 0.966 in that of columns.
    """
    GROUPS = "groups"
    """Groups of rows of tiles, each column by column; threads of a warp are then a patch."""


class TileContext(Struct, frozen=True):
    """The surroundings of a kernel over tiles.

    ``limits`` are what the kernel calls the bounds of the coordinates, then of the serial loops in each other if there
    are some, then of the batch.
    """

    nest: Nest
    tile: RegisterTile
    limits: Mapping[str, Expr]
    strides: Strides
    names: Mapping[str, str]
    """Fresh names, by what they are for."""

    @staticmethod
    def of(nest: Nest, tile: RegisterTile, loops: Sequence[For]) -> TileContext:
        name = Namer(TileContext._taken(nest, tile))
        limits = {name(f"{c.name}_limit"): c.limit for c in tile.coordinates}
        limits |= {name(f"{loop.iterator}_limit"): loop.bound for loop in loops}
        limits |= {name(f"{b.name}_limit"): b.limit for b in tile.batch}
        strides = strides_of(nest, name)
        wanted = [
            "block",
            "tiles",
            "thread",
            "step",
            "steps",
            "begin",
            "count",
            "common",
            "common_from",
            "earliest",
            "latest",
            "ahead",
            "slot",
            "next",
            "last",
            "whole",
            "turn",
            "vector",
            "row",
            "column",
            "across",
            "at_once",
            "half",
            "held",
            "line",
            "low",
            "high",
            "sums",
            "lane",
            "reach",
            "parts",
            "point",
            "base",
            "within",
            "z",
            "value",
            "place",
            "group",
            "first",
            "height",
            "sweep",
            "sweeps",
            "first_grid",
            "second_grid",
            "rows",
            "columns",
            "mirror",
            "fours",
        ]
        for number in range(len(tile.coordinates)):
            of_coordinate = ("i", "o", "e", "t", "r", "blocks", "low", "high", "place", "turned")
            wanted += [f"{base}{number}" for base in of_coordinate]
        wanted += [f"{base}_{a.name}" for a in nest.arrays for base in OF_ARRAYS]
        wanted += dict.fromkeys(
            f"counter_{s.iterator}"
            for body in tile.bodies
            for s in statements_in(body)
            if isinstance(s, For) and s.type is None
        )
        return TileContext(nest, tile, limits, strides, {base: name(base) for base in wanted})

    @staticmethod
    def _taken(nest: Nest, tile: RegisterTile) -> set[str]:
        taken = {s.name for s in nest.scalars} | {a.name for a in nest.arrays}
        taken |= tile.limits.keys() | {tile.blocks}
        for body in tile.bodies:
            taken |= {s.name for s in statements_in(body) if isinstance(s, Declare)}
            taken |= {s.iterator for s in statements_in(body) if isinstance(s, For)}
        return taken

    def limit(self, number: int) -> Expr:
        return Name(list(self.limits)[number])

    def bound(self, loop: For) -> Expr:
        """Return what the kernel calls the bound of a serial loop; one that is unrolled whole keeps its own."""
        if is_short(loop):
            return loop.bound
        coordinates, batch = len(self.tile.coordinates), len(self.tile.batch)
        loops = list(self.limits.items())[coordinates : len(self.limits) - batch]
        return next((Name(name) for name, bound in loops if bound == loop.bound), loop.bound)

    def of_loop(self, number: int) -> TileContext:
        """The context of one of several loops beside each other: all but the first one have their own names for what
        a loop needs."""
        if not number:
            return self
        name = Namer({*self._taken(self.nest, self.tile), *self.limits, *self.names.values()})
        own = [*OF_LOOPS, *(f"{base}_{a.name}" for a in self.nest.arrays for base in OF_ARRAYS_IN_LOOPS)]
        names = {base: name(f"{self.names[base]}{number + 1}") for base in own}
        return replace(self, names={**self.names, **names})

    def inside(self) -> tuple[Expr, ...]:
        """The conditions that a point is inside of the limits, one for each coordinate; and may store."""
        *others, last = (
            c.inside(Name(c.name), self.limit(number)) for number, c in enumerate(self.tile.coordinates)
        )
        if self.tile.predicate is not None and not self.tile.masked:
            last = Binary("&&", last, self.tile.predicate)
        return (*others, last)

    def is_inside(self) -> Expr:
        """Return the condition that a point is inside of all limits, and may store."""
        return conjunction([part for condition in self.inside() for part in conjuncts(condition)])

    def is_whole(self) -> Expr:
        """Return the condition that the tile of the block is inside of the limits."""
        conditions: list[Expr] = []
        for number, c in enumerate(self.tile.coordinates):
            origin = self.name(f"o{number}")
            if c.shift:
                conditions.append(Binary("<=", ZERO, origin))
            conditions.append(Binary("<=", Binary("+", origin, c.extent), self.limit(number)))
        return conjunction(conditions)

    def name(self, base: str) -> Name:
        return Name(self.names[base])

    def flat(self, expr: Expr) -> Expr:
        """The expression with its references to data flat."""
        return map_expression(expr, self.flat_element)

    def flat_element(self, e: Expr) -> Expr:
        """The expression, flat if it is a reference to data; what its subscripts read stays as it is."""
        return flat(e, self.strides) if isinstance(e, Index) and e.array in self.strides else e

    def element_type(self, array: str) -> ScalarType:
        """The type of the elements of an array of the nest, or of its place in shared memory."""
        return next(a.type for a in self.nest.arrays if array in (a.name, self.names.get(f"shared_{a.name}")))

    def shared_tiles(
        self, tiles: Iterable[tuple[str, ScalarType, Polynomial, str]]
    ) -> tuple[KernelStmt, ...]:
        """Tiles in shared memory one behind the other, each with its name, type, 4-byte words and array."""
        result: list[KernelStmt] = []
        offset = Polynomial.constant(0)
        for name, type, words, array in tiles:
            at = expression(offset, (*self.tile.sizes, self.tile.depth, self.tile.stages))
            result.append(SharedTile(name, type, at, array))
            offset = offset + words
        return tuple(result)

    # --- where blocks and threads are

    def places(
        self,
        order: BlockOrder,
        lanes: Expr | None = None,
        patch: tuple[int, int] = PATCH,
        *,
        interleaved: bool = False,
        placed: tuple[Stmt, ...] = (),
    ) -> tuple[Stmt, ...]:
        """Coordinates of the thread in the block, and of the first point of the tile of the block.

        Where ``placed`` says what tile stands at a place of the launch, ``rows`` and ``columns`` are those of the
        launch, and the places in it are in groups.  So many ``lanes`` share a point, if any do: neighbours, or,
        ``interleaved``, every so many-th thread.  Where a warp is a ``patch``, that has so many threads along each
        coordinate.
        """
        coordinates = self.tile.coordinates
        last = len(coordinates) - 1
        grouped = order is BlockOrder.GROUPS
        of_triangle = bool(placed)
        declared: list[Stmt] = self._batch(of_triangle=of_triangle) or [
            constant(self.names["block"], Name("blockIdx.x"))
        ]
        declared += self._patches(patch) if grouped else []
        for number, c in enumerate(coordinates if not grouped else ()):
            thread = Name(f"threadIdx.{AXES[last - number]}")
            place = thread if lanes is None else Binary("/", thread, lanes)
            if interleaved:
                place = Binary("%", thread, Name(c.threads))
            declared.append(constant(self.names[f"t{number}"], place))
        declared += [
            constant(self.names[f"blocks{number}"], c.tiles(self.limit(number)))
            for number, c in enumerate(coordinates)
        ]
        if lanes is not None:
            lane = Binary("%", Name("threadIdx.x"), lanes)
            if interleaved:
                lane = Binary("/", Name("threadIdx.x"), product([Name(c.threads) for c in coordinates]))
            declared.append(constant(self.names["lane"], lane))
        declared += (
            self._grouped(of_triangle=of_triangle) if grouped or of_triangle else self._in_order(order)
        )
        declared += placed
        for number, c in enumerate(coordinates):
            declared.append(constant(self.names[f"o{number}"], c.origin(self.name(f"i{number}"))))
        return tuple(declared)

    def _batch(self, *, of_triangle: bool) -> list[Stmt]:
        """The values of the batch, which one tile after the other has; and the number of the block among its tiles."""
        if not self.tile.batch:
            return []
        limits = list(self.limits)[-len(self.tile.batch) :]
        of_launch: list[Expr] = [self.name("rows"), self.name("columns")]
        all_ = [c.tiles(self.limit(number)) for number, c in enumerate(self.tile.coordinates)]
        declared: list[Stmt] = [
            constant(self.names["tiles"], product(of_launch if of_triangle else all_)),
            constant(self.names["block"], Binary("%", Name("blockIdx.x"), self.name("tiles"))),
        ]
        rest: Expr = Binary("/", Name("blockIdx.x"), self.name("tiles"))
        for batch, limit in reversed(list(zip(self.tile.batch, limits, strict=True))):
            outermost = batch is self.tile.batch[0]
            declared.append(constant(batch.name, rest if outermost else Binary("%", rest, Name(limit))))
            rest = Binary("/", rest, Name(limit))
        return declared

    def rows_side_by_side(self) -> tuple[Expr, ...]:
        """Places of the points of a thread: side by side, but along the last coordinate a block's threads apart.

        Rows side by side share what a stencil reads; along the last one neighbouring threads access neighbours.
        """
        places: list[Expr] = []
        last = len(self.tile.coordinates) - 1
        for number, c in enumerate(self.tile.coordinates):
            thread, value = self.name(f"t{number}"), self.name(f"r{number}")
            apart = Binary("+", Binary("*", value, Name(c.threads)), thread)
            places.append(apart if number == last else Binary("+", Binary("*", thread, Name(c.each)), value))
        return tuple(places)

    def _patches(self, patch: tuple[int, int]) -> list[Stmt]:
        """Threads of a warp as a patch: what it reads of rows and of columns of the tile is then the least."""
        second = Name(self.tile.coordinates[1].threads)
        rows, columns = map(IntLiteral, patch)
        thread, size = self.name("thread"), product([rows, columns])
        warp, lane = Binary("/", thread, size), Binary("%", thread, size)
        across = Binary("/", second, columns)
        place0 = Binary("*", Binary("/", warp, across), rows)
        place1 = Binary("*", Binary("%", warp, across), columns)
        number = Binary("+", Binary("*", Name("threadIdx.y"), second), Name("threadIdx.x"))
        return [
            constant(thread.identifier, number),
            constant(self.names["t0"], Binary("+", place0, Binary("/", lane, columns))),
            constant(self.names["t1"], Binary("+", place1, Binary("%", lane, columns))),
        ]

    def _in_order(self, order: BlockOrder) -> list[Stmt]:
        declared: list[Stmt] = []
        rest: Expr = self.name("block")
        numbers = list(range(len(self.tile.coordinates)))
        slowest, *others = numbers if order is BlockOrder.ROWS else reversed(numbers)
        for number in (*reversed(others), slowest):
            blocks = self.name(f"blocks{number}")
            place = rest if number == slowest else Binary("%", rest, blocks)
            declared.append(constant(self.names[f"i{number}"], place))
            rest = Binary("/", rest, blocks)
        return declared

    def _grouped(self, *, of_triangle: bool) -> list[Stmt]:
        """Groups of rows of tiles, each column by column; in a triangle, of places of the launch."""
        rows, columns = ("rows", "columns") if of_triangle else ("blocks0", "blocks1")
        row, column = ("place0", "place1") if of_triangle else ("i0", "i1")
        group = IntLiteral(GROUP)
        block, height, of_group = self.name("block"), self.name("height"), self.name("group")
        first = Binary("*", group, Binary("/", block, of_group))
        left = Binary("-", self.name(rows), self.name("first"))
        inside = Binary("%", block, of_group)
        return [
            constant(self.names["group"], Binary("*", group, self.name(columns))),
            constant(self.names["first"], first),
            constant(self.names["height"], Conditional(Binary("<", left, group), left, group)),
            constant(self.names[row], Binary("+", self.name("first"), Binary("%", inside, height))),
            constant(self.names[column], Binary("/", inside, height)),
        ]

    def count(self, *, of_triangle: bool) -> Expr:
        """The number of blocks; in a triangle, for each tile that the host launches."""
        tiles = [] if of_triangle else [c.tiles(c.limit) for c in self.tile.coordinates]
        return product([*(b.limit for b in self.tile.batch), *tiles])

    # --- parameters

    def parameters(self, body: tuple[KernelStmt, ...]) -> tuple[KernelParameter, ...]:
        """Return parameters for the data, strides, scalars and limits that the body reads."""
        used = names_in_kernel(body)
        written = frozenset[str]().union(*map(arrays_assigned, self.tile.bodies))
        limits = [
            KernelParameter(name, ScalarType.INT, Source.LIMIT, name) for name in self.limits if name in used
        ]
        return (*used_parameters(self.nest, self.strides, written, used), *limits)


def is_same_for_all_points(nest: Nest, loop: For) -> bool:
    """Whether the header of a loop reads scalars of the nest alone."""
    read = names_read(loop.start) | names_read(loop.bound) | names_read(loop.step)
    return loop.type is ScalarType.INT and read <= {s.name for s in nest.scalars}


def commented(context: TileContext, primitive: str, arrays: Iterable[str], does: str) -> Comment:
    """The comment before what a primitive makes of these arrays of the nest."""
    names = ", ".join(dict.fromkeys(context.nest.array(name).pointer for name in arrays))
    return Comment(f"{primitive}({names}): {does}" if names else f"{primitive}: {does}")
