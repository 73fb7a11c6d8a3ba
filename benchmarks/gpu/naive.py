"""Kernels as one writes them first: a thread an element, nothing cached by hand (``naive.cu``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch import Tensor

from benchmarks.gpu import native
from benchmarks.gpu.by_hand import call
from benchmarks.gpu.cases import DIFFUSION
from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.problems import Problem, alternating


def attempts(problem: Problem) -> Iterator[Attempt]:
    native.load("naive")
    yield Attempt("", lambda: Ready(_run(problem), problem.result))


def _run(problem: Problem) -> Callable[[], None]:
    kind, shape = problem.case.kind, problem.case.shape
    match kind:
        case "jacobi1d" | "jacobi2d":
            return alternating(problem, lambda a, b: _call(kind, shape[0], a, b))
        case "heat3d":
            return alternating(problem, lambda a, b: _call(kind, shape[0], DIFFUSION, a, b))
        case _:
            return lambda: _call(kind, *shape, *problem.arrays.values())


def _call(kind: str, *arguments: int | float | Tensor) -> None:
    call("naive", f"naive_{kind}", *arguments)
