"""The steps of a serial loop with two coordinates: what a step reads is in registers before the step begins.

::

    begin to copy pieces 0 .. S - 2;  fragments of step 0
    for each piece that is whole:
        for z < D:  z == D - 1: await the next pieces, barrier
                    fragments of step z + 1, of this piece or of the next one
                    z == 0: begin to copy the pieces S - 1 ahead
                    all points: sum += fragment_a[z % 2][..] * fragment_b[z % 2][..]
    for z < what is left:  fragments of step z, all points

A fragment is what the points of a thread read of a piece in one step.  Neither shared memory nor the barrier are then
waited for: there is a step of arithmetic to hide them.  Points are done back and forth, so that of two multiply-adds
one after the other the second finds an operand of the first at hand (the operand cache of the register file).

Measured on one H200 (fp32 products of order 4096, 128 x 128 points a block): 0.84 of cuBLAS without fragments, 0.94 to
0.98 with them, 0.99 to 1.02 with points back and forth too.  What is left depends on the banks of registers that the
compiler chooses: fragments as vectors are those where no multiply-add reads three registers of one bank.
"""

from __future__ import annotations

from comprehensive.kernel_ir.kernel import Await, Barrier, Comment, Commit, KernelStmt
from comprehensive.kernel_ir.terms import constant, counting
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.rewrite import map_expressions, substitute
from comprehensive.metafork.terms import plus, times
from comprehensive.schedule.context import ONE, ZERO, commented
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.step import Step

TWO = IntLiteral(2)


def patch_steps(layout: OperandLayout, step: Step) -> tuple[KernelStmt, ...]:
    """The loop, for any pieces."""
    context, depth = layout.context, Name(layout.context.tile.depth)
    whole, slot = context.name("whole"), context.name("slot")
    count = constant(whole.identifier, Binary("/", layout.limit, depth))
    start = Declare(ScalarType.INT, slot.identifier, initial=ZERO)
    return (
        *first_pieces(layout),
        commented(context, "stage", layout.pieces, "what a step reads into registers, a step ahead"),
        *_fragments(layout),
        Comment(
            f"cut({layout.loop.iterator}): pieces of {depth.identifier} steps, then the steps that are left"
        ),
        count,
        start,
        *_loaded(layout, ZERO, ZERO, ZERO),
        counting(
            context.names["step"],
            whole,
            (
                *neighbours(layout),
                counting(context.names["z"], depth, _step(layout, step), unrolled=True, uniform=True),
                Assign(slot, "=", context.name("next")),
            ),
            uniform=True,
        ),
        *_last_piece(layout, step),
    )


def first_pieces(layout: OperandLayout) -> tuple[KernelStmt, ...]:
    stages = Name(layout.context.tile.stages)
    ahead = layout.context.name("ahead")
    others, turned = layout.stages(ahead, turned=False), layout.stages(ahead, turned=True)
    fetches = layout.fetches()
    fetched = (*fetches, *layout.puts(ZERO), *(fetches if len(fetches) == 1 else ()))
    begun = (*others, *_where(Unary("!", layout.held), turned), Commit())
    return (
        commented(layout.context, "stage", layout.pieces, f"the first {stages.identifier} - 1 pieces"),
        counting(ahead.identifier, Binary("-", stages, ONE), begun, unrolled=True, uniform=True),
        *_where(layout.held, fetched),
        Await(Binary("-", stages, TWO)),
        Barrier(),
    )


def neighbours(layout: OperandLayout) -> tuple[Stmt, ...]:
    """The slots of the next piece and of the one before, which has been read."""
    stages, slot = Name(layout.context.tile.stages), layout.context.name("slot")
    behind, before = Binary("+", slot, ONE), Binary("-", slot, ONE)
    following = Conditional(Binary("==", behind, stages), ZERO, behind)
    last = Conditional(Binary("==", slot, ZERO), Binary("-", stages, ONE), before)
    return (constant(layout.context.names["next"], following), constant(layout.context.names["last"], last))


def _step(layout: OperandLayout, step: Step) -> tuple[KernelStmt, ...]:
    """The step ``z`` of a piece, while those of the next step and of pieces to come are on their way.

    What is copied goes where the piece before was read: all have met since then.
    """
    context = layout.context
    depth, stages = Name(context.tile.depth), Name(context.tile.stages)
    z, slot, last, following = (context.name(base) for base in ("z", "slot", "last", "next"))
    next_step = Binary("+", z, ONE)
    is_last = Binary("==", next_step, depth)
    return (
        If(is_last, (Await(Binary("-", stages, TWO)), Barrier()), uniform=True),
        *_loaded(
            layout,
            Conditional(is_last, following, slot),
            Binary("%", next_step, depth),
            Binary("%", next_step, TWO),
        ),
        *_where(Binary("==", z, ZERO), layout.stages(last, turned=False)),
        *_turned(layout, z, last, following),
        *_step_of_piece(layout, step, Binary("+", Binary("*", context.name("step"), depth), z), z),
    )


