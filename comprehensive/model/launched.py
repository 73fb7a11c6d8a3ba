"""The numbers that the host passes to a kernel, and the shape of its blocks and of its grid.

In: a kernel, its nest, values of all integer scalars, for a kernel over tiles also the sizes of an instance.  Out:
:class:`Launched`, with which a block of it can be gone through (:class:`~comprehensive.model.block.Walk`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import assert_never

from msgspec import Struct

from comprehensive.kernel_ir.axes import axis_extents
from comprehensive.kernel_ir.kernel import Kernel, KernelParameter, Source
from comprehensive.kernel_ir.staircase import LARGEST, LAUNCHED
from comprehensive.kernel_ir.staircase import Launched as Stairs
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Expr
from comprehensive.model.values import stride, wide_value

FEWEST_SWEEPS = 3
"""The fewest sweeps of a launch of a time tile; the last sweep of a loop is left to others."""


class Launched(Struct, frozen=True):
    """A launch: ``values`` of scalars, constants and parameters of the kernel; extents outermost first, x last."""

    values: Mapping[str, int]
    block: tuple[int, ...]
    grid: tuple[int, int, int]
    """Along z, y and x."""
    shared_words: int

    @property
    def threads(self) -> int:
        return prod(self.block)


def launched(
    kernel: Kernel,
    nest: Nest,
    values: Mapping[str, int],
    sizes: Mapping[str, int],
    sweeps: int = FEWEST_SWEEPS,
) -> Launched:
    """Return the launch of a kernel; of one over tiles with these ``sizes``, of several sweeps with so many.

    KeyError names a value that is missing.
    """
    known = {**values, **sizes}
    stairs = stairs_of(kernel, nest, known)
    passed = {
        p.name: _passed(p, kernel, nest, known, stairs, sweeps) for p in kernel.parameters if not p.pointer
    }
    x, y, z = on_three_axes(nest, kernel.block, known)
    columns, rows, layers = launched_blocks(kernel, nest, known)
    words = kernel.shared_words
    return Launched(
        {**known, **{name: value for name, value in passed.items() if value is not None}},
        (z, y, x),
        (layers, rows, columns),
        int(words.evaluate({name: known[name] for name in words.symbols})),
    )


def _passed(
    parameter: KernelParameter,
    kernel: Kernel,
    nest: Nest,
    known: Mapping[str, int],
    stairs: Stairs | None,
    sweeps: int,
) -> int | None:
    match parameter.source:
        case Source.SCALAR:
            return known[parameter.of] if parameter.type.is_integer else None
        case Source.EXTENT:
            return wide_value(nest, dict(kernel.grid)[parameter.of], known)
        case Source.STRIDE:
            return stride(nest, parameter, known)
        case Source.LIMIT:
            return wide_value(nest, dict(kernel.limits)[parameter.of], known)
        case Source.SWEEPS:
            return sweeps
        case Source.STAIRCASE:
            assert stairs is not None
            return {"rows": stairs.rows, "columns": stairs.columns, "mirror": stairs.mirror}[parameter.of]
        case Source.ARRAY:
            return None
        case _:
            assert_never(parameter.source)


def launched_blocks(kernel: Kernel, nest: Nest, values: Mapping[str, int]) -> tuple[int, int, int]:
    """Return how many blocks a launch of a kernel has along x, y and z."""
    grid = on_three_axes(nest, [extent for _, extent in kernel.grid], values)
    stairs = stairs_of(kernel, nest, values)
    if kernel.staircase is None or stairs is None:
        return grid
    x, y, z = grid
    axes = kernel.staircase.axes([name for name, _ in kernel.grid])
    if not axes:
        return x * stairs.rows * stairs.columns, y, z
    sizes = dict(zip(axes, (stairs.rows, stairs.columns), strict=True))
    x, y, z = (sizes.get(axis, extent) for axis, extent in enumerate(grid))
    return x, y, z


def on_three_axes(nest: Nest, extents: Sequence[Expr], values: Mapping[str, int]) -> tuple[int, int, int]:
    """Return the extents along x, y and z from those of loops, given outermost first."""
    types = {s.name: s.type for s in nest.scalars}
    x, y, z = (wide_value(nest, extent, values) for extent in axis_extents(extents, types))
    return x, y, z


def stairs_of(kernel: Kernel, nest: Nest, known: Mapping[str, int]) -> Stairs | None:
    """Return the rows and columns of a launch that leaves out blocks outside of an edge; None where there is none."""
    if kernel.staircase is None:
        return None
    return LAUNCHED[kernel.staircase.shape](
        *(_number(nest, argument, known) for argument in kernel.staircase.arguments)
    )


def _number(nest: Nest, argument: Expr, known: Mapping[str, int]) -> int:
    """Return a number, or one beyond all sizes where it is undefined, as in the header."""
    try:
        return wide_value(nest, argument, known)
    except UndefinedBehaviour:
        return -LARGEST
