"""The threads that execute now.

A lane is a thread of a batch of blocks: block ``b`` of the batch has lanes ``b * stride`` and on, ``stride`` being the
threads of a block rounded up to whole warps.  Lanes that follow each other are a slice, so that numpy copies nothing::

    lanes_of(np.array([4, 5, 6])).at      # slice(4, 7)
    lanes_of(np.array([4, 6])).at         # array([4, 6])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from comprehensive.ptx.interpreter.values import Array

WARP = 32


class Lanes:
    """A group of lanes.

    ``at`` indexes an array over all lanes; ``index`` are their numbers, rising; ``first`` is the lowest.
    """

    __slots__ = ("_index", "at", "count", "first")

    def __init__(
        self, at: slice[int, int, None] | Array, first: int, count: int, index: Array | None
    ) -> None:
        self.at = at
        self.first = first
        self.count = count
        self._index = index

    @property
    def index(self) -> Array:
        if self._index is None:
            self._index = np.arange(self.first, self.first + self.count)
        return self._index

    def where(self, mask: Array) -> Lanes:
        """Return the lanes for which a mask over them is true."""
        return lanes_of(self.index[mask])


def lanes_of(index: Array) -> Lanes:
    """Return the lanes of these numbers, which must rise."""
    count = len(index)
    if count == 0:
        return Lanes(slice(0, 0), 0, 0, index)
    first = int(index[0])
    if int(index[-1]) - first + 1 == count:
        return Lanes(slice(first, first + count), first, count, index)
    return Lanes(index, first, count, index)


def merged(parts: Sequence[Lanes]) -> Lanes:
    """All lanes of several groups that have none in common."""
    if len(parts) == 1:
        return parts[0]
    return lanes_of(np.sort(np.concatenate([part.index for part in parts])))
