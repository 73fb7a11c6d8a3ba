"""Transposed accesses: elements that lie across the rows of a tile go through shared memory, which turns them.

Threads of a warp are neighbours along the last coordinate.  What runs along another one, the first of two, is accessed
by threads that lie the other way round: before the points what they read, behind them what they store::

    b[y0][y1] = a[y1][y0]  -->  y0 along threadIdx.x: turned_a[y1][y0] = a[y1][y0];  barrier;
                                y1 along threadIdx.x: b[y0][y1] = turned_a[y1][y0]
    c[y1][y0] = a[y0][y1]  -->  y1 along threadIdx.x: turned_c[y1][y0] = a[y0][y1];  barrier;
                                y0 along threadIdx.x: c[y1][y0] = turned_c[y1][y0]

That is right for elements that every point reads in any case, of data that no point writes, and for elements that a
point stores once and does not read.  Rows of the tile are some elements longer than what they hold, so that neither
side has bank conflicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial, sum_of
from comprehensive.kernel_ir.kernel import Barrier, KernelStmt
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import constant, counting, expression, onward
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Alternative, Batch, Nest, RegisterTile
from comprehensive.loops.normalize.interchange import runs_along
from comprehensive.loops.traverse import always_evaluated, map_indices
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
from comprehensive.metafork.walk import elements, elements_in, own_expressions
from comprehensive.records import replace
from comprehensive.schedule.context import ONE, TileContext, commented
from comprehensive.schedule.unroll_and_jam import UnrollAndJam, jammed_scalars

MOST_ARRAYS = 3
"""Tiles in shared memory of a block: with more of them a multiprocessor has room for few blocks."""
_BANK_BYTES = 4


class TransposedAccesses(Struct, frozen=True):
    """The references of a body that run along the first of two coordinates, one of an array."""

    reads: tuple[Index, ...]
    """The elements that are read before the points."""
    stores: tuple[Assign, ...]
    """The statements whose values are stored behind the points."""

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that have a tile in shared memory."""
        return tuple(e.array for e in (*self.reads, *map(_target, self.stores)))


def over_two_coordinates(nest: Nest, tile: RegisterTile) -> RegisterTile | None:
    """Return the tile over the last coordinate and the one along which most of what is not along it runs, with all
    others as a batch; None where nothing runs along another coordinate, or none of it can wait."""
    body = _straight_body(tile)
    if body is None:
        return None
    *others, last = tile.coordinates
    names = [c.name for c in tile.coordinates]
    along = Counter(
        _along(reference, names, Ring())
        for reference in dict.fromkeys(_references(nest, body))
        if last.name in names_read(reference)
    )
    first = max(others, key=lambda c: along[c.name], default=None)
    if first is None or not along[first.name]:
        return None
    batch = tuple(Batch(c.name, c.limit) for c in others if c is not first)
    over = replace(tile, coordinates=(first, last), batch=batch)
    return over if transposed_accesses(nest, over) is not None else None


def transposed_accesses(nest: Nest, tile: RegisterTile) -> TransposedAccesses | None:
    """Return what of a tile over two coordinates runs along the first one and can be transposed; None where nothing
    does, or more than a block has room for."""
    body = _straight_body(tile)
    assert body is not None
    pointers = {a.name: a.pointer for a in nest.arrays}
    stored = [s for s in body if isinstance(s, Assign) and isinstance(s.target, Index)]
    written = Counter(pointers.get(_target(s).array) for s in stored)
    reads = {
        e.array: e
        for s in body
        for x in _read_by(s)
        for e in always_evaluated(x)
        if isinstance(e, Index) and not written[pointers.get(e.array)] and _is_across(nest, tile, e)
    }
    read = {pointers.get(e.array) for s in body for x in _read_by(s) for e in elements(x)}
    stores = {
        _target(s).array: s
        for s in stored
        if _is_across(nest, tile, _target(s)) and s.operator == "=" and not s.atomic
        if written[pointers[_target(s).array]] == 1 and pointers[_target(s).array] not in read
    }
    found = TransposedAccesses(tuple(reads.values()), tuple(stores.values()))
    return found if 0 < len(found.arrays) <= MOST_ARRAYS else None


def transposed_words(context: TileContext) -> Polynomial:
    """4-byte words of shared memory of a block."""
    return sum_of(words for _, _, words, _ in _tiles(context))


def transposed(context: TileContext) -> tuple[KernelStmt, ...]:
    """Return the work on a tile; where the limits cut it, threads outside of them access nothing."""
    body = context.tile.alternatives[0].body
    jam = UnrollAndJam(context, jammed_scalars(context.nest, body), context.rows_side_by_side(), context.flat)
    whole, cut = (tuple(_done(context, replace(jam, cut=cut))) for cut in (False, True))
    rows, columns = (size.format(context.tile.sizes) for size in _extents(context))
    accesses = _accesses(context)
    does = f"{rows} x {columns} elements through shared memory, transposed"
    return (
        commented(context, "stage", accesses.arrays, does),
        *context.shared_tiles(_tiles(context)),
        If(context.is_whole(), whole, cut, uniform=True),
    )


