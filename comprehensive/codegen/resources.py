"""The resources that every kernel of a program takes on an architecture: a plan in, what ptxas says out.

Leaves and all instances of kernels over tiles are compiled together, without host code.  Occupancy is that of an
architecture at full shared-memory carve-out, for instances: a leaf's depends on its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from msgspec import Struct

from comprehensive.codegen.acceptance import kernels_compile
from comprehensive.codegen.cuda import program_unit
from comprehensive.loops.interpreter import c_value
from comprehensive.machine.device import Device, load_device
from comprehensive.machine.occupancy import occupancy
from comprehensive.plan.plan import ProgramPlan, TilePlan
from comprehensive.schedule.instances import Instance
from comprehensive.toolchain.registers import counting_nvcc, usages_of
from comprehensive.toolchain.usage import Usage, usage_of


class Resources(Struct, frozen=True):
    """The resources of all kernels of a program.

    ``source`` is who counted, ``usages`` are by symbol.
    """

    source: str
    arch: str
    usages: Mapping[str, Usage]

    def of_leaf(self, kernel: str) -> dict[str, Any]:
        (usage,) = usage_of(kernel, self.usages)
        return {**_counted(usage), "static_shared_bytes": usage.shared_bytes}

    def of_instance(self, tile: TilePlan, instance: Instance) -> list[dict[str, Any]]:
        """One entry, or where a kernel accesses vectors one for each count of elements that are accessed together."""
        device = load_device(self.arch.rstrip("af"))
        rest = len(instance.sizes)
        return [
            {
                "elements_together": usage.template_arguments[rest] if tile.kernel.together else 1,
                **_counted(usage),
                **_resident(device, tile, instance, usage),
            }
            for usage in sorted(usage_of(tile.kernel.name, self.usages), key=lambda u: u.symbol, reverse=True)
            if usage.template_arguments[:rest] == instance.sizes
        ]


def _counted(usage: Usage) -> dict[str, int]:
    return {
        "registers_per_thread": usage.registers_per_thread,
        "spill_store_bytes": usage.spill_store_bytes,
        "spill_load_bytes": usage.spill_load_bytes,
        "stack_bytes": usage.stack_bytes,
    }


def _resident(device: Device, tile: TilePlan, instance: Instance, usage: Usage) -> dict[str, Any]:
    sizes = tile.sizes(instance)
    threads = prod(int(c_value(extent, sizes)) for extent in tile.kernel.block)
    shared = usage.shared_bytes + 4 * int(tile.kernel.shared_words.evaluate(sizes))
    found = occupancy(
        device,
        threads_per_block=threads,
        registers_per_thread=usage.registers_per_thread,
        shared_bytes_per_block=shared,
        barriers_per_block=usage.barriers,
    )
    return {
        "threads_per_block": threads,
        "shared_bytes_per_block": shared,
        "blocks_per_sm": found.blocks_per_sm,
        "warps_per_sm": found.warps_per_sm,
        "occupancy": str(found.fraction),
        "limited_by": list(found.limits),
    }


def resources(plan: ProgramPlan, arch: str, cuda_path: str | None, *, required: bool) -> Resources | None:
    """Return what all kernels take on an architecture.

    None where nvcc is not found and not ``required``; ToolError where it is required.
    """
    nvcc = counting_nvcc(cuda_path, required=required)
    if nvcc is None:
        return None
    unit = program_unit(plan)
    with kernels_compile(unit):
        return Resources(f"nvcc {nvcc.version}", arch, usages_of(nvcc, unit, arch))
