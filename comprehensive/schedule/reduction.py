"""Points with a long serial loop: its operands go through shared memory in pieces, several of them in flight.

In: a context and the body of a point, ``float sum = 0; for (k) sum += a[y0][k] * b[k][y1]; c[y0][y1] = sum``.
Out: the statements of the kernel::

    all points: sum = 0
    the steps of the loop (`gemv_loop.py`, `gemm_loop.py`) over pieces of a (T0*U0 rows of D) and b (D rows of T1*U1)
    all points inside of the limits: c[y0][y1] = sum

Every sum keeps its order, so that the result is the same to the bit (`around_loop.py` has what is around the loop).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from comprehensive.kernel_ir.kernel import KernelStmt
from comprehensive.kernel_ir.terms import conjunction
from comprehensive.metafork.ast import Declare, For, If, Name, Stmt
from comprehensive.schedule.around_loop import AroundLoop
from comprehensive.schedule.context import BlockOrder, TileContext
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.operands import loop_of, operands_of
from comprehensive.schedule.predicate import some_point
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.step import Step
from comprehensive.schedule.triangle import triangle_of
from comprehensive.schedule.unroll_and_jam import UnrollAndJam, scalars_of

Steps: TypeAlias = Callable[[OperandLayout, Step], tuple[KernelStmt, ...]]
"""The function that makes the loop, given the layout of operand tiles and a step of it."""


Ends: TypeAlias = Callable[[OperandLayout, AroundLoop, UnrollAndJam], tuple[KernelStmt, ...]]
"""The function that makes what follows the loop."""


def stored_by_owners(layout: OperandLayout, around: AroundLoop, jam: UnrollAndJam) -> tuple[KernelStmt, ...]:
    """Return what follows the loop, each point by the thread that has it."""
    return layout.of_points(*around.stored(jam))


def reduction(
    context: TileContext,
    order: BlockOrder,
    steps: Steps,
    layout_of: type[OperandLayout] = OperandLayout,
    ends: Ends = stored_by_owners,
) -> TileKernel:
    """The kernel of points with one serial loop whose operands go through shared memory."""
    loop, tile = loop_of(context.tile), context.tile
    assert loop is not None
    made = Reduction.of(context, tile.alternatives[0].body, loop, layout_of)
    layout = made.layout
    return TileKernel(
        made.body(steps, ends),
        (*tile.sizes, *([] if tile.lanes is None else [tile.lanes]), tile.depth, tile.stages),
        layout.words(),
        layout.demands(),
        layout.alignments(),
        layout.together(),
        order,
        layout.patch,
        block=None if tile.lanes is None else (layout.threads,),
        extents=(loop.bound,) if made.around.is_loop_alone else (),
        step=Name(tile.depth),
    )


@dataclass(frozen=True, slots=True)
class Reduction:
    """The parts of the kernel: the loop, what is around it, and the pieces that it reads."""

    context: TileContext
    loop: For
    around: AroundLoop
    layout: OperandLayout

    @staticmethod
    def of(
        context: TileContext, body: tuple[Stmt, ...], loop: For, layout_of: type[OperandLayout]
    ) -> Reduction:
        held, pieces = operands_of(context.nest, context.tile, body, loop)
        at = body.index(loop)
        layout = layout_of.of(context, loop, pieces)
        steps = layout.limit if context.tile.steps is None else context.tile.steps.count
        around = AroundLoop(context, body[:at], body[at + 1 :], held, (steps,))
        return Reduction(context, loop, around, layout)

    def body(self, steps: Steps, ends: Ends) -> tuple[KernelStmt, ...]:
        """The kernel after the places of blocks and threads."""
        around = self.around
        jam = self._jam(scalars_of((*around.before, *around.after)))
        step = Step(self._jam(scalars_of((*around.before, *self.loop.body))), self.loop, self.layout.pieces)
        begun = (*around.loaded(jam), *around.begun(jam))
        return (
            *self.layout.tiles(),
            *self.layout.thread(),
            *self.layout.feeds(),
            *self._where_needed(
                (
                    *around.comments(),
                    *(s for s in begun if isinstance(s, Declare)),
                    *self.layout.of_points(*(s for s in begun if not isinstance(s, Declare))),
                    *self._steps_where_needed(steps(self.layout, step)),
                    *ends(self.layout, around, jam),
                )
            ),
        )

    def _steps_where_needed(self, steps: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
        """The steps of blocks of which some point may meet the condition, where that is one of the loop alone."""
        met = some_point(self.context) if self.context.tile.masked else None
        return steps if met is None else (If(met, steps, uniform=True),)

    def _where_needed(self, body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
        """The body, of blocks of which some point may meet the predicate, where that is one of all that they do."""
        if self.context.tile.masked:
            return body
        triangle, met = triangle_of(self.context), some_point(self.context)
        needed = [] if triangle is None else [triangle.has_tile()]
        needed += [] if met is None else [met]
        return (If(conjunction(needed), body, uniform=True),) if needed else body

    def _jam(self, scalars: frozenset[str]) -> UnrollAndJam:
        return UnrollAndJam(self.context, scalars, self.layout.places(), self.around.of_registers)
