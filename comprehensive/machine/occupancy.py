"""The exact number of thread blocks that one multiprocessor holds.

In: a :class:`Device` and what a kernel needs.  Out: :class:`Occupancy`, with the limits that bind::

    occupancy(load_device("sm_90"), threads_per_block=256, registers_per_thread=64, shared_bytes_per_block=0)
    # 4 blocks of 8 warps: 32 of 64 warps, limited by registers

What one multiprocessor allows is the rule of `resident.py`; here are the limits of a single block besides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from comprehensive.machine.device import Device
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.machine.resident import resident


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The blocks that one multiprocessor holds.

    ``limits`` are the resources that allow no further block, in the order of the calculation.
    """

    blocks_per_sm: int
    warps_per_block: int
    max_warps_per_sm: int
    limits: tuple[str, ...]

    @property
    def warps_per_sm(self) -> int:
        return self.blocks_per_sm * self.warps_per_block

    @property
    def fraction(self) -> Fraction:
        """Resident warps over the most that can be resident: the performance measure, in [0, 1]."""
        return Fraction(self.warps_per_sm, self.max_warps_per_sm)


def occupancy(
    device: Device,
    *,
    threads_per_block: int,
    registers_per_thread: int,
    shared_bytes_per_block: int,
    barriers_per_block: int = 1,
) -> Occupancy:
    """The occupancy of a kernel; zero blocks where a single one exceeds a limit of the device.

    ``shared_bytes_per_block`` is static and dynamic together.  Raises ValueError for a block without threads or
    a negative amount.
    """
    if threads_per_block < 1:
        raise ValueError(f"a block needs at least one thread, not {threads_per_block}")
    if min(registers_per_thread, shared_bytes_per_block, barriers_per_block) < 0:
        raise ValueError("registers, shared bytes and barriers are not negative")
    warps = _ceil_div(threads_per_block, device.warp_threads)
    words = _ceil_div(shared_bytes_per_block, WORD_BYTES)
    blocks = resident(device.parameters(), warps=warps, registers=registers_per_thread, words=words)
    if barriers_per_block:
        blocks["barriers"] = device.barrier_slots_per_sm // barriers_per_block
    # What exceeds a limit of a single block is not launched at all.
    if threads_per_block > device.max_threads_per_block:
        blocks["threads"] = 0
    if _exceeds_registers(device, warps, registers_per_thread):
        blocks["registers"] = 0
    if shared_bytes_per_block > device.optin_shared_bytes_per_block:
        blocks["shared memory"] = 0
    least = min(blocks.values())
    limits = tuple(name for name, count in blocks.items() if count == least)
    return Occupancy(least, warps, device.max_warps_per_sm, limits)


def register_cliffs(
    device: Device, *, threads_per_block: int, shared_bytes_per_block: int
) -> tuple[tuple[int, int], ...]:
    """The most registers per thread for each number of resident blocks that registers decide.

    Pairs (registers per thread, blocks per multiprocessor), fewest blocks first: the points at which one more
    register loses a block.  Empty where not even one block fits.
    """
    best: dict[int, int] = {}
    for registers in range(1, device.max_registers_per_thread + 1):
        held = occupancy(
            device,
            threads_per_block=threads_per_block,
            registers_per_thread=registers,
            shared_bytes_per_block=shared_bytes_per_block,
        )
        if held.blocks_per_sm:
            best[held.blocks_per_sm] = registers
    return tuple((registers, blocks) for blocks, registers in sorted(best.items()))


def _exceeds_registers(device: Device, warps: int, registers_per_thread: int) -> bool:
    unit, parts = device.register_unit_per_warp, device.sub_partitions
    per_warp = _ceil_div(registers_per_thread * device.warp_threads, unit) * unit
    # A block is launched only if it fits with its warps rounded up to fill every sub-partition evenly.
    of_a_block = per_warp * _ceil_div(warps, parts) * parts
    return registers_per_thread > device.max_registers_per_thread or of_a_block > device.registers_per_block


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)
