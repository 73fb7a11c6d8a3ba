"""Epilogue of a product whose rows are not aligned: sums are stored by threads that are beside each other in memory.

In: the layout of a product, whose threads hold four neighbouring sums of a row, beside those of the next thread; and
what follows the loop at a point.  Out: the statements of the kernel behind the loop::

    rows are aligned, or operands take less room:  each thread stores its own sums
    else, for each group of four sums of all rows of a thread:
        barrier;  sums[r0*T0 + t0][4*t1 ..] = the four;  barrier
        the thread's column of all columns, and every T0/4-th row:  the point at that row and column, if inside

Four stores of a warp fill the same sectors of memory.  They leave as one where sectors begin at multiples of four
elements, and as five or more, with holes, where rows have another length: then it is better that neighbours store
neighbours.  The sums take the place of the operand tiles, which nobody needs any more.  Rows there have one element
more than sums: the rows of a warp are then in different banks.

Measured on one H200, in microseconds: a product of 1000 x 1021 x 777 takes 46.1 with each thread's own stores and 43.0
in this way; squared distances between 1001 and 1503 points of 33 dimensions, 15.9 and 11.4.  By hand, where rows are
aligned it takes as long or longer.

Legal as `shared_epilogue.py` is.
"""

from __future__ import annotations

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import VECTOR, WIDTH, Await, Barrier, Comment, KernelStmt, SharedTile
from comprehensive.kernel_ir.terms import constant, counting, expression, onward
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Declare,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import assigned_scalars
from comprehensive.schedule.around_loop import AroundLoop
from comprehensive.schedule.context import ZERO
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.shared_epilogue import called, point_of, sum_of
from comprehensive.schedule.unroll_and_jam import UnrollAndJam

FOUR = IntLiteral(VECTOR)


def stored_by_neighbours(
    layout: OperandLayout, around: AroundLoop, jam: UnrollAndJam
) -> tuple[KernelStmt, ...]:
    """Return what follows the loop, by the threads that have the points, or by those that are beside each other."""
    by_owners = layout.of_points(*around.stored(jam))
    found = sum_of(around)
    if found is None:
        return by_owners
    own = Binary("||", Binary("==", Name(WIDTH), FOUR), _has_no_room(layout))
    return (If(own, by_owners, _through_shared_memory(layout, around, jam, *found), uniform=True),)


def _has_no_room(layout: OperandLayout) -> Expr:
    """Return the condition that operands take less shared memory than four sums of all rows of all threads."""
    rows, columns = layout.context.tile.coordinates
    t0, u0, t1 = (Polynomial.symbol(name) for name in (rows.threads, rows.each, columns.threads))
    symbols = (*layout.context.tile.sizes, layout.context.tile.depth, layout.context.tile.stages)
    words = expression(layout.words(), symbols)
    return Binary("<", words, expression(t0 * u0 * (VECTOR * t1 + 1), symbols))


def _through_shared_memory(
    layout: OperandLayout, around: AroundLoop, jam: UnrollAndJam, sums: Expr, type: ScalarType
) -> tuple[KernelStmt, ...]:
    context = layout.context
    again, ends = around.behind(jam)
    rows, columns = context.tile.coordinates
    shared, value, turn, line, column, group, thread = (
        context.name(base) for base in ("sums", "value", "turn", "line", "column", "fours", "thread")
    )
    across = times(FOUR, Name(columns.threads))
    pitch = plus(across, IntLiteral(1))
    by_turn = Binary("/", Name(rows.threads), FOUR)

    def element(row: Expr, at: Expr) -> Index:
        return Index(shared.identifier, (onward(times(row, pitch), at),))

    # In shared memory the rows of one register of all threads are one behind the other.
    r0, t0, r1, t1 = (context.name(base) for base in ("r0", "t0", "r1", "t1"))
    of_thread = element(Binary("+", times(r0, Name(rows.threads)), t0), Binary("+", times(FOUR, t1), r1))
    of_group = substitute(jam.value(sums), {r1.identifier: Binary("+", times(FOUR, group), r1)})
    written = counting(
        r0.identifier,
        Name(rows.each),
        (counting(r1.identifier, FOUR, (Assign(of_thread, "=", of_group),), unrolled=True),),
        unrolled=True,
    )
    thread_of_row = Binary("+", times(Binary("%", turn, FOUR), by_turn), line)
    row = substitute(
        layout.places()[0], {r0.identifier: Binary("/", turn, FOUR), t0.identifier: thread_of_row}
    )
    inner: tuple[Stmt, ...] = point_of(around, ends, sums, value)
    inner = (If(context.is_inside(), inner),)
    stored: tuple[Stmt, ...] = (
        Declare(
            type,
            value.identifier,
            initial=element(Binary("+", times(turn, by_turn), line), column),
            const=value.identifier not in assigned_scalars(inner),
        ),
        constant(rows.name, onward(context.name("e0"), row)),
        constant(columns.name, onward(context.name("e1"), Binary("+", times(group, across), column))),
        *inner,
    )
    body: tuple[KernelStmt, ...] = (
        Barrier(),
        written,
        Barrier(),
        counting(turn.identifier, times(FOUR, Name(rows.each)), stored, unrolled=True),
    )
    return (
        Await(ZERO),
        Comment(f"stage({called(around, sums)}): sums through shared memory, to threads beside each other"),
        SharedTile(shared.identifier, type, ZERO),
        *again,
        constant(line.identifier, Binary("/", thread, across)),
        constant(column.identifier, Binary("%", thread, across)),
        counting(group.identifier, Binary("/", Name(columns.each), FOUR), body, unrolled=True, uniform=True),
    )
