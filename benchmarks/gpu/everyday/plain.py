"""Kernels as one writes them first (``by_hand``), loaded by the driver: a thread for each point, blocks of 256."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_float, c_int, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import Tensor

from benchmarks.gpu import native
from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.driver import Device, Dimensions
from benchmarks.gpu.everyday.computation import Computation, Size
from benchmarks.gpu.everyday.computations import COMPUTATIONS
from benchmarks.gpu.everyday.posed import values
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.problems import Problem

SOURCES = Path(__file__).resolve().parent / "by_hand"
BLOCK: Mapping[int, tuple[int, int, int]] = {1: (256, 1, 1), 2: (32, 8, 1), 3: (32, 8, 1)}
"""The blocks by the number of coordinates of a point, the last one first."""


def build(arch: str) -> None:
    """All sources to ``build/gpu-bench``; RuntimeError with the words of the compiler where it refuses one."""
    native.LIBRARIES.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor() as pool:
        for _ in pool.map(lambda source: _compile(source, arch), sorted(SOURCES.glob("*.cu"))):
            pass


def _compile(source: Path, arch: str) -> None:
    command = ["nvcc", f"-arch={arch}", "-O3", "-cubin", str(source), "-o", str(_cubin(source))]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise RuntimeError(answer.stderr)


def _cubin(source: Path) -> Path:
    return native.LIBRARIES / f"everyday_{source.stem}.cubin"


def attempts(computation: Computation, size: Size, problem: Problem) -> Iterator[Attempt]:
    v = values(computation, size, problem.arrays)
    run = SEVERAL.get(computation.name, lambda v: launch(computation, size, v))
    yield Attempt("", lambda: Ready(lambda: run(v), problem.result))


def launch(computation: Computation, size: Size, v: SimpleNamespace) -> None:
    """The kernel of the computation on the arrays of ``v``, on the stream at hand."""
    device, functions = _kernels()
    if computation.name not in functions:
        raise PeerError(f"no kernel by hand for {computation.name}")
    numbers = [c_int(value) for value in size.values()]
    scalars = [c_float(value) for value in (computation.scalars or {}).values()]
    arrays = [c_uint64(getattr(v, name).data_ptr()) for name in computation.arrays(**size)]
    grid, block = _shape(computation.threads_at(size))
    stream = c_void_p(torch.cuda.current_stream().cuda_stream)
    device.launch(functions[computation.name], grid, block, 0, [*numbers, *scalars, *arrays], stream)


def _shape(threads: tuple[int, ...]) -> tuple[Dimensions, Dimensions]:
    block = BLOCK[len(threads)]
    extents = (*reversed(threads), 1, 1)[:3]
    return tuple(-(-extent // side) for extent, side in zip(extents, block, strict=True)), block


@cache
def _kernels() -> tuple[Device, Mapping[str, c_void_p]]:
    """The device that torch uses, and every kernel by name."""
    torch.cuda.init()
    device = Device()
    found: dict[str, c_void_p] = {}
    for source in sorted(SOURCES.glob("*.cu")):
        module = device.load_image(_cubin(source).read_bytes())
        found |= {name: device.function(module, name) for name in names(source)}
    return device, found


def names(source: Path) -> list[str]:
    """The kernels of a source."""
    lines = source.read_text(encoding="utf-8").splitlines()
    return [line.split("(")[0].removeprefix("KERNEL ") for line in lines if line.startswith("KERNEL ")]


def _launched(name: str, size: Size, arrays: Mapping[str, Tensor]) -> None:
    computation = COMPUTATIONS[name]
    launch(computation, size, values(computation, size, arrays))


def _atax(v: SimpleNamespace) -> None:
    size = {"m": v.m, "n": v.n}
    _launched("mv", size, {"a": v.a, "x": v.x, "y": v.t})
    _launched("mtv", size, {"a": v.a, "x": v.t, "y": v.y})


def _jacobi(v: SimpleNamespace) -> None:
    for _ in range(v.t):
        _launched("jacobi", {"t": v.t, "n": v.n}, {"a": v.a, "b": v.b})
        _launched("jacobi", {"t": v.t, "n": v.n}, {"a": v.b, "b": v.a})


def _dot(v: SimpleNamespace) -> None:
    v.s.zero_()
    _launched("dot", {"n": v.n}, {"x": v.x, "y": v.y, "s": v.s})


SEVERAL: Mapping[str, Callable[[SimpleNamespace], None]] = {"atax": _atax, "dot": _dot, "jacobi": _jacobi}
"""The kernels of more than one launch on the arrays as they are."""
