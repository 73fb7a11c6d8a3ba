"""Triton kernels, autotuned for every shape; products in full single precision (``ieee``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import triton
import triton.language as tl
from triton.testing import do_bench

from benchmarks.gpu.cases import DIFFUSION
from benchmarks.gpu.contest import Attempt, Ready
from benchmarks.gpu.problems import Problem, alternating

Tuned = triton.runtime.Autotuner
TUNING_MS = 20
"""The milliseconds for each configuration of a shape, beside as much to warm up."""


def attempts(problem: Problem) -> Iterator[Attempt]:
    kernel, run = LAUNCHES[problem.case.kind]
    launch = run(problem)
    yield Attempt("", lambda: Ready(launch, problem.result, lambda: _described(kernel.best_config)))


def _described(best: triton.Config) -> str:
    tiles = " ".join(f"{name}={value}" for name, value in best.kwargs.items())
    return f"{tiles} warps={best.num_warps} stages={best.num_stages}"


def _tuned(key: list[str], *configurations: triton.Config) -> Callable[[Callable[..., None]], Tuned]:
    return triton.autotune(
        configs=list(configurations),
        key=key,
        do_bench=lambda call, quantiles: do_bench(call, warmup=TUNING_MS, rep=TUNING_MS, quantiles=quantiles),
    )


def _shapes(names: str, *shapes: tuple[int, ...], warps: tuple[int, ...] = (4, 8)) -> list[triton.Config]:
    """Every shape of tiles with every number of warps."""
    return [
        triton.Config(dict(zip(names.split(), shape, strict=True)), num_warps=count)
        for shape, count in product(shapes, warps)
    ]


# --- products


@_tuned(
    ["m", "n", "k"],
    *(
        triton.Config({"TM": tm, "TN": tn, "TK": tk, "GROUP": 8}, num_warps=warps, num_stages=stages)
        for tm, tn, tk, warps, stages in (
            (32, 64, 32, 4, 3),
            (64, 64, 16, 4, 3),
            (64, 64, 32, 8, 3),
            (64, 128, 16, 8, 3),
            (128, 64, 16, 8, 3),
            (128, 128, 16, 4, 3),
            (128, 128, 16, 8, 3),
            (128, 128, 32, 8, 2),
        )
    ),
)
@triton.jit
def _matmul(
    a,
    b,
    c,
    m,
    n,
    k,
    TM: tl.constexpr,
    TN: tl.constexpr,
    TK: tl.constexpr,
    GROUP: tl.constexpr,
):
    # Programs in groups of GROUP rows of tiles, so that tiles of b are found in the cache.
    rows_of_tiles = tl.cdiv(m, TM)
    columns_of_tiles = tl.cdiv(n, TN)
    group = tl.program_id(0) // (GROUP * columns_of_tiles)
    height = min(rows_of_tiles - group * GROUP, GROUP)
    within = tl.program_id(0) % (GROUP * columns_of_tiles)
    i = (group * GROUP + within % height) * TM + tl.arange(0, TM)
    j = (within // height) * TN + tl.arange(0, TN)
    p = tl.arange(0, TK)
    from_a = a + (i % m)[:, None] * k + p[None, :]
    from_b = b + p[:, None] * n + (j % n)[None, :]
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, TK)):
        left = k - step * TK
        tile_a = tl.load(from_a, mask=p[None, :] < left, other=0.0)
        tile_b = tl.load(from_b, mask=p[:, None] < left, other=0.0)
        total = tl.dot(tile_a, tile_b, total, input_precision="ieee")
        from_a += TK
        from_b += TK * n
    tl.store(c + i[:, None] * n + j[None, :], total, mask=(i[:, None] < m) & (j[None, :] < n))


@_tuned(["rows", "columns"], *_shapes("TM TN", (1, 1024), (1, 4096), (4, 512), (8, 256), (16, 128)))
@triton.jit
def _matvec(a, x, y, rows, columns, TM: tl.constexpr, TN: tl.constexpr):
    i = tl.program_id(0) * TM + tl.arange(0, TM)
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for first in range(0, columns, TN):
        j = first + tl.arange(0, TN)
        inside = (i[:, None] < rows) & (j[None, :] < columns)
        tile = tl.load(a + i[:, None] * columns + j[None, :], mask=inside, other=0.0)
        total += tile * tl.load(x + j, mask=j < columns, other=0.0)[None, :]
    tl.store(y + i, tl.sum(total, 1), mask=i < rows)


# --- what moves data


@_tuned(["rows", "columns"], *_shapes("TM TN", (32, 32), (32, 64), (64, 32), (64, 64), (128, 32)))
@triton.jit
def _transpose(a, c, rows, columns, TM: tl.constexpr, TN: tl.constexpr):
    i = tl.program_id(1) * TM + tl.arange(0, TM)
    j = tl.program_id(0) * TN + tl.arange(0, TN)
    tile = tl.load(a + i[:, None] * columns + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < columns))
    inside = (j[:, None] < columns) & (i[None, :] < rows)
    tl.store(c + j[:, None] * rows + i[None, :], tl.trans(tile), mask=inside)


@_tuned(["count"], *_shapes("T", (512,), (1024,), (2048,), (4096,)))
@triton.jit
def _matadd(a, b, c, count, T: tl.constexpr):
    at = tl.program_id(0) * T + tl.arange(0, T)
    inside = at < count
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


# --- stencils: from one grid to another


@_tuned(["n"], *_shapes("T", (512,), (1024,), (2048,), (4096,)))
@triton.jit
def _jacobi1d(a, b, n, T: tl.constexpr):
    i = 1 + tl.program_id(0) * T + tl.arange(0, T)
    inside = i < n - 1
    left = tl.load(a + i - 1, mask=inside)
    right = tl.load(a + i + 1, mask=inside)
    tl.store(b + i, (left + tl.load(a + i, mask=inside) + right) // 3, mask=inside)


_PLANES = ((1, 512), (1, 1024), (4, 128), (4, 256), (8, 128), (16, 64), (32, 32))


@_tuned(["n"], *_shapes("TM TN", *_PLANES))
@triton.jit
def _jacobi2d(a, b, n, TM: tl.constexpr, TN: tl.constexpr):
    i = 1 + tl.program_id(1) * TM + tl.arange(0, TM)[:, None]
    j = 1 + tl.program_id(0) * TN + tl.arange(0, TN)[None, :]
    inside = (i < n - 1) & (j < n - 1)
    at = a + i * n + j
    total = tl.load(at, mask=inside) + tl.load(at - n, mask=inside) + tl.load(at + n, mask=inside)
    total += tl.load(at - 1, mask=inside) + tl.load(at + 1, mask=inside)
    tl.store(b + i * n + j, 0.2 * total, mask=inside)


@_tuned(["n"], *_shapes("TM TN", (1, 256), (1, 512), (4, 128), (4, 256), (8, 64), (8, 128), (16, 32)))
@triton.jit
def _heat3d(a, b, n, r, TM: tl.constexpr, TN: tl.constexpr):
    i = 1 + tl.program_id(2)
    j = 1 + tl.program_id(1) * TM + tl.arange(0, TM)[:, None]
    k = 1 + tl.program_id(0) * TN + tl.arange(0, TN)[None, :]
    inside = (j < n - 1) & (k < n - 1)
    layer = n * n
    at = a + i * layer + j * n + k
    centre = tl.load(at, mask=inside)
    around = tl.load(at - layer, mask=inside) + tl.load(at + layer, mask=inside)
    around += tl.load(at - n, mask=inside) + tl.load(at + n, mask=inside)
    around += tl.load(at - 1, mask=inside) + tl.load(at + 1, mask=inside)
    tl.store(b + i * layer + j * n + k, centre + r * (around - 6.0 * centre), mask=inside)


@_tuned(["rows", "columns"], *_shapes("TM TN", *_PLANES))
@triton.jit
def _blur5x5(image, out, rows, columns, TM: tl.constexpr, TN: tl.constexpr):
    i = tl.program_id(1) * TM + tl.arange(0, TM)[:, None]
    j = tl.program_id(0) * TN + tl.arange(0, TN)[None, :]
    inside = (i < rows - 4) & (j < columns - 4)
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for y in tl.static_range(5):
        for x in tl.static_range(5):
            total += tl.load(image + (i + y) * columns + j + x, mask=inside)
    tl.store(out + (i + 2) * columns + j + 2, total / 25.0, mask=inside)


# --- launches

Run = Callable[[], None]


def _run_matmul(problem: Problem) -> Run:
    m, n, k = problem.case.shape
    arrays = tuple(problem.arrays.values())
    return lambda: _matmul[lambda t: (triton.cdiv(m, t["TM"]) * triton.cdiv(n, t["TN"]),)](*arrays, m, n, k)


def _run_matvec(problem: Problem) -> Run:
    rows, columns = problem.case.shape
    arrays = tuple(problem.arrays.values())
    return lambda: _matvec[lambda t: (triton.cdiv(rows, t["TM"]),)](*arrays, rows, columns)


def _run_transpose(problem: Problem) -> Run:
    return _run_tiles(_transpose, problem, 0)


def _run_blur(problem: Problem) -> Run:
    return _run_tiles(_blur5x5, problem, 4)


def _run_tiles(kernel: Tuned, problem: Problem, border: int) -> Run:
    rows, columns = problem.case.shape
    arrays = tuple(problem.arrays.values())
    grid = _tiles(rows - border, columns - border)
    return lambda: kernel[grid](*arrays, rows, columns)


def _tiles(rows: int, columns: int, layers: int = 1) -> Callable[[dict[str, int]], tuple[int, int, int]]:
    return lambda tile: (triton.cdiv(columns, tile["TN"]), triton.cdiv(rows, tile["TM"]), layers)


def _run_matadd(problem: Problem) -> Run:
    arrays = tuple(problem.arrays.values())
    count = arrays[0].numel()
    return lambda: _matadd[_blocks(count)](*arrays, count)


def _blocks(count: int) -> Callable[[dict[str, int]], tuple[int]]:
    return lambda tile: (triton.cdiv(count, tile["T"]),)


def _run_jacobi1d(problem: Problem) -> Run:
    (n,) = problem.case.shape
    return alternating(problem, lambda a, b: _jacobi1d[_blocks(n - 2)](a, b, n))


def _run_jacobi2d(problem: Problem) -> Run:
    n = problem.case.shape[0]
    return alternating(problem, lambda a, b: _jacobi2d[_tiles(n - 2, n - 2)](a, b, n))


def _run_heat3d(problem: Problem) -> Run:
    n = problem.case.shape[0]
    launch = _tiles(n - 2, n - 2, n - 2)
    return alternating(problem, lambda a, b: _heat3d[launch](a, b, n, DIFFUSION))


LAUNCHES = {
    "matmul": (_matmul, _run_matmul),
    "matvec": (_matvec, _run_matvec),
    "transpose": (_transpose, _run_transpose),
    "matadd": (_matadd, _run_matadd),
    "jacobi1d": (_jacobi1d, _run_jacobi1d),
    "jacobi2d": (_jacobi2d, _run_jacobi2d),
    "heat3d": (_heat3d, _run_heat3d),
    "blur5x5": (_blur5x5, _run_blur),
}
