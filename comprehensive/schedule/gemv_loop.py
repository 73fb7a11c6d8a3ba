"""The steps of a serial loop with one coordinate: each awaits its pieces and reads them from shared memory.

::

    begin to copy pieces 0 .. S - 2
    for each step:  await its pieces, barrier, begin to copy those S - 1 ahead
                    for z < D: all points: sum += piece_a[..][z] * piece_x[z]

A block may have more threads than points: they copy, and leave the steps to the first ones.
What lies side by side in a row is one access to shared memory: the compiler makes it so where steps are unrolled.
"""

from __future__ import annotations

from comprehensive.kernel_ir.kernel import Await, Barrier, Comment, Commit, KernelStmt
from comprehensive.kernel_ir.terms import constant, counting, least
from comprehensive.metafork.ast import Binary, Expr, For, If, IntLiteral, Name
from comprehensive.metafork.terms import plus
from comprehensive.schedule.context import ONE, commented
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.step import Step


def row_steps(layout: OperandLayout, step: Step) -> tuple[KernelStmt, ...]:
    """The loop, for pieces of which none is turned."""
    context, tile = layout.context, layout.context.tile
    depth, stages = Name(tile.depth), Name(tile.stages)
    ahead, number, slot = context.name("ahead"), context.name("step"), context.name("slot")
    count = Binary("/", Binary("+", layout.limit, Binary("-", depth, ONE)), depth)
    left = Binary("-", layout.limit, Binary("*", number, depth))

    def computed(bound: Expr, *, unrolled: bool, by_all: bool = True) -> For:
        z = context.name("z")
        place = plus(layout.begin, Binary("+", Binary("*", number, depth), z))
        body = step.at(place, lambda name: layout.element(name, z), by_all=by_all)
        return counting(z.identifier, bound, body, unrolled=unrolled)

    whole = (computed(depth, unrolled=True),)
    cut = (computed(left, unrolled=False),)
    is_whole: Expr = Binary(">=", left, depth)
    if layout.block_steps is not None:
        is_whole = layout.block_steps.is_whole(number)
        cut = (computed(least(left, depth), unrolled=False, by_all=False),)

    each: tuple[KernelStmt, ...] = (
        Await(Binary("-", stages, IntLiteral(2))),
        Barrier(),
        *layout.stages(Binary("%", Binary("+", number, Binary("-", stages, ONE)), stages), turned=False),
        Commit(),
        constant(slot.identifier, Binary("%", number, stages)),
        *layout.begins(slot),
        *layout.of_points(If(is_whole, whole, cut, uniform=True)),
    )
    begun = (*layout.stages(ahead, turned=False), Commit())
    return (
        commented(context, "stage", layout.pieces, f"the first {stages.identifier} - 1 pieces"),
        counting(ahead.identifier, Binary("-", stages, ONE), begun, unrolled=True, uniform=True),
        Comment(f"cut({layout.loop.iterator}): pieces of {depth.identifier} steps"),
        constant(context.names["steps"], count),
        counting(number.identifier, context.name("steps"), each, uniform=True),
    )
