"""The strips of a block's rows in shared memory: where they lie, how they come there, and how they get back.

::

    x[c][t - 1], x[c][t]:  T0 rows of S slots of D columns each, of which a walk goes round and round
        columns 0 .. D - 1 in slot 0, D .. 2*D - 1 in slot 1, ...;  what lies before a slot is in the one before it

All threads of the block copy, neighbours along a row; then each thread walks along its own.  Rows begin at an odd
number of words from each other, so that threads that are at the same place of theirs find different banks.  A walk that
goes downward fills the slots from the last one to the first, so that its columns lie as in memory, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import (
    OPAQUE,
    WIDTH,
    Alignment,
    Box,
    Comment,
    KernelStmt,
    SharedTile,
    StageBox,
)
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import conjunction, constant, counting, expression, least
from comprehensive.loops.ir import ScalarType
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Conditional,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import plus, times
from comprehensive.schedule.context import ONE, ZERO, TileContext, commented
from comprehensive.schedule.walks import Strip

EVEN = 8
"""The columns of a slot are a multiple of so many, where they are not constant: an even number of words."""


class StripNames(Struct, frozen=True):
    """The kernel's names for a strip: the tile of the block, the row of the thread, the copies, the columns that are
    copied, and the begin of the slot where the walk is."""

    tile: str
    row: str
    copy: str
    valid: str
    begin: str

    @staticmethod
    def of(array: str, name: Namer) -> StripNames:
        return StripNames(*(name(f"{what}_{array}") for what in ("strip", "row", "copy", "valid", "begin")))


class StripLayout(Struct, frozen=True):
    """A strip of which ``steps`` steps are in a slot of shared memory, over the constants of the kernel."""

    context: TileContext
    strip: Strip
    steps: Polynomial
    slots: Polynomial
    names: StripNames

    # --- sizes

    @property
    def type(self) -> ScalarType:
        return self.context.element_type(self.strip.array)

    @property
    def columns(self) -> Polynomial:
        """The columns of a slot."""
        return self.steps * self.strip.step

    def words(self) -> Polynomial:
        """4-byte words of shared memory of a block."""
        return Polynomial.symbol(self._threads) * self._pitch * Fraction(self.type.size_bytes, WORD_BYTES)

    def constraints(self) -> tuple[Expr, ...]:
        """The conditions on sizes: what lies behind a step is in the slot before its own."""
        if self.columns.is_constant:
            return ()
        even = Binary("==", Binary("%", self._text(self.steps), IntLiteral(EVEN)), ZERO)
        behind = Binary("<=", IntLiteral(self.strip.behind), self._text(self.columns))
        return (even, behind) if self.strip.behind > EVEN else (even,)

    def alignments(self) -> tuple[Alignment, ...]:
        """The alignments that copies of several elements ask for."""
        if not self._is_packed:
            return ()
        first = plus(self.strip.first[-1], IntLiteral(self.strip.begin))
        return (Alignment(self.strip.array, () if first == ZERO else (first,)),)

    @property
    def _threads(self) -> str:
        (c,) = self.context.tile.coordinates
        return c.threads

    @property
    def _unit(self) -> int:
        """Elements of a word, or one that is longer."""
        return max(1, WORD_BYTES // self.type.size_bytes)

    @property
    def _ring(self) -> Polynomial:
        return self.slots * self.columns

    @property
    def _pitch(self) -> Polynomial:
        """Elements from row to row, an odd number of words."""
        ring, unit = self._ring, self._unit
        if not ring.is_constant:
            return ring + unit
        words = -(-int(ring.constant_value()) // unit)
        return Polynomial.constant((words + 1 - words % 2) * unit)

    @property
    def _is_packed(self) -> bool:
        """Whether several elements are a word, and can be copied as one."""
        return self.strip.is_copied and self._unit > 1 and not self.strip.downward

    def _text(self, polynomial: Polynomial) -> Expr:
        tile = self.context.tile
        return expression(polynomial, (*tile.sizes, tile.depth, tile.stages))

    # --- declarations

    def tiles(self, offset: Polynomial) -> tuple[KernelStmt, ...]:
        """Return what says where the rows of the block, and that of the thread, are in shared memory."""
        own = times(
            self.context.name("t0"), self._text(self._pitch * Fraction(self.type.size_bytes, WORD_BYTES))
        )
        begin = self._text(offset)
        return (
            SharedTile(self.names.tile, self.type, begin, self.strip.array),
            SharedTile(self.names.row, self.type, plus(begin, own), self.strip.array),
        )

    def feed(self, threads: Expr) -> tuple[KernelStmt, ...]:
        """Return the object that copies."""
        if not self.strip.is_copied:
            return ()
        unit = IntLiteral(self._unit)
        box = Box(
            self.names.copy,
            self.type,
            (ONE, ONE, Name(self._threads), self._text(self.columns)),
            (ZERO, ZERO, self._text(self._pitch), ONE),
            (ZERO, ZERO, self.strip.stride(self.context.strides)),
            Conditional(Binary("<=", unit, Name(WIDTH)), unit, ONE) if self._is_packed else ONE,
            Name("threadIdx.x"),
            threads,
        )
        return (self._comment(), box)

    def _comment(self) -> Comment:
        order = (*self.context.tile.sizes, self.context.tile.depth)
        does = (
            f"{self._threads} rows of {self.columns.format(order)} columns into shared memory, slot by slot"
        )
        return commented(self.context, "stage", [self.strip.array], does)

    # --- places

    def slot(self, number: Expr) -> Expr:
        """Return the begin of the slot of a strip with this number, in columns of a row."""
        if self.slots == Polynomial.constant(1):
            return ZERO
        slots = self._text(self.slots)
        place: Expr = Binary("%", number, slots)
        if self.strip.downward:
            place = Binary("-", Binary("-", slots, ONE), place)
        return times(place, self._text(self.columns))

    def element(self, column: Polynomial, within: Expr) -> Index:
        """The place of a column of step 0 in the row of the thread, for the step ``within`` the slot of the walk."""
        moved = plus(times(IntLiteral(self.strip.step), within), self._text(column - self.strip.begin))
        wraps = bool(self.strip.behind) and not (
            column.is_constant and column.constant_value() >= self.strip.begin
        )
        return Index(self.names.row, (self._place(moved, wraps=wraps),))

    def _place(self, moved: Expr, *, wraps: bool) -> Expr:
        """The place in a row of what lies so many columns behind the begin of the slot."""
        if self.strip.downward:
            last = plus(Name(self.names.begin), self._text(self.columns - 1))
            place: Expr = Binary("-", last, moved)
        else:
            place = plus(Name(self.names.begin), moved)
            place = plus(place, self._text(self._ring)) if wraps else place
        return Binary("%", place, self._text(self._ring)) if wraps else place

    def _memory(self, row: Expr, column: Expr) -> Index:
        """The element of memory in a row and a column of the walk."""
        (c,) = self.context.tile.coordinates
        *prefix, last = (substitute(subscript, {c.name: row}) for subscript in self.strip.first)
        place = Binary("-", last, column) if self.strip.downward else plus(last, column)
        found = flat(Index(self.strip.array, (*prefix, place)), self.context.strides)
        assert isinstance(found, Index)
        return found

    # --- copies

    def stages(self, number: Expr, count: Expr) -> tuple[KernelStmt, ...]:
        """The strip with this number is begun to be copied, of a walk of so many steps."""
        if not self.strip.is_copied:
            return ()
        strip, columns, valid = self.strip, self._text(self.columns), Name(self.names.valid)
        behind = strip.highest - strip.begin + 1 - strip.step
        there = plus(times(IntLiteral(strip.step), count), IntLiteral(behind))
        left = Binary("-", there, times(columns, number))
        shared = plus(Name(self.names.tile), self.slot(number))
        first = plus(times(columns, number), IntLiteral(strip.begin))
        if strip.downward:
            shared = plus(shared, Binary("-", columns, valid))
            first = plus(first, Binary("-", valid, ONE))
        source = self._memory(self.context.name("o0"), first)
        rows = Binary("-", self.context.limit(0), self.context.name("o0"))
        stage = StageBox(self.names.copy, shared, source, (ONE, ONE, rows, valid))
        return (constant(valid.identifier, least(left, columns)), stage)

    def brought(self) -> Iterator[Stmt]:
        """Yield the statements by which a thread reads what lies in front of its walk."""
        (c,) = self.context.tile.coordinates
        for column in range(self.strip.lowest, self.strip.begin):
            away = self.strip.begin - column
            place = Polynomial.constant(away - 1) if self.strip.downward else self._ring - away
            source = self._memory(Name(c.name), IntLiteral(column))
            yield Assign(Index(self.names.row, (self._text(place),)), "=", source)

    def stores(self, number: Expr, steps: Expr, threads: Expr, turn: str, name: Namer) -> tuple[Stmt, ...]:
        """The columns of a strip that so many steps have stored go to memory, by all threads of the block."""
        if self.strip.stored is None:
            return ()
        row, column, place, thread = (name(base) for base in ("row", "column", "place", "thread"))
        columns, begin = self._text(self.columns), self.strip.stored - self.strip.begin
        every = Polynomial.symbol(self._threads) * self.columns
        first = self.context.name("o0")
        moved = plus(Name(column), IntLiteral(begin))
        inside = self._place(moved, wraps=begin < 0)
        across = plus(plus(times(columns, number), IntLiteral(self.strip.stored)), Name(column))
        stored = Index(self.names.tile, (plus(times(Name(row), self._text(self._pitch)), inside),))
        is_there = (
            Binary("<", Name(place), self._text(every)),
            Binary("<", plus(first, Name(row)), self.context.limit(0)),
            Binary("<", Name(column), times(IntLiteral(self.strip.step), steps)),
        )
        turns = Binary("/", plus(self._text(every), Binary("-", threads, ONE)), threads)
        body = (
            constant(place, plus(times(Name(turn), threads), Name(thread))),
            constant(row, Binary("/", Name(place), columns)),
            constant(column, Binary("%", Name(place), columns)),
            If(conjunction(is_there), (Assign(self._memory(plus(first, Name(row)), across), "=", stored),)),
        )
        # Places are found anew for each strip: all of them would take too many registers.
        anew = constant(thread, Call(OPAQUE, (Name("threadIdx.x"),)))
        return (anew, counting(turn, turns, body, unrolled=True))
