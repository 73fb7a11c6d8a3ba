"""The cost of a launch of a leaf at given sizes and parameters.

In: a leaf, a machine and values of all scalars.  Out: its :class:`~comprehensive.machine.cost.Cost`, as the generated
``<region>_leaf_cost`` computes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.machine.cost import Cost, Term, cost
from comprehensive.machine.counts import SATURATED
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.machine.sites import MOST_DEEP, Shape, leaf_work
from comprehensive.model.launched import launched_blocks, on_three_axes
from comprehensive.model.values import wide_value
from comprehensive.plan.plan import LeafPlan
from comprehensive.plan.profile import number_name


def leaf_cost(leaf: LeafPlan, machine: Mapping[str, int], values: Mapping[str, int]) -> Cost | None:
    """Return the cost of a launch of the leaf.

    It is nothing where the grid or the block is empty, and None where a block does not fit.
    """
    shape = _shape(leaf, values)
    if min((*shape.grid, *shape.block)) < 1:
        return Cost(0, (Term("nothing to do", 0, ""),), 0, 0)
    if shape.block[2] > MOST_DEEP:
        return None
    return cost(machine, *leaf_work(machine, leaf.profile.sites, numbers(leaf, values), shape))


def _shape(leaf: LeafPlan, values: Mapping[str, int]) -> Shape:
    kernel, nest = leaf.kernel, leaf.nest
    grid = launched_blocks(kernel, nest, values)
    block = on_three_axes(nest, kernel.block, values)
    words = int(kernel.shared_words.evaluate(values)) + kernel.slots * WARP_THREADS * -(
        -prod(block) // WARP_THREADS
    )
    return Shape(grid, block, leaf.registers, words)


def numbers(leaf: LeafPlan, values: Mapping[str, int]) -> list[int]:
    """Return the numbers that the sites of the leaf point to."""
    found: list[int] = []
    known = dict(values)
    for position, expr in enumerate(leaf.profile.numbers):
        try:
            found.append(wide_value(leaf.nest, expr, known))
        except UndefinedBehaviour:
            found.append(SATURATED)  # more than anything, as in the header
        known[number_name(position)] = found[-1]
    return found
