"""The work of a leaf's kernel at given sizes and parameters.

In: the kernel, values of all scalars, and how many registers its threads take.  Out: a :class:`TileWork` without steps,
of a block in the middle of the grid, and the :class:`Launch`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from comprehensive.codegen.axes import on_axes
from comprehensive.codegen.kernel import Kernel, Source
from comprehensive.codegen.plan import LeafPlan
from comprehensive.loops.ir import Nest
from comprehensive.machine.cost import SATURATED, Launch, TileWork
from comprehensive.machine.work import Work
from comprehensive.model.block import block_work
from comprehensive.model.values import stride, wide_value


def leaf_work(leaf: LeafPlan, values: Mapping[str, int], registers: int) -> tuple[TileWork, Launch] | None:
    """None where the grid or the block is empty.

    Data is taken to be moved as often as blocks read it: there is no knowing which of them share it.
    """
    kernel, nest = leaf.kernel, leaf.nest
    grid = _along_axes([wide_value(nest, extent, values) for _, extent in kernel.grid])
    shape = _along_axes([wide_value(nest, extent, values) for extent in kernel.block])
    if min((*grid, *shape)) < 1:
        return None
    middle = [extent // 2 for extent in grid]
    work = block_work(kernel, _values(kernel, nest, values), shape, middle)
    words = int(kernel.shared_words.evaluate(values))
    blocks = min(SATURATED, prod(grid))
    return (
        TileWork(work, Work(), work, Work(), prod(shape), registers, words, 0),
        Launch(blocks, 0, False, min(SATURATED, blocks * int(work.bytes))),
    )


def _along_axes(extents: Sequence[int]) -> tuple[int, ...]:
    """How many blocks or threads there are along each axis in use, x last."""
    return tuple(prod(along) for along in reversed(on_axes(extents)))


def _values(kernel: Kernel, nest: Nest, values: Mapping[str, int]) -> dict[str, Any]:
    """Of the parameters of the kernel."""
    found: dict[str, Any] = {}
    extents = dict(kernel.grid)
    for p in kernel.parameters:
        match p.source:
            case Source.SCALAR:
                if p.type.is_integer:
                    found[p.name] = values[p.of]
            case Source.EXTENT:
                found[p.name] = wide_value(nest, extents[p.of], values)
            case Source.STRIDE:
                found[p.name] = stride(nest, p, values)
            case Source.ARRAY | Source.LIMIT | Source.SWEEPS:
                pass
    return found
