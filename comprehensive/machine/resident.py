"""The blocks that one multiprocessor holds, as far as each of its resources goes: the one rule for all that asks.

    resident({"R_SM": 65536, "R_U": 256, ...}, warps=8, registers=64, words=0)
    # {"threads": 8, "blocks": 32, "registers": 4}: the least decides

The rule is that of NVIDIA's cuda_occupancy.h at full shared-memory carve-out, for a block that meets the limits of a
single one: registers are given to warps in units and out of the share of one sub-partition, shared memory to blocks in
units and with the system's part added.  `cf_resident` of `templates/runtime/cf_runtime.h` and, with symbols,
`counters/residency.py` are the same; tests compare them.
"""

from __future__ import annotations

from collections.abc import Mapping

from comprehensive.machine.parameters import WARP_THREADS


def resident(machine: Mapping[str, int], *, warps: int, registers: int, words: int) -> dict[str, int]:
    """Return the blocks that each resource allows, by its name; none for a resource that a block takes nothing of.

    ``machine`` has machine parameters by their symbols; ``registers`` are those of a thread, ``words`` of 4 bytes those
    of the shared memory of a block.
    """
    found = {"threads": machine["T_SM"] // (warps * WARP_THREADS), "blocks": machine["B_SM"]}
    if registers:
        of_a_warp, parts = rounded_up(registers * WARP_THREADS, machine["R_U"]), machine["Q_SM"]
        found["registers"] = machine["R_SM"] // parts // of_a_warp * parts // warps
    of_a_block = rounded_up(words + machine["Z_0"], machine["Z_U"])
    if of_a_block:
        found["shared memory"] = machine["Z_SM"] // of_a_block
    return found


def rounded_up(value: int, unit: int) -> int:
    """Return the least multiple of a unit that is no less than the value."""
    return -(-value // unit) * unit
