"""Every occupancy level of a kernel: all limits of registers, and persistent blocks, with blocks of each size.

In: a subject.  Out: its levels, the original first: what figures 1, 2 and 10 of the paper *Orion* are drawn from, and
what an exhaustive search would have to time::

    [(level.warps, level.cycles) for level in sweep(subject)]
"""

from __future__ import annotations

from comprehensive.occupancy_tuning.level import Level
from comprehensive.occupancy_tuning.subject import Subject
from comprehensive.ptx.build import LEAST_REGISTERS, REGISTER_STEP


def sweep(subject: Subject) -> tuple[Level, ...]:
    """Return all levels; registers of a thread are given out eight at a time, so that other limits are the same."""
    most = subject.device.max_registers_per_thread
    caps = (most, *range(most // REGISTER_STEP * REGISTER_STEP, LEAST_REGISTERS - 1, -REGISTER_STEP))
    found = [*subject.levels("")]
    for cap in caps:
        found += subject.levels(f"register-cap{{registers={cap}}}")
    for original in found[:1]:
        for resident in range(original.resident - 1, 0, -1):
            warps = resident * original.occupancy.warps_per_block
            found += subject.levels(f"grid-stride{{warps={warps}}}")[:1]
    return tuple(found)
