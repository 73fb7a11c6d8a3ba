"""Variants of kernels as both machines know them: what ptxas says of each, and what is predicted.

In and out: JSON, by the names of the fields::

    plan = read_plan(Path("build/gpu/demotion"))
    plan.kernels[0].variants[0].predicted_cycles

The standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

DEFAULT = "default"
PLAN = "variants.json"
PRESSURE = "pressure"
STRATEGIES = (PRESSURE, "static", "liverange", "conflicts")
Kind: TypeAlias = Literal["default", "cap", "pragma", "patch", "demotion"]


@dataclass(frozen=True)
class Variant:
    """A variant that there is.

    ``target`` is the limit of registers, 0 for none; ``spill_bytes`` are stored and loaded; ``shared_bytes`` are those
    of a block, and ``dynamic_bytes`` those of them that the launch states; ``same_as`` names an earlier variant with
    the same machine code and launch.
    """

    name: str
    kind: Kind
    target: int
    strategy: str
    file: str
    registers: int
    spill_bytes: int
    shared_bytes: int
    dynamic_bytes: int
    blocks_per_sm: int
    bound: str
    bounds_cycles: Mapping[str, float]
    """The bounds of the prediction by name."""
    predicted_cycles: float
    paper_cycles: float
    same_as: str = ""


@dataclass(frozen=True)
class Planned:
    """A kernel with its variants, the default one first; ``missing`` says by name why a variant is not there."""

    name: str
    about: str
    launch: Mapping[str, Any]
    rounds: Sequence[int]
    targets: Sequence[int]
    room_bytes: int
    """Shared memory that a block may have for slots."""
    variants: Sequence[Variant]
    missing: Mapping[str, str]

    @property
    def distinct(self) -> tuple[Variant, ...]:
        """Variants without those that are the same as an earlier one."""
        return tuple(each for each in self.variants if not each.same_as)

    @property
    def threads(self) -> int:
        x, y, z = self.launch["block"]
        return int(x * y * z)


@dataclass(frozen=True)
class Plan:
    """All kernels; ``device`` is the one whose times are predicted."""

    commit: str
    nvcc: str
    device: str
    kernels: Sequence[Planned]


def written_plan(plan: Plan, directory: Path) -> None:
    (directory / PLAN).write_text(json.dumps(asdict(plan), indent=1), encoding="utf-8")


def read_plan(directory: Path) -> Plan:
    found = json.loads((directory / PLAN).read_text(encoding="utf-8"))
    kernels = [
        Planned(**{**each, "variants": [Variant(**variant) for variant in each["variants"]]})
        for each in found.pop("kernels")
    ]
    return Plan(**found, kernels=kernels)
