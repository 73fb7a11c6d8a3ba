"""Copies from global to shared memory, piece by piece: what each moves, counted once for the whole block.

In: the feeds and boxes that a kernel declares, and its statements that copy by them, in the order in which a block
comes to them.  Out: their counts in a :class:`Tally`.  Copies ahead of the loop end with it: of a piece beyond the
limits nothing is moved, of one that they cut only what lies inside::

    a row of 70 steps, pieces of 32, 4 in flight:   32, 32, 6, 0 | 0, 0, 0     and not 7 * 32
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from msgspec import Struct, field

from comprehensive.kernel_ir.kernel import VECTOR, Box, Feed, Stage, StageBox, StageRow, StorePrefetched
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.metafork.ast import Expr, Index
from comprehensive.model.accesses import VECTOR_BYTES, Tally

NARROW = 16
"""Elements of less than a word that a thread reads before it stores the first of them (`cf_device.cuh`)."""


class Copied(Struct, frozen=True):
    """Elements that all threads read of an array or write to shared memory, as whoever watches a walk is told of it."""

    place: Expr
    """The first element of the array, or the place in shared memory."""
    writes: bool
    elements: int
    """The elements of a piece; of those that are read the ones that are there."""
    times: float


class Copies(Struct):
    """The copies of a block so far: which feeds and boxes there are, and how many pieces each has had."""

    tally: Tally
    number: Callable[[Expr], int]
    """The value of an expression that is the same for all threads."""
    watch: Callable[[Copied], None] | None = None
    _feeds: dict[str, Feed] = field(default_factory=dict[str, Feed])
    _boxes: dict[str, Box] = field(default_factory=dict[str, Box])
    _valid: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """The rows and columns that there are of a feed's first piece and behind it."""
    _pieces: dict[str, float] = field(default_factory=dict[str, float])
    """The pieces that each feed has moved so far, of however many turns."""

    def feed(self, declared: Feed) -> None:
        self._feeds[declared.name] = declared
        self._valid[declared.name] = self.number(declared.valid_rows), self.number(declared.valid_columns)

    def box(self, declared: Box) -> None:
        self._boxes[declared.name] = declared

    def staged(self, statement: Stage, times: float) -> None:
        """The next piece of a feed, all of it at once and past registers."""
        feed = self._feeds[statement.feed]
        size = feed.type.size_bytes
        in_vectors = not feed.turned and self.number(feed.rows) > 1
        together = copied_at_once(in_vectors, self.number(feed.vectors), size)
        self._read(feed.source, self._next_piece(feed, times), size, together, times)
        self._write(statement.shared, self._whole(feed), size, together, times)
        if together * size < WORD_BYTES:
            self.tally.through_registers(self._whole(feed), NARROW, times)

    def fetched(self, name: str, times: float) -> None:
        """The loads that bring the next piece of a feed into registers, which are put into shared memory later."""
        feed = self._feeds[name]
        self._read(feed.source, self._next_piece(feed, times), feed.type.size_bytes, VECTOR, times)

    def put(self, statement: StorePrefetched, times: float) -> None:
        """Registers of a piece go to shared memory."""
        feed = self._feeds[statement.feed]
        self._write(statement.shared, self._whole(feed), feed.type.size_bytes, 1, times, copies=False)

    def box_staged(self, statement: StageBox, times: float) -> None:
        """A box, or what is valid of it, past registers."""
        box = self._boxes[statement.feed]
        together = self.number(box.together) if self.number(box.pitches[-1]) == 1 else 1
        extents = [self.number(extent) for extent in box.extents]
        valid = [min(e, max(0, self.number(v))) for e, v in zip(extents, statement.valid, strict=True)]
        size = box.type.size_bytes
        self._read(statement.source, (prod(valid[:-1]), valid[-1]), size, together, times)
        self._write(statement.shared, prod(extents), size, together, times)
        if together * size < WORD_BYTES:
            self.tally.through_registers(prod(extents), NARROW, times)

    def row_staged(self, statement: StageRow, times: float) -> None:
        """Copies of as many rows as the lanes of one leave to others, all begun at once and waited for together."""
        count, size = self.number(statement.count), statement.type.size_bytes
        rows = self.tally.threads // self.number(statement.lanes)
        together = VECTOR_BYTES // size if self.number(statement.vectors) else 1
        self._read(statement.source, (rows, count), size, together, times)
        self._write(statement.shared, rows * count, size, together, times)
        self.tally.waits_for_copies()

    def _read(self, first: Index, piece: tuple[int, int], size: int, together: int, times: float) -> None:
        """Count rows and columns that are read, so many elements together."""
        rows, columns = piece
        self.tally.piece(rows, columns * size, together, size, times)
        if self.watch is not None:
            self.watch(Copied(first, False, rows * columns, times))

    def _write(
        self, shared: Expr, elements: int, size: int, together: int, times: float, *, copies: bool = True
    ) -> None:
        """Count elements that are written: threads come to all of a piece, whatever is there."""
        self.tally.put(elements * size, together, size, times, copies=copies)
        if self.watch is not None:
            self.watch(Copied(shared, True, elements, times))

    def _whole(self, feed: Feed) -> int:
        return self.number(feed.rows) * self.number(feed.columns)

    def _next_piece(self, feed: Feed, times: float) -> tuple[int, int]:
        """The rows and columns that there are of the next piece."""
        before = int(self._pieces.get(feed.name, 0))
        self._pieces[feed.name] = self._pieces.get(feed.name, 0) + times
        rows, columns = self._valid[feed.name]
        return (
            _within(self.number(feed.rows), rows - before * self.number(feed.down)),
            _within(self.number(feed.columns), columns - before * self.number(feed.right)),
        )


def copied_at_once(in_vectors: bool, together: int, size: int) -> int:
    """Elements of a copy past registers, where rows begin at multiples of ``together`` elements; of 16 bytes for 4."""
    if not in_vectors:
        return 1
    return VECTOR_BYTES // size if together == VECTOR else together if together * size >= WORD_BYTES else 1


def _within(extent: int, there: int) -> int:
    return max(0, min(extent, there))
