"""The shared-memory layout of a serial loop's operand tiles, and the tile loaders that copy them there.

In: a context, the loop and its pieces.  Out: sizes, declarations, copies and the element that a point reads.  Every
piece has a slot for each of the ``S`` steps in flight.  With two coordinates a warp is a patch of threads, each with
vectors of points: pieces along a coordinate are laid out so that neighbouring points find neighbours.  With one
coordinate neighbouring threads read down the rows of a piece: the vectors of a row change places among eight, by row.

Rows that are padded have no bank conflicts either, but no longer begin at multiples of 128 bytes: what an asynchronous
copy brings from global memory is then fetched in 1.5 times as many sectors.  Measured on one H200 (Nsight Compute),
product of a 16384 x 16384 matrix and a vector: 50.6 million sectors of 32 bytes instead of 33.6, 75 % of the rate of
the second-level cache's tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypedDict

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import (
    VECTOR,
    WIDTH,
    Alignment,
    Comment,
    Feed,
    KernelStmt,
    Prefetch,
    Stage,
    StorePrefetched,
    Vectors,
)
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import constant, expression, onward, product
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.integers import Ring
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import reads_data
from comprehensive.schedule.context import ONE, PATCH, ZERO, TileContext, commented
from comprehensive.schedule.equalize import BlockSteps
from comprehensive.schedule.operands import Axis, OperandTile, has_steps

VECTOR_BYTES = 16
"""The largest access of a thread."""
SWIZZLE = 8
"""Vectors that change places: with them threads of a row each have all banks."""
MOST_THREADS = 1024
"""The most threads of a block, whose divisors are powers of two."""
HELD = 64
"""Points of a thread from which on its arithmetic hides a fetch into registers.

