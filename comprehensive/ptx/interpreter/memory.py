"""Memory: one array of bytes for all spaces, and address spaces in which every allocation stands alone.

In: addresses of threads, as arrays.  Out: where in the array of bytes their values are, every access checked::

    places = memory.generic(addresses, 4, lanes, writes=False)
    memory.views[4][places >> 2]

An allocation begins behind a gap that no other allocation reaches into: what is out of bounds of one is out of bounds
of all.  Shared memory has one copy a block, local memory one a thread; their addresses are those of the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Never

import numpy as np

from comprehensive.ptx.interpreter.faults import Fault
from comprehensive.ptx.interpreter.grid_before import GridBefore
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.values import POISON, Array

WINDOW_BITS = 40
"""The generic addresses of a space begin at its number times this power of two."""
WINDOWS = {"shared": 1, "local": 2, "const": 3, "param": 4, "code": 5, "global": 0x7F}
SPACE_OF_WINDOW = {number: space for space, number in WINDOWS.items()}
# Gaps: 1 MiB leaves room for 4096 variables in the 32 bits of a shared address; 4 GiB so that an index that has wrapped
# around 32 bits is found.
_SLOT_BITS = {"shared": 20, "local": 20, "const": 20, "param": 20, "code": 20, "global": 32}
_FIRST = {"global": 1 << 28}
_ALIGNMENT = 256


def window(space: str) -> int:
    """Return what is added to an address in a space to make it generic.

    It is 0 for global memory.
    """
    return 0 if space == "global" else WINDOWS[space] << WINDOW_BITS


@dataclass(frozen=True, slots=True)
class Allocation:
    """Addresses ``start`` to ``end`` of a space; ``place`` is where ``start`` is among the bytes."""

    name: str
    space: str
    start: int
    size: int
    place: int
    writable: bool = True

    @property
    def end(self) -> int:
        return self.start + self.size

    def __str__(self) -> str:
        first = self.start + window(self.space)
        return f"{self.name} ({self.space}, {self.size} bytes from {first:#x})"


@dataclass
class Space:
    """Allocations by slot; ``base`` is where the bytes of a lane begin, None where all have the same."""

    name: str
    slots: dict[int, Allocation] = field(default_factory=dict[int, Allocation])
    base: Array | None = None
    next_slot: int = 1
    bytes_used: int = 0

    @property
    def slot_bits(self) -> int:
        return _SLOT_BITS[self.name]

    def allocate(
        self, name: str, size: int, *, align: int = 16, writable: bool = True, copies: int = 1
    ) -> Allocation:
        """A new allocation; its place counts from the beginning of the space. ``copies`` follow each other by slot."""
        align = max(align, 16)
        first = None
        for copy in range(copies):
            self.bytes_used += -self.bytes_used % align
            number = self.next_slot
            start = (number << self.slot_bits) + _FIRST.get(self.name, 0)
            if self.name == "global":
                start += WINDOWS["global"] << WINDOW_BITS
            found = Allocation(
                name if copy == 0 else f"{name} at depth {copy}",
                self.name,
                start,
                size,
                self.bytes_used,
                writable,
            )
            self.slots[start >> self.slot_bits] = found
            self.next_slot = number + 1
            self.bytes_used += size
            first = first or found
        assert first is not None
        return first

    def release(self, start: int) -> bool:
        """Free the allocation that begins there; return whether there was one."""
        found = self.slots.get(start >> self.slot_bits)
        if found is None or found.start != start:
            return False
        del self.slots[start >> self.slot_bits]
        return True

    def nearest(self, address: int) -> Allocation | None:
        def distance(each: Allocation) -> int:
            return max(each.start - address, address - each.end, 0)

        return min(self.slots.values(), key=distance, default=None)

    def places(self, addresses: Array, width: int, lanes: Lanes, *, writes: bool) -> Array:
        """Return where accesses of ``width`` bytes are in the array of all bytes. Fault: CF1014, CF1015."""
        low, high = int(addresses.min()), int(addresses.max())
        found = self.slots.get(low >> self.slot_bits)
        if found is None or low < found.start or high + width > found.end or (writes and not found.writable):
            places = self._places_in_several(addresses, width, lanes, writes=writes)
        else:
            places = addresses.view(np.int64) + (found.place - found.start)
        if width > 1 and int(np.bitwise_or.reduce(addresses)) & (width - 1):
            self._misaligned(addresses, width, lanes)
        if self.base is not None:
            places = places + self.base[lanes.at]
        return places

    def _places_in_several(self, addresses: Array, width: int, lanes: Lanes, *, writes: bool) -> Array:
        places = np.empty(len(addresses), np.int64)
        numbers = addresses >> np.uint64(self.slot_bits)
        for number in np.unique(numbers).tolist():
            of_it = np.flatnonzero(numbers == number)
            found = self.slots.get(number)
            if found is None:
                self._out_of_bounds(int(addresses[of_it[0]]), width, int(lanes.index[of_it[0]]), writes)
            values = addresses[of_it]
            wrong = (values < found.start) | (values + np.uint64(width) > found.end)
            if wrong.any() or (writes and not found.writable):
                first = int(np.flatnonzero(wrong)[0]) if wrong.any() else 0
                self._out_of_bounds(int(values[first]), width, int(lanes.index[of_it[first]]), writes)
            places[of_it] = values.view(np.int64) + (found.place - found.start)
        return places

    def _out_of_bounds(self, address: int, width: int, lane: int, writes: bool) -> Never:
        verb = "writes" if writes else "reads"
        shown = address + window(self.name)
        near = self.nearest(address)
        if near is not None and near.start <= address and address + width <= near.end:
            raise Fault(
                "CF1014",
                f"writes {width} bytes at {shown:#x}, in {near}, which is only read",
                lane,
                "give an array that may be written, or do not write",
            )
        if near is None:
            where = f"there is no allocation in {self.name} memory"
        elif address < near.start:
            where = f"{near.start - address} bytes before {near}"
        else:
            where = f"{address - near.start} bytes from the beginning of {near}"
        raise Fault(
            "CF1014",
            f"{verb} {width} bytes at {shown:#x}, out of bounds: {where}",
            lane,
            "see how the address is computed, and that the array is as large as the kernel takes it to be",
        )

    def _misaligned(self, addresses: Array, width: int, lanes: Lanes) -> Never:
        place = int(np.flatnonzero(addresses & np.uint64(width - 1))[0])
        raise Fault(
            "CF1015",
            f"accesses {width} bytes at {int(addresses[place]) + window(self.name):#x}, no multiple of {width}",
            int(lanes.index[place]),
            "align the data, or access it by parts",
        )


class Memory:
    """All spaces of a batch of blocks."""

    def __init__(self) -> None:
        self.spaces = {name: Space(name) for name in WINDOWS}
        self.bytes = np.zeros(0, np.uint8)
        self.views: dict[int, Array] = {}
        self.before: GridBefore | None = None

    def build(self, block_of_lane: Array, blocks: int, extra: int) -> None:
        """The array of bytes; ``extra`` are left for allocations of global memory while the kernel runs."""
        spaces = self.spaces
        total = 0
        for name in ("const", "param", "code", "global"):
            total = self._move(spaces[name], total)
        total += extra + _ALIGNMENT
        total += -total % _ALIGNMENT
        shared = spaces["shared"].bytes_used + -spaces["shared"].bytes_used % 16
        local = spaces["local"].bytes_used + -spaces["local"].bytes_used % 16
        spaces["shared"].base = total + block_of_lane.astype(np.int64) * shared
        self.private = (total, total + blocks * shared + len(block_of_lane) * local)
        total += blocks * shared
        spaces["local"].base = total + np.arange(len(block_of_lane), dtype=np.int64) * local
        total += len(block_of_lane) * local
        total += -total % 16
        # Aligned as the widest access asks for, whatever the allocator gives.
        whole = np.zeros(total + 64, np.uint8)
        skip = -whole.ctypes.data % 64
        self.bytes = whole[skip : skip + total]
        self.views = {width: self.bytes.view(f"uint{8 * width}") for width in (1, 2, 4, 8)}

    def read(self, width: int, where: Array, lanes: Lanes) -> Array:
        """Return the value that each lane reads; ``where`` counts elements of that width."""
        found = self.views[width].take(where)
        return found if self.before is None else self.before.seen(found, where, width, lanes)

    def write(self, width: int, where: Array, lanes: Lanes, values: Array) -> None:
        self.views[width][where] = values

    def publish(self, lanes: Lanes) -> None:
        """Let other threads see what these lanes have written, which they do anyway in this memory."""

    def publish_at(self, width: int, where: Array, lanes: Lanes) -> None:
        """Do as :meth:`publish`, for what each lane has written at ``where``."""

    def poison(self) -> None:
        """Set shared and local memory to poison, as though nobody had written it."""
        begin, end = self.private
        self.bytes[begin:end] = POISON

    @staticmethod
    def _move(space: Space, offset: int) -> int:
        """Move a space behind ``offset`` and return its end, both counted from the beginning of all bytes."""
        offset += -offset % _ALIGNMENT
        for number, each in list(space.slots.items()):
            space.slots[number] = Allocation(
                each.name, each.space, each.start, each.size, each.place + offset, each.writable
            )
        end = offset + space.bytes_used
        space.bytes_used = end
        return end

    def fill(self, allocation: Allocation, contents: bytes) -> None:
        """Write the bytes of an allocation that all threads share."""
        place = self.place(allocation)
        self.bytes[place : place + len(contents)] = np.frombuffer(contents, np.uint8)

    def place(self, allocation: Allocation) -> int:
        """Return the place among all bytes of the first byte of an allocation that all threads share."""
        return self.spaces[allocation.space].slots[allocation.start >> _SLOT_BITS[allocation.space]].place

    def contents(self, allocation: Allocation) -> bytes:
        place = self.place(allocation)
        return self.bytes[place : place + allocation.size].tobytes()

    def generic(self, addresses: Array, width: int, lanes: Lanes, *, writes: bool) -> Array:
        """Return where accesses by generic addresses are in the array of all bytes. Fault: CF1014, CF1015."""
        windows = addresses >> np.uint64(WINDOW_BITS)
        first = int(windows[0])
        space = SPACE_OF_WINDOW.get(first, "global")
        if (windows == first).all():
            inside = addresses if space == "global" else addresses & np.uint64((1 << WINDOW_BITS) - 1)
            return self.spaces[space].places(inside, width, lanes, writes=writes)
        places = np.empty(len(addresses), np.int64)
        for number in np.unique(windows).tolist():
            mask = windows == number
            places[mask] = self.generic(addresses[mask], width, lanes.where(mask), writes=writes)
        return places
