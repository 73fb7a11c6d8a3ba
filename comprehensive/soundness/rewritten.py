"""Whether passes over PTX leave what kernels compute as it is, tried in the PTX interpreter.

In: the plan of a program and a compiler with passes.  Out: :class:`Rewritten`, a state for each kernel that a pass has
changed::

    rewritten(plan, KernelCompiler.find("pre,dce", None), "sm_90").kernels["matmul_leaf0"]      # State.HOLDS

Each pass is compared with what was before it, on small launches with random data: `comprehensive.ptx.validate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from comprehensive.codegen.cuda import program_unit
from comprehensive.codegen.plan import ProgramPlan
from comprehensive.diagnostics import CompileError
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.validate import CHANGED, validated
from comprehensive.soundness.state import State


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The states of kernels that passes have changed, by symbol; ``reasons`` are of those that do not hold."""

    passes: str
    kernels: Mapping[str, State]
    reasons: tuple[str, ...]

    @property
    def state(self) -> State:
        """What holds of all of them; of none at all everything does."""
        found = set(self.kernels.values())
        return next((s for s in (State.FAILS, State.NOT_CHECKED) if s in found), State.HOLDS)


def rewritten(plan: ProgramPlan, compiler: KernelCompiler, arch: str) -> Rewritten:
    """Try the passes of a compiler on the kernels of a program.

    ToolError and CompileError as of `KernelCompiler.compile`, but for a pass that changes what a kernel computes: that
    is a state.
    """
    untried: list[Remark] = []
    try:
        compiled = compiler.compile(program_unit(plan), arch, (validated(told=untried.append),))
    except CompileError as error:
        if any(diagnostic.code != CHANGED for diagnostic in error.diagnostics):
            raise
        reasons = tuple(diagnostic.message for diagnostic in error.diagnostics)
        return Rewritten(compiler.passes, {"": State.FAILS}, reasons)
    changed = {
        r.function for r in compiled.remarks if r.kind is Kind.APPLIED and r.function in compiled.usages
    }
    open_ones = {remark.function for remark in untried}
    states = {
        symbol: State.NOT_CHECKED if symbol in open_ones else State.HOLDS
        for symbol in sorted(filter(None, changed))
    }
    return Rewritten(compiler.passes, states, tuple(remark.text for remark in untried))
