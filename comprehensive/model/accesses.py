"""Accesses of the threads of a block, counted as the hardware serves them, a warp at a time.

In: byte addresses of all threads. Out: :class:`Tally`: lines of 128 bytes and wavefronts of 32 banks, sectors of 32
bytes that the block touches (each counts once in a pass, in which the first-level cache keeps it), and how often a warp
waits. A *region* is code in which the compiler can move loads together: it is waited for once, and reads an element
once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from comprehensive.machine.parameters import WARP_THREADS, WORD_BYTES
from comprehensive.machine.sites import (
    BANKS,
    GLOBAL_INSTRUCTIONS,
    LINE_BYTES,
    SECTOR_BYTES,
    SHARED_INSTRUCTIONS,
)
from comprehensive.machine.work import BEGUN, WAITED, Work

Integers: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Elements: TypeAlias = tuple[str, bytes]
"""An array, and which of its elements threads read."""

VECTOR_BYTES = 16
MMA_SUMS = 16 * 8
"""The sums to which an instruction of tensor cores adds."""
MMA_STEPS = {8: 8, 2: 16, 1: 16}
"""The steps that it does, by the bytes of the elements that it multiplies; of bytes 32, in the time of 16 halves."""
COPYING = 10
"""The instructions of a copy to shared memory element by element, whose bounds are looked at each time."""
COPYING_NARROW = 20
"""The same for elements of fewer bytes than a word, which go through registers."""


@dataclass
class Tally:
    """Counts so far, of a block of so many ``threads``."""

    threads: int
    instructions: float = 0
    wide: float = 0
    wavefronts: float = 0
    bytes: float = 0
    waits: float = 0
    shared_waits: float = 0
    barriers: float = 0
    depth: float = 0
    chain: int = 0
    """Instructions of the region that wait for each other: of the longest chain so far."""
    repeated: float = 0
    """The instructions that turns which others stand for add to that chain."""
    begun: int = 0
    """The instructions of the chain before anything that follows is begun: up to the last branch."""
    _reads_global: bool = False
    """Whether the region reads what the one before has not brought into the first-level cache."""
    _reads_shared: bool = False
    _read: dict[str, list[Integers]] = field(default_factory=dict[str, list[Integers]])
    """The sectors that the region reads, by array; ``_near`` are those of the last region that has read any."""
    _near: dict[str, Integers] = field(default_factory=dict[str, Integers])
    _loaded: set[Elements] = field(default_factory=set[Elements])
    _sectors: dict[tuple[str, bool, float, int], list[Integers]] = field(
        default_factory=dict[tuple[str, bool, float, int], list[Integers]]
    )
    """The accesses by array, whether they are written, how often code is done that other addresses come after, and
    the pass."""
    _pass: int = 0
    _lane: Integers = field(init=False)
    _warps_of_lanes: bytes = field(init=False)
    """The numbers of the warps of all threads."""
    _waited: float = 0
    """Instructions since the last barrier that wait for each other."""
    _of_each: float = 0
    """The instructions since then that each warp has begun, beside those of single ones: ``_of_some``."""
    _of_some: npt.NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self._lane = np.arange(self.threads, dtype=np.int64)
        self._warps_of_lanes = (self._lane // WARP_THREADS).tobytes()
        self._of_some = np.zeros(self.warps)

    @property
    def warps(self) -> int:
        return -(-self.threads // WARP_THREADS)

    def arithmetic(self, instructions: float, times: float, active: Mask | None, *, wide: bool) -> None:
        done = instructions * times * self._begun(instructions * times, active)
        self.wide += done if wide else 0

    def tensor_cores(self, instructions: float, element_bytes: int, times: float) -> None:
        """Instructions of tensor cores by all warps, which multiply elements of so many bytes."""
        done = instructions * times * self._begun(instructions * times, None)
        self.wide += done * MMA_SUMS * MMA_STEPS[element_bytes] / WARP_THREADS

    def _begun(self, instructions: float, active: Mask | None) -> int:
        """Count instructions of each warp that has active threads, and return the number of these warps."""
        if active is None:
            self.instructions += instructions * self.warps
            self._of_each += instructions
            return self.warps
        begins = np.arange(0, self.threads, WARP_THREADS)
        warps = np.logical_or.reduceat(active, begins)
        count = int(np.count_nonzero(warps))
        self.instructions += instructions * count
        self._of_some += instructions * warps
        return count

    def _shared_out(self, instructions: float) -> None:
        """Count instructions of a block that all its warps do in equal parts."""
        self.instructions += instructions
        self._of_each += instructions / self.warps

    def is_loaded(self, array: str, offset: Any, active: Mask | None) -> bool:
        """Whether this region has read the same elements before; from now on it has."""
        places = self._of_all(offset)
        key = (array, (places if active is None else np.where(active, places, -1)).tobytes())
        known = key in self._loaded
        self._loaded.add(key)
        return known

    def of_global(
        self, array: str, begin: Any, width: int, times: float, active: Mask | None, *, stores: bool
    ) -> None:
        """An access of ``width`` bytes a thread; ``begin`` is None where data decides about the address."""
        warps = self._begun(times * GLOBAL_INSTRUCTIONS, active)
        if begin is None:
            self._reads_global |= not stores
            self.wavefronts += times * warps * WARP_THREADS
            self.bytes += times * warps * WARP_THREADS * SECTOR_BYTES
            return
        parts = max(1, width // WORD_BYTES)  # of a warp, each of which is served on its own
        places, part = self._active(begin, active, parts)
        # Accesses that are whole lines apart are served alike.
        first = places[:1] // LINE_BYTES * LINE_BYTES
        of_part = self._warps_of_lanes if active is None and parts == 1 else part.tobytes()
        near, lines = _served((places - first).tobytes(), of_part, self.warps * parts, width)
        sectors = near + first // SECTOR_BYTES
        if not stores:
            self._reads(array, sectors)
        self.wavefronts += times * max(lines, -(-places.size * width // LINE_BYTES))
        self._sectors.setdefault((array, stores, times, self._pass), []).append(sectors)

    def _reads(self, array: str, sectors: Integers) -> None:
        """Note a read of global memory: of sectors that the region before has read the first-level cache has a copy."""
        self._read.setdefault(array, []).append(sectors)
        near = self._near.get(array)
        if near is None or not np.isin(sectors, near, assume_unique=True).all():
            self._reads_global = True
        else:
            self._reads_shared = True

    def of_shared(self, begin: Any, width: int, times: float, active: Mask | None, *, stores: bool) -> None:
        """The same in shared memory: each bank serves one word of a warp at a time, the same word to all threads."""
        warps = self._begun(times * SHARED_INSTRUCTIONS, active)
        self._reads_shared |= not stores
        if begin is None:
            self.wavefronts += times * warps
            return
        places, warp = self._active(begin, active)
        of_warp = self._warps_of_lanes if active is None else warp.tobytes()
        # Banks repeat, so that accesses which are so many bytes apart take as many turns.
        begins = places - places[:1] // (BANKS * WORD_BYTES) * (BANKS * WORD_BYTES)
        self.wavefronts += times * _bank_turns(begins.tobytes(), of_warp, self.warps, width)

    def piece(self, rows: int, row_bytes: int, together: int, element_bytes: int, times: float) -> None:
        """Reads of a piece of an array by all threads, ``together`` elements an access, for later."""
        accesses = -(-rows * row_bytes // (element_bytes * together * WARP_THREADS))
        self._shared_out(times * accesses * GLOBAL_INSTRUCTIONS)
        # Rows that are not aligned begin in the midst of a sector, and end in one more.
        sectors = -(-row_bytes // SECTOR_BYTES) + (together == 1 and rows > 1 and row_bytes > 0)
        # Elements that are copied one by one come sector by sector, vectors line by line.
        each = sectors if together == 1 else -(-row_bytes // LINE_BYTES)
        self.wavefronts += times * max(accesses, rows * each)
        self.bytes += times * rows * sectors * SECTOR_BYTES

    def put(self, bytes_: int, together: int, element_bytes: int, times: float, *, copies: bool) -> None:
        """Count the way of bytes into shared memory: from registers, or a copy past them."""
        accesses = -(-bytes_ // (element_bytes * together * WARP_THREADS))
        each = COPYING if element_bytes >= WORD_BYTES else COPYING_NARROW
        self._shared_out(times * accesses * (each if copies and together == 1 else 1))
        self.wavefronts += times * max(accesses, -(-bytes_ // LINE_BYTES))

    def through_registers(self, elements: int, at_once: int, times: float) -> None:
        """Count the waits for elements that come to shared memory through registers, so many of a thread at once."""
        self.waits += times * -(-elements // (self.threads * at_once))

    def waits_for_copies(self) -> None:
        """The region ends with a wait for copies that it began."""
        self._reads_global = True

    def end_of_region(self, times: float) -> None:
        if self._reads_global:
            self.waits += times
        elif self._reads_shared:
            self.shared_waits += times
        if self._read:
            self._near = {array: distinct(np.concatenate(found)) for array, found in self._read.items()}
            self._read = {}
        self._reads_global = self._reads_shared = False
        self._waited += (self.chain + self.repeated) * times
        self.chain = self.repeated = self.begun = 0
        self._loaded.clear()

    def barrier(self, times: float) -> None:
        """The warps of the block wait for the one that takes the longest."""
        self.barriers += times
        self._end_of_span()

    def _end_of_span(self) -> None:
        """Count what the warp that takes the longest does from one barrier to the next."""
        longest = self._of_each + float(self._of_some.max(initial=0))
        self.depth += max(self._waited, longest * WAITED / BEGUN)
        self._waited = self._of_each = 0
        self._of_some[:] = 0

    def next_pass(self) -> None:
        """Note that all threads meet behind loops: what they read again may have left the first-level cache."""
        self._pass += 1

    def work(self) -> Work:
        """All that has been counted, sectors included."""
        self._end_of_span()
        touched = sum(
            times * distinct(np.concatenate(found)).size for (_, _, times, _), found in self._sectors.items()
        )
        return Work(
            self.instructions,
            self.wide,
            self.wavefronts,
            self.bytes + touched * SECTOR_BYTES,
            self.waits,
            self.shared_waits,
            self.barriers,
            self.depth,
        )

    def _of_all(self, value: Any) -> Integers:
        """A number for each thread."""
        found: Integers = np.asarray(value, np.int64)
        return found if found.ndim else np.full(self.threads, found)

    def _active(self, begin: Any, active: Mask | None, parts: int = 1) -> tuple[Integers, Integers]:
        """Return the places of active threads, and the number of the part of a warp in which each is."""
        places, part = self._of_all(begin), self._lane // (WARP_THREADS // parts)
        return (places, part) if active is None else (places[active], part[active])


@lru_cache(maxsize=4096)
def _served(begins: bytes, part: bytes, parts: int, width: int) -> tuple[Integers, int]:
    """Return the sectors of accesses that begin at these bytes, each once, and the lines of all parts of warps, by the
    number of the part of each thread."""
    each = units(np.frombuffer(begins, np.int64), width, SECTOR_BYTES)
    of_parts = each * SECTOR_BYTES // LINE_BYTES * parts + np.frombuffer(part, np.int64)
    return distinct(each), distinct(of_parts).size


@lru_cache(maxsize=4096)
def _bank_turns(begins: bytes, warp: bytes, warps: int, width: int) -> int:
    """Return the turns that banks take to serve all warps; of each thread the first byte and the number of its warp."""
    places, of_warp = np.frombuffer(begins, np.int64), np.frombuffer(warp, np.int64)
    words = distinct(units(places, width, WORD_BYTES) * warps + of_warp)
    bank = words % warps * BANKS + words // warps % BANKS
    return int(np.bincount(bank, minlength=warps * BANKS).reshape(warps, BANKS).max(axis=1).sum())


def distinct(numbers: Integers) -> Integers:
    """Each number once, in order: ``numpy.unique``, which takes several times as long for as few as these."""
    ordered = np.sort(numbers, axis=None)
    is_new = np.empty(ordered.size, np.bool_)
    is_new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def units(begin: Integers, width: int, unit: int) -> Integers:
    """Numbers of the units that accesses lie in: a row for each unit of an access."""
    first, last = begin // unit, (begin + width - 1) // unit
    if width <= unit and np.array_equal(first, last):
        return first
    return np.stack([np.minimum(first + k, last) for k in range(-(-width // unit) + 1)])
