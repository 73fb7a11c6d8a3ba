"""The blocks that one multiprocessor holds, as far as each of its resources goes: the one rule for all that asks.

    resident({"R_SM": 65536, "R_U": 256, ...}, warps=8, registers=64, words=0)
    # {"threads": 8, "blocks": 32, "registers": 4, "shared memory": 202}: the least decides

The rule is that of NVIDIA's cuda_occupancy.h at full shared-memory carve-out, for a block that meets the limits of a
single one: registers are given to warps in units and out of the share of one sub-partition, shared memory to blocks in
units and with the system's part added.  It is written once, over any arithmetic (`counts.py`): numbers here,
polynomials in `counters/residency.py`, and text of C for the header (`tests/printed_cost.py`).

A block without registers or shared memory counts with one of them: what that allows is more than the blocks that a
multiprocessor holds anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic

from comprehensive.machine.counts import N, Quotients, Saturating
from comprehensive.machine.parameters import WARP_THREADS


@dataclass(frozen=True, slots=True)
class Taken(Generic[N]):
    """The warps, registers of a thread and words of shared memory that a block takes, at least one of each."""

    warps: N
    registers: N
    words: N


def by_warps(c: Quotients[N], taken: Taken[N]) -> N:
    return c.named("by_warps", c.down(c.of_machine("W_SM"), taken.warps))


def by_blocks(c: Quotients[N], taken: Taken[N]) -> N:
    del taken
    return c.of_machine("B_SM")


def by_registers(c: Quotients[N], taken: Taken[N]) -> N:
    """Each sub-partition has its share of the registers, out of which warps are given theirs."""
    wanted = c.times(taken.registers, c.count(WARP_THREADS))
    of_a_warp = c.named("registers_of_a_warp", rounded_up(c, wanted, c.of_machine("R_U")))
    parts = c.of_machine("Q_SM")
    warps = c.times(parts, c.down(c.of_machine("R_SM"), c.times(parts, of_a_warp)))
    return c.named("by_registers", c.down(warps, taken.warps))


def by_shared_memory(c: Quotients[N], taken: Taken[N]) -> N:
    wanted = c.plus(taken.words, c.of_machine("Z_0"))
    of_a_block = c.named("words_of_a_block", rounded_up(c, wanted, c.of_machine("Z_U")))
    return c.named("by_shared_memory", c.down(c.of_machine("Z_SM"), of_a_block))


def rounded_up(c: Quotients[N], value: N, unit: N) -> N:
    """Return the least multiple of a unit that is no less than the value."""
    return c.times(c.up(value, unit), unit)


def allowed(c: Quotients[N], taken: Taken[N]) -> dict[str, N]:
    """Return the blocks that each resource allows, by its name."""
    return {
        "threads": by_warps(c, taken),
        "blocks": by_blocks(c, taken),
        "registers": by_registers(c, taken),
        "shared memory": by_shared_memory(c, taken),
    }


def resident(machine: Mapping[str, int], *, warps: int, registers: int, words: int) -> dict[str, int]:
    """Return the blocks that each resource allows, by its name.

    ``machine`` has machine parameters by their symbols; ``registers`` are those of a thread, ``words`` of 4 bytes those
    of the shared memory of a block.
    """
    return allowed(Saturating(machine), Taken(warps, max(1, registers), max(1, words)))
