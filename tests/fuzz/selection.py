"""Whether the header chooses the leaf that ``explain`` says, on machines at the edges of the conditions.

In: a compilation of one region, arguments, machines that lead to its leaves.  Out: machines to try, and for each what
``explain`` says: the number of a leaf, or None where the launcher has to refuse.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from comprehensive.driver import Compilation
from comprehensive.explanation import explain
from comprehensive.machine.device import Device, load_device
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.plan.plan import FunctionPlan
from comprehensive.records import replace
from comprehensive.soundness.machines import AMPLE


@dataclass(frozen=True, slots=True)
class Expected:
    """``leaf`` is None for a dead end."""

    machine: Mapping[str, int]
    leaf: int | None


def expected_choices(
    compilation: Compilation,
    plan: FunctionPlan,
    arguments: Mapping[str, int | float],
    machines: Sequence[Mapping[str, int]],
    rng: random.Random,
) -> Iterator[Expected]:
    """Yield for a machine of each leaf, and one beside it, what ``explain`` says."""
    (region,) = plan.regions
    names = {s.name for s in region.nest.scalars if s.value is None and s.type.is_integer}
    values = {k: v for k, v in arguments.items() if k in names and isinstance(v, int)}
    for found in machines:
        for machine in (found, _beside(found, rng)):
            (explained,) = explain(compilation, _device(machine), values)
            leaves = [c.index for c in explained.cases if c.kind == "leaf" and c.applies]
            if len(leaves) > 1 or any(c.applies is None for c in explained.cases):
                raise AssertionError(f"explain does not decide at {values}, {machine}")
            yield Expected(machine, leaves[0] if leaves else None)


def _device(machine: Mapping[str, int]) -> Device:
    """A device with these limits."""
    device = load_device("sm_90")
    return replace(
        device,
        max_registers_per_thread=machine.get("R_B", AMPLE),
        optin_shared_bytes_per_block=machine.get("Z_B", AMPLE) * WORD_BYTES,
        max_threads_per_block=machine.get("T_B", AMPLE),
    )


def _beside(machine: Mapping[str, int], rng: random.Random) -> dict[str, int]:
    name = rng.choice(sorted(machine))
    return {**machine, name: max(0, machine[name] + rng.choice([-1, 1, -8, -machine[name] // 2]))}
