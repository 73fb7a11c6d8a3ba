"""The demand of one warp on a multiprocessor: places in issue, cycles of pipes, bytes of local and global memory.

In: a function, how often its blocks run, and a device.  Out: :class:`Demand`, of one warp from start to end::

    demand_of(function, frequencies(function, {}), device).pipe_cycles["fp32"]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive.machine.device import Device
from comprehensive.sass.function import SassFunction
from comprehensive.sass.instruction import Instruction
from comprehensive.sass.pipes import LOAD_STORE, Work, work_of

_OFFSET = re.compile(r"\+(-?)0x([0-9a-f]+)\]")


@dataclass(frozen=True, slots=True)
class Demand:
    """The demand of one warp; cycles are those of a multiprocessor that has nothing else to do."""

    instructions: float
    pipe_cycles: Mapping[str, float]
    """Busy cycles of each pipe of the multiprocessor, by name."""
    local_store_bytes: float
    local_load_bytes: float
    global_bytes: float
    """The bytes that its lanes ask for, wherever they come from."""


def demand_of(function: SassFunction, weights: Sequence[Sequence[float]], device: Device) -> Demand:
    """Return what a warp asks for; ``weights`` say how often each block of each procedure runs."""
    lanes = device.warp_threads
    instructions = stored = loaded = moved = 0.0
    pipes: dict[str, float] = {}
    for procedure, several in zip(function.procedures, weights, strict=True):
        for block, weight in zip(procedure.flow.blocks, several, strict=True):
            for each in procedure.flow.code(block) if weight else ():
                work = work_of(each.opcode)
                instructions += weight
                if work.pipe is not None:
                    pipes[work.pipe] = pipes.get(work.pipe, 0.0) + weight * _cycles(each, work, device)
                match work.access:
                    case None:
                        pass
                    case access if access.space == "local":
                        stored += weight * lanes * access.bytes * (access.action == "store")
                        loaded += weight * lanes * access.bytes * (access.action == "load")
                    case access if access.space == "global":
                        moved += weight * lanes * access.bytes
                    case _:
                        pass
    return Demand(instructions, dict(sorted(pipes.items())), stored, loaded, moved)


def _cycles(each: Instruction, work: Work, device: Device) -> float:
    """Cycles for which an instruction of a warp keeps its pipe busy; one a clock where the device does not say."""
    throughput = device.throughput_per_clock_per_sm
    if work.pipe != LOAD_STORE:
        return device.warp_threads / throughput.get(work.pipe or "", device.warp_threads)
    cycles = work.rows * device.warp_threads / throughput.get("ldst_lanes", device.warp_threads)
    return (
        cycles * device.pipes["misaligned_permille"] / 1000 if _is_misaligned(each, work, device) else cycles
    )


def _is_misaligned(each: Instruction, work: Work, device: Device) -> bool:
    """Whether a global access is beside the start of a row of the warp, if its address register is at one."""
    if work.access is None or work.access.space != "global":
        return False
    offset = _OFFSET.search(each.operands)
    return offset is not None and int(offset[2], 16) % (work.access.bytes * device.warp_threads) != 0
