"""The order in which threads execute: groups of lanes that are at one place of the program, the first place first.

A place is where a group is in each of its functions: the positions of the calls that it is in, then that of the part to
be executed.  Groups that come to one place are one group from then on.  Positions follow
:func:`comprehensive.ptx.interpreter.order.weak_order`, so that threads meet again where their ways come together.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from comprehensive.ptx.interpreter.faults import Fault
from comprehensive.ptx.interpreter.lanes import Lanes, merged

Place = tuple[int, ...]

PATIENCE = 500
"""Turns after which a group that waits goes on although others are before it: they may be waiting for it."""
QUANTUM = 200
"""Turns for which it then does."""
REST = 16
"""Turns after which threads that have offered to wait are looked at again."""


@dataclass
class _Queue:
    """Groups by place, and the turn in which the first of them came."""

    heap: list[Place] = field(default_factory=list[Place])
    groups: dict[Place, list[Lanes]] = field(default_factory=dict[Place, list[Lanes]])
    since: dict[Place, int] = field(default_factory=dict[Place, int])

    def add(self, place: Place, lanes: Lanes, turn: int) -> None:
        found = self.groups.get(place)
        if found is None:
            self.groups[place] = [lanes]
            self.since[place] = turn
            heapq.heappush(self.heap, place)
        else:
            found.append(lanes)

    def take(self, place: Place | None = None) -> tuple[Place, Lanes]:
        """The first group, or that of a place."""
        if place is None:
            place = heapq.heappop(self.heap)
        else:
            self.heap.remove(place)
            heapq.heapify(self.heap)
        del self.since[place]
        return place, merged(self.groups.pop(place))


class Scheduler:
    """The order of groups; ``stack`` holds the calls that the group which executes now is in."""

    def __init__(self, max_turns: int) -> None:
        self.stack: Place = ()
        self.turn = 0
        self._max_turns = max_turns
        self._queue = _Queue()
        self._favoured = _Queue()
        self._favoured_until = 0
        self._resting: list[tuple[Place, Lanes]] = []

    def begin(self, position: int, lanes: Lanes) -> None:
        """Enter lanes that begin at a position of the function that executes now."""
        self.go(position, lanes)

    def go(self, position: int, lanes: Lanes) -> None:
        """Enter lanes that are at a position of the function that executes now."""
        if lanes.count:
            self.add((*self.stack, position), lanes)

    def add(self, place: Place, lanes: Lanes) -> None:
        queue = self._favoured if self.turn < self._favoured_until else self._queue
        queue.add(place, lanes, self.turn)

    def rest(self, position: int, lanes: Lanes) -> None:
        """Enter lanes as :meth:`go` does, but let others go first."""
        if lanes.count:
            self._resting.append(((*self.stack, position), lanes))

    def next(self, others: Callable[[], bool]) -> tuple[Place, Lanes] | None:
        """The next group; ``others`` lets go whom it can when nobody is left, and says whether there was anyone."""
        self.count_turn()
        if self._resting and (self.turn % REST == 0 or not (self._queue.heap or self._favoured.heap)):
            self._wake()
        if self._favoured.heap:
            if self.turn < self._favoured_until:
                return self._favoured.take()
            self._merge()
        elif self.turn % 64 == 0 and len(self._queue.heap) > 1:
            oldest = min(self._queue.since.items(), key=lambda item: (item[1], item[0]))
            if self.turn - oldest[1] > PATIENCE:
                self._favoured_until = self.turn + QUANTUM
                return self._queue.take(oldest[0])
        if not self._queue.heap:
            self._favoured_until = 0
            if not others():
                return None
        return self._queue.take()

    def count_turn(self) -> None:
        """Count a turn. Fault (CF1013) where there have been too many."""
        self.turn += 1
        if self.turn > self._max_turns:
            found = self._anyone()
            fault = Fault(
                "CF1013",
                f"has not ended after {self._max_turns} turns",
                None if found is None else int(found[1].index[0]),
                "see what its loops wait for, or allow for more with max_turns",
            )
            fault.place = None if found is None else found[0]
            raise fault

    def _wake(self) -> None:
        for place, lanes in self._resting:
            self._queue.add(place, lanes, self.turn)
        self._resting.clear()

    def _merge(self) -> None:
        self._favoured_until = 0
        for place in sorted(self._favoured.groups):
            for lanes in self._favoured.groups[place]:
                self._queue.add(place, lanes, self.turn)
        self._favoured = _Queue()

    def _anyone(self) -> tuple[Place, Lanes] | None:
        for queue in (self._favoured, self._queue):
            if queue.heap:
                return queue.heap[0], queue.groups[queue.heap[0]][0]
        return self._resting[0] if self._resting else None
