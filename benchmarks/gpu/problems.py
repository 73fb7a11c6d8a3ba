"""The arrays of a case on the device, how they begin, and what must stand in them in the end.

Inputs are random, outputs begin poisoned, and every element of a result is compared with a reference in double
precision (integers: with exact ones).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.gpu.cases import DIFFUSION, Case

Arrays = Mapping[str, Tensor]

PRODUCT_TOLERANCE = 1e-4
"""A part of the largest element. Single precision stays far below; TF32 misses by 3e-4 and more."""
STENCIL_TOLERANCE = 1e-5
POISON = 1 << 30


@dataclass(frozen=True)
class Kind:
    """A kind of problem.

    ``make`` gives the arrays, ``reset`` writes what a run has to find, ``result`` is the part that counts.
    """

    make: Callable[[Case, str], Arrays]
    reset: Callable[[Arrays], None]
    result: Callable[[Arrays, int], Tensor]
    reference: Callable[[Arrays, int], Tensor]
    tolerance: float


@dataclass(frozen=True)
class Problem:
    case: Case
    kind: Kind
    arrays: Arrays
    expected: Tensor

    def reset(self) -> None:
        self.kind.reset(self.arrays)

    def result(self) -> Tensor:
        """Return the result that a run has left in the arrays of the problem."""
        return self.kind.result(self.arrays, self.case.sweeps)

    def error(self, result: Tensor) -> float:
        """The largest deviation as a share of the largest element; infinite where integers or shapes differ."""
        if result.shape != self.expected.shape:
            return float("inf")
        if self.kind.tolerance == 0:
            return 0.0 if torch.equal(result, self.expected) else float("inf")
        return float((result.double() - self.expected).abs_().max() / self.expected.abs().max())


def problem(case: Case, device: str = "cuda") -> Problem:
    torch.manual_seed(1)
    kind = KINDS[case.kind]
    arrays = kind.make(case, device)
    kind.reset(arrays)
    return Problem(case, kind, arrays, kind.reference(arrays, case.sweeps))


def _random(shape: tuple[int, ...], device: str) -> Tensor:
    return torch.rand(shape, device=device) * 2 - 1


def _integers(shape: tuple[int, ...], device: str) -> Tensor:
    return torch.randint(-10000, 10000, shape, dtype=torch.int32, device=device)


def _empty(shape: tuple[int, ...], device: str, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.empty(shape, dtype=dtype, device=device)


def _poison(name: str) -> Callable[[Arrays], None]:
    def reset(arrays: Arrays) -> None:
        array = arrays[name]
        array.fill_(float("nan") if array.dtype.is_floating_point else POISON)

    return reset


def _whole(name: str) -> Callable[[Arrays, int], Tensor]:
    return lambda arrays, sweeps: arrays[name]


# --- products and what moves data


def _make_product(case: Case, device: str) -> Arrays:
    m, n, k = case.shape
    return {"a": _random((m, k), device), "b": _random((k, n), device), "c": _empty((m, n), device)}


def _zero(arrays: Arrays) -> None:
    """The specs add to c."""
    arrays["c"].zero_()


def _product(arrays: Arrays, sweeps: int) -> Tensor:
    return arrays["a"].double() @ arrays["b"].double()


def _make_transposition(case: Case, device: str) -> Arrays:
    rows, columns = case.shape
    return {"a": _random((rows, columns), device), "c": _empty((columns, rows), device)}


def _make_addition(case: Case, device: str) -> Arrays:
    shape = case.shape
    return {
        "a": _integers(shape, device),
        "b": _integers(shape, device),
        "c": _empty(shape, device, torch.int32),
    }


def _make_matvec(case: Case, device: str) -> Arrays:
    rows, columns = case.shape
    a = _random((rows, columns), device)
    return {"a": a, "x": _random((columns,), device), "y": _empty((rows,), device)}


def _make_copy(case: Case, device: str) -> Arrays:
    return {"a": _random(case.shape, device), "c": _empty(case.shape, device)}


def _make_multiply_adds(case: Case, device: str) -> Arrays:
    blocks, threads, _, _ = case.shape
    return {"c": _empty((blocks * threads,), device)}


# --- stencils


def _make_line(case: Case, device: str) -> Arrays:
    (length,) = case.shape
    return {"start": _integers((length,), device), "a": _empty((2 * length,), device, torch.int32)}


def _reset_line(arrays: Arrays) -> None:
    """Set the lower half to the start and the upper one to poison within the same ends.

    Sweeps read the ends and leave them alone.
    """
    start, lower, upper = arrays["start"], *halves(arrays["a"])
    lower.copy_(start)
    upper.copy_(start)
    upper[1:-1] = POISON


def halves(line: Tensor) -> tuple[Tensor, Tensor]:
    middle = line.numel() // 2
    return line[:middle], line[middle:]


def grids(problem: Problem) -> tuple[Tensor, Tensor]:
    """Return the grids between which sweeps go to and fro; the first one holds what the first sweep reads."""
    if problem.case.kind == "jacobi1d":
        return halves(problem.arrays["a"])
    return problem.arrays["a"], problem.arrays["b"]


def alternating(problem: Problem, sweep: Callable[[Tensor, Tensor], object]) -> Callable[[], None]:
    """All sweeps, from the first grid to the second and back."""
    between = grids(problem)

    def run() -> None:
        for number in range(problem.case.sweeps):
            sweep(between[number % 2], between[1 - number % 2])

    return run


def _half(arrays: Arrays, sweeps: int) -> Tensor:
    return halves(arrays["a"])[sweeps % 2]


def _line_swept(arrays: Arrays, sweeps: int) -> Tensor:
    source, target = arrays["start"].clone(), arrays["start"].clone()
    for _ in range(sweeps):
        sum_ = source[:-2] + source[1:-1] + source[2:]
        target[1:-1] = torch.div(sum_, 3, rounding_mode="trunc")
        source, target = target, source
    return source


def _make_pair(case: Case, device: str) -> Arrays:
    start = _random(case.shape, device)
    return {"start": start, "a": _empty(case.shape, device), "b": _empty(case.shape, device)}


def inner(grid: Tensor, border: int = 1) -> Tensor:
    """The points that are not kept."""
    return grid[(slice(border, -border),) * grid.dim()]


def _reset_pair(arrays: Arrays) -> None:
    """Set both grids to the start, with the inner points of ``b`` not a number; their borders are the same."""
    for name in ("a", "b"):
        arrays[name].copy_(arrays["start"])
    inner(arrays["b"]).fill_(float("nan"))


def _pair_swept(update: Callable[[Tensor], Tensor]) -> Callable[[Arrays, int], Tensor]:
    def reference(arrays: Arrays, sweeps: int) -> Tensor:
        source = arrays["start"].double()
        target = source.clone()
        for _ in range(sweeps):
            inner(target).copy_(update(source))
            source, target = target, source
        return source

    return reference


def five_points(a: Tensor) -> Tensor:
    """One sweep of jacobi2d: the new inner points."""
    return 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def seven_points(a: Tensor) -> Tensor:
    """One sweep of heat3d: the new inner points."""
    c = a[1:-1, 1:-1, 1:-1]
    around = a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
    return c + DIFFUSION * (around + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] - 6 * c)


def _make_image(case: Case, device: str) -> Arrays:
    return {"in": _random(case.shape, device), "out": _empty(case.shape, device)}


def _blurred(arrays: Arrays, sweeps: int) -> Tensor:
    image = arrays["in"]
    rows, columns = (extent - 4 for extent in image.shape)
    total = torch.zeros((rows, columns), dtype=torch.float64, device=image.device)
    for y in range(5):
        for x in range(5):
            total += image[y : y + rows, x : x + columns]
    return total / 25


KINDS: Mapping[str, Kind] = {
    "matmul": Kind(_make_product, _zero, _whole("c"), _product, PRODUCT_TOLERANCE),
    "transpose": Kind(
        _make_transposition,
        _poison("c"),
        _whole("c"),
        lambda arrays, sweeps: arrays["a"].t(),
        0,
    ),
    "reverse": Kind(
        lambda case, device: {"in": _random(case.shape, device), "out": _empty(case.shape, device)},
        _poison("out"),
        _whole("out"),
        lambda arrays, sweeps: arrays["in"].flip(0),
        0,
    ),
    "matadd": Kind(
        _make_addition,
        _poison("c"),
        _whole("c"),
        lambda arrays, sweeps: arrays["a"] + arrays["b"],
        0,
    ),
    "matvec": Kind(
        _make_matvec,
        _poison("y"),
        _whole("y"),
        lambda arrays, sweeps: arrays["a"].double() @ arrays["x"].double(),
        PRODUCT_TOLERANCE,
    ),
    "jacobi1d": Kind(_make_line, _reset_line, _half, _line_swept, 0),
    "jacobi2d": Kind(_make_pair, _reset_pair, _whole("a"), _pair_swept(five_points), STENCIL_TOLERANCE),
    "heat3d": Kind(_make_pair, _reset_pair, _whole("a"), _pair_swept(seven_points), STENCIL_TOLERANCE),
    "blur5x5": Kind(
        _make_image,
        _poison("out"),
        lambda arrays, sweeps: inner(arrays["out"], 2),
        _blurred,
        STENCIL_TOLERANCE,
    ),
    "copy": Kind(_make_copy, _poison("c"), _whole("c"), lambda arrays, sweeps: arrays["a"], 0),
    "copy_inner": Kind(
        _make_copy,
        _poison("c"),
        lambda arrays, sweeps: inner(arrays["c"]),
        lambda arrays, sweeps: inner(arrays["a"]),
        0,
    ),
    # x becomes x / 2 + 1 / 2 again and again, from 1.
    "fma": Kind(
        _make_multiply_adds, _poison("c"), _whole("c"), lambda arrays, sweeps: torch.ones_like(arrays["c"]), 0
    ),
}
"""The kinds by `Case.kind`; pairs of grids have an even number of sweeps, so that the result is in the
first."""
