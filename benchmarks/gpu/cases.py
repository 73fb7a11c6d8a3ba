"""The cases that are timed: shapes, the least work of each, and the points at which the generated kernels are tried.

New parameters of a spec are tried by adding points here: a point gives members of ``<spec>_params`` by name.  Best
guesses come first, since a sweep ends when its time is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Point = Mapping[str, int]
MOST_TILES = 4
"""Register tiles of a kernel that are tried one by one, as far as there are so many."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A call of the generated launcher of ``spec``: its scalars by name, and the points to try.

    Arrays are those of the problem, by the names that the spec gives them.
    """

    spec: str
    scalars: Mapping[str, int | float]
    blocks: tuple[Point, ...]

    @property
    def points(self) -> tuple[Point, ...]:
        """The launcher's choice of a register tile, each of the first few, then kernels with run-time blocks."""
        tiles = tuple({**self.blocks[0], "tile": tile} for tile in (-1, *range(1, MOST_TILES + 1)))
        return (*tiles, *({**block, "tile": 0} for block in self.blocks))


@dataclass(frozen=True, slots=True)
class Case:
    """One problem of one size.

    ``shape`` is what the problem of this ``kind`` is made from; ``operations`` and ``traffic`` (bytes, every array
    once a sweep) are the least that an answer takes; ``ours`` says how a spec computes it, or why none does.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    operations: float
    traffic: float
    ours: Launch | str
    sweeps: int = 1

    @property
    def measured_in(self) -> str:
        return "TFLOP/s" if self.kind in ("matmul", "fma") else "GB/s"

    def rate(self, milliseconds: float) -> float:
        """Return the rate in TFLOP/s for products, else in GB/s."""
        if self.measured_in == "TFLOP/s":
            return self.operations / milliseconds / 1e9
        return self.traffic / milliseconds / 1e6


def points(names: str, *values: tuple[int, ...]) -> tuple[Point, ...]:
    """Return points from names of parameters and values: ``points("B0 B1", (4, 64))`` is one point."""
    return tuple(dict(zip(names.split(), each, strict=True)) for each in values)


# --- matrix product: the grids of specs/matmul.mf have floors, so that B0 and ub1*s must divide n

_MATMUL = "B0 ub1 s"
_POWERS_OF_TWO = points(
    _MATMUL,
    (16, 32, 2),
    (32, 32, 1),
    (16, 64, 1),
    (32, 32, 2),
    (8, 64, 2),
    (8, 128, 1),
    (16, 64, 2),
    (32, 32, 4),
    (16, 32, 4),
    (8, 32, 4),
)
_OF_1000 = points(
    _MATMUL, (20, 50, 1), (20, 50, 2), (25, 40, 1), (25, 40, 5), (8, 125, 1), (8, 125, 2), (10, 100, 2)
)
_OF_4095 = points(
    _MATMUL, (15, 65, 1), (15, 65, 3), (13, 63, 1), (13, 63, 5), (21, 45, 1), (9, 105, 1), (9, 105, 3)
)
_DIVIDING = {1000: _OF_1000, 4095: _OF_4095}


def dividing(n: int) -> tuple[Point, ...]:
    """Points of the product whose tiles divide n."""
    return _DIVIDING.get(n, _POWERS_OF_TWO)


def product_of(name: str, m: int, n: int, k: int, ours: Launch | str) -> Case:
    return Case(f"matmul {name}", "matmul", (m, n, k), 2.0 * m * n * k, 4.0 * (m * k + k * n + m * n), ours)


def square(n: int) -> Case:
    return product_of(str(n), n, n, n, Launch("matmul", {"n": n}, dividing(n)))


def rectangle(shape: str, m: int, n: int, k: int) -> Case:
    ours = Launch("gemm", {"m": m, "n": n, "k": k}, points("B0 B1", (8, 32), (16, 16), (32, 32), (4, 64)))
    return product_of(f"{shape} {m}x{n}x{k}", m, n, k, ours)


PRODUCTS = (
    *(square(n) for n in (1024, 2048, 4096, 8192, 1000, 4095)),
    rectangle("tall", 16384, 512, 1024),
    rectangle("flat", 512, 16384, 1024),
    rectangle("deep", 512, 512, 16384),
)


# --- what moves data

N = 16384
GRID = 8192
CUBE = 512
LINE = (1 << 28) + 2
"""The length with its two ends: 2^28 points are computed, so that blocks of powers of two divide them."""
_TURNED = points(
    "B0 B1 s",
    (32, 8, 4),
    (32, 32, 1),
    (32, 16, 2),
    (16, 16, 1),
    (16, 16, 4),
    (16, 32, 1),
    (16, 32, 2),
    (64, 16, 1),
    (64, 8, 4),
    (32, 8, 8),
    (8, 32, 4),
)
_ROWS = points("B0 B1", (1, 256), (1, 512), (1, 1024), (2, 128), (2, 256), (4, 64), (4, 128), (8, 32))


def transposition(n: int) -> Case:
    ours = Launch("transpose", {"N": n}, _TURNED)
    return Case(f"transpose {n}", "transpose", (n, n), 0, 2 * 4.0 * n * n, ours)


def addition(n: int) -> Case:
    ours = Launch("matadd", {"N": n}, _ROWS)
    return Case(f"matadd {n} int", "matadd", (n, n), 1.0 * n * n, 3 * 4.0 * n * n, ours)


def matvec(m: int, n: int) -> Case:
    ours = Launch("matvec", {"m": m, "n": n}, points("B", (128,), (64,), (32,), (256,), (512,), (1024,)))
    name = f"matvec {m}" if m == n else f"matvec {m}x{n}"
    return Case(name, "matvec", (m, n), 2.0 * m * n, 4.0 * (m * n + m + n), ours)


# --- stencils: what runs more than one sweep may keep data on chip between them

_LINES = points(
    "s B", (1, 256), (1, 512), (1, 1024), (2, 256), (2, 512), (4, 128), (4, 256), (8, 128), (8, 256)
)
_PLANES = points(
    "B0 B1",
    (4, 64),
    (8, 32),
    (2, 128),
    (1, 256),
    (16, 32),
    (8, 64),
    (4, 128),
    (2, 256),
    (8, 128),
    (32, 32),
)
_SPACES = points(
    "B0 B1 B2",
    (1, 4, 64),
    (1, 8, 32),
    (2, 4, 32),
    (4, 4, 32),
    (1, 2, 128),
    (2, 2, 64),
    (1, 4, 128),
    (4, 8, 32),
    (1, 1, 256),
    (1, 1, 512),
)
DIFFUSION = 0.1


def jacobi1d(length: int, sweeps: int) -> Case:
    """Return a case of 1-D Jacobi; ``length`` counts its two ends."""
    work = 3.0 * (length - 2) * sweeps
    ours = Launch("jacobi1d", {"T": sweeps, "N": length}, _LINES)
    points_ = "2^28" if length == LINE else str(length - 2)
    name = f"jacobi1d {points_} int, {_sweeps(sweeps)}"
    return Case(name, "jacobi1d", (length,), work, 2 * 4.0 * length * sweeps, ours, sweeps)


def jacobi2d(n: int, sweeps: int) -> Case:
    """A call of the spec is a number of pairs of sweeps, each sweep a launch: 2 is the least there is."""
    work = 5.0 * (n - 2) ** 2 * sweeps
    ours = Launch("jacobi2d", {"T": sweeps // 2, "n": n}, _PLANES)
    name = f"jacobi2d {n}, {_sweeps(sweeps)}"
    return Case(name, "jacobi2d", (n, n), work, 2 * 4.0 * n**2 * sweeps, ours, sweeps)


def blur(n: int) -> Case:
    ours = Launch("blur5x5", {"h": n, "w": n}, _PLANES)
    return Case(f"blur5x5 {n}", "blur5x5", (n, n), 26.0 * (n - 4) ** 2, 2 * 4.0 * n * n, ours)


def heat(n: int, sweeps: int) -> Case:
    """Pairs of sweeps, as :func:`jacobi2d` has them."""
    ours = Launch("heat3d", {"T": sweeps // 2, "n": n, "r": DIFFUSION}, _SPACES)
    work = 9.0 * (n - 2) ** 3 * sweeps
    return Case(
        f"heat3d {n}, {_sweeps(sweeps)}", "heat3d", (n, n, n), work, 2 * 4.0 * n**3 * sweeps, ours, sweeps
    )


def _sweeps(count: int) -> str:
    return "1 sweep" if count == 1 else f"{count} sweeps"


def reversal(n: int) -> Case:
    ours = Launch("reverse", {"n": n}, points("B s", (256, 1), (256, 4), (128, 8), (64, 4)))
    return Case(f"reverse {n}", "reverse", (n,), 0, 2 * 4.0 * n, ours)


CASES = (
    *PRODUCTS,
    transposition(N),
    addition(N),
    matvec(N, N),
    jacobi1d(LINE, 1),
    jacobi1d(LINE, 20),
    jacobi2d(GRID, 2),
    jacobi2d(GRID, 20),
    blur(N),
    heat(CUBE, 2),
)


# --- ceilings: what this device does at most, measured in the same run

COPIED = 1 << 29
"""Floats: 2 GiB read and 2 GiB written."""
MULTIPLY_ADDS = (132 * 64, 256, 1 << 12, 8)
"""Blocks, threads, repetitions, and chains of multiply-adds a thread."""

_NOT_OURS = "a ceiling"
COPY = Case("copy by float4 kernel", "copy", (COPIED,), 0, 2 * 4.0 * COPIED, _NOT_OURS)
COPY_BY_DRIVER = Case("copy by cudaMemcpy", "copy", (COPIED,), 0, 2 * 4.0 * COPIED, _NOT_OURS)
COPY_INNER = Case(
    f"copy of the inner points of {CUBE}^3",
    "copy_inner",
    (CUBE, CUBE, CUBE),
    0,
    2 * 4.0 * CUBE**3,
    _NOT_OURS,
)
"""The ceiling of a 3-D stencil with a border that is kept; its bytes are those of the whole cube."""
FMA = Case(
    "fp32 multiply-adds in registers",
    "fma",
    MULTIPLY_ADDS,
    2.0 * MULTIPLY_ADDS[0] * MULTIPLY_ADDS[1] * MULTIPLY_ADDS[2] * MULTIPLY_ADDS[3],
    0,
    _NOT_OURS,
)
CEILINGS = (COPY, COPY_BY_DRIVER, COPY_INNER, FMA)

BY_NAME = {case.name: case for case in (*CASES, *CEILINGS)}
