"""The steps of a product on tensor cores, N at a time: 8 of doubles, 16 of elements of 16 bits, 32 of bytes.

::

    begin to copy pieces 0 .. S - 2;  fragments of the first N steps
    for each piece that is whole:
        begin to copy the piece S - 1 ahead
        where tensor cores do steps:  for z < D, N at a time:  z + N == D: await the next piece, barrier
                                                               fragments of the next N steps
                                                               sums += fragment_a[z / N % 2] * fragment_b[z / N % 2]
        elsewhere:  for z < D: all points: sum += piece_a[..][z] * piece_b[z][..];  await the next piece, barrier
    for z < what is left: all points, as elsewhere

What is left is done step by step: a tensor core would add products of zeros, and -0 + 0 * 0 is 0.
"""

from __future__ import annotations

from comprehensive.kernel_ir.kernel import Await, Barrier, Comment, Commit, KernelStmt, MultiplyAdd
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
from comprehensive.records import replace
from comprehensive.schedule.context import ZERO, commented
from comprehensive.schedule.gemm_loop import first_pieces, neighbours
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.step import Step
from comprehensive.schedule.tensor_core_layout import TWO, TensorCoreLayout


def tensor_core_steps(layout: OperandLayout, step: Step) -> tuple[KernelStmt, ...]:
    """The loop, over pieces as :class:`TensorCoreLayout` has them."""
    assert isinstance(layout, TensorCoreLayout)
    context, depth = layout.context, Name(layout.context.tile.depth)
    whole, slot, at_once, z = (context.name(base) for base in ("whole", "slot", "at_once", "z"))
    done = Binary("*", whole, depth)
    turns = counting(z.identifier, depth, _several_steps(layout, step), unrolled=True, uniform=True)
    number = Binary("*", context.name("step"), depth)
    ahead = f"what {layout.steps} steps read into registers, {layout.steps} steps ahead"
    each: tuple[KernelStmt, ...] = (
        *neighbours(layout),
        *layout.stages(context.name("last"), turned=False),
        Commit(),
        If(
            at_once,
            (replace(turns, step=IntLiteral(layout.steps)),),
            (*_single_steps(layout, step, number, depth), *_next_piece(layout)),
            uniform=True,
        ),
        Assign(slot, "=", context.name("next")),
    )
    return (
        *first_pieces(layout),
        commented(context, "stage", layout.pieces, ahead),
        *layout.fragments(),
        Comment(
            f"cut({layout.loop.iterator}): pieces of {depth.identifier} steps, then the steps that are left"
        ),
        constant(whole.identifier, Binary("/", layout.limit, depth)),
        constant(at_once.identifier, Call(layout.condition, ())),
        Declare(ScalarType.INT, slot.identifier, initial=ZERO),
        If(at_once, _loaded(layout, slot, ZERO, ZERO), uniform=True),
        counting(context.names["step"], whole, each, uniform=True),
        *_single_steps(layout, step, done, Binary("-", layout.limit, done)),
    )


def _several_steps(layout: TensorCoreLayout, step: Step) -> tuple[KernelStmt, ...]:
    """The steps from ``z`` on that are done at a time, from registers, while the next ones are on their way."""
    context, depth, steps = layout.context, Name(layout.context.tile.depth), IntLiteral(layout.steps)
    z, following = context.name("z"), Binary("+", context.name("z"), steps)
    is_last = Binary("==", following, depth)
    slot = Conditional(is_last, context.name("next"), context.name("slot"))
    turn = Binary("/", z, steps)
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
    return MultiplyAdd(layout.multiplied, Name(at_a_point.target.array), left, right, rows, columns)


def _loaded(layout: TensorCoreLayout, slot: Expr, z: Expr, which: Expr) -> tuple[KernelStmt, ...]:
    """Return statements that load what the steps from ``z`` on read of a slot's pieces."""
    return (
        *layout.begins(slot),
        *(layout.fragment(layout.operand(number), which, z) for number in range(2)),
    )


def _single_steps(layout: TensorCoreLayout, step: Step, done: Expr, count: Expr) -> tuple[Stmt, ...]:
    """Return the loop over ``count`` steps of the piece in the slot, from shared memory; ``done`` come before them.

    Unrolled they would take the registers of fragments.
    """
    z = layout.context.name("z")
    body = step.at(Binary("+", done, z), lambda name: layout.element(name, z))
    return (*layout.begins(layout.context.name("slot")), counting(z.identifier, count, body, rolled=True))


def _next_piece(layout: TensorCoreLayout) -> tuple[KernelStmt, ...]:
    """The next piece is there, and nobody reads the one before this any more."""
    return (Await(Binary("-", Name(layout.context.tile.stages), TWO)), Barrier())