Measured on one H200: with 64 points it saves instructions (1.10 times as fast as staging), with 32 or 16 the wait
for it shows (0.95 for one wave of blocks, 0.67 to 0.80 for loops of 16384 steps).
"""


class _RowNumbers(TypedDict, total=False):
    row_numbers: Index
    row_number_type: ScalarType


@dataclass(frozen=True, slots=True)
class OperandLayout:
    """The layout of pieces in shared memory; ``pieces`` are in its order."""

    context: TileContext
    loop: For
    pieces: Mapping[str, OperandTile]

    @classmethod
    def of(cls, context: TileContext, loop: For, pieces: Mapping[str, OperandTile]) -> Self:
        # 8-byte elements first: every piece is then aligned without padding.
        ordered = sorted(pieces, key=lambda name: -context.nest.array(name).type.size_bytes)
        return cls(context, loop, {name: pieces[name] for name in ordered})

    # --- sizes

    @property
    def is_patched(self) -> bool:
        """Whether there are two coordinates, and the threads of a warp a patch."""
        return len(self.context.tile.coordinates) == 2

    @property
    def threads(self) -> Expr:
        """The threads of a block, all of which copy: those of its points, and others that do nothing else."""
        tile = self.context.tile
        lanes = [] if tile.lanes is None else [Name(tile.lanes)]
        return product([*(Name(c.threads) for c in tile.coordinates), *lanes])

    def of_points(self, *body: KernelStmt) -> tuple[KernelStmt, ...]:
        """Return the statements of points under a guard that keeps out the threads that only copy."""
        tile = self.context.tile
        if tile.lanes is None:
            return body
        (c,) = tile.coordinates
        has_point = Binary("<", self.context.name("thread"), Name(c.threads))
        return (If(Binary("||", Binary("==", Name(tile.lanes), ONE), has_point), body),)

    @property
    def patch(self) -> tuple[int, int]:
        """The threads of a warp along each coordinate, if there are two."""
        return PATCH

    def words(self) -> Polynomial:
        """4-byte words of shared memory of a block."""
        return sum((self._words(name) for name in self.pieces), Polynomial.constant(0))

    def constraints(self) -> tuple[Expr, ...]:
        """The conditions on sizes that the shapes need."""
        tile = self.context.tile
        swizzled = [self._vector(name) for name in self.pieces if self.is_swizzled(name)]
        counts = [(tile.depth, SWIZZLE * max(swizzled) if swizzled else VECTOR), *self._of_leftward_pieces()]
        if self.is_patched:
            counts += [(c.threads, patch) for c, patch in zip(tile.coordinates, self.patch, strict=True)]
            counts += [(c.each, VECTOR) for c in tile.coordinates]
        multiples: list[Expr] = [
            Binary("==", Binary("%", Name(name), IntLiteral(count)), ZERO) for name, count in counts
        ]
        if swizzled:  # a thread stays in its columns, and goes down a power of two of rows at a time
            in_row = Binary("/", Name(tile.depth), IntLiteral(min(swizzled)))
            multiples.append(Binary("==", Binary("%", self.threads, in_row), ZERO))
            multiples.append(Binary("==", Binary("%", IntLiteral(MOST_THREADS), self.threads), ZERO))
        return (*multiples, Binary(">=", Name(tile.stages), IntLiteral(2)))

    def _of_leftward_pieces(self) -> list[tuple[str, int]]:
        """Return what the depth is a multiple of so that pieces begin at multiples of 16 bytes, as their ends do."""
        leftward = [self._vector(name) for name, piece in self.pieces.items() if piece.columns.downward]
        return [(self.context.tile.depth, max(leftward))] if leftward else []

    def alignments(self) -> tuple[Alignment, ...]:
        """The alignments that copies of 16 bytes ask for: rows of pieces begin at multiples of them."""
        columns = (
            (name, _behind(piece.columns.rest) if piece.columns.downward else piece.columns.rest)
            for name, piece in self.pieces.items()
        )
        return tuple(Alignment(name, () if rest == ZERO else (rest,)) for name, rest in columns)

    def together(self) -> tuple[int, ...]:
        """The vector widths that the kernel is compiled for; pairs too where two elements can be copied at once."""
        narrow = (not self.is_transposed(name) and 2 * self._size(name) == WORD_BYTES for name in self.pieces)
        return (VECTOR, 2, 1) if any(narrow) else (VECTOR, 1)

    def is_transposed(self, name: str) -> bool:
        """Whether columns become rows in shared memory: points that are neighbours then find neighbours."""
        piece = self.pieces[name]
        return (
            self.is_patched
            and piece.rows.variable not in (None, self.loop.iterator)
            and piece.columns.variable == self.loop.iterator
        )

    def is_swizzled(self, name: str) -> bool:
        """Whether threads read down the rows of a piece."""
        piece = self.pieces[name]
        return (
            not self.is_patched
            and piece.rows.variable not in (None, self.loop.iterator)
            and piece.columns.variable == self.loop.iterator
        )

    def coordinate(self, name: str) -> int | None:
        """The number of the coordinate along which a piece lies; None where it is the same for all points."""
        piece = self.pieces[name]
        along = {piece.rows.variable, piece.columns.variable} - {None, self.loop.iterator}
        return self._number(along.pop() or "") if along else None

    def _words(self, name: str) -> Polynomial:
        """4-byte words of a piece in all slots.

        Narrow elements lie beside each other, where there are rows of them: what follows then begins at a multiple of
        16 bytes, since rows have a multiple of four elements, and there is a multiple of eight of them.
        """
        type = self.context.nest.array(name).type
        is_packed = self.is_patched and self.coordinate(name) is not None
        size = Fraction(type.size_bytes, WORD_BYTES) if is_packed else words_per_element(type)
        return Polynomial.symbol(self.context.tile.stages) * self._elements(name) * size

    def _elements(self, name: str) -> Polynomial:
        piece = self.pieces[name]
        return self._extent(piece.columns if self.is_transposed(name) else piece.rows) * self._pitch(name)

    def _extent(self, axis: Axis) -> Polynomial:
        tile = self.context.tile
        if axis.variable is None:
            return Polynomial.constant(1)
        if axis.variable == self.loop.iterator:
            return Polynomial.symbol(tile.depth)
        (c,) = (c for c in tile.coordinates if c.name == axis.variable)
        return Polynomial.symbol(c.threads) * Polynomial.symbol(c.each)

    def _pitch(self, name: str) -> Polynomial:
        piece = self.pieces[name]
        return self._extent(piece.rows) + VECTOR if self.is_transposed(name) else self._extent(piece.columns)

    def _vector(self, name: str) -> int:
        """Return the number of elements of a vector."""
        return VECTOR_BYTES // self._size(name)

    def _size(self, name: str) -> int:
        return self.context.nest.array(name).type.size_bytes

    def _text(self, polynomial: Polynomial) -> Expr:
        return expression(
            polynomial, (*self.context.tile.sizes, self.context.tile.depth, self.context.tile.stages)
        )

    # --- declarations

    def thread(self) -> tuple[Stmt, ...]:
        """Return what says which thread it is, and which steps its block does."""
        steps = () if self.block_steps is None else self.block_steps.declared()
        if self.is_patched:
            return steps
        return (constant(self.context.names["thread"], self.context.name("t0")), *steps)

    def tiles(self) -> tuple[KernelStmt, ...]:
        context = self.context
        return context.shared_tiles(
            (context.names[f"shared_{name}"], context.nest.array(name).type, self._words(name), name)
            for name in self.pieces
        )

    def feeds(self) -> tuple[KernelStmt, ...]:
        """Return the objects that copy, behind the constant that says how pieces are turned, if any are."""
        points = product([Name(c.each) for c in self.context.tile.coordinates])
        is_held = Binary("&&", self._is_aligned, Binary("<=", IntLiteral(HELD), points))
        turned = [name for name in self.pieces if self.is_transposed(name)]
        does = f"through registers, where rows are aligned and a thread has {HELD} points"
        how = commented(self.context, "stage", turned, does)
        feeds = tuple(
            statement
            for name, piece in self.pieces.items()
            for statement in (self._comment(name, piece), self._feed(name, piece))
        )
        return (*([how, constant(self.held.identifier, is_held)] if turned else []), *feeds)

    def _comment(self, name: str, piece: OperandTile) -> Comment:
        order = (*self.context.tile.sizes, self.context.tile.depth)
        rows, columns = (self._extent(axis).format(order) for axis in (piece.rows, piece.columns))
        how = ", transposed" if self.is_transposed(name) else ", swizzled" if self.is_swizzled(name) else ""
        does = f"{rows} x {columns} elements into shared memory{how}, {self.context.tile.stages} - 1 pieces ahead"
        return commented(self.context, "stage", [name], does)

    def _feed(self, name: str, piece: OperandTile) -> Feed:
        context = self.context
        return Feed(
            name=context.names[f"copy_{name}"],
            type=context.nest.array(name).type,
            source=flat(Index(name, self._origins(piece)), context.strides),
            rows=self._text(self._extent(piece.rows)),
            columns=self._text(self._extent(piece.columns)),
            pitch=self._text(self._pitch(name)),
            swizzled=self.is_swizzled(name),
            down=self._advance(piece.rows),
            right=self._advance(piece.columns),
            stride=self._stride(name, piece),
            valid_rows=self._valid(piece.rows),
            valid_columns=self._valid(piece.columns),
            thread=context.name("thread"),
            threads=self.threads,
            turned=self.is_transposed(name),
            vectors=self.held if self.is_transposed(name) else Name(WIDTH),
            leftwards=piece.columns.downward,
            **self._row_numbers(piece.rows),
        )

    def _row_numbers(self, rows: Axis) -> _RowNumbers:
        """Return where the numbers of rows that are looked up begin, and what they are."""
        if rows.looked_up is None:
            return {}
        assert rows.variable is not None
        first = self._first(rows.variable)
        element = substitute(rows.looked_up, {rows.variable: first})
        assert isinstance(element, Index)
        return {
            "row_numbers": flat(element, self.context.strides),
            "row_number_type": self.context.nest.array(element.array).type,
        }

    @property
    def held(self) -> Name:
        """Whether pieces that are turned pass through registers, instead of being staged element by element."""
        return self.context.name("held")

    @property
    def _is_aligned(self) -> Expr:
        return Binary("==", Name(WIDTH), IntLiteral(VECTOR))

    def _stride(self, name: str, piece: OperandTile) -> Expr:
        """The distance of the rows of a piece, which may lie one before the other."""
        if piece.row is None:
            return ONE
        stride = Name(self.context.strides[name][piece.row].name)
        return Unary("-", stride) if piece.rows.downward else stride

    def _origins(self, piece: OperandTile) -> tuple[Expr, ...]:
        """The subscripts of the first element of the first piece; the columns of one that falls end with that of the
        first step."""
        *others, column = map(self._origin, piece.axes)
        if piece.columns.downward:
            column = Binary("-", column, Binary("-", Name(self.context.tile.depth), ONE))
        return (*others, column)

    def _origin(self, axis: Axis) -> Expr:
        """The subscript in the first row, or column, of the first piece."""
        # A loop without steps reads no numbers.
        is_read = reads_data(axis.rest)
        rest = Conditional(has_steps(self.longest), axis.rest, ZERO) if is_read else axis.rest
        if axis.variable is None or axis.looked_up is not None:
            return rest
        first = self._first(axis.variable)
        if axis.downward:
            return rest if first == ZERO else Binary("-", rest, first)
        return plus(first, rest)

    def _first(self, variable: str) -> Expr:
        """The first value of a coordinate, or of the iterator, in the first piece."""
        if variable == self.loop.iterator:
            return self.begin
        return self.context.name(f"o{self._number(variable)}")

    def _advance(self, axis: Axis) -> Expr:
        return Name(self.context.tile.depth) if axis.variable == self.loop.iterator else ZERO

    def _valid(self, axis: Axis) -> Expr:
        """Return the number of elements from the origin of the first operand tile to the limit."""
        if axis.variable is None:
            return ONE
        if axis.variable == self.loop.iterator:
            return self.limit
        number = self._number(axis.variable)
        return Binary("-", self.context.limit(number), self.context.name(f"o{number}"))

    @property
    def limit(self) -> Expr:
        """The number of steps that a block does."""
        return self.longest if self.block_steps is None else self.block_steps.count

    @property
    def begin(self) -> Expr:
        """The first step that a block does."""
        return ZERO if self.block_steps is None else self.block_steps.begin

    @property
    def longest(self) -> Expr:
        """The number of steps of the loop."""
        return self.context.bound(self.loop)

    @property
    def block_steps(self) -> BlockSteps | None:
        """The steps that a block does, where blocks differ."""
        return None if self.context.tile.steps is None else BlockSteps(self.context, self.longest)

    def _number(self, variable: str) -> int:
        return [c.name for c in self.context.tile.coordinates].index(variable)

    # --- copies

    def stages(self, slot: Expr, *, turned: bool) -> tuple[KernelStmt, ...]:
        """The next pieces are begun to be copied; of those that are turned, or of the others."""
        return tuple(
            Stage(self.context.names[f"copy_{name}"], self._slot(name, slot))
            for name in self.pieces
            if self.is_transposed(name) == turned
        )

    def fetches(self) -> tuple[KernelStmt, ...]:
        """The next pieces that are turned come into registers."""
        return tuple(
            Prefetch(self.context.names[f"copy_{name}"]) for name in self.pieces if self.is_transposed(name)
        )

    def puts(self, slot: Expr) -> tuple[KernelStmt, ...]:
        """Return statements that store turned pieces from registers to a slot."""
        return tuple(
            StorePrefetched(self.context.names[f"copy_{name}"], self._slot(name, slot))
            for name in self.pieces
            if self.is_transposed(name)
        )

    def _slot(self, name: str, slot: Expr) -> Expr:
        """Return where the piece of an array in a slot begins in shared memory, as a pointer."""
        return plus(self.context.name(f"shared_{name}"), times(slot, self._text(self._elements(name))))

    # --- what a point reads

    def begins(self, slot: Expr) -> tuple[Declare, ...]:
        """Return statements that say where pieces in a slot begin, as offsets into their arrays' memory."""
        return tuple(
            constant(self.context.names[f"piece_{name}"], times(slot, self._text(self._elements(name))))
            for name in self.pieces
        )

    def element(self, name: str, z: Expr) -> Index:
        """The element of an array that a point reads in step ``z`` of the piece."""
        return self._read(name, z, self.places())

    def fragment(self, name: str, which: Expr, z: Expr) -> KernelStmt:
        """Return the statement that loads what a patch's thread reads of an array in step ``z``.

        The values go into the registers ``which``.
        """
        context, number = self.context, self.coordinate(name)
        registers = Index(context.names[f"fragment_{name}"], (which,))
        first = [Binary("*", IntLiteral(VECTOR), context.name(f"t{n}")) for n in range(2)]
        source = self._read(name, z, first)
        if number is None:
            return Assign(registers, "=", source)
        c = context.tile.coordinates[number]
        return Vectors(
            Index(registers.array, (which, ZERO)),
            source,
            Name(c.each),
            Binary("*", IntLiteral(VECTOR), Name(c.threads)),
            IntLiteral(VECTOR),
        )

    def _read(self, name: str, z: Expr, places: Sequence[Expr]) -> Index:
        def place(axis: Axis) -> Expr:
            if axis.variable is None:
                return ZERO
            return z if axis.variable == self.loop.iterator else places[self._number(axis.variable)]

        piece = self.pieces[name]
        row, column = place(piece.rows), place(piece.columns)
        if piece.columns.downward:
            column = Binary("-", Binary("-", Name(self.context.tile.depth), ONE), column)
        if self.is_transposed(name):
            row, column = column, row
        if self.is_swizzled(name):
            column = _swizzled(row, column, self._vector(name))
        inside = plus(times(row, self._text(self._pitch(name))), column)
        return Index(
            self.context.names[f"shared_{name}"], (onward(self.context.name(f"piece_{name}"), inside),)
        )

    def places(self) -> tuple[Expr, ...]:
        """One coordinate: a block's threads apart. Two: in vectors, those a block's threads apart."""
        context = self.context
        first = context.tile.coordinates[0]
        if not self.is_patched:
            return (Binary("+", Binary("*", context.name("r0"), Name(first.threads)), context.name("t0")),)
        places: list[Expr] = []
        for number, c in enumerate(context.tile.coordinates):
            value, thread, vector = context.name(f"r{number}"), context.name(f"t{number}"), IntLiteral(VECTOR)
            apart = Binary("*", Binary("/", value, vector), Binary("*", vector, Name(c.threads)))
            places.append(
                Binary("+", Binary("+", apart, Binary("*", vector, thread)), Binary("%", value, vector))
            )
        return tuple(places)


def _behind(place: Expr) -> Expr:
    """The place behind another one."""
    ring = Ring()
    return ring.write(ring.read(place) + 1)


def _swizzled(row: Expr, column: Expr, vector: int) -> Expr:
    """Return ``z / (8 * v) * (8 * v) + (z / v % 8 ^ r % 8) * v + z % v``.

    What the compiler knows of ``z`` is apart.
    """
    line, swizzle, v = IntLiteral(SWIZZLE * vector), IntLiteral(SWIZZLE), IntLiteral(vector)
    among = Binary("^", Binary("%", Binary("/", column, v), swizzle), Binary("%", row, swizzle))
    begin = Binary("*", Binary("/", column, line), line)
    return Binary("+", Binary("+", begin, Binary("*", among, v)), Binary("%", column, v))
