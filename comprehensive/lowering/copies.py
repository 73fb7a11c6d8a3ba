"""Copy loops between global and shared memory.

In: a placed tile.  Out: plain statements of one thread that copy its share, strided by the block's threads, so that
any block shape fills any tile (the ``if (t1 < B0)`` of the paper's figure 4 leaves a hole when ub1 < B0)::

    for (int x0 = threadIdx.y; x0 < B0; x0 += blockDim.y)
      for (int x1 = threadIdx.x; x1 < B0; x1 += blockDim.x)
        shared_a[x0 * B0 + x1] = a[(i * B0 + x0) * a_stride0 + (k * B0 + x1)];

The last virtual coordinate is the contiguous one and runs along ``threadIdx.x``; a tile of one coordinate is shared
by all threads of the block.  An element is copied only where the tile's condition says that it is accessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.parameters import flat_index
from comprehensive.kernel_ir.terms import condition, expression, total, widen
from comprehensive.loops.ir import AXES
from comprehensive.lowering.placement import PlacedTile
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Cast,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.terms import plus, times
from comprehensive.poly.model import Condition


class Names(Struct, frozen=True):
    """Names free for the copy loops, and how global memory is addressed; ``block_rank`` axes are in use."""

    counters: tuple[str, ...]
    coordinates: tuple[str, ...]
    thread: str
    outer: str
    block_rank: int
    order: tuple[str, ...]
    """Scalars and iterators in the order in which people expect them in a product."""
    type: ScalarType
    """The type in which coordinates of elements are computed: ``int``, or ``long`` where the nest does so."""


def shared_index(placed: PlacedTile, position: Sequence[Expr], order: Sequence[str]) -> Expr:
    """Return where the element at ``position`` of the box lies behind the tile's pointer: row by row."""
    result: Expr = IntLiteral(0)
    for offset, extent in zip(position, placed.tile.extent, strict=True):
        result = plus(times(result, expression(extent, order)) if result != IntLiteral(0) else result, offset)
    return result


def copy_in(placed: PlacedTile, strides: Sequence[Expr], names: Names) -> tuple[Stmt, ...]:
    """Global to shared, where the tile's ``load`` says so."""
    assert placed.tile.load is not None
    return _copy(placed, strides, names, placed.tile.load, into_shared=True)


def copy_out(placed: PlacedTile, strides: Sequence[Expr], names: Names) -> tuple[Stmt, ...]:
    """Shared to global, where the tile's ``store`` says so."""
    assert placed.tile.store is not None
    return _copy(placed, strides, names, placed.tile.store, into_shared=False)


def _copy(
    placed: PlacedTile, strides: Sequence[Expr], names: Names, where: Condition, *, into_shared: bool
) -> tuple[Stmt, ...]:
    tile = placed.tile
    rank = len(tile.extent)
    counters: list[Expr] = [Name(name) for name in names.counters[:rank]]
    shared = Index(placed.pointer, (shared_index(placed, counters, names.order),))
    coordinates = names.coordinates[:rank]
    declarations = tuple(
        Declare(
            names.type,
            coordinate,
            initial=_computed(
                plus(expression(origin, names.order), times(expression(stride, names.order), counter)), names
            ),
            const=True,
        )
        for coordinate, origin, stride, counter in zip(
            coordinates, tile.origin, tile.stride, counters, strict=True
        )
    )
    subscripts = [_combine(row, coordinates, names.order) for row in tile.weights]
    element = Index(tile.array, (flat_index(subscripts, strides),))
    transfer: Stmt = Assign(shared, "=", element) if into_shared else Assign(element, "=", shared)
    guard = condition(where, {f"@{k}": c for k, c in enumerate(coordinates)}, names.order)
    copied: Stmt = transfer if guard is None else If(_computed(guard, names), (transfer,))
    body: tuple[Stmt, ...] = (*declarations, copied)
    for k in reversed(range(rank)):
        start, step = _share(rank, k, names)
        extent = expression(tile.extent[k], names.order)
        body = (For(ScalarType.INT, names.counters[k], start, "<", extent, step, body),)
    return body


def _computed(expr: Expr, names: Names) -> Expr:
    return widen(expr) if names.type is ScalarType.LONG else expr


def _share(rank: int, k: int, names: Names) -> tuple[Expr, Expr]:
    """First value and step of the loop over coordinate k for one thread."""
    axis = rank - 1 - k
    if rank == 1 and names.block_rank > 1:
        return Name(names.thread), product_of_block(names.block_rank)
    if axis >= names.block_rank:
        return IntLiteral(0), IntLiteral(1)
    return Name(f"threadIdx.{AXES[axis]}"), Name(f"blockDim.{AXES[axis]}")


def product_of_block(rank: int) -> Expr:
    """The number of threads of a block: ``blockDim.x * blockDim.y * ...``."""
    result: Expr = Name("blockDim.x")
    for axis in AXES[1:rank]:
        result = Binary("*", result, Name(f"blockDim.{axis}"))
    return result


def thread_number(rank: int) -> Expr:
    """The number of a thread in its block, x fastest."""
    result: Expr = Name(f"threadIdx.{AXES[rank - 1]}")
    for axis in reversed(AXES[: rank - 1]):
        result = Binary("+", Binary("*", result, Name(f"blockDim.{axis}")), Name(f"threadIdx.{axis}"))
    return result


def _combine(row: Sequence[Polynomial], coordinates: Sequence[str], order: Sequence[str]) -> Expr:
    """Return ``weight0 * coordinate0 + ...`` of one C subscript; 64 bits wide where a coordinate is scaled."""
    summands: list[Expr] = []
    for weight, coordinate in zip(row, coordinates, strict=True):
        if not weight:
            continue
        scale = expression(weight, order)
        factor: Expr = Name(coordinate)
        summands.append(
            factor if scale == IntLiteral(1) else Binary("*", Cast(ScalarType.LONG, factor), scale)
        )
    return total(summands)


def box_position(placed: PlacedTile, index: Sequence[Polynomial], order: Sequence[str]) -> tuple[Expr, ...]:
    """The position in the box of a reference with these virtual coordinates.

    Raises ValueError when the reference does not lie on the tile's lattice (a bug of the footprint analysis).
    """
    position: list[Expr] = []
    for coordinate, origin, stride in zip(index, placed.tile.origin, placed.tile.stride, strict=True):
        quotient = (coordinate - origin).divide_exactly(stride)
        if quotient is None:
            raise ValueError(f"{coordinate} is not on the lattice {origin} + ({stride}) * x")
        position.append(_exact(quotient, order))
    return tuple(position)


def _exact(quotient: Polynomial, order: Sequence[str]) -> Expr:
    """A polynomial with rational coefficients, every value of which is an integer here, as a C expression.

    The iterator of ``for (z = 1; z < 8; z += 2)`` is at position ``1/2*z - 1/2``, which is written ``(z - 1) / 2``.
    """
    divisor = lcm(*(term.coefficient.denominator for term in quotient.terms()))
    if divisor == 1:
        return expression(quotient, order)
    return Binary("/", expression(quotient * divisor, order), IntLiteral(divisor))
