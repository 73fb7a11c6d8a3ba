"""The product in the shape of the paper's figure 4 (``figure4.cu``), at the points that the generated one is tried."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu import native
from benchmarks.gpu.by_hand import call
from benchmarks.gpu.cases import Point, dividing
from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.problems import Problem


def attempts(problem: Problem) -> Iterator[Attempt]:
    if problem.case.kind != "matmul":
        raise PeerError("figure 4 is a matrix product")
    native.load("figure4")
    for point in dividing(problem.case.shape[0]):
        label = " ".join(f"{name}={value}" for name, value in point.items())
        yield Attempt(label, lambda point=point: _ready(problem, point))


def _ready(problem: Problem, point: Point) -> Ready:
    arguments = (*problem.case.shape, *problem.arrays.values(), *point.values())
    return Ready(lambda: call("figure4", "figure4_matmul", *arguments), problem.result)
