"""Points with long serial loops: their operands go through shared memory in pieces, several of them in flight.

In: a context and the body of a point, ``float sum = 0; for (k) sum += a[y0][k] * b[k][y1]; c[y0][y1] = sum``.
Out: the statements of the kernel::

    all points: sum = 0
    the steps of the loop (`gemv_loop.py`, `gemm_loop.py`) over pieces of a (T0*U0 rows of D) and b (D rows of T1*U1)
    all points inside of the limits: c[y0][y1] = sum

Loops beside each other are done one after the other, each with its own pieces in the place of those of the one before.
Every sum keeps its order, so that the result is the same to the bit (`around_loop.py` has what is around the loop).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Await, Barrier, KernelStmt
from comprehensive.kernel_ir.terms import conjunction
from comprehensive.kernel_ir.words import most_words
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Declare, Expr, For, If, Index, Name, Stmt
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule.accumulate import accumulated
from comprehensive.schedule.around_loop import AroundLoop
from comprehensive.schedule.batch import with_shared
from comprehensive.schedule.context import ZERO, BlockOrder, TileContext
from comprehensive.schedule.equalize import equalized
from comprehensive.schedule.even_loops import with_even_loops
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.operands import has_steps, operands_of, reduction_loops, reduction_obstacle
from comprehensive.schedule.predicate import predicated, some_point
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.row_numbers import with_row_numbers_inside
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


def reduced(nest: Nest, tile: RegisterTile, coordinates: int) -> RegisterTile | NotApplicable:
    """The tile of so many coordinates whose loop has operands that go through shared memory; or why it has none."""
    tile = with_row_numbers_inside(nest, with_shared(_evened(nest, tile), coordinates))
    tile = accumulated(nest, equalized(nest, predicated(nest, tile)))
    obstacle = reduction_obstacle(nest, tile, tile.alternatives[0].body, reduction_loops(nest, tile))
    return tile if obstacle is None else NotApplicable(obstacle)


def _evened(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """The tile with loops beside each other that are longer at some points as loops that all points do; a single one
    is equalized, so that blocks do the steps that some of their points do."""
    several = all(sum(isinstance(s, For) for s in body) > 1 for body in tile.bodies)
    return with_even_loops(nest, tile) if several else tile


def reduction(
    context: TileContext,
    order: BlockOrder,
    steps: Steps,
    layout_of: type[OperandLayout] = OperandLayout,
    ends: Ends = stored_by_owners,
) -> TileKernel:
    """The kernel of points with one serial loop whose operands go through shared memory."""
    tile = context.tile
    made = Reduction.of(context, layout_of)
    layouts = [part.layout for part in made.parts]
    (first, *_) = layouts
    return TileKernel(
        made.body(steps, ends),
        (*tile.sizes, *([] if tile.lanes is None else [tile.lanes]), tile.depth, tile.stages),
        most_words([layout.words() for layout in layouts]),
        tuple(dict.fromkeys(each for layout in layouts for each in layout.constraints())),
        tuple(dict.fromkeys(alignment for layout in layouts for alignment in layout.alignments())),
        max((layout.together() for layout in layouts), key=len),
        order,
        first.patch,
        block=None if tile.lanes is None else (first.threads,),
        extents=(made.parts[0].layout.loop.bound,) if made.around.is_loop_alone else (),
        step=Name(tile.depth),
    )


class Part(Struct, frozen=True):
    """The pieces that a loop reads, and the statements between the loop before it and this one."""

    before: tuple[Stmt, ...]
    layout: OperandLayout


class Reduction(Struct, frozen=True):
    """The parts of the kernel, one for each loop, and what is around them."""

    context: TileContext
    parts: tuple[Part, ...]
    around: AroundLoop

    @staticmethod
    def of(context: TileContext, layout_of: type[OperandLayout]) -> Reduction:
        body, steps = context.tile.alternatives[0].body, context.tile.steps
        layouts: list[OperandLayout] = []
        loops: list[tuple[For, Mapping[str, Index], Expr]] = []
        for number, loop in enumerate(reduction_loops(context.nest, context.tile)):
            held, pieces = operands_of(context.nest, context.tile, body, loop)
            layouts.append(layout_of.of(context.of_loop(number), loop, pieces))
            loops.append((loop, held, has_steps(layouts[-1].limit if steps is None else steps.count)))
        around, between = AroundLoop.of(context, loops)
        parts = (Part(before, layout) for layout, before in zip(layouts, between, strict=True))
        return Reduction(context, tuple(parts), around)

    def body(self, steps: Steps, ends: Ends) -> tuple[KernelStmt, ...]:
        """The kernel after the places of blocks and threads."""
        around, first = self.around, self.parts[0]
        jam = self._jam(first, (*around.before, *around.after))
        *_, last = self.parts
        return (
            *first.layout.tiles(),
            *first.layout.thread(),
            *first.layout.feeds(),
            *self._where_needed(
                (
                    *around.comments(),
                    *self._begun(first, around.loaded(jam)),
                    *self._steps(first, steps),
                    *(statement for part in self.parts[1:] for statement in self._behind(part, steps)),
                    *ends(last.layout, around, jam),
                )
            ),
        )

    def _behind(self, part: Part, steps: Steps) -> tuple[KernelStmt, ...]:
        """A loop behind another one, whose pieces take the place of those that have been read."""
        layout = part.layout
        staged = (Await(ZERO), Barrier(), *layout.tiles(), *layout.feeds())
        return (*self._begun(part, ()), *staged, *self._steps(part, steps))

    def _begun(self, part: Part, loaded: tuple[Stmt, ...]) -> tuple[KernelStmt, ...]:
        """The statements before a loop, behind what is ``loaded`` first."""
        begun = (*loaded, *self.around.begun(self._jam(part, self.around.before), part.before))
        return (
            *(s for s in begun if isinstance(s, Declare)),
            *part.layout.of_points(*(s for s in begun if not isinstance(s, Declare))),
        )

    def _steps(self, part: Part, steps: Steps) -> tuple[KernelStmt, ...]:
        """The steps of a loop; where there is a condition of the loop alone, of blocks of which some point may meet
        it."""
        jam = self._jam(part, (*self.around.before, *part.layout.loop.body))
        done = steps(part.layout, Step(jam, part.layout.loop, part.layout.pieces))
        met = some_point(self.context) if self.context.tile.masked else None
        return done if met is None else (If(met, done, uniform=True),)

    def _where_needed(self, body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
        """The body, of blocks of which some point may meet the predicate, where that is one of all that they do."""
        if self.context.tile.masked:
            return body
        triangle, met = triangle_of(self.context), some_point(self.context)
        needed = [] if triangle is None else [triangle.has_tile()]
        needed += [] if met is None else [met]
        return (If(conjunction(needed), body, uniform=True),) if needed else body

    def _jam(self, part: Part, body: tuple[Stmt, ...]) -> UnrollAndJam:
        return UnrollAndJam(self.context, scalars_of(body), part.layout.places(), self.around.of_registers)
