"""Whether kernels compute the same behind passes, in every order of threads, and whether ptxas takes what is made.

In: a module, pipelines.  Out: what is wrong, nothing where all is well::

    compared(text, ("pre", "memory-space,dce"), ptxas, drawn=(1, 2))      # (Finding("pre", "k1", "it computes ..."),)

A kernel is run before and behind each pipeline: in the usual order, and in drawn ones with late writes.  What a kernel
computes before must not depend on the order; where it does the kernel itself is at fault, which is a finding, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.assembled import cubin_of
from comprehensive.ptx.build import Build, Limits
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.pipeline import run
from comprehensive.toolchain.nvcc import SourceRejectedError, Tool
from tests.ptx.grudging import Grudging
from tests.ptx.hidden_pointers import THREADS, results

BUILD = Build(Grudging(), limits=Limits(block=(THREADS,)))
"""In which there are never enough registers, and no kernel is put back for them."""
NO_PIPELINE = ""
"""The module as it was given."""


@dataclass(frozen=True)
class Finding:
    """``kernel`` is None where it is the whole module; ``kind`` is the same for findings of one defect."""

    pipeline: str
    kernel: str | None
    kind: str
    detail: str


def compared(
    text: str, pipelines: Sequence[str], ptxas: Tool | None, drawn: Sequence[int] = (1,)
) -> tuple[Finding, ...]:
    """``ptxas`` is None where nothing is to be assembled."""
    before = parse(SourceFile("module.ptx", text))
    expected = {kernel: results(before, kernel) for kernel in before.kernels}
    found = list(_runs(before, before, NO_PIPELINE, expected, drawn))
    found += _assembled(before, NO_PIPELINE, ptxas)
    if found:
        return tuple(found)
    for pipeline in pipelines:
        try:
            after = run(before, passes_of(pipeline), (), BUILD)[-1].after
        except CompileError as error:
            found.append(Finding(pipeline, None, "pipeline", error.diagnostics[0].message))
            continue
        if after is before:
            continue
        found += _runs(before, after, pipeline, expected, (None, *drawn))
        found += _assembled(after, pipeline, ptxas)
    return tuple(found)


def _runs(
    before: Module,
    after: Module,
    pipeline: str,
    expected: dict[str, bytes | str],
    drawn: Sequence[int | None],
) -> Iterator[Finding]:
    for kernel, computed in expected.items():
        if isinstance(computed, str):
            yield Finding(NO_PIPELINE, kernel, "fault", computed)
            continue
        if after is not before and after.kernels[kernel] is before.kernels[kernel]:
            continue
        for seed in drawn:
            now = results(after, kernel, seed)
            if now == computed:
                continue
            order = "the usual order" if seed is None else f"the drawn order {seed}"
            if isinstance(now, str):
                yield Finding(pipeline, kernel, "fault", f"in {order} it ends with: {now}")
            else:
                place = next(
                    i for i, (one, other) in enumerate(zip(now, computed, strict=True)) if one != other
                )
                yield Finding(
                    pipeline, kernel, "differs", f"in {order} byte {place} of all arrays is another one"
                )
            break


def _assembled(module: Module, pipeline: str, ptxas: Tool | None) -> Iterator[Finding]:
    if ptxas is None:
        return
    try:
        cubin_of(ptxas, module)
    except SourceRejectedError as rejected:
        yield Finding(pipeline, None, "rejected", rejected.log.strip().splitlines()[0])
