"""bar and barrier: threads of a block wait for each other; with ``red`` they learn how many of them have said yes.

All threads of the block must come, or as many as the instruction says.  A thread that has ended does not come: its
block then waits for ever, which is CF1012.  (Hardware since sm_70 lets the block go on; the language promises nothing.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from comprehensive.ptx.flow import Step
from comprehensive.ptx.interpreter.faults import Fault
from comprehensive.ptx.interpreter.lanes import Lanes
from comprehensive.ptx.interpreter.machine import Machine
from comprehensive.ptx.interpreter.scheduler import Place, Scheduler
from comprehensive.ptx.interpreter.values import Array

COUNT = 16
"""Barriers of a block."""
Answer = Callable[[Lanes, Array], None]
"""Gives lanes the number of those that have said yes, and of all, in two rows."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    place: Place
    lanes: Lanes
    step: Step
    answer: Answer | None


@dataclass
class _Barrier:
    """The state of one barrier in each block: how many threads have come, must come, and have said yes."""

    arrived: Array
    expected: Array
    agreed: Array
    waiting: list[_Waiting] = field(default_factory=list[_Waiting])


def _new_barrier(blocks: int) -> _Barrier:
    return _Barrier(np.zeros(blocks, np.int64), np.zeros(blocks, np.int64), np.zeros(blocks, np.int64))


class Barriers:
    """The barriers of all blocks of a batch."""

    def __init__(self, machine: Machine, scheduler: Scheduler) -> None:
        self._machine = machine
        self._scheduler = scheduler
        blocks = machine.shape.batch
        self._barriers = [_new_barrier(blocks) for _ in range(COUNT)]

    def arrive(
        self,
        lanes: Lanes,
        numbers: Array,
        counts: Array | None,
        step: Step,
        place: Place | None,
        vote: Array | None = None,
        answer: Answer | None = None,
    ) -> None:
        """Lanes come to the barriers with these numbers; they go on at ``place`` when all are there.

        Without a place they do not wait: the caller lets them go on.  ``vote`` holds what they say.
        """
        different: list[int] = np.unique(numbers).tolist()
        for number in different:
            if number >= COUNT:
                raise Fault(
                    "CF1012",
                    f"waits at barrier {number}; a block has {COUNT}",
                    int(lanes.index[0]),
                    f"use a number below {COUNT}",
                )
            mask = numbers == number
            some = lanes if mask.all() else lanes.where(mask)
            barrier = self._barriers[number]
            blocks = self._machine.block_of[some.at]
            batch = self._machine.shape.batch
            barrier.arrived += np.bincount(blocks, minlength=batch)
            barrier.expected[blocks] = self._machine.shape.threads if counts is None else counts[mask]
            if vote is not None:
                barrier.agreed += np.bincount(blocks[vote[mask]], minlength=batch)
            if place is not None:
                barrier.waiting.append(_Waiting(place, some, step, answer))
            self._release(barrier)

    def _release(self, barrier: _Barrier) -> None:
        complete = (barrier.arrived >= barrier.expected) & (barrier.arrived > 0)
        if not complete.any():
            return
        left: list[_Waiting] = []
        for each in barrier.waiting:
            done = complete[self._machine.block_of[each.lanes.at]]
            goes = each.lanes if done.all() else each.lanes.where(done)
            if goes.count:
                if each.answer is not None:
                    blocks = self._machine.block_of[goes.at]
                    each.answer(goes, np.stack((barrier.agreed[blocks], barrier.arrived[blocks])))
                self._scheduler.add(each.place, goes)
            if goes.count < each.lanes.count:
                left.append(_Waiting(each.place, each.lanes.where(~done), each.step, each.answer))
        barrier.waiting = left
        barrier.arrived[complete] = 0
        barrier.agreed[complete] = 0

    def demand_none(self) -> None:
        """Raise Fault (CF1012) where threads wait for others that will never come."""
        machine = self._machine
        for number, barrier in enumerate(self._barriers):
            for each in barrier.waiting:
                lane = int(each.lanes.index[0])
                block = int(machine.block_of[lane])
                of_block = (machine.block_of == block) & machine.is_thread
                ended = int((of_block & ~machine.alive).sum())
                arrived, expected = int(barrier.arrived[block]), int(barrier.expected[block])
                fault = Fault(
                    "CF1012",
                    f"waits for ever at barrier {number}: {arrived} of {expected} threads of the block have come, "
                    f"{ended} have ended",
                    lane,
                    "let all threads of the block reach the barrier, also those that have nothing to do",
                )
                fault.step = each.step
                raise fault

    def clear(self) -> None:
        for barrier in self._barriers:
            barrier.waiting.clear()
            barrier.arrived[:] = 0
            barrier.agreed[:] = 0
