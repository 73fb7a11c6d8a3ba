"""The contents of a block: threads, the elements of each array that it touches with their halo, shared memory.

In: a kernel and its nest, over tiles or as written.  Out: a :class:`BlockShape`, whose extents are polynomials in block
and tile sizes.  Elements come from the footprints of :mod:`comprehensive.poly.footprint`::

    jacobi2d, blocks of B0 x B1   -->   a: (B0 + 2) x (B1 + 2) read, halo of 1 on every side; b: B0 x B1 written
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import Kernel, KernelStmt, SharedTile
from comprehensive.kernel_ir.terms import size_of
from comprehensive.loops.ir import Coordinate, Nest, Role
from comprehensive.metafork.ast import Declare, Expr
from comprehensive.metafork.walk import statements_in
from comprehensive.poly.footprint import footprint
from comprehensive.poly.model import Footprint, Level, Opaque, Tile
from comprehensive.records import replace


class Elements(Struct, frozen=True):
    """The box of elements of ``array`` that a group of references of a block touches, in one step of the loops around.

    ``halo`` has for each coordinate how many of them lie before and behind what the block writes at the same place; it
    is empty where the block writes nothing there, or nothing lies outside.
    """

    array: str
    band: int
    reads: bool
    writes: bool
    extents: tuple[Polynomial, ...]
    halo: tuple[tuple[int, int], ...]
    each: tuple[Polynomial, ...]
    """The box of one thread's elements; empty where these are no single box."""


class Shared(Struct, frozen=True):
    """A tile in shared memory, called ``name`` in the kernel, with elements of ``array``; empty for temporaries."""

    name: str
    array: str
    element_bytes: int
    offset_words: Expr


class BlockShape(Struct, frozen=True):
    """``threads`` outermost first; ``unknown`` are arrays without a footprint, each with the reason."""

    threads: tuple[Expr, ...]
    elements: tuple[Elements, ...]
    unknown: tuple[tuple[str, str], ...]
    shared: tuple[Shared, ...]
    shared_words: Polynomial
    registers: tuple[tuple[str, tuple[Expr, ...]], ...]
    """The arrays that a thread keeps in registers, with their extents."""


def block_shape(kernel: Kernel, nest: Nest) -> BlockShape:
    """Return the shape of a block; nothing of it depends on numbers."""
    sized = _with_sizes(nest)
    found: list[Elements] = []
    unknown: dict[str, str] = {}
    for band in range(len(sized.bands)):
        boxes, reasons = _of_band(sized, band)
        found += boxes
        unknown |= reasons
    return BlockShape(
        kernel.block,
        tuple(found),
        tuple(unknown.items()),
        tuple(_shared(kernel.body)),
        kernel.shared_words,
        tuple(dict.fromkeys(_arrays_of_thread(kernel.body))),
    )


def with_sweeps(shape: BlockShape, tile: Sequence[Coordinate], sizes: Mapping[str, int]) -> BlockShape:
    """The shape of a block that does several sweeps: the points of its tile, those done for neighbours' sake as halo.

    Elements that depend on how many sweeps are done have no footprint of their own.
    """
    extents = tuple(Polynomial.symbol(c.threads) * Polynomial.symbol(c.each) for c in tile)
    leads = tuple(0 if c.lead is None else size_of(c.lead, sizes) for c in tile)
    each = tuple(Polynomial.symbol(c.each) for c in tile)
    name = "points of a tile"
    points = Elements(name, 0, True, True, extents, tuple((lead, lead) for lead in leads), each)
    grids = tuple(replace(grid, array=name) for grid in shape.shared)
    return replace(shape, elements=(points,), shared=grids, unknown=())


def _with_sizes(nest: Nest) -> Nest:
    """The nest with sizes of tiles as parameters of a program: both are at least 1."""
    scalars = (replace(s, role=Role.PROGRAM) if s.role is Role.TILE else s for s in nest.scalars)
    return replace(nest, scalars=tuple(scalars))


def _of_band(nest: Nest, band: int) -> tuple[list[Elements], dict[str, str]]:
    boxes: list[Tile] = []
    each: dict[str, tuple[Polynomial, ...]] = {}
    unknown: dict[str, str] = {}
    for array in nest.arrays:
        found = footprint(nest, band, array.name, Level.BLOCK)
        if isinstance(found, Opaque):
            unknown[array.name] = f"{found.term} {found.reason}"
            continue
        boxes += found.tiles
        single = footprint(nest, band, array.name, Level.THREAD)
        if isinstance(single, Footprint) and len(single.tiles) == 1:
            each[array.name] = single.tiles[0].extent
    written = [box for box in boxes if box.store is not None]
    return [
        Elements(
            box.array,
            band,
            box.load is not None,
            box.store is not None,
            box.extent,
            () if box.load is None else _halo(box, written),
            each.get(box.array, ()),
        )
        for box in boxes
    ], unknown


def _halo(box: Tile, written: Sequence[Tile]) -> tuple[tuple[int, int], ...]:
    """Return what lies outside of the elements that are written at the same place, along each coordinate."""
    for other in written:
        if len(other.origin) != len(box.origin) or not _is_dense(box) or not _is_dense(other):
            continue
        before = [_constant(theirs - ours) for ours, theirs in zip(box.origin, other.origin, strict=True)]
        longer = [_constant(ours - theirs) for ours, theirs in zip(box.extent, other.extent, strict=True)]
        sides = [
            (max(0, first), max(0, more - first))
            for first, more in zip(before, longer, strict=True)
            if first is not None and more is not None
        ]
        if len(sides) == len(box.origin) and any(first or last for first, last in sides):
            return tuple(sides)
    return ()


def _is_dense(box: Tile) -> bool:
    return all(stride == Polynomial.constant(1) for stride in box.stride)


def _constant(polynomial: Polynomial) -> int | None:
    if not polynomial.is_constant or polynomial.constant_value().denominator != 1:
        return None
    return int(polynomial.constant_value())


def _shared(body: Sequence[KernelStmt]) -> Iterator[Shared]:
    for statement in statements_in(body):
        if isinstance(statement, SharedTile):
            size = statement.type.size_bytes
            yield Shared(statement.name, statement.of, size, statement.offset_words)


def _arrays_of_thread(body: Sequence[KernelStmt]) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    for statement in statements_in(body):
        if isinstance(statement, Declare) and statement.dims:
            yield statement.name, statement.dims
