"""torch without compilation, in single precision: the calls that a user of torch writes, the fastest of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.problems import Problem, five_points, grids, inner, seven_points

Sweep = Callable[[Tensor, Tensor], object]
"""Writes the inner points, given as the second argument, from the grid given as the first one."""

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


def attempts(problem: Problem) -> Iterator[Attempt]:
    a = problem.arrays
    match problem.case.kind:
        case "matmul":
            yield in_place("mm", problem, lambda: torch.mm(a["a"], a["b"], out=a["c"]))
        case "transpose":
            yield in_place("copy_ of t()", problem, lambda: a["c"].copy_(a["a"].t()))
        case "matadd":
            yield in_place("add", problem, lambda: torch.add(a["a"], a["b"], out=a["c"]))
        case "matvec":
            yield in_place("mv", problem, lambda: torch.mv(a["a"], a["x"], out=a["y"]))
        case "blur5x5":
            yield returning("avg_pool2d", lambda: functional.avg_pool2d(a["in"][None], 5, 1)[0])
            kernel = torch.full((1, 1, 5, 5), 1 / 25, device=a["in"].device)
            yield returning("conv2d", lambda: functional.conv2d(a["in"][None, None], kernel)[0, 0])
        case kind:
            yield Attempt("slices", lambda: swept(problem, SWEEPS[kind]))


def in_place(label: str, problem: Problem, run: Callable[[], object]) -> Attempt:
    return Attempt(label, lambda: Ready(run, problem.result))


def returning(label: str, compute: Callable[[], Tensor]) -> Attempt:
    """Return the attempt that calls a function and keeps its result; runs for the time alone drop it."""
    kept: list[Tensor] = []

    def run() -> None:
        kept[:] = (compute(),)

    return Attempt(label, lambda: Ready(run, lambda: kept[0]))


def swept(problem: Problem, sweep: Sweep) -> Ready:
    """Sweeps to and fro between two grids of their own."""
    if problem.case.kind == "jacobi1d":
        first, second = (half.clone() for half in grids(problem))
    else:
        first, second = grids(problem)
    between = (first, second)
    targets = (inner(second), inner(first))
    sweeps = problem.case.sweeps

    def run() -> None:
        for number in range(sweeps):
            sweep(between[number % 2], targets[number % 2])

    return Ready(run, lambda: between[sweeps % 2])


def line_sweep(a: Tensor, target: Tensor) -> None:
    target.copy_(torch.div(a[:-2] + a[1:-1] + a[2:], 3, rounding_mode="trunc"))


def plane_sweep(a: Tensor, target: Tensor) -> None:
    target.copy_(five_points(a))


def space_sweep(a: Tensor, target: Tensor) -> None:
    target.copy_(seven_points(a))


SWEEPS: dict[str, Sweep] = {"jacobi1d": line_sweep, "jacobi2d": plane_sweep, "heat3d": space_sweep}
