"""Kernels as one writes them first: a thread an element, nothing cached by hand (``naive.cu``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from ctypes import c_float, c_int, c_void_p

from torch import Tensor

from benchmarks.gpu import native
from benchmarks.gpu.cases import DIFFUSION
from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.problems import Problem, halves


def attempts(problem: Problem) -> Iterator[Attempt]:
    native.load("naive")
    yield Attempt("", lambda: Ready(_run(problem), problem.result))


def _run(problem: Problem) -> Callable[[], None]:
    kind, arrays, shape = problem.case.kind, problem.arrays, problem.case.shape
    sweeps = range(problem.case.sweeps)
    match kind:
        case "jacobi1d":
            return _alternating(kind, shape, halves(arrays["a"]), sweeps)
        case "jacobi2d":
            return _alternating(kind, shape[:1], (arrays["a"], arrays["b"]), sweeps)
        case "heat3d":
            return _alternating(kind, (shape[0], DIFFUSION), (arrays["a"], arrays["b"]), sweeps)
        case _:
            return lambda: call("naive", f"naive_{kind}", *shape, *arrays.values())


def _alternating(
    kind: str, scalars: Sequence[int | float], grids: tuple[Tensor, Tensor], sweeps: range
) -> Callable[[], None]:
    """From the first grid to the second and back."""

    def run() -> None:
        for sweep in sweeps:
            call("naive", f"naive_{kind}", *scalars, grids[sweep % 2], grids[1 - sweep % 2])

    return run


def call(library: str, function: str, *arguments: int | float | Tensor) -> None:
    """Launches; PeerError where the launch fails."""
    status = native.load(library)[function](*(_passed(argument) for argument in arguments))
    if status != 0:
        raise PeerError(f"{function} gives CUDA error {status}")


def _passed(argument: int | float | Tensor) -> c_void_p | c_float | c_int:
    if isinstance(argument, Tensor):
        return c_void_p(argument.data_ptr())
    return c_float(argument) if isinstance(argument, float) else c_int(argument)
