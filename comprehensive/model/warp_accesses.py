"""The memory accesses of one warp's lanes, one by one: a launch of a kernel in, addresses of 32 lanes out.

    c[j*N + i] = a[i][j], 32 threads along j   -->   c: bytes 0, 4*N, 8*N, ... of the array, 32 sectors of 32 bytes

Addresses come from evaluating the flat subscripts of the kernel for every thread (:mod:`comprehensive.model.block`),
so that they are exact.  An array begins at a multiple of 256 bytes, as those of `cudaMalloc` do; a tile where shared
memory does, plus its offset.  Copies of whole pieces to the shared memory of a tile (`cp.async`) are no accesses of the
program and are not among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TypeAlias

import numpy as np
from msgspec import Struct

from comprehensive.diagnostics import GENERATED
from comprehensive.kernel_ir.kernel import WIDTH, Kernel, SharedTile
from comprehensive.loops.access import accesses
from comprehensive.loops.ir import Nest
from comprehensive.machine.parameters import WARP_THREADS, WORD_BYTES
from comprehensive.machine.sites import BANKS, SECTOR_BYTES
from comprehensive.metafork.ast import Index
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.walk import statements_in
from comprehensive.model.accesses import distinct, units
from comprehensive.model.block import Touch, Walk
from comprehensive.model.launched import Launched

_Key: TypeAlias = tuple[Index, bool, bool]
"""A reference, whether it is to shared memory, and whether it writes."""


@dataclass(frozen=True, slots=True)
class Site:
    """A reference of a kernel: the ``array`` of the program that it reads or writes, directly or in shared memory.

    ``is_added``: not the program but the kernel has it, to copy a tile or to read from one.  ``lines`` are those of the
    source that it does it for: its own, or of an added one all with references to the array.
    """

    array: str
    text: str
    is_shared: bool
    writes: bool
    is_added: bool
    lines: tuple[int, ...]
    reference: Index = field(compare=False, repr=False)


class Served(Struct, frozen=True):
    """The cost of an execution: sectors of 32 bytes in global memory, turns of 32 banks in shared memory.

    ``least`` is for the same bytes side by side.
    """

    units: int
    least: int


class WarpAccess(Struct, frozen=True):
    """An access by the warp: its first execution lane by lane, and how all are served.

    ``lanes`` are the bytes where lanes begin, ``width`` bytes each; None for a lane that takes no part.  There are none
    where data decides about addresses (``served`` is then what the hardware may need at most).
    """

    site: Site
    width: int
    lanes: tuple[int | None, ...]
    served: Served
    done: int
    """The number of times that the warp does it."""
    block_words: int
    """Words of 4 bytes that all threads of the block access so, rounded up."""
    fewest: int
    most: int
    """The units of other executions, those that were gone through."""
    by_data: bool = False


def warp_accesses(
    kernel: Kernel,
    nest: Nest,
    launch: Launched,
    number: Sequence[int],
    warp: int,
    together: int = 0,
) -> tuple[WarpAccess, ...]:
    """Return what a warp of the block with this number does, in the order in which it comes to it.

    ``number`` has x last; the lanes of warp ``w`` are the threads from ``32*w`` on.
    """
    seen: dict[_Key, list[tuple[Touch, tuple[int | None, ...]]]] = {}
    words: dict[_Key, float] = {}
    first = warp * WARP_THREADS

    def watch(touch: Touch) -> None:
        lanes = _lanes(touch, first, launch.threads)
        key = (touch.reference, touch.is_shared, touch.writes)
        active = launch.threads if touch.active is None else int(np.count_nonzero(touch.active))
        words[key] = words.get(key, 0.0) + active * touch.times * touch.width / WORD_BYTES
        if any(lane is not None for lane in lanes):
            seen.setdefault(key, []).append((touch, lanes))

    values = {**launch.values, WIDTH: together}
    Walk(kernel, values, launch.block, number, watch).statements(kernel.body, 1)
    places = _Sites(kernel, nest)
    return tuple(
        _access(places.of(reference, is_shared=shared, writes=writes), found, ceil(words[key]))
        for key, found in seen.items()
        for reference, shared, writes in [key]
    )


def site_of(kernel: Kernel, nest: Nest, reference: Index, *, is_shared: bool, writes: bool) -> Site:
    """Return the site of a reference of a kernel."""
    return _Sites(kernel, nest).of(reference, is_shared=is_shared, writes=writes)


def lines_of(nest: Nest) -> Mapping[str, frozenset[int]]:
    """Return the lines of the source with references to each array."""
    found: dict[str, frozenset[int]] = {}
    for access in accesses(nest):
        if access.span.file is nest.span.file:
            found[access.array] = found.get(access.array, frozenset()) | {access.span.position[0]}
    return found


class _Sites:
    def __init__(self, kernel: Kernel, nest: Nest) -> None:
        self._nest = nest
        self._tiles = {
            tile.name: tile.of for tile in statements_in(kernel.body) if isinstance(tile, SharedTile)
        }
        self._file = nest.span.file
        self._lines = lines_of(nest)

    def of(self, reference: Index, *, is_shared: bool, writes: bool) -> Site:
        array = (self._tiles.get(reference.array) or reference.array) if is_shared else reference.array
        span = reference.span
        own = (span.position[0],) if span.file is self._file else tuple(sorted(self._lines.get(array, ())))
        is_added = span.file is GENERATED.file
        return Site(array, print_expr(reference), is_shared, writes, is_added, own, reference)


def _lanes(touch: Touch, first: int, threads: int) -> tuple[int | None, ...]:
    """Return the bytes where 32 threads begin; where data decides, 0 for those that take part."""
    begin = np.broadcast_to(np.asarray(0 if touch.begin is None else touch.begin, np.int64), (threads,))
    active = np.ones(threads, np.bool_) if touch.active is None else touch.active
    return tuple(
        int(begin[thread]) if thread < threads and active[thread] else None
        for thread in range(first, first + WARP_THREADS)
    )


def _access(site: Site, found: Sequence[tuple[Touch, tuple[int | None, ...]]], words: int) -> WarpAccess:
    touch, lanes = found[0]
    done = round(sum(each.times for each, _ in found))
    by_data = any(each.begin is None for each, _ in found)
    served = [
        _at_most(site, at, each.width) if by_data else serve(at, each.width, is_shared=site.is_shared)
        for each, at in found
    ]
    counted = [each.units for each in served]
    return WarpAccess(site, touch.width, lanes, served[0], done, words, min(counted), max(counted), by_data)


def serve(lanes: Sequence[int | None], width: int, *, is_shared: bool) -> Served:
    """Return how one access of the lanes is served: the same bytes for several lanes count once."""
    begin = np.array([lane for lane in lanes if lane is not None], np.int64)
    if is_shared:
        words = distinct(units(begin, width, WORD_BYTES))
        turns = int(np.bincount(words % BANKS).max())
        return Served(turns, ceil(words.size / BANKS))
    bytes_ = distinct(begin).size * width
    return Served(int(distinct(units(begin, width, SECTOR_BYTES)).size), ceil(bytes_ / SECTOR_BYTES))


def _at_most(site: Site, lanes: Sequence[int | None], width: int) -> Served:
    """The most that addresses which nobody knows can need: for each lane units of its own."""
    active = sum(lane is not None for lane in lanes)
    each = max(1, width // (WORD_BYTES if site.is_shared else SECTOR_BYTES))
    return Served(active * each, each)


def bank_ways(lanes: Sequence[int | None], width: int) -> Mapping[int, int]:
    """Return how many different words the lanes want of each bank that they want something of."""
    begin = np.array([lane for lane in lanes if lane is not None], np.int64)
    words = distinct(units(begin, width, WORD_BYTES))
    counts = np.bincount(words % BANKS, minlength=BANKS)
    return {bank: int(count) for bank, count in enumerate(counts) if count}
