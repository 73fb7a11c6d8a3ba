"""The ceilings of the device: bytes copied, and multiply-adds in registers (``ceilings.cu``)."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu import native
from benchmarks.gpu.by_hand import call
from benchmarks.gpu.cases import COPY, COPY_BY_DRIVER, COPY_INNER
from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.problems import Problem


def attempts(problem: Problem) -> Iterator[Attempt]:
    native.load("ceilings")
    arguments = (*problem.case.shape, *problem.arrays.values())
    if problem.case == COPY:
        for threads, unrolled in ((256, 1), (512, 1), (1024, 1), (256, 4), (512, 4)):
            label = f"{threads} threads, {unrolled} float4 each"
            yield _attempt(problem, label, "ceilings_copy", *arguments, threads, unrolled)
    elif problem.case == COPY_INNER:
        for rows in (4, 8, 16):
            yield _attempt(problem, f"{rows} rows a block", "ceilings_copy_inner", *arguments, rows)
    elif problem.case == COPY_BY_DRIVER:
        yield _attempt(problem, "", "ceilings_memcpy", *arguments)
    else:
        yield _attempt(problem, "", "ceilings_fma", *arguments)


def _attempt(problem: Problem, label: str, function: str, *arguments: object) -> Attempt:
    return Attempt(label, lambda: Ready(lambda: call("ceilings", function, *arguments), problem.result))
