"""Copies of whole pieces to shared memory, lane by lane: a launch of a kernel in, the bytes that each lane moves out.

    a piece of 16 x 8 floats, rows begin at multiples of 16 bytes, 32 threads   -->   a copy of 16 bytes a lane:
    lane 0 from byte 0 to byte 0, lane 1 from 16 to 16, lane 2 from 4*stride to 32, ...

The schedule says what a piece is; which thread copies what of it is decided in `templates/runtime/cf_device.cuh`
(`cf_tiled_copy`, `cf_transposed_copy`, `cf_box`, `cf_stage_row`), whose arithmetic stands here once more.  A test runs
both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from comprehensive.kernel_ir.kernel import (
    WIDTH,
    Box,
    Feed,
    Kernel,
    OfTiles,
    Prefetch,
    Stage,
    StageBox,
    StageRow,
    StorePrefetched,
)
from comprehensive.loops.access import names_read
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.metafork.ast import Expr, IntLiteral
from comprehensive.metafork.rewrite import substitute
from comprehensive.model.accesses import VECTOR_BYTES
from comprehensive.model.block import Walk
from comprehensive.model.launched import Launched
from comprehensive.model.moved_bytes import copied_at_once

Value: TypeAlias = Any
"""An integer, or an array with one for each thread."""
Numbers: TypeAlias = Mapping[str, Value]
"""The fields of a feed, a box or a row by name, as numbers."""

_LINE = 128
_MOST_LANES = 8
_FOUR = 4


class Moved(Struct, frozen=True, eq=False):
    """One copy of all threads: ``count`` neighbouring elements each, where ``active``.

    ``source`` and ``target`` are in elements from where the piece begins; None where that side has a step of its own.
    """

    source: Value
    target: Value
    count: int
    active: Value


class LaneCopy(Struct, frozen=True):
    """One copy by a warp: ``width`` bytes of each lane, None for a lane that takes no part.

    ``source`` are bytes from the begin of the array, ``target`` from the begin of shared memory; a step into registers
    has no targets, one out of them no sources.
    """

    width: int
    source: tuple[int | None, ...]
    target: tuple[int | None, ...]


class StagedCopy(Struct, frozen=True):
    """The first piece that a statement of a kernel copies from ``array`` to the ``tile`` in shared memory.

    ``kind`` is ``piece``, ``turned piece``, ``box`` or ``row``; ``copies`` are those of a warp, in order.
    """

    array: str
    tile: str
    kind: str
    copies: tuple[LaneCopy, ...]


def staged_copies(
    kernel: Kernel, launch: Launched, number: Sequence[int], warp: int, together: int
) -> tuple[StagedCopy, ...]:
    """Return what a warp of the block with this number (x last) copies, of each statement the first piece."""
    walk = _Staging(kernel, {**launch.values, WIDTH: together}, launch.block, number, warp)
    walk.statements(kernel.body, 1)
    return tuple(walk.found.values())


class _Staging(Walk):
    """A walk that writes down the first piece of each feed, each box and each row."""

    def __init__(
        self,
        kernel: Kernel,
        values: Mapping[str, Value],
        shape: Sequence[int],
        number: Sequence[int],
        warp: int,
    ) -> None:
        super().__init__(kernel, values, shape, number)
        self.found: dict[str, StagedCopy] = {}
        self._lanes = range(warp * WARP_THREADS, (warp + 1) * WARP_THREADS)
        self._begun: dict[str, tuple[Feed | Box, Numbers]] = {}
        self._fetched_first: dict[str, list[Moved]] = {}

    def _of_tiles(self, statement: OfTiles, times: float) -> None:
        match statement:
            case Feed():
                names = (
                    "rows",
                    "columns",
                    "pitch",
                    "stride",
                    "valid_rows",
                    "valid_columns",
                    "thread",
                    "threads",
                )
                self._begun[statement.name] = (
                    statement,
                    {
                        **{name: self._value(getattr(statement, name), 0) for name in (*names, "vectors")},
                        "size": statement.type.size_bytes,
                        "swizzled": statement.swizzled,
                        "leftwards": statement.leftwards,
                        "begin": self._value(statement.source.subscripts[0], 0),
                    },
                )
            case Box():
                self._begun[statement.name] = (
                    statement,
                    {
                        **{
                            name: self._values(getattr(statement, name))
                            for name in ("extents", "pitches", "strides")
                        },
                        **{
                            name: self._value(getattr(statement, name), 0)
                            for name in ("together", "thread", "threads")
                        },
                        "size": statement.type.size_bytes,
                    },
                )
            case Stage() | Prefetch() | StorePrefetched():
                self._piece(statement)
            case StageBox():
                box, numbers = self._begun[statement.feed]
                numbers = {**numbers, "valid": self._values(statement.valid)}
                if statement.places:
                    begin, moved = 0, box_copies(numbers, lambda *places: self._element(statement, places))
                else:
                    begin, moved = self._value(statement.source.subscripts[0], 0), box_copies(numbers)
                self._write_down(
                    statement.feed, statement.source.array, "box", statement.shared, begin, moved, box
                )
            case StageRow():
                names = ("count", "lane", "lanes", "vectors")
                numbers = {name: self._value(getattr(statement, name), 0) for name in names}
                moved = row_copies({**numbers, "size": statement.type.size_bytes})
                begin = self._value(statement.source.subscripts[0], 0)
                key = str(statement.shared)
                self._write_down(
                    key, statement.source.array, "row", statement.shared, begin, moved, statement
                )
            case _:
                pass
        super()._of_tiles(statement, times)

    def _element(self, statement: StageBox, places: Sequence[Value]) -> Value:
        """The element at these places of a box, as an offset into its array."""
        self.values |= dict(zip(statement.places, places, strict=True))
        return self._value(statement.source.subscripts[0], 0)

    def _piece(self, statement: Stage | Prefetch | StorePrefetched) -> None:
        feed, numbers = self._begun[statement.feed]
        assert isinstance(feed, Feed)
        if isinstance(statement, Prefetch):
            self._fetched_first.setdefault(statement.feed, [*fetched(numbers)])
            return
        kind = "turned piece" if feed.turned else "piece"
        if isinstance(statement, StorePrefetched):
            moved: Iterator[Moved] = iter([*self._fetched_first[statement.feed], *put(numbers)])
        else:
            moved = turned_copies(numbers) if feed.turned else piece_copies(numbers)
        begin = numbers["begin"]
        self._write_down(statement.feed, feed.source.array, kind, statement.shared, begin, moved, feed)

    def _write_down(
        self,
        key: str,
        array: str,
        kind: str,
        shared: Expr,
        begin: Value,
        moved: Iterator[Moved],
        copied: Feed | Box | StageRow,
    ) -> None:
        if key in self.found:
            return
        tile = next(name for name in self._shared if name in names_read(shared))
        size = copied.type.size_bytes
        place = self._shared[tile][0] + size * self._value(substitute(shared, {tile: IntLiteral(0)}), 0)
        copies = tuple(
            LaneCopy(
                each.count * size,
                self._of_lanes(None if each.source is None else (begin + each.source) * size, each.active),
                self._of_lanes(None if each.target is None else place + each.target * size, each.active),
            )
            for each in moved
        )
        kept = tuple(c for c in copies if any(lane is not None for lane in (*c.source, *c.target)))
        self.found[key] = StagedCopy(array, tile, kind, kept)

    def _of_lanes(self, place: Value, active: Value) -> tuple[int | None, ...]:
        """Return the bytes of the lanes of the warp, None for those that take no part."""
        if place is None:
            return (None,) * WARP_THREADS
        threads = self.tally.threads
        active = active if self._active is None else active & self._active
        places, takes_part = np.broadcast_to(place, (threads,)), np.broadcast_to(active, (threads,))
        return tuple(
            int(places[lane]) if lane < threads and takes_part[lane] else None for lane in self._lanes
        )

    def _values(self, expressions: Sequence[Expr]) -> tuple[Value, ...]:
        return tuple(self._value(each, 0) for each in expressions)


def piece_copies(feed: Numbers) -> Iterator[Moved]:
    """The copies of `cf_tiled_copy::stage`."""
    rows, columns, threads, pitch = feed["rows"], feed["columns"], feed["threads"], feed["pitch"]
    thread, vector = np.asarray(feed["thread"]), VECTOR_BYTES // feed["size"]
    in_vectors = rows > 1 and columns % vector == 0
    width = copied_at_once(in_vectors, feed["vectors"], feed["size"])
    along = 32 if columns // width % 32 == 0 else columns // width
    is_group = width == vector or feed["swizzled"]
    together = 1 if not in_vectors else vector if is_group else columns // along
    groups, line = columns // together, _LINE // feed["size"]
    each = max(1, threads // groups)
    turns = 8 // each if feed["swizzled"] and each < 8 else 1
    own_row, own_column = thread // groups, thread % groups * width
    for turn, first in enumerate(range(0, rows * groups, threads)):
        number = first + thread
        row, column = number // groups, number % groups * width
        exists = (number < rows * groups) & (row < feed["valid_rows"])
        for left in range(together // width):
            right = left * groups * width
            target = row * pitch + column + right
            if feed["swizzled"]:  # a thread then stays in its columns
                place = own_row * pitch + (own_column ^ (own_row + turn % turns * each) % 8 * vector)
                target = first // groups * pitch + (place ^ right % line) + right // line * line
            active = exists & _has(feed, column + right)
            yield Moved(row * feed["stride"] + column + right, target, width, active)


def turned_copies(feed: Numbers) -> Iterator[Moved]:
    """The copies of `cf_transposed_copy::stage`."""
    lanes = min(feed["columns"], _MOST_LANES)
    row, column, rows, each = _turned(feed, lanes, 1)
    for down in range(0, feed["rows"], each):
        for right in range(0, feed["columns"], lanes):
            source = (row + down) * feed["stride"] + column + right
            target = (column + right) * feed["pitch"] + row + down
            yield Moved(source, target, 1, (down < rows) & _has(feed, column + right))


def fetched(feed: Numbers) -> Iterator[Moved]:
    """The loads of `cf_transposed_copy::prefetch`, into registers."""
    row, column, rows, each = _turned(feed, feed["columns"] // _FOUR, _FOUR)
    for down in range(0, feed["rows"], each):
        active = (down < rows) & _has(feed, column)
        yield Moved((row + down) * feed["stride"] + column, None, _FOUR, active)


def put(feed: Numbers) -> Iterator[Moved]:
    """The stores of `cf_transposed_copy::store`, out of registers: what was not there as zeros."""
    row, column, _, each = _turned(feed, feed["columns"] // _FOUR, _FOUR)
    for down in range(0, feed["rows"], each):
        for left in range(_FOUR):
            yield Moved(None, (column + left) * feed["pitch"] + row + down, 1, row + down < feed["rows"])


def _has(feed: Numbers, column: Value) -> Value:
    """Whether a column of the first piece is there."""
    return (
        column >= feed["columns"] - feed["valid_columns"]
        if feed["leftwards"]
        else column < feed["valid_columns"]
    )


def _turned(feed: Numbers, lanes: int, together: int) -> tuple[Value, Value, Value, int]:
    """The row and the column where a thread begins, the rows that are there from it on, and the rows of a turn."""
    thread, each, valid = np.asarray(feed["thread"]), feed["threads"] // lanes, feed["valid_rows"]
    row = thread // lanes
    there = valid if feed["rows"] % each == 0 else np.minimum(valid, feed["rows"])
    return row, thread % lanes * together, there - row, each


def box_copies(box: Numbers, element: Callable[..., Value] | None = None) -> Iterator[Moved]:
    """The copies of `cf_box::stage`, or those of `cf_box::stage_from` with the ``element`` at four places."""
    e0, e1, e2, e3 = box["extents"]
    p0, p1, p2, p3 = box["pitches"]
    s0, s1, s2 = box["strides"]
    n0, n1, n2, n3 = box["valid"]

    def in_rows(i0: Value, i1: Value, i2: Value, i3: Value) -> Value:
        return i0 * s0 + i1 * s1 + i2 * s2 + i3

    at = element or in_rows
    thread, threads, turned = np.asarray(box["thread"]), box["threads"], p3 != 1
    together = 1 if turned or e3 < box["together"] else min(box["together"], VECTOR_BYTES // box["size"])
    groups = e3 // together
    lanes = min(groups, _MOST_LANES) if turned else groups
    stripes = -(-groups // lanes)
    beside = 1 if not turned else e2 if p2 == 1 else e1 if p1 == 1 else e0
    count = e0 * e1 * e2 * lanes * stripes
    even = threads % lanes == 0 and beside % (threads // lanes) == 0
    for first in range(0, count, threads):
        number = first + thread
        lane, row = number % lanes, number // lanes
        across = thread // lanes + first // lanes % beside if even else row % beside
        stripe = first // lanes // beside if even else row // beside
        others = stripe // stripes
        i3 = (stripe % stripes * lanes + lane) * together
        along_2, along_1 = (turned and p == 1 for p in (p2, p1))
        i2, above = (across, others) if along_2 else (others % e2, others // e2)
        i1 = across if along_1 and not along_2 else above % e1
        i0 = above // e1
        if turned and not along_2:
            i0 = above if along_1 else across
        inside = (i0 < n0) & (i1 < n1) & (i2 < n2) & (i3 + together <= n3)
        source, target = at(i0, i1, i2, i3), i0 * p0 + i1 * p1 + i2 * p2 + i3 * p3
        yield Moved(source, target, together, (number < count) & inside)
    left = np.asarray(n3 % together)
    for first in range(0, e0 * e1 * e2 * int(left.max()), threads):
        number = first + thread
        row, i3 = number // np.maximum(left, 1), n3 - left + number % np.maximum(left, 1)
        i2, i1, i0 = row % e2, row // e2 % e1, row // e2 // e1
        inside = (number < e0 * e1 * e2 * left) & (i0 < n0) & (i1 < n1) & (i2 < n2)
        source, target = at(i0, i1, i2, i3), i0 * p0 + i1 * p1 + i2 * p2 + i3 * p3
        yield Moved(source, target, 1, inside)


def row_copies(row: Numbers) -> Iterator[Moved]:
    """The copies of `cf_stage_row`."""
    count, lane, lanes = np.asarray(row["count"]), np.asarray(row["lane"]), row["lanes"]
    together = VECTOR_BYTES // row["size"] if row["vectors"] else 1
    for first in range(0, max(0, int(count.max()) - together + 1), lanes * together):
        at = first + lane * together
        yield Moved(at, at, together, at <= count - together)
    if together > 1:
        at = count // together * together + lane
        yield Moved(at, at, 1, lane < count % together)
