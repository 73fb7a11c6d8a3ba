"""The writes of the grid before, under programmatic dependent launch: seen behind ``griddepcontrol.wait``.

    memory.before = GridBefore(lanes=64, allocations=[array])
    memory.before.wait(lanes)                  # these lanes see the array from now on; the others read poison

PTX ISA 9.0, 9.7.13.15, ``griddepcontrol``: the wait ends when all grids that this one depends on have ended, and what
they have written is visible then, not before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.values import POISON, Array


class GridBefore:
    """The arrays that the grid before writes.

    ``places`` are the first byte and the one behind the last of each array.
    """

    def __init__(self, lanes: int, places: Sequence[tuple[int, int]]) -> None:
        self._waits = np.zeros(lanes, np.bool_)
        self._places = places

    def begin(self) -> None:
        self._waits[:] = True

    def wait(self, lanes: Lanes) -> None:
        self._waits[lanes.at] = False

    def seen(self, found: Array, where: Array, width: int, lanes: Lanes) -> Array:
        """Return the values that lanes read in the place of ``found``: poison where they have not waited."""
        waits = self._waits[lanes.at]
        if not waits.any():
            return found
        first = where * width
        late = np.zeros(len(where), np.bool_)
        for begin, end in self._places:
            late |= (first >= begin) & (first < end)
        poison = np.full(width, POISON, np.uint8).view(found.dtype)[0]
        return np.where(waits & late, poison, found)
