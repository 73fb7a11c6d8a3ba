"""Spills of ptxas to shared memory in place of local memory, as far as its budget goes.

    {                    -->    {
        ...                         .pragma "enable_smem_spilling";

The pragma is ptxas' own (CUDA 13).  It holds about 1/32 of 164 KiB a warp on sm_90, the kernel's own shared memory
included; ptxas rejects it beside dynamic shared memory and in separate compilation, and without ``.maxntid`` it makes
room for so many threads that fewer blocks fit.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.ptx.build import Build, tuning_of
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.ptx_pass import FunctionPass
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.statements import Directive
from comprehensive.toolchain.usage import Usage

PRAGMA = '"enable_smem_spilling"'


@dataclass(frozen=True)
class SharedSpills(FunctionPass):
    name = "shared-spills"
    summary = 'spills of ptxas to shared memory: --> .pragma "enable_smem_spilling";'

    @property
    def is_gated(self) -> bool:
        return False

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        if not function.is_kernel:
            return None, ()
        # ptxas takes the pragma in bodies only, not in heads.
        changed = function.with_body((Directive(".pragma", PRAGMA), *function.body))
        before = build.usage(module, function)
        why = self._obstacle(function, before, build)
        after = None if why is not None else build.usage(module, changed)
        if why is None and after is None:
            why = "ptxas rejects the pragma here, as beside dynamic shared memory and in separate compilation"
        if before is not None and after is not None and after.spill_bytes >= before.spill_bytes:
            why = (
                f"{after.spill_bytes} bytes would still go to local memory: shared memory does not hold more"
            )
        if why is not None or before is None or after is None:
            return None, (self.missed(function, None, f"spills stay where they are: {why}"),)
        text = (
            f"{before.spill_bytes} bytes of spills to local memory are {after.spill_bytes} now, "
            f"with {after.shared_bytes} bytes of shared memory, not {before.shared_bytes}"
        )
        facts = (
            ("registers_per_thread", after.registers_per_thread),
            ("spill_bytes", after.spill_bytes),
            ("static_shared_bytes", after.shared_bytes - before.shared_bytes),
        )
        return changed, (Remark(Kind.APPLIED, self.name, function.symbol, None, text, facts),)

    def _obstacle(self, function: Function, before: Usage | None, build: Build) -> str | None:
        if any(isinstance(s, Directive) and s.text == PRAGMA for s in function.body):
            return "it has the pragma"
        if before is None:
            return "there is no assembler that says how many there are"
        if not before.spill_bytes:
            return "there are none"
        if tuning_of(function, build.limits).threads is None:
            return "no .maxntid says how many threads share the memory, and ptxas would take it all"
        return None
