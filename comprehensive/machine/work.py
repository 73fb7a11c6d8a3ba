"""The work of a block, as the counts that decide how long it takes.

In: what :mod:`comprehensive.model.block` has counted.  Out: :class:`Work`, which adds up and scales::

    once + step * 64          # a tile with 64 steps of its serial loop

Counts are those of MWP-CWP (Hong and Kim, ISCA 2009: instructions, memory transactions, synchronizations), but of one
block, and exact where that paper estimates.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from math import ceil

BEGUN, WAITED = 8, 3
"""A warp begins so many instructions in the time in which so many wait for each other: one in one and a half cycles."""


@dataclass(frozen=True, slots=True)
class Work:
    """Counts for a block, all of them non-negative."""

    instructions: float = 0
    """The instructions of warps: arithmetic on data, accesses, and what accesses need of addresses."""
    wide: float = 0
    """The instructions among them that compute doubles."""
    wavefronts: float = 0
    """Turns of the load and store unit: 128 bytes of a line, or 32 banks of shared memory."""
    bytes: float = 0
    """The bytes between the block and the second-level cache, in whole sectors of 32 bytes, each once."""
    waits: float = 0
    """The number of times that a warp waits for global memory, one wait after the other."""
    shared_waits: float = 0
    """The same for shared memory."""
    barriers: float = 0
    depth: float = 0
    """The instructions that a warp begins one after the other as each waits for the last; where it has others to begin
    meanwhile, as many as take that long.  Between two barriers those of the warp that takes the longest count."""

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Work) -> Work:
        return Work(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, factor: float) -> Work:
        return Work(*(a * factor for a in astuple(self)))

    @property
    def rounded(self) -> tuple[int, ...]:
        """The counts as integers, rounded up, in the order of the fields."""
        return tuple(max(0, ceil(value)) for value in astuple(self))


WORK_FIELDS = tuple(field.name for field in fields(Work))
