"""A limit of registers for kernels, and nothing else: ptxas finds another schedule, and spills where it must.

    .entry matmul(...) .maxntid 256   -->   .entry matmul(...) .maxntid 256 .maxnreg 64

The rival of demotion: on the H200 the best limit without spills beat every demotion of the same kernel, 5 of 5.  The
cliffs of the occupancy are where one more block fits a multiprocessor; `down` counts them.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.machine.device import Device
from comprehensive.machine.occupancy import register_cliffs
from comprehensive.ptx.build import LEAST_REGISTERS, Build, tuning_of, with_cap
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.ptx_pass import FunctionPass, PtxPass, option
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.toolchain.usage import MOST_REGISTERS, Usage

CLIFF = "cliff"


@dataclass(frozen=True)
class RegisterCap(FunctionPass):
    name = "register-cap"
    summary = "a limit of registers for kernels: --> .maxnreg 64"
    registers: str = option(CLIFF, "most registers, or cliff: those with which more blocks fit")
    down: int = option(1, "which cliff below what the kernel takes, 1 is the next")

    @property
    def is_gated(self) -> bool:
        return False

    def __post_init__(self) -> None:
        if self.registers != CLIFF and not is_register_count(self.registers):
            raise ValueError(f"registers is {CLIFF} or {LEAST_REGISTERS} to {MOST_REGISTERS}")
        if self.down < 1:
            raise ValueError("down is 1 or more")

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        if not function.is_kernel:
            return None, ()
        found = int(self.registers) if self.registers != CLIFF else self._cliff(function, module, build)
        if isinstance(found, str):
            return None, (self.missed(function, None, f"no limit: {found}"),)
        if found == tuning_of(function, build.limits).registers:
            return None, ()
        limited = with_cap(function, found)
        usage = build.usage(module, limited)
        if usage is None and build.assembler is not None:
            return None, (self.missed(function, None, "no limit: the assembler rejects the kernel with one"),)
        return limited, (limit_remark(self, function, found, usage),)

    def _cliff(self, function: Function, module: Module, build: Build) -> int | str:
        if tuning_of(function, build.limits).registers is not None:
            return "it has one"
        free, device = build.usage(module, function), build.device(module)
        if free is None or device is None:
            return "there is no assembler to say how many registers it takes, or its device is not known"
        cliffs = cliffs_below(free, build.threads_of(function), device)
        if len(cliffs) < self.down:
            return f"there are {len(cliffs)} cliffs below the {free.registers_per_thread} registers that it takes"
        return cliffs[self.down - 1]


def is_register_count(text: str) -> bool:
    """Whether an option is a number of registers that a kernel can be limited to."""
    return text.isascii() and text.isdigit() and LEAST_REGISTERS <= int(text) <= MOST_REGISTERS


def cliffs_below(free: Usage, threads: int, device: Device) -> tuple[int, ...]:
    """The numbers of registers with which more blocks fit than now, the greatest first."""
    cliffs = register_cliffs(device, threads_per_block=threads, shared_bytes_per_block=free.shared_bytes)
    return tuple(
        registers for registers, _ in cliffs if LEAST_REGISTERS <= registers < free.registers_per_thread
    )


def limit_remark(ptx_pass: PtxPass, function: Function, registers: int, usage: Usage | None) -> Remark:
    """Return the remark that a kernel has a limit of registers, with what it takes then where that is known."""
    if usage is None:
        return Remark(Kind.APPLIED, ptx_pass.name, function.symbol, None, f".maxnreg {registers}")
    text = (
        f".maxnreg {registers}: {usage.registers_per_thread} registers, {usage.spill_bytes} bytes of spills"
    )
    facts = (("registers_per_thread", usage.registers_per_thread), ("spill_bytes", usage.spill_bytes))
    return Remark(Kind.APPLIED, ptx_pass.name, function.symbol, None, text, facts)
