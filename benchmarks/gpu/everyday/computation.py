"""The computation of a kernel, apart from how it is written: sizes, arrays, and the result in double precision.

References are written once for numpy and for torch: they get a :class:`Values` whose ``xp`` is the one or the other,
and use what both have by the same name.  Nothing here imports either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import prod
from types import SimpleNamespace
from typing import Any, TypeAlias

Size: TypeAlias = Mapping[str, int]
"""Values of the sizes by their names, in the order of the arguments."""
Values: TypeAlias = SimpleNamespace
"""Sizes, scalars and arrays of a computation by their names, and ``xp``."""

BYTES: Mapping[str, int] = {
    **{"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8},
    **{"int32": 4, "uint8": 1, "int8": 1},
}
PRODUCT_TOLERANCE = 1e-4
"""A part of the largest element. Sums in single precision stay below; TF32 misses by 3e-4 and more."""


class Role(Enum):
    READ = "read"
    WRITTEN = "written, every element"
    KEPT = "written in part, or read and written"


@dataclass(frozen=True)
class Array:
    """An array and how it begins: random between ``low`` and ``high``, or ``rule`` of the indices counted through."""

    shape: tuple[int, ...]
    role: Role
    dtype: str = "float32"
    low: float = -1.0
    high: float = 1.0
    rule: Callable[[Any], Any] | None = None

    @property
    def is_integer(self) -> bool:
        return "float" not in self.dtype

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * BYTES[self.dtype]


def read(*shape: int, **how: Any) -> Array:
    return Array(shape, Role.READ, **how)


def written(*shape: int, **how: Any) -> Array:
    return Array(shape, Role.WRITTEN, **how)


def kept(*shape: int, **how: Any) -> Array:
    return Array(shape, Role.KEPT, **how)


@dataclass(frozen=True)
class Computation:
    """A computation at several sizes.

    ``names`` are its sizes, ``points`` those at which it is timed and ``tiny`` one for a test on the CPU.

    ``arrays``, ``operations`` (a multiply and an add are two), ``traffic`` (the least bytes that move) and ``threads``
    (of a kernel with a thread for each point, outermost first) are functions of the sizes by name; traffic is by
    default every array once, and there is a thread for every element of the result.  ``reference`` gives what stands in
    ``result`` in the end, from arrays in double precision, or of 64-bit integers, as they begin.
    """

    name: str
    names: str
    arrays: Callable[..., Mapping[str, Array]]
    result: str
    reference: Callable[[Values], Any]
    tiny: tuple[int, ...]
    points: tuple[tuple[int, ...], ...]
    scalars: Mapping[str, float] | None = None
    operations: Callable[..., float] | None = None
    traffic: Callable[..., float] | None = None
    threads: Callable[..., tuple[int, ...]] | None = None
    tolerance: float = PRODUCT_TOLERANCE

    def size(self, values: tuple[int, ...]) -> Size:
        return dict(zip(self.names.split(), values, strict=True))

    @property
    def sizes(self) -> tuple[Size, ...]:
        return tuple(self.size(values) for values in self.points)

    def operations_at(self, size: Size) -> float:
        return self.operations(**size) if self.operations else 0.0

    def traffic_at(self, size: Size) -> float:
        if self.traffic:
            return self.traffic(**size)
        return float(sum(array.bytes for array in self.arrays(**size).values()))

    def threads_at(self, size: Size) -> tuple[int, ...]:
        return self.threads(**size) if self.threads else self.arrays(**size)[self.result].shape

    @property
    def is_exact(self) -> bool:
        return self.arrays(**self.size(self.tiny))[self.result].is_integer


def label(size: Size) -> str:
    """Return the name of a size, such as ``m=2048 n=512``."""
    return " ".join(f"{name}={value}" for name, value in size.items())
