"""Runs passes one after the other, each checked: a module in, a module and remarks out.

    rewrite(text, "memory-space,dce", name="matmul.ptx")      # ("...", (Remark(...), ...))

No pass, or passes that change nothing, give back the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from comprehensive.collection import seldom_collected
from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.build import ALONE, Build
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.occupancy_gate import gated
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.ptx_pass import PtxPass
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.printer import print_module
from comprehensive.ptx.verify import problems


@dataclass(frozen=True)
class Stage:
    """A pass that has run: the module before it, what came behind it and the gate of registers, and its remarks."""

    ptx_pass: PtxPass
    before: Module
    after: Module
    remarks: tuple[Remark, ...]
    seconds: float


Check = Callable[[Stage], None]
"""Raises CompileError where a stage is not as it should be."""


def run(
    module: Module, passes: Sequence[PtxPass], checks: Sequence[Check] = (), build: Build = ALONE
) -> tuple[Stage, ...]:
    """One stage a pass. CompileError (CF1024) where a pass made what is not well formed, and those of ``checks``."""
    with seldom_collected():
        return tuple(_stages(module, passes, checks, build))


def _stages(
    module: Module, passes: Sequence[PtxPass], checks: Sequence[Check], build: Build
) -> Iterator[Stage]:
    for each in passes:
        begin = time.perf_counter()
        after, remarks = each.run(module, build)
        made = Stage(each, module, after, remarks, time.perf_counter() - begin)
        verified(made)
        after, remarks = gated(each, module, after, remarks, build)
        stage = Stage(each, module, after, remarks, time.perf_counter() - begin)
        for check in checks:
            check(stage)
        yield stage
        module = after


def rewrite(
    text: str, pipeline: str, *, name: str, build: Build = ALONE, checks: Sequence[Check] = ()
) -> tuple[str, Sequence[Remark]]:
    """The text behind a pipeline; ``name`` is that of the file, for remarks, ``checks`` are as for :func:`run`.

    CompileError where the pipeline or the text is not understood, or a pass is at fault.
    """
    passes = passes_of(pipeline)
    if not passes:
        return text, ()
    module = parse(SourceFile(name, text))
    stages = run(module, passes, checks, build)
    return print_module(stages[-1].after), tuple(remark for stage in stages for remark in stage.remarks)


def verified(stage: Stage) -> None:
    """Check that what a pass made is well formed. CompileError (CF1024) where it is not."""
    if stage.after is stage.before:
        return
    found = problems(stage.after, stage.before)
    if found:
        raise pass_error("CF1024", stage, f"made what is not well formed: {found[0]}")


def pass_error(code: str, stage: Stage, what: str) -> CompileError:
    """Return the error which says that a pass is at fault."""
    name = stage.ptx_pass.name
    help = f"this is a bug of the pass: leave '{name}' out, and report it with the input"
    return CompileError.of(code, f"'{name}' {what}", help=help)