def _turned(layout: OperandLayout, z: Expr, last: Expr, following: Expr) -> tuple[KernelStmt, ...]:
    """Return statements that bring turned pieces in, and commit what else has been begun.

    Of those that pass through registers a single one is fetched a whole piece before it is put.  Several go through the
    same registers one after the other, each for its share of a piece: all at once would be too many.  Measured on one
    H100: A times its transpose, 2048 x 1024, 183 us for 194 us; but a product with one of them 349 us for 343 us.
    """
    staged, puts, fetches = layout.stages(last, turned=True), layout.puts(following), layout.fetches()
    first = Binary("==", z, ONE)
    if len(fetches) == 1:
        return (
            If(first, (If(layout.held, (*puts, *fetches), staged, uniform=True), Commit()), uniform=True),
        )
    share = Binary("/", Binary("-", Name(layout.context.tile.depth), TWO), IntLiteral(max(1, len(fetches))))
    held: list[KernelStmt] = []
    for number, (fetch, put) in enumerate(zip(fetches, puts, strict=True)):
        begin, end = (times(IntLiteral(n), share) for n in (number, number + 1))
        held += [
            If(Binary("==", z, plus(begin, ONE)), (fetch,), uniform=True),
            If(Binary("==", z, end), (put,), uniform=True),
        ]
    return (
        If(first, (*_where(Unary("!", layout.held), staged), Commit()), uniform=True),
        *_where(layout.held, tuple(held)),
    )


def _step_of_piece(layout: OperandLayout, step: Step, number: Expr, z: Expr) -> tuple[Stmt, ...]:
    """The step of a whole piece, by all points or by those whose step it is."""
    which = Binary("%", z, TWO)
    by_all = _computed(layout, step, number, which)
    if layout.block_steps is None:
        return by_all
    some = _computed(layout, step, number, which, by_all=False)
    return (If(layout.block_steps.is_whole(layout.context.name("step")), by_all, some, uniform=True),)


def _last_piece(layout: OperandLayout, step: Step) -> tuple[KernelStmt, ...]:
    """The steps of the last piece, if it is not whole.

    Through the same registers: the compiler then gives them, and the sums, banks that suit both loops.
    """
    context, z = layout.context, layout.context.name("z")
    done = Binary("*", context.name("whole"), Name(context.tile.depth))
    body = (
        *_loaded(layout, context.name("slot"), z, ZERO),
        *_computed(layout, step, Binary("+", done, z), ZERO, by_all=layout.block_steps is None),
    )
    return (counting(z.identifier, Binary("-", layout.limit, done), body, uniform=True),)


def _fragments(layout: OperandLayout) -> tuple[Stmt, ...]:
    """The registers for what a step reads, and for what the next one does."""
    declared: list[Stmt] = []
    for name in layout.pieces:
        number = layout.coordinate(name)
        each = () if number is None else (Name(layout.context.tile.coordinates[number].each),)
        declared.append(
            Declare(
                layout.context.nest.array(name).type, layout.context.names[f"fragment_{name}"], (TWO, *each)
            )
        )
    return tuple(declared)


def _loaded(layout: OperandLayout, slot: Expr, z: Expr, which: Expr) -> tuple[KernelStmt, ...]:
    """Return statements that load what step ``z`` of a slot's pieces reads into the registers ``which``."""
    begins = layout.begins(slot)
    fragments = tuple(layout.fragment(name, which, z) for name in layout.pieces)
    if slot != ZERO:
        return (*begins, *fragments)
    first = {begin.name: ZERO for begin in begins}
    return map_expressions(fragments, lambda e: substitute(e, first))


def _computed(
    layout: OperandLayout, step: Step, number: Expr, which: Expr, *, by_all: bool = True
) -> tuple[Stmt, ...]:
    """The step ``number`` of those that a block does, from the registers ``which``."""

    def element(name: str) -> Index:
        along = layout.coordinate(name)
        point = () if along is None else (layout.context.name(f"r{along}"),)
        return Index(layout.context.names[f"fragment_{name}"], (which, *point))

    return step.at(plus(layout.begin, number), element, serpentine=True, by_all=by_all)


def _where(condition: Expr, body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
    """The body under a condition, if there is one."""
    return (If(condition, body, uniform=True),) if body else ()
