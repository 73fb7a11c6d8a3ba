"""A computation at a size on the device: its arrays, how they begin, and what must stand in the result."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

import torch
from torch import Tensor

from benchmarks.gpu.cases import Case, Launch
from benchmarks.gpu.everyday.computation import Array, Computation, Role, Size
from benchmarks.gpu.problems import POISON, Arrays, Kind, Problem

DTYPES: Mapping[str, torch.dtype] = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
    "int32": torch.int32,
    "uint8": torch.uint8,
    "int8": torch.int8,
}
POISON_BYTE = 165


def posed(
    computation: Computation, size: Size, case: str, ours: Launch | str, device: str = "cuda"
) -> Problem:
    """Return the problem of a computation at a size, with the result of the reference.

    ``ours`` says how a kernel computes it, or why none does.
    """
    torch.manual_seed(1)
    arrays = computation.arrays(**size)
    starts = {name: _begun(each, device) for name, each in arrays.items() if each.role != Role.WRITTEN}
    live = {
        name: starts[name] if each.role == Role.READ else _empty(each, device)
        for name, each in arrays.items()
    }
    kind = Kind(
        make=lambda case, device: live,
        reset=lambda live: _reset(arrays, starts, live),
        result=lambda live, sweeps: comparable(live[computation.result]),
        reference=lambda live, sweeps: _expected(computation, size, starts, device),
        tolerance=0 if computation.is_exact else computation.tolerance,
    )
    posed_case = Case(
        case,
        computation.name,
        tuple(size.values()),
        computation.operations_at(size),
        computation.traffic_at(size),
        ours,
    )
    kind.reset(live)
    return Problem(posed_case, kind, live, kind.reference(live, 1))


def comparable(result: Tensor) -> Tensor:
    """Return the result as the reference has it: integers become numbers of one type."""
    return result if result.dtype.is_floating_point else result.long()


def values(computation: Computation, size: Size, arrays: Arrays) -> SimpleNamespace:
    return SimpleNamespace(**size, **(computation.scalars or {}), **arrays, xp=torch)


def _begun(array: Array, device: str) -> Tensor:
    dtype = DTYPES[array.dtype]
    if array.rule is not None:
        return array.rule(torch.arange(array.elements, device=device)).to(dtype).reshape(array.shape)
    if array.is_integer:
        return torch.randint(int(array.low), int(array.high) + 1, array.shape, dtype=dtype, device=device)
    return torch.rand(array.shape, dtype=dtype, device=device) * (array.high - array.low) + array.low


def _empty(array: Array, device: str) -> Tensor:
    return torch.empty(array.shape, dtype=DTYPES[array.dtype], device=device)


def _reset(arrays: Mapping[str, Array], starts: Arrays, live: Arrays) -> None:
    for name, array in arrays.items():
        if array.role == Role.KEPT:
            live[name].copy_(starts[name])
        elif array.role == Role.WRITTEN:
            poison = POISON if array.dtype == "int32" else POISON_BYTE
            live[name].fill_(poison if array.is_integer else float("nan"))


def _expected(computation: Computation, size: Size, starts: Arrays, device: str) -> Tensor:
    exact = {
        name: each.double() if each.dtype.is_floating_point else each.long() for name, each in starts.items()
    }
    with torch.device(device):
        found = computation.reference(values(computation, size, exact))
    return found.long() if computation.is_exact else found
