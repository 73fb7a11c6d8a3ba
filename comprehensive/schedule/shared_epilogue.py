"""Epilogue through shared memory: sums are stored by threads whose neighbours store what is beside it in memory.

In: a layout of tensor cores, whose threads hold pairs of neighbouring sums in rows that are far apart, and what follows
the loop at a point.  Out: the statements of the kernel behind the loop::

    all pieces are there and read
    all points: sums[row][column] = sum;  barrier
    thread t of T0*T1, place = t, t + T0*T1, ..: the point at row place / (T1*U1), column place % (T1*U1), if inside

The sums take the place of the operand tiles, which nobody needs any more.  Rows are eight elements longer than what
they hold: the pairs that half a warp writes are then in different banks.

Legal where what follows the loop reads one scalar or element of the points that the loop has computed, and no other:
else it stays with the threads that have computed it.  Measured on one H200: a product of 4096 x 4096 x 256 elements
of 16 bits spends more time with its sums than with their steps if each thread stores its own.
"""

from __future__ import annotations

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import Await, Barrier, Comment, KernelStmt, SharedTile
from comprehensive.kernel_ir.terms import constant, counting, onward, product
from comprehensive.machine.parameters import WORD_BYTES
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
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.metafork.terms import times
from comprehensive.metafork.walk import assigned_scalars, expressions_in, subexpressions
from comprehensive.records import replace
from comprehensive.schedule.around_loop import AroundLoop
from comprehensive.schedule.context import ZERO
from comprehensive.schedule.operand_layout import OperandLayout
from comprehensive.schedule.unroll_and_jam import UnrollAndJam

PADDING = 8
"""Elements between rows of sums."""


def epilogue_words(layout: OperandLayout) -> Polynomial:
    """The 4-byte words of shared memory that the sums of a block take."""
    rows, columns = (
        Polynomial.symbol(c.threads) * Polynomial.symbol(c.each) for c in layout.context.tile.coordinates
    )
    return rows * (columns + PADDING)


def stored_through_shared_memory(
    layout: OperandLayout, around: AroundLoop, jam: UnrollAndJam
) -> tuple[KernelStmt, ...]:
    """Return what follows the loop, for all points of a block."""
    found = sum_of(around)
    if found is None:
        return layout.of_points(*around.stored(jam))
    sums, type = found
    context = layout.context
    again, ends = around.behind(jam)
    columns = product([Name(context.tile.coordinates[1].threads), Name(context.tile.coordinates[1].each)])
    shared, value, turn, place = (context.name(base) for base in ("sums", "value", "turn", "place"))
    pitch = Binary("+", columns, IntLiteral(PADDING))

    def element(row: Expr, column: Expr) -> Index:
        return Index(shared.identifier, (onward(times(row, pitch), column),))

    row, column = Binary("/", place, columns), Binary("%", place, columns)
    counts = [Name(c.each) for c in context.tile.coordinates]
    coordinates = zip(context.tile.coordinates, (row, column), strict=True)
    points = [constant(c.name, onward(context.name(f"e{n}"), at)) for n, (c, at) in enumerate(coordinates)]
    inner: tuple[Stmt, ...] = point_of(around, ends, sums, value)
    inner = (If(context.is_inside(), inner),)
    each: tuple[Stmt, ...] = (
        constant(place.identifier, Binary("+", times(turn, layout.threads), context.name("thread"))),
        Declare(
            type,
            value.identifier,
            initial=element(row, column),
            const=value.identifier not in assigned_scalars(inner),
        ),
        *points,
        *inner,
    )
    written = jam.at_points((Assign(element(*layout.places()), "=", jam.value(sums)),))
    text = " x ".join(f"{c.threads}*{c.each}" for c in context.tile.coordinates)
    return (
        Await(ZERO),
        Barrier(),
        Comment(
            f"stage({called(around, sums)}): {text} sums through shared memory, to threads beside each other"
        ),
        SharedTile(shared.identifier, type, ZERO, ""),
        *written,
        Barrier(),
        *again,
        counting(turn.identifier, product(counts), each, unrolled=True),
    )


def sum_of(around: AroundLoop) -> tuple[Expr, ScalarType] | None:
    """The one scalar or element in registers that what follows the loop reads, if it has 4 bytes, and its type."""
    scalars = {s.name: s.type for s in around.before if isinstance(s, Declare)}
    read = {e for x in expressions_in(around.after) for e in subexpressions(x)}
    names = [name for name in scalars if Name(name) in read]
    found: list[tuple[Expr, ScalarType]] = [(Name(name), scalars[name]) for name in names]
    found += [(around.private(a), around.context.nest.array(a).type) for a in around.held]
    match found:
        case [(expression, type)] if type.size_bytes == WORD_BYTES:
            return expression, type
        case _:
            return None


def called(around: AroundLoop, sums: Expr) -> str:
    """Return what the program calls the sums."""
    (array,) = around.held or ("",)
    return sums.identifier if isinstance(sums, Name) else around.context.nest.array(array).pointer


def point_of(around: AroundLoop, ends: UnrollAndJam, sums: Expr, value: Name) -> tuple[Stmt, ...]:
    """Return what follows the loop at a point, with the sum in ``value``."""

    def replaced(expression: Expr) -> Expr:
        return map_expression(around.of_registers(expression), lambda e: value if e == sums else e)

    at_one = replace(ends, scalars=frozenset[str](), reference=replaced)
    stores = map_expressions(
        around.stores(), lambda e: map_expression(e, lambda x: value if x == sums else x)
    )
    return (*map(at_one.one, around.after), *stores)
