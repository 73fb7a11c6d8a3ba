"""The steps of a product of doubles, eight at a time on tensor cores.

::

    begin to copy pieces 0 .. S - 2;  fragments of the first eight steps
    for each piece that is whole:
        begin to copy the piece S - 1 ahead
        where the compiler contracts:  for z < D, in eights:  z + 8 == D: await the next piece, barrier
                                                              fragments of the next eight steps
                                                              sums += fragment_a[z / 8 % 2] * fragment_b[z / 8 % 2]
        elsewhere:  for z < D: all points: sum += piece_a[..][z] * piece_b[z][..];  await the next piece, barrier
    for z < what is left: all points, as elsewhere

What is left is done step by step: a tensor core would add products of zeros, and -0 + 0 * 0 is 0.
"""

from __future__ import annotations

from dataclasses import replace

from comprehensive.kernel_ir.kernel import CONTRACTS, Await, Barrier, Commit, KernelStmt, MultiplyAdd
from comprehensive.kernel_ir.terms import constant, counting
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Conditional,
    Declare,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.schedule.comments import commented
from comprehensive.schedule.context import ZERO
from comprehensive.schedule.gemm_loop import first_pieces, neighbours
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.step import Step
from comprehensive.schedule.tensor_core_layout import STEPS, TWO, TensorCoreLayout

EIGHT = IntLiteral(STEPS)


def tensor_core_steps(layout: OperandLayout, step: Step) -> tuple[KernelStmt, ...]:
    """The loop, over pieces as :class:`TensorCoreLayout` has them."""
    assert isinstance(layout, TensorCoreLayout)
    context, depth = layout.context, Name(layout.context.tile.depth)
    whole, slot, contracted, z = (context.name(base) for base in ("whole", "slot", "contracted", "z"))
    done = Binary("*", whole, depth)
    turns = counting(z.identifier, depth, _eight_steps(layout, step), unrolled=True, uniform=True)
    number = Binary("*", context.name("step"), depth)
    each: tuple[KernelStmt, ...] = (
        *neighbours(layout),
        *layout.stages(context.name("last"), turned=False),
        Commit(),
        If(
            contracted,
            (replace(turns, step=EIGHT),),
            (*_single_steps(layout, step, number, depth), *_next_piece(layout)),
            uniform=True,
        ),
        Assign(slot, "=", context.name("next")),
    )
    return (
        *first_pieces(layout),
        commented(context, "stage", layout.pieces, "what eight steps read into registers, eight steps ahead"),
        *layout.fragments(),
        constant(whole.identifier, Binary("/", layout.limit, depth)),
        constant(contracted.identifier, Call(CONTRACTS, ())),
        Declare(ScalarType.INT, slot.identifier, initial=ZERO),
        If(contracted, _loaded(layout, slot, ZERO, ZERO), uniform=True),
        counting(context.names["step"], whole, each, uniform=True),
        *_single_steps(layout, step, done, Binary("-", layout.limit, done)),
    )


def _eight_steps(layout: TensorCoreLayout, step: Step) -> tuple[KernelStmt, ...]:
    """The steps from ``z`` on, from registers, while those of the next eight are on their way."""
    context, depth = layout.context, Name(layout.context.tile.depth)
    z, following = context.name("z"), Binary("+", context.name("z"), EIGHT)
    is_last = Binary("==", following, depth)
    slot = Conditional(is_last, context.name("next"), context.name("slot"))
    turn = Binary("/", z, EIGHT)
    return (
        If(is_last, _next_piece(layout), uniform=True),
        *_loaded(
            layout, slot, Binary("%", following, depth), Binary("%", Binary("+", turn, IntLiteral(1)), TWO)
        ),
        _multiplied(layout, step, Binary("%", turn, TWO)),
    )


def _multiplied(layout: TensorCoreLayout, step: Step, which: Expr) -> MultiplyAdd:
    context = layout.context
    (statement,) = step.loop.body
    at_a_point = step.jam.one(statement)
    assert isinstance(at_a_point, Assign)
    assert isinstance(at_a_point.target, Index)
    left, right = (Index(context.names[f"fragment_{layout.operand(n)}"], (which,)) for n in range(2))
    rows, columns = (Name(c.each) for c in context.tile.coordinates)
    return MultiplyAdd(Name(at_a_point.target.array), left, right, rows, columns)


def _loaded(layout: TensorCoreLayout, slot: Expr, z: Expr, which: Expr) -> tuple[KernelStmt, ...]:
    """Return statements that load what the eight steps from ``z`` on read of a slot's pieces."""
    return (
        *layout.begins(slot),
        *(layout.fragment(layout.operand(number), which, z) for number in range(2)),
    )


def _single_steps(layout: TensorCoreLayout, step: Step, done: Expr, count: Expr) -> tuple[Stmt, ...]:
    """So many steps of the piece in the slot, from shared memory, one after the other; ``done`` come before them.

    Unrolled they would take the registers of fragments.
    """
    z = layout.context.name("z")
    body = step.at(Binary("+", done, z), lambda name: layout.element(name, z))
    return (*layout.begins(layout.context.name("slot")), counting(z.identifier, count, body, rolled=True))


def _next_piece(layout: TensorCoreLayout) -> tuple[KernelStmt, ...]:
    """The next piece is there, and nobody reads the one before this any more."""
    return (Await(Binary("-", Name(layout.context.tile.stages), TWO)), Barrier())
