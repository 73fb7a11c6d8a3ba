"""torch.compile of what ``torch_eager`` calls, where fusing helps; sweeps are compiled one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from benchmarks.gpu.contest import Attempt
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.problems import Problem
from benchmarks.gpu.torch_eager import SWEEPS, in_place, returning, swept

PRODUCT = "matmul 4096"


def attempts(problem: Problem) -> Iterator[Attempt]:
    a = problem.arrays
    match problem.case.kind:
        case "matmul" if problem.case.name != PRODUCT:
            raise PeerError(f"compiled products call the same library as eager ones: only {PRODUCT} is tried")
        case "matmul":
            product = _compiled(_product)
            yield returning("mm", lambda: product(a["a"], a["b"]))
        case "transpose":
            move = _compiled(_transpose)
            yield in_place("copy_ of t()", problem, lambda: move(a["a"], a["c"]))
        case "matadd":
            add = _compiled(_add)
            yield in_place("add", problem, lambda: add(a["a"], a["b"], a["c"]))
        case "matvec":
            vector = _compiled(_matvec)
            yield in_place("sum of products", problem, lambda: vector(a["a"], a["x"], a["y"]))
        case "blur5x5":
            blur = _compiled(_blur)
            target = problem.result()
            yield in_place("25 slices", problem, lambda: blur(a["in"], target))
        case kind:
            sweep = _compiled(SWEEPS[kind])
            yield Attempt("slices", lambda: swept(problem, sweep))


def _compiled(function: Callable[..., object]) -> Callable[..., Tensor]:
    return torch.compile(function, dynamic=False, fullgraph=True)


def _product(a: Tensor, b: Tensor) -> Tensor:
    return torch.mm(a, b)


def _transpose(a: Tensor, c: Tensor) -> None:
    c.copy_(a.t())


def _add(a: Tensor, b: Tensor, c: Tensor) -> None:
    c.copy_(a + b)


def _matvec(a: Tensor, x: Tensor, y: Tensor) -> None:
    y.copy_((a * x).sum(1))


def _blur(image: Tensor, target: Tensor) -> None:
    rows, columns = target.shape
    total = image[:rows, :columns]
    for place in range(1, 25):
        y, x = divmod(place, 5)
        total = total + image[y : y + rows, x : x + columns]
    target.copy_(total / 25)
