"""The predictor of *RegDem* as the paper has it, to be compared with ours.

In: a function, a device, and how it is launched.  Out: :class:`Stalls`::

    stalls_of_paper(function, load_device("h200"), Launch(256)).cycles

Section 4, its figure, lines 3 to 22: each instruction counts its stall count times occupancy and the highest
throughput of a pipe over its own, a wait for a scoreboard counts what is left of 200 cycles (global memory) or 24
(shared memory), and a block counts ten times for each loop around it.  Our copy of the paper ends there: the third
step, which brings in the occupancy of the whole program, is not in it, nor here.

Where the figure is silent or self-contradictory: a scoreboard is free again once it was waited for, as in the
paper's other tracker (figure 3); an instruction waits before it takes a scoreboard, not after; local memory counts
as global.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from comprehensive.machine.device import Device
from comprehensive.sass.frequencies import frequencies
from comprehensive.sass.function import SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.launch import Launch, demand_launch
from comprehensive.sass.pipes import LOAD_STORE, work_of
from comprehensive.sass.predict import demand_device, occupancy_of

GLOBAL_STALL = 200
SHARED_STALL = 24


@dataclass(frozen=True, slots=True)
class Stalls:
    """Stalls of a program by the paper's count."""

    cycles: float
    occupancy: Fraction


def stalls_of_paper(function: SassFunction, device: Device, launch: Launch) -> Stalls:
    """Return the paper's count of stalls; errors as for :func:`comprehensive.sass.predict.predict`.

    ``trips`` of the launch stand for the paper's factor where they are given.
    """
    demand_launch(launch)
    demand_device(function, device)
    held = occupancy_of(function, device, launch).fraction
    weights = frequencies(function, launch.trips)
    total = sum(
        weight * _block(procedure.flow.code(block), float(held), device)
        for procedure, several in zip(function.procedures, weights, strict=True)
        for block, weight in zip(procedure.flow.blocks, several, strict=True)
        if weight
    )
    return Stalls(total, held)


def _block(code: Sequence[Instruction], occupancy: float, device: Device) -> float:
    """Return the stalls of a block."""
    highest = max(device.throughput_per_clock_per_sm.values())
    total = 0.0
    since: dict[int, tuple[Instruction, float]] = {}
    for each in code:
        stall = each.control.stall * occupancy * highest / _throughput(each, device, highest)
        for scoreboard in each.control.waits:
            if scoreboard in since:
                setter, passed = since.pop(scoreboard)
                total += max(0.0, _memory_stall(setter) - passed)
        for scoreboard in (each.control.read, each.control.write):
            if scoreboard is not None:
                since[scoreboard] = (each, 0.0)
        since = {scoreboard: (setter, passed + stall) for scoreboard, (setter, passed) in since.items()}
        total += stall
    return total


def _throughput(each: Instruction, device: Device, highest: int) -> int:
    pipe = work_of(each.opcode).pipe
    name = "ldst_lanes" if pipe == LOAD_STORE else pipe
    return device.throughput_per_clock_per_sm.get(name or "", highest)


def _memory_stall(setter: Instruction) -> int:
    access = work_of(setter.opcode).access
    if access is None:
        return 0
    return SHARED_STALL if access.space == "shared" else GLOBAL_STALL
