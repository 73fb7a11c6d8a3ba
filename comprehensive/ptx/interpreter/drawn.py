"""Another order of threads, of all that are allowed: drawn, and threads that have parted do not meet by themselves.

The language promises no more (PTX ISA 9.0, 3.1, independent thread scheduling): lanes of a warp are together only where
``bar.warp.sync`` or an instruction with ``.sync`` makes them, and even at the beginning they need not be.  What gives
another result here relies on warps that run in lockstep, on threads that meet behind a branch, or on an order of
threads.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np

from comprehensive.ptx.interpreter.lanes import WARP, Lanes, lanes_of
from comprehensive.ptx.interpreter.scheduler import Place, Scheduler

_GOES_ON = 0.8
"""The probability that the group goes on that has executed last."""
_PARTS = 3
"""The most groups into which a warp is cut at the beginning."""


class DrawnScheduler(Scheduler):
    """Groups are never one again but where their warp waits for them."""

    def __init__(self, max_turns: int, random: Random) -> None:
        super().__init__(max_turns)
        self._random = random
        self._groups: list[tuple[Place, Lanes]] = []

    def begin(self, position: int, lanes: Lanes) -> None:
        parts: dict[tuple[int, int], list[int]] = {}
        cuts: dict[int, int] = {}
        for lane in lanes.index.tolist():
            warp = lane // WARP
            if warp not in cuts:
                cuts[warp] = self._random.randint(1, _PARTS)
            parts.setdefault((warp, self._random.randrange(cuts[warp])), []).append(lane)
        for key in sorted(parts):
            self.go(position, lanes_of(np.array(parts[key])))

    def add(self, place: Place, lanes: Lanes) -> None:
        self._groups.append((place, lanes))

    def rest(self, position: int, lanes: Lanes) -> None:
        """Enter lanes at a position before all other groups, which go first."""
        if lanes.count:
            self._groups.insert(0, ((*self.stack, position), lanes))

    def next(self, others: Callable[[], bool]) -> tuple[Place, Lanes] | None:
        self.count_turn()
        if not self._groups and not others():
            return None
        if self._random.random() < _GOES_ON:
            return self._groups.pop()
        return self._groups.pop(self._random.randrange(len(self._groups)))

    def _anyone(self) -> tuple[Place, Lanes] | None:
        return self._groups[0] if self._groups else None