def _done(context: TileContext, jam: UnrollAndJam) -> Iterator[KernelStmt]:
    """Yield the work on a tile, with all its accesses in the order of memory."""
    accesses = _accesses(context)
    staged = {e: _element(context, e.array) for e in accesses.reads}
    for read in accesses.reads:
        yield from _turned_round(
            context, Assign(staged[read], "=", context.flat(read), read.span), cut=jam.cut
        )
    if accesses.reads:
        yield Barrier()
    for statement in context.tile.alternatives[0].body:
        (inside,) = map_indices((statement,), lambda e: staged.get(e, e))
        if statement in accesses.stores:
            assert isinstance(inside, Assign)
            waiting = replace(inside, target=_element(context, _target(inside).array))
            yield from jam.at_points((jam.one(waiting),), guards=context.inside() if jam.cut else ())
        else:
            yield from jam.all((inside,))
    if accesses.stores:
        yield Barrier()
    for store in accesses.stores:
        target = _target(store)
        stored = Assign(flat(target, context.strides), "=", _element(context, target.array), store.span)
        yield from _turned_round(context, stored, cut=jam.cut)


def _turned_round(context: TileContext, statement: Stmt, *, cut: bool) -> tuple[Stmt, ...]:
    """Return a statement at all points of the tile by threads that are neighbours along the first coordinate."""
    first, last = context.tile.coordinates
    return _spread(
        context,
        1,
        Name(first.threads),
        ("t0", "r0"),
        _spread(context, 0, Name(last.threads), ("t1", "r1"), (statement,), cut=cut),
        cut=cut,
    )


def _spread(
    context: TileContext,
    number: int,
    threads: Expr,
    names: tuple[str, str],
    body: tuple[Stmt, ...],
    *,
    cut: bool,
) -> tuple[Stmt, ...]:
    """All values of the coordinate in a tile by so many threads, each done once; ``names`` are those of a thread and
    of its turns."""
    c = context.tile.coordinates[number]
    thread, turn = names
    place = Binary("+", Binary("*", context.name(turn), threads), context.name(thread))
    end = Binary("+", context.name(f"o{number}"), c.extent)
    fits = Binary("==", Binary("%", c.extent, threads), IntLiteral(0))
    inside: Expr = Binary("||", fits, Binary("<", Name(c.name), end))
    if cut:
        inside = Binary("&&", Binary("<", Name(c.name), context.limit(number)), inside)
    value = constant(c.name, onward(context.name(f"o{number}"), place))
    turns = Binary("/", Binary("+", c.extent, Binary("-", threads, ONE)), threads)
    return (counting(context.names[turn], turns, (value, If(inside, body)), unrolled=True),)


# --- tiles in shared memory


def _tiles(context: TileContext) -> tuple[tuple[str, ScalarType, Polynomial, str], ...]:
    """Return the name, the type of the elements, the 4-byte words and the array of each tile in shared memory."""
    rows, _ = _extents(context)
    return tuple(
        (
            context.names[f"shared_{array}"],
            context.element_type(array),
            rows * _pitch(context, array) * words_per_element(context.element_type(array)),
            array,
        )
        for array in _accesses(context).arrays
    )


def _element(context: TileContext, array: str) -> Index:
    """Return the place of a point in the tile of an array."""
    first, last = (
        Binary("-", Name(c.name), context.name(f"o{number}"))
        for number, c in enumerate(context.tile.coordinates)
    )
    row = Binary("*", last, expression(_pitch(context, array), context.tile.sizes))
    return Index(context.names[f"shared_{array}"], (Binary("+", row, first),))


def _extents(context: TileContext) -> tuple[Polynomial, Polynomial]:
    """Return the rows of a tile and the elements that each of them holds."""
    first, last = (Polynomial.symbol(c.threads) * Polynomial.symbol(c.each) for c in context.tile.coordinates)
    return last, first


def _pitch(context: TileContext, array: str) -> Polynomial:
    """Return the elements from row to row: those of a row and of one bank more."""
    _, columns = _extents(context)
    return columns + max(1, _BANK_BYTES // context.element_type(array).size_bytes)


def _accesses(context: TileContext) -> TransposedAccesses:
    found = transposed_accesses(context.nest, context.tile)
    assert found is not None
    return found


# --- references


def _straight_body(tile: RegisterTile) -> tuple[Stmt, ...] | None:
    """Return the body of points that do nothing but declare and assign, all of them the same; None for others."""
    match tile:
        case RegisterTile(alternatives=(Alternative(condition=None, body=body),), predicate=None) if all(
            isinstance(s, Assign) or (isinstance(s, Declare) and not s.dims) for s in body
        ):
            return body
        case _:
            return None


def _is_across(nest: Nest, tile: RegisterTile, reference: Index) -> bool:
    """Whether a reference runs along the first coordinate, far apart along the last one, wherever points are known."""
    first, last = (c.name for c in tile.coordinates)
    points = {first, last} | {batch.name for batch in tile.batch}
    known = points | {s.name for s in nest.scalars}
    return (
        _along(reference, [*points], Ring()) == first
        and any(last in names_read(s) for s in reference.subscripts)
        and all(names_read(s) <= known for s in reference.subscripts)
    )


def _along(reference: Index, names: Sequence[str], ring: Ring) -> str | None:
    return runs_along([ring.read(s) for s in reference.subscripts], names, ring)


def _references(nest: Nest, body: Sequence[Stmt]) -> Iterator[Index]:
    data = {array.name for array in nest.arrays}
    return (e for e in elements_in(body) if e.array in data)


def _read_by(statement: Stmt) -> tuple[Expr, ...]:
    """Return what a statement reads, the places of what it stores among it."""
    match statement:
        case Assign(target=Index(subscripts=subscripts), operator="=", value=value):
            return (*subscripts, value)
        case _:
            return own_expressions(statement)


def _target(statement: Assign) -> Index:
    assert isinstance(statement.target, Index)
    return statement.target
