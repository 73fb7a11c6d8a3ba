"""cuBLAS in single precision without tensor cores (pedantic math), through ctypes: no header is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from ctypes import byref, c_float, c_void_p
from functools import cache

import torch

from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.problems import Problem

AS_IT_IS, TRANSPOSED = 0, 1
PEDANTIC_MATH = 2
ONE, ZERO = byref(c_float(1)), byref(c_float(0))


def attempts(problem: Problem) -> Iterator[Attempt]:
    runs = {"matmul": _product, "matvec": _matvec, "transpose": _transposition}
    if problem.case.kind not in runs:
        raise PeerError("cuBLAS has no such operation")
    handle = _handle()
    name, run = runs[problem.case.kind](handle, problem)
    yield Attempt(name, lambda: Ready(run, problem.result))


@cache
def _library() -> ctypes.CDLL:
    """The one that torch is linked with, which is loaded already."""
    if torch.version.cuda is None:
        raise PeerError("torch was built without CUDA")
    return ctypes.CDLL(f"libcublas.so.{torch.version.cuda.split('.')[0]}")


@cache
def _handle() -> c_void_p:
    handle = c_void_p()
    _call("cublasCreate_v2", byref(handle))
    _call("cublasSetMathMode", handle, PEDANTIC_MATH)
    return handle


def _call(function: str, *arguments: object) -> None:
    status = _library()[function](*arguments)
    if status != 0:
        raise PeerError(f"{function} gives status {status}")


def _pointers(problem: Problem) -> list[c_void_p]:
    return [c_void_p(array.data_ptr()) for array in problem.arrays.values()]


# cuBLAS stores by columns: what it sees of a matrix is the transposed one.


def _product(handle: c_void_p, problem: Problem) -> tuple[str, Callable[[], None]]:
    m, n, k = problem.case.shape
    a, b, c = _pointers(problem)
    order = (AS_IT_IS, AS_IT_IS, n, m, k)
    return "sgemm", lambda: _call("cublasSgemm_v2", handle, *order, ONE, b, n, a, k, ZERO, c, n)


def _matvec(handle: c_void_p, problem: Problem) -> tuple[str, Callable[[], None]]:
    rows, columns = problem.case.shape
    a, x, y = _pointers(problem)
    order = (TRANSPOSED, columns, rows)
    return "sgemv", lambda: _call("cublasSgemv_v2", handle, *order, ONE, a, columns, x, 1, ZERO, y, 1)


def _transposition(handle: c_void_p, problem: Problem) -> tuple[str, Callable[[], None]]:
    rows, columns = problem.case.shape
    a, c = _pointers(problem)
    order = (TRANSPOSED, AS_IT_IS, rows, columns)
    return "sgeam", lambda: _call("cublasSgeam", handle, *order, ONE, a, columns, ZERO, c, rows, c, rows)
