"""Speeds of a device: the few numbers that a prediction of times needs beside limits.

In: nothing.  Out: :data:`SPEEDS`, in the order in which they are printed::

    SPEEDS["global_latency_cycles"].meaning       # "from a load of global memory to its value"

All are integers, and times are in cycles of the multiprocessors, so that the clock does not matter.  Values for
devices are the table ``speeds`` of their files in ``specs/machines``, which say where they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Speed:
    """A number that is at least 1, with what it means and its unit."""

    name: str
    meaning: str
    unit: str


def _table(*speeds: Speed) -> Mapping[str, Speed]:
    return MappingProxyType({s.name: s for s in speeds})


SPEEDS = _table(
    Speed("multiprocessors", "multiprocessors of the device", "multiprocessors"),
    Speed(
        "issued_per_cycle", "instructions of warps that a multiprocessor begins in a cycle", "instructions"
    ),
    Speed("wide_lanes", "results of arithmetic on doubles in a cycle of a multiprocessor", "results"),
    Speed(
        "wide_tensor_lanes",
        "multiply-adds of doubles by tensor cores in a cycle of a multiprocessor, 1 without them",
        "results",
    ),
    Speed(
        "half_tensor_lanes",
        "multiply-adds of 16-bit elements by tensor cores in a cycle of a multiprocessor, 1 without them",
        "results",
    ),
    Speed(
        "l2_bytes_per_kilocycle", "between a multiprocessor and the second-level cache, all at work", "bytes"
    ),
    Speed("dram_bytes_per_kilocycle", "between the device and its memory", "bytes"),
    Speed("kept_bytes", "data that stays in the second-level cache from launch to launch", "bytes"),
    Speed("global_latency_cycles", "from a load of global memory to its value", "cycles"),
    Speed("shared_latency_cycles", "from a load of shared memory to its value", "cycles"),
    Speed("barrier_cycles", "for a barrier at which all warps have arrived", "cycles"),
    Speed("warp_start_cycles", "between the starts of warps on a multiprocessor", "cycles"),
    Speed("block_cycles", "for the first instructions and the end of a block", "cycles"),
    Speed("turn_cycles", "from the end of a block to the first instruction of the next", "cycles"),
    Speed("launch_cycles", "for a launch that follows another one", "cycles"),
)
