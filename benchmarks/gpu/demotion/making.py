"""Makes the variants of a kernel: the compiler's own, register caps, spills to shared memory, demotion.

In: a kernel and ptxas.  Out: a :class:`Made` each, or why there is none::

    made, missing, targets = variants_of(Maker(kernel, assembler, ptxas, load_device("h200")))
    made["cap 96"].usage.spill_bytes, missing["pragma 96"]

Caps are the cliffs of the occupancy, from the greatest to the fourth at which ptxas spills; lower ones spill more.
Targets, at which spills to shared memory are tried, are the three greatest of those that spill.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TypeAlias

from benchmarks.gpu.demotion.kernels import Kernel
from benchmarks.gpu.demotion.variant import DEFAULT, STRATEGIES, Kind
from benchmarks.gpu.ptx_passes_prepare import ARCH
from comprehensive.diagnostics import SourceFile
from comprehensive.machine.device import Device
from comprehensive.machine.occupancy import register_cliffs
from comprehensive.ptx.build import LEAST_REGISTERS, Build
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes import remark
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.printer import print_module
from comprehensive.sass.errors import SassError
from comprehensive.sass.spills.patch import patch_spills
from comprehensive.toolchain.assembler import Assembler, Ptxas
from comprehensive.toolchain.usage import MOST_REGISTERS, Usage

CALLS = 16
"""The pass may ask ptxas so often, twice its default: Fourier transforms at 80 registers need that."""
SPILLING_CAPS = 4
TARGETS = 3
LANES = 32


@dataclass(frozen=True)
class Made:
    """PTX behind a pipeline, and the cubin; ``dynamic_bytes`` are those that a launch states for a block."""

    kind: Kind
    target: int
    strategy: str
    ptx: str
    cubin: bytes
    usage: Usage
    dynamic_bytes: int


@dataclass(frozen=True)
class Maker:
    """Makes variants of one kernel."""

    kernel: Kernel
    assembler: Assembler
    ptxas: Ptxas
    device: Device

    def default(self) -> Made:
        return self._alone("default", 0, "")

    def caps(self) -> Iterator[Made]:
        """Limits of registers, the greatest first."""
        spilling = 0
        for registers in self._cliffs():
            made = self._alone("cap", registers, f"register-cap{{registers={registers}}}")
            yield made
            spilling += made.usage.spill_bytes > 0
            if spilling == SPILLING_CAPS:
                return

    def pragma(self, target: int) -> Made | str:
        """Spills of ptxas to shared memory, or why there are none."""
        return self.made("pragma", target, "", f"register-cap{{registers={target}}},shared-spills")

    def patched(self, cap: Made) -> Made | str:
        """The machine code of a cap with its spills in shared memory, or why they stay where they are."""
        large = self.kernel.timed.large
        try:
            cubin, patched = patch_spills(
                cap.cubin, self.kernel.symbol, threads=prod(large.block), shared_bytes=large.smem_bytes
            )
        except SassError as error:
            return error.diagnostics[0].message
        usage = replace(cap.usage, stack_bytes=0, spill_store_bytes=0, spill_load_bytes=0)
        return Made("patch", cap.target, "", cap.ptx, cubin, usage, patched.dynamic_bytes)

    def demoted(self, target: int, strategy: str, volatile: bool) -> Made | str:
        """Demotion to shared memory, or why there is none."""
        how = f"volatile={str(volatile).lower()} dynamic=allow calls={CALLS}"
        name = f"{strategy}{' volatile' if volatile else ''}"
        return self.made(
            "demotion", target, name, f"demote-registers{{target={target} strategy={strategy} {how}}}"
        )

    def made(self, kind: Kind, target: int, strategy: str, pipeline: str) -> Made | str:
        """Return what a pipeline makes of the kernel, or why its last pass leaves it."""
        large = self.kernel.timed.large
        module = parse(SourceFile(f"{self.kernel.name}.ptx", self.kernel.ptx))
        stages = run(module, passes_of(pipeline), (), Build(self.assembler)) if pipeline else ()
        remarks = [each for stage in stages for each in stage.remarks]
        if stages and stages[-1].after is stages[-1].before:
            return next(each.text for each in remarks if each.kind is remark.Kind.MISSED)
        warps = -(-prod(large.block) // LANES)
        more = warps * remark.fact_of(remark.DYNAMIC_BYTES_PER_WARP, remarks, self.kernel.symbol)
        ptx = print_module(stages[-1].after) if stages else self.kernel.ptx
        answer = self.ptxas.assemble(ptx, ARCH)
        usage = answer.usage[self.kernel.symbol]
        return Made(kind, target, strategy, ptx, answer.output, usage, large.smem_bytes + more)

    def _alone(self, kind: Kind, target: int, pipeline: str) -> Made:
        made = self.made(kind, target, "", pipeline)
        assert isinstance(made, Made), made
        return made

    def _cliffs(self) -> Sequence[int]:
        large = self.kernel.timed.large
        cliffs = register_cliffs(
            self.device, threads_per_block=prod(large.block), shared_bytes_per_block=large.smem_bytes
        )
        counts = {registers for registers, _ in cliffs} | {MOST_REGISTERS}
        return sorted((count for count in counts if count >= LEAST_REGISTERS), reverse=True)


Variants: TypeAlias = tuple[Mapping[str, Made], Mapping[str, str], Sequence[int]]
"""Return what was made, by name, what was not, with the reason, and the targets."""


def variants_of(maker: Maker, strategies: Sequence[str] = STRATEGIES) -> Variants:
    """All variants, the default one first."""
    made = {DEFAULT: maker.default(), **{f"cap {each.target}": each for each in maker.caps()}}
    missing: dict[str, str] = {}
    targets = [each.target for each in made.values() if each.kind == "cap" and each.usage.spill_bytes][
        :TARGETS
    ]
    for target in targets:
        rivals = {
            f"pragma {target}": maker.pragma(target),
            f"patch {target}": maker.patched(made[f"cap {target}"]),
        }
        for strategy, volatile in product(strategies, (False, True)):
            name = f"{strategy}{' volatile' if volatile else ''} {target}"
            rivals[name] = maker.demoted(target, strategy, volatile)
        for name, found in rivals.items():
            if isinstance(found, str):
                missing[name] = found
            else:
                made[name] = found
    return made, missing, targets
