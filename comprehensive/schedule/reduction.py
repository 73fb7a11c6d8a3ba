"""Points with a long serial loop: its operands go through shared memory in pieces, several of them in flight.

In: a context and the body of a point, ``float sum = 0; for (k) sum += a[y0][k] * b[k][y1]; c[y0][y1] = sum``.
Out: the statements of the kernel::

    all points: sum = 0
    the steps of the loop (`gemv_loop.py`, `gemm_loop.py`) over pieces of a (T0*U0 rows of D) and b (D rows of T1*U1)
    all points inside of the limits: c[y0][y1] = sum

Elements that the loop assigns and that are the same in all its steps, as in ``c[y0][y1] += ...``, are held in
registers too.  Every sum keeps its order, so that the result is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from comprehensive.kernel_ir.kernel import KernelStmt, Plain, UniformIf
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import constant
from comprehensive.loops.rewrite import map_expr, statements_in
from comprehensive.metafork.ast import Assign, Call, Declare, Expr, For, If, Index, Name, Stmt
from comprehensive.schedule.context import ZERO, BlockOrder, TileContext
from comprehensive.schedule.gemm_loop import patch_steps
from comprehensive.schedule.gemv_loop import row_steps
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.operands import has_steps, loop_of, operands_of
from comprehensive.schedule.predicate import some_point
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.step import Step
from comprehensive.schedule.unroll_and_jam import UnrollAndJam, scalars_of


def reduction(context: TileContext, order: BlockOrder) -> TileKernel:
    """The kernel of points with one serial loop whose operands go through shared memory."""
    loop, tile = loop_of(context.tile), context.tile
    assert loop is not None
    made = Reduction.of(context, tile.alternatives[0].body, loop)
    layout = made.layout
    return TileKernel(
        made.body(),
        (*tile.sizes, tile.depth, tile.stages),
        layout.words(),
        layout.demands(),
        layout.alignments(),
        (4, 1),
        order,
        extents=(loop.bound,) if made.is_loop_alone else (),
        step=Name(tile.depth),
    )


@dataclass(frozen=True, slots=True)
class Reduction:
    """The parts of the kernel; ``before`` and ``after`` are the statements of a point around its loop."""

    context: TileContext
    before: tuple[Stmt, ...]
    loop: For
    after: tuple[Stmt, ...]
    held: Mapping[str, Index]
    layout: OperandLayout

    @staticmethod
    def of(context: TileContext, body: tuple[Stmt, ...], loop: For) -> Reduction:
        held, pieces = operands_of(context.nest, context.tile, body, loop)
        at = body.index(loop)
        layout = OperandLayout.of(context, loop, pieces)
        return Reduction(context, body[:at], loop, body[at + 1 :], held, layout)

    def body(self) -> tuple[KernelStmt, ...]:
        """The kernel after the places of blocks and threads."""
        jam = self._jam(scalars_of((*self.before, *self.after)))
        step = Step(self._jam(scalars_of((*self.before, *self.loop.body))), self.loop, self.layout.pieces)
        steps = patch_steps if self.layout.is_patched else row_steps
        return (
            *self.layout.tiles(),
            Plain(self._thread()),
            *self.layout.feeds(),
            *self._where_needed(
                (
                    Plain((*self._loaded(jam), *self._begun(jam))),
                    *steps(self.layout, step),
                    Plain(self._stored_points(jam)),
                )
            ),
        )

    def _where_needed(self, body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
        """The body, of blocks of which some point may meet the predicate."""
        condition = some_point(self.context)
        return body if condition is None else (UniformIf(condition, body),)

    @property
    def is_loop_alone(self) -> bool:
        """Whether nothing is stored but what the loop assigns: without steps there is nothing to do."""
        around = statements_in((*self.before, *self.after))
        return not any(isinstance(s, Assign) and isinstance(s.target, Index) for s in around)

    def _jam(self, scalars: frozenset[str]) -> UnrollAndJam:
        return UnrollAndJam(self.context, scalars, self.layout.places(), self._of_registers)

    def _thread(self) -> tuple[Stmt, ...]:
        if self.layout.is_patched:
            return ()
        return (constant(self.context.names["thread"], self.context.name("t0")),)

    def _begun(self, jam: UnrollAndJam) -> tuple[Stmt, ...]:
        """Return what comes before the loop, at points inside of the limits; scalars of the others are 0."""
        arrays: list[Stmt] = []
        zeros: list[Stmt] = []
        statements: list[Stmt] = []
        for statement in self.before:
            if isinstance(statement, Declare):
                arrays.append(Declare(statement.type, statement.name, jam.shape()))
                zeros.append(Assign(Index(statement.name, jam.indices()), "=", ZERO))
                if statement.initial is not None:
                    first = Assign(Name(statement.name), "=", statement.initial, statement.span)
                    statements.append(jam.one(first))
            else:
                statements.append(jam.one(statement))
        begun = jam.at_points(zeros) if zeros else ()
        return (
            *arrays,
            *begun,
            *(jam.at_points(statements, guards=self.context.inside()) if statements else ()),
        )

    def _loaded(self, jam: UnrollAndJam) -> tuple[Stmt, ...]:
        """The elements that the loop assigns, in registers; 0 outside of the limits and where there is no step."""
        result: list[Stmt] = []
        for name, reference in self.held.items():
            element = self._private(name)
            result.append(Declare(self.context.nest.array(name).type, element.array, jam.shape()))
            result += jam.at_points((Assign(element, "=", ZERO),))
            load = Assign(element, "=", self.context.flat(reference))
            loads = jam.at_points((load,), guards=self.context.inside())
            result += self._where_touched(reference, loads)
        return tuple(result)

    def _stored_points(self, jam: UnrollAndJam) -> tuple[Stmt, ...]:
        """Return what follows the loop.

        Addresses are not kept from before it, since registers are dear there.
        """
        origins = range(len(self.context.tile.coordinates))
        again = tuple(
            constant(self.context.names[f"e{n}"], Call("cf_again", (self.context.name(f"o{n}"),)))
            for n in origins
        )
        ends = replace(
            jam,
            scalars=scalars_of(self.before),
            origins=tuple(self.context.name(f"e{n}") for n in origins),
        )
        return (
            *again,
            *ends.at_points((*map(ends.one, self.after), *self._stores()), guards=self.context.inside()),
        )

    def _stores(self) -> tuple[Stmt, ...]:
        return tuple(
            statement
            for name, reference in self.held.items()
            for statement in self._where_touched(
                reference, (Assign(flat(reference, self.context.strides), "=", self._private(name)),)
            )
        )

    def _where_touched(self, element: Index, accesses: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The accesses to an element that the loop assigns, under the condition that the program touches it at all.

        A loop without steps does not, and the element need not be there: unless a statement around it assigns it.
        """
        assigned = {s.target for s in (*self.before, *self.after) if isinstance(s, Assign)}
        if self.is_loop_alone or element in assigned:
            return accesses
        return (If(has_steps(self.layout.limit), accesses),)

    def _of_registers(self, expr: Expr) -> Expr:
        """The expression with its references in registers or in global memory."""

        def replaced(e: Expr) -> Expr:
            return self._private(e.array) if isinstance(e, Index) and e.array in self.held else e

        return self.context.flat(map_expr(expr, replaced))

    def _private(self, array: str) -> Index:
        """The element of an array that the loop assigns."""
        indices = tuple(self.context.name(f"r{n}") for n in range(len(self.context.tile.coordinates)))
        return Index(self.context.names[f"private_{array}"], indices)
