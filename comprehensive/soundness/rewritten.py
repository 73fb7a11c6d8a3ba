"""Whether passes over PTX leave what kernels compute as it is, tried in the PTX interpreter.

In: the plan of a program and a compiler with passes.  Out: :class:`Rewritten`, which kernels were tried::

    rewritten(plan, KernelCompiler.find("pre,dce", None), "sm_90").tried      # ("matmul_leaf0", ...)

Each pass is compared with what was before it, on small launches with random data: `comprehensive.ptx.validate`.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.diagnostics import CompileError
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.demoted import own_passes
from comprehensive.embedding.embedded import compiled_with
from comprehensive.embedding.targets import AUTO
from comprehensive.plan.plan import ProgramPlan
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.validate import CHANGED, validated
from comprehensive.soundness.state import State
from comprehensive.toolchain.usage import simple_name


class Rewritten(Struct, frozen=True):
    """Kernels that passes have changed, by symbol: those that compute what they did, and those that nobody could try.

    ``failures`` say which kernel a pass has spoilt, ``reasons`` why others were not tried.
    """

    passes: str
    tried: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        if self.failures:
            return State.FAILS
        return State.NOT_CHECKED if self.untried else State.HOLDS


def rewritten(
    plan: ProgramPlan, compiler: KernelCompiler, arch: str, *, automatic: bool = False
) -> Rewritten:
    """Try the passes of a compiler, or those that are chosen for each kernel, on the kernels of a program.

    ToolError and CompileError as of `KernelCompiler.compile`, but for a pass that changes what a kernel computes: that
    is a state.
    """
    told: list[Remark] = []
    kernels = {
        kernel.name: kernel for f in plan.functions for region in f.regions for kernel in region.kernels
    }

    def pointers(symbol: str) -> tuple[bool, ...]:
        return tuple(parameter.pointer for parameter in kernels[simple_name(symbol)].parameters)

    passes = ", ".join(
        filter(None, (AUTO if automatic else compiler.passes, *dict.fromkeys(own_passes(plan).values())))
    )
    checks = (validated(told=told.append, pointers=pointers),)
    try:
        compiled, _ = compiled_with(plan, compiler, arch, automatic=automatic, checks=checks)
    except CompileError as error:
        if any(diagnostic.code != CHANGED for diagnostic in error.diagnostics):
            raise
        return Rewritten(passes, failures=tuple(d.message for d in error.diagnostics))
    applied = {remark.function for remark in compiled.remarks if remark.kind is Kind.APPLIED}
    open_ones = {remark.function for remark in told}
    changed = sorted(symbol for symbol in compiled.usages if symbol in applied)
    return Rewritten(
        passes,
        tuple(symbol for symbol in changed if symbol not in open_ones),
        tuple(symbol for symbol in changed if symbol in open_ones),
        reasons=tuple(remark.text for remark in told),
    )
