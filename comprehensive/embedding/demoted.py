"""Fewer registers for a kernel, by a limit alone or with values in shared memory, and what it takes then.

In: a kernel and a compiler.  Out: the limit, or why there is none::

    with_limit(compiler, ("sm_90",), kernel)          # 80: there is a schedule without spills
    with_slots(compiler, ("sm_90",), kernel)          # 64: with what does not fit in shared memory
    slots_of(compiler, ("sm_90",), limited)           # 18: so many words of each thread are there

What is aimed at is the next cliff of the occupancy: the most registers with which one more block fits a
multiprocessor; for a kernel that spills whatever it is given, what it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from comprehensive.codegen.cuda import kernel_unit
from comprehensive.embedding.compiled import CompiledKernels, KernelCompiler
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.machine.device import device_of
from comprehensive.machine.parameters import WARP_THREADS, WORD_BYTES
from comprehensive.plan.plan import ProgramPlan
from comprehensive.ptx.build import ALONE
from comprehensive.ptx.passes.register_cap import cliffs_below
from comprehensive.ptx.passes.remark import Kind
from comprehensive.records import replace
from comprehensive.toolchain.usage import Usage


def with_limit(compiler: KernelCompiler, archs: Sequence[str], kernel: Kernel) -> int | str:
    """Return the limit at which one more block fits, or why there is none that needs no spills.

    The cliffs are those of the first architecture; on all of them nothing may be spilled.
    """
    return _limited(compiler, archs, kernel, demoted=False)


def with_slots(compiler: KernelCompiler, archs: Sequence[str], kernel: Kernel) -> int | str:
    """Return the limit at which one more block fits, or why not all that does not fit goes to shared memory."""
    return _limited(compiler, archs, kernel, demoted=True)


def slots_of(compiler: KernelCompiler, archs: Sequence[str], kernel: Kernel) -> int:
    """The words of a thread that lie in shared memory in place of registers, the most of all architectures."""
    compiled = (_compiled(compiler, arch, kernel) for arch in archs)
    return max(each.bytes_of_a_warp(kernel.name) for each in compiled) // (WARP_THREADS * WORD_BYTES)


def _limited(compiler: KernelCompiler, archs: Sequence[str], kernel: Kernel, *, demoted: bool) -> int | str:
    target = _target(compiler, archs[0], kernel)
    if isinstance(target, str):
        return target
    limited = replace(kernel, register_cap=target, demoted=demoted)
    for arch in archs:
        compiled = _compiled(compiler, arch, limited)
        spilled = _usage(compiled, kernel).spill_bytes
        if spilled:
            told = [r.text for r in compiled.remarks if r.function == kernel.name and r.kind is Kind.MISSED]
            left = f"with at most {target} registers {spilled} bytes of spills go to local memory"
            return ": ".join((left, *told[-1:]))
    return target


def own_passes(plan: ProgramPlan) -> Mapping[str, str]:
    """The pipelines of single kernels of a program, by symbol."""
    return own_passes_of(
        tuple(leaf.kernel for f in plan.functions for region in f.regions for leaf in region.leaves)
    )


def own_passes_of(kernels: tuple[Kernel, ...]) -> Mapping[str, str]:
    """The pipelines of those kernels that are to be demoted, by symbol."""
    return {
        kernel.name: f"demote-registers{{target={kernel.register_cap} dynamic=allow}}"
        for kernel in kernels
        if kernel.demoted
    }


def _target(compiler: KernelCompiler, arch: str, kernel: Kernel) -> int | str:
    device = device_of(arch)
    if device is None:
        return f"the occupancy of {arch} is not known"
    free = _usage(_compiled(compiler, arch, kernel), kernel)
    if free.spill_bytes:
        return free.registers_per_thread
    cliffs = cliffs_below(free, ALONE.threads, device)
    if not cliffs:
        return f"with fewer than {free.registers_per_thread} registers no more blocks fit a multiprocessor"
    return cliffs[0]


@lru_cache(maxsize=64)
def _compiled(compiler: KernelCompiler, arch: str, kernel: Kernel) -> CompiledKernels:
    """The kernel behind its own passes; strategies, counters and the plan ask about the same one."""
    return compiler.compile(kernel_unit(kernel), arch, own_passes_of((kernel,)))


def _usage(compiled: CompiledKernels, kernel: Kernel) -> Usage:
    return compiled.usages[kernel.name]
