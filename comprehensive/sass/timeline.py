"""The cycles that one warp takes for a procedure when it has the multiprocessor to itself.

In: the blocks of a procedure, how often each runs, and latencies.  Out: cycles::

    warp_cycles(flow, weights, latency, 23, 30)

A warp issues in order: an instruction waits until its scoreboards are clear, and keeps the next one waiting for its
stall count.  Scoreboards are counters: the wait is for all that still count, and ``DEPBAR.LE SB0, 2`` for all but
the last two. What is under way at the end of a block is so in the next one: of several ways into a block that which
runs most often counts, so that loads that a loop begins for its next round are those that the next round waits for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from comprehensive.sass.control import SCOREBOARDS
from comprehensive.sass.flow import Flow
from comprehensive.sass.instruction import Instruction

State: TypeAlias = tuple[tuple[float, ...], ...]
"""For each scoreboard when what it counts is done, in cycles from now, in the order of issue."""

Latency: TypeAlias = Callable[[Instruction], float]
"""Cycles from the issue of an instruction until its results are written."""

_IDLE: State = ((),) * SCOREBOARDS
_PARTIAL_WAIT = re.compile(r"SB(\d),0x([0-9a-f]+)")

# `BAR.ARV` goes on.
_MEETINGS = ("BAR.SYNC", "BAR.RED")

# Once around the loops to find what is under way at their ends, and once to count.
_SWEEPS = 2


def warp_cycles(
    flow: Flow,
    weights: Sequence[float],
    latency: Latency,
    operand_cycles: float,
    barrier_cycles: float,
) -> float:
    """Return the cycles of one warp; ``weights`` say how often each block runs.

    ``operand_cycles`` pass until an instruction with a read scoreboard has its operands, ``barrier_cycles`` at a
    barrier.
    """
    leaving: dict[int, State] = {}
    taken: dict[int, float] = {}
    for _ in range(_SWEEPS):
        for number in flow.order:
            before = [p for p in flow.blocks[number].predecessors if p in leaving]
            into = leaving[max(before, key=lambda p: (weights[p], -p))] if before else _IDLE
            code = flow.code(flow.blocks[number])
            taken[number], leaving[number] = _block(code, into, latency, operand_cycles, barrier_cycles)
    return sum(weights[number] * each for number, each in taken.items())


def _block(
    code: Sequence[Instruction], state: State, latency: Latency, operand_cycles: float, barrier_cycles: float
) -> tuple[float, State]:
    """Return the cycles that a block takes, and what is under way behind it."""
    now = 0.0
    pending = [list(each) for each in state]
    for each in code:
        for scoreboard, allowed in _waits(each):
            # Loads need not end in order, but a counter does not tell them apart.
            ends = pending[scoreboard]
            late = ends[: max(0, len(ends) - allowed)]
            now = max([now, *late])
            pending[scoreboard] = ends[len(late) :]
        if each.control.write is not None:
            pending[each.control.write].append(now + latency(each))
        if each.control.read is not None:
            pending[each.control.read].append(now + operand_cycles)
        now += max(1, each.control.stall)
        if each.opcode.startswith(_MEETINGS):
            now += barrier_cycles
    return now, tuple(tuple(end - now for end in ends if end > now) for ends in pending)


def _waits(each: Instruction) -> list[tuple[int, int]]:
    """The scoreboards that it waits for, with how many of what each counts may still be under way."""
    waits = [(scoreboard, 0) for scoreboard in each.control.waits]
    if each.base == "DEPBAR" and (found := _PARTIAL_WAIT.match(each.operands)):
        waits.append((int(found[1]), int(found[2], 16)))
    return waits
