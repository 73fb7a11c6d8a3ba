"""Memory in which threads see each other's writes as late as the memory model allows.

    memory = DelayedMemory(random)
    memory.write(4, where, lanes, values)      # these lanes read it back at once, others do not
    memory.publish(lanes)                      # a fence, a barrier, a release: now all do

PTX ISA 9.0, section 8: a write becomes visible to other threads by what synchronises them.  Every lane keeps its own
writes, byte by byte; what it reads is its own last write, or else what all threads see.  Writes that are volatile,
relaxed or atomic are there for all at once (they must come in finite time, and each place has one order of them); all
others come at the next instruction that orders memory in the lane that has written, or at the end, in an order that is
drawn.  A result that depends on it is a race.
"""

from __future__ import annotations

from random import Random

import numpy as np

from comprehensive.ptx.interpreter.arguments import launch_error
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.memory import Memory
from comprehensive.ptx.interpreter.values import Array

MOST_BYTES = 1 << 28
"""The most bytes that lanes keep: as many as there are in memory, and a mark for each of them, for every
lane."""


class DelayedMemory(Memory):
    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random
        self._kept = np.zeros((0, 0), np.uint8)
        self._is_kept = np.zeros((0, 0), np.bool_)
        self._keeps = np.zeros(0, np.bool_)

    def build(self, block_of_lane: Array, blocks: int, extra: int) -> None:
        super().build(block_of_lane, blocks, extra)
        shape = len(block_of_lane), len(self.bytes)
        if shape[0] * shape[1] > MOST_BYTES:
            text = f"{shape[0]} threads and {shape[1]} bytes of memory, with late writes"
            raise launch_error(text, "launch fewer threads, with smaller arrays, or without late writes")
        self._kept = np.zeros(shape, np.uint8)
        self._is_kept = np.zeros(shape, np.bool_)
        self._keeps = np.zeros(shape[0], np.bool_)

    def read(self, width: int, where: Array, lanes: Lanes) -> Array:
        found = super().read(width, where, lanes)
        if not self._keeps[lanes.at].any():
            return found
        place = self._bytes_at(width, where, lanes)
        of_all = np.ascontiguousarray(found).view(np.uint8).reshape(-1, width)
        merged = np.where(self._is_kept[place], self._kept[place], of_all)
        return np.ascontiguousarray(merged).view(found.dtype).reshape(-1)

    def write(self, width: int, where: Array, lanes: Lanes, values: Array) -> None:
        place = self._bytes_at(width, where, lanes)
        self._kept[place] = np.ascontiguousarray(values).view(np.uint8).reshape(-1, width)
        self._is_kept[place] = True
        self._keeps[lanes.at] = True

    def publish(self, lanes: Lanes) -> None:
        if not self._keeps[lanes.at].any():
            return
        order: list[int] = lanes.index.tolist()
        self._random.shuffle(order)
        for lane in order:
            places = np.flatnonzero(self._is_kept[lane])
            self.bytes[places] = self._kept[lane, places]
            self._is_kept[lane, places] = False
        self._keeps[lanes.at] = False

    def publish_at(self, width: int, where: Array, lanes: Lanes) -> None:
        if not self._keeps[lanes.at].any():
            return
        rows, columns = self._bytes_at(width, where, lanes)
        mask = self._is_kept[rows, columns]
        self.bytes[columns[mask]] = self._kept[rows, columns][mask]
        self._is_kept[rows, columns] = False

    def _bytes_at(self, width: int, where: Array, lanes: Lanes) -> tuple[Array, Array]:
        """Rows of lanes and columns of bytes; ``where`` counts elements of that width."""
        columns = where[:, None] * width + np.arange(width)
        return np.broadcast_to(lanes.index[:, None], columns.shape), columns
