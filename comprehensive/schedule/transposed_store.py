"""Transposed store: a tile that is stored across the rows of memory is turned in shared memory first.

Where neighbours along the last coordinate are read from neighbours in memory but stored far apart, as in a
transposition ``c[y1*n + y0] = a[y0][y1]``, the values of a tile wait in shared memory until threads that lie the
other way round store them::

    all points: turned[y1][y0] = a[y0][y1];  barrier;  all points, y0 along threadIdx.x: c[y1*n + y0] = turned[y1][y0]

Rows of the tile are one element longer than what they hold, so that neither side has bank conflicts.
"""

from __future__ import annotations

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import Barrier, KernelStmt, SharedTile
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import constant, counting, expression
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Alternative, Nest, RegisterTile
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    Stmt,
)
from comprehensive.schedule.comments import commented
from comprehensive.schedule.context import ONE, ZERO, TileContext
from comprehensive.schedule.unroll_and_jam import UnrollAndJam


def transposed_store(nest: Nest, tile: RegisterTile) -> Assign | None:
    """The statement of a point if it is one assignment that stores along the first of two coordinates."""
    match tile:
        case RegisterTile(
            coordinates=(first, last),
            alternatives=(
                Alternative(condition=None, body=(Assign(target=Index() as target, operator="=") as store,)),
            ),
        ):
            pass
        case _:
            return None
    ring = Ring()
    along = ring.read(target.subscripts[-1])
    outer = [ring.read(s) for s in target.subscripts[:-1]]
    crosses = (
        any(last.name in ring.names_in(s) for s in outer) or along.coefficient(last.name, 1).total_degree > 0
    )
    is_along = along.degree(first.name) == 1 and along.coefficient(first.name, 1) == 1
    in_rows = any(first.name in ring.names_in(s) for s in outer)
    return store if crosses and is_along and not in_rows else None


def transposed_words(context: TileContext) -> Polynomial:
    """4-byte words of shared memory of a block."""
    rows, pitch = _shape(context)
    store = transposed_store(context.nest, context.tile)
    assert store is not None
    assert isinstance(store.target, Index)
    return rows * pitch * words_per_element(context.nest.array(store.target.array).type)


def transposed(context: TileContext, jam: UnrollAndJam, store: Assign) -> tuple[KernelStmt, ...]:
    """Return the work on a tile that is inside of the limits."""
    assert isinstance(store.target, Index)
    type = context.nest.array(store.target.array).type
    shared = context.names[f"shared_{store.target.array}"]
    first, last = context.tile.coordinates
    _, pitch = _shape(context)
    inside = [Binary("-", Name(c.name), context.name(f"o{number}")) for number, c in enumerate((first, last))]
    row = Binary("*", inside[1], expression(pitch, context.tile.sizes))
    element = Index(shared, (Binary("+", row, inside[0]),))
    held = jam.at_points((Assign(element, "=", context.flat(store.value), store.span),))
    stored: tuple[Stmt, ...] = (Assign(flat(store.target, context.strides), "=", element, store.span),)
    stored = _spread(context, 0, first.extent, Name(last.threads), "t1", "r1", stored)
    stored = _spread(context, 1, last.extent, Name(first.threads), "t0", "r0", stored)
    rows, columns = (size.format(context.tile.sizes) for size in _sizes(context))
    does = f"{rows} x {columns} elements through shared memory, transposed"
    comment = commented(context, "stage", [store.target.array], does)
    return (
        comment,
        SharedTile(shared, type, ZERO, store.target.array),
        *held,
        Barrier(),
        *stored,
    )


def _sizes(context: TileContext) -> tuple[Polynomial, Polynomial]:
    first, last = (Polynomial.symbol(c.threads) * Polynomial.symbol(c.each) for c in context.tile.coordinates)
    return last, first


def _shape(context: TileContext) -> tuple[Polynomial, Polynomial]:
    rows, columns = _sizes(context)
    return rows, columns + 1


def _spread(
    context: TileContext,
    number: int,
    extent: Expr,
    threads: Expr,
    thread: str,
    counter: str,
    body: tuple[Stmt, ...],
) -> tuple[Stmt, ...]:
    """All values of the coordinate in a tile by so many threads, each done once."""
    c = context.tile.coordinates[number]
    place = Binary("+", Binary("*", context.name(counter), threads), context.name(thread))
    end = Binary("+", context.name(f"o{number}"), extent)
    fits = Binary("==", Binary("%", extent, threads), IntLiteral(0))
    guarded = If(Binary("||", fits, Binary("<", Name(c.name), end)), body)
    value = constant(c.name, Binary("+", context.name(f"o{number}"), place))
    turns = Binary("/", Binary("+", extent, Binary("-", threads, ONE)), threads)
    return (counting(context.names[counter], turns, (value, guarded), unrolled=True),)
