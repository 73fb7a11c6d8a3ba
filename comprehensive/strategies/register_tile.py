"""Register tiles: a nest in, the same points cut into tiles of which every thread holds a part in registers, out.

::

    0 <= y0 < m, 0 <= y1 < n: S(y0, y1)
        -->  grid i0 < ceil(m / (T0*U0)), i1 < ceil(n / (T1*U1));  threads t0 < T0, t1 < T1
               for r0 < U0, r1 < U1:  y0 = (i0*U0 + r0)*T0 + t0, y1 = (i1*U1 + r1)*T1 + t1
                 if (y0 < m && y1 < n) S(y0, y1)

The sizes are constants that the tool adds; how the user has cut the ranges (`points.py`) no longer matters but
for where they end.  Each point is visited once, and what a point does keeps its order: results are the same to the bit.
Tiles of points without a serial loop begin where what they store begins a line of the cache, as far as subscripts tell:
with ``b[y + 1] = ...`` the first tile begins at -1.
Where a serial loop shares operands along two coordinates at most, further coordinates are a batch of such tiles, one
value for each block: ``c[b][y0][y1] += a[b][y0][k] * x[b][k][y1]``.
What it is good for: a value that is read for a row and a value that is read for a column serve U0*U1 points, and
loads of several points are in flight together.
"""

from __future__ import annotations

from dataclasses import replace

from comprehensive.loops.integers import ZERO, Ring
from comprehensive.loops.ir import Batch, Coordinate, Loop, Nest, RegisterTile, Role, Scalar, Threads, Variant
from comprehensive.loops.normalize.counters import at_most
from comprehensive.loops.normalize.points import normalize_points
from comprehensive.loops.rewrite import all_names, statements_in
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Declare,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.schedule.lower_tile import tile_obstacle
from comprehensive.schedule.operands import MOST_COORDINATES, serial_loop
from comprehensive.schedule.transposed_store import transposed_store
from comprehensive.strategies.points import points_of

LINE_BYTES = 128
MOST_WITHOUT_LOOP = 3
"""Coordinates of a tile without a serial loop: those along which a grid and a block have extents."""


def register_tile(nest: Nest) -> Applied[Variant] | NotApplicable:
    """The nest over tiles, with one name for each size."""
    points = points_of(nest)
    if isinstance(points, NotApplicable):
        return points
    seen = normalize_points(
        nest, [a.body for a in points.alternatives], dict(zip(points.names, points.limits, strict=True))
    )
    nest = replace(nest, arrays=seen.arrays)
    alternatives = tuple(
        replace(alternative, body=body)
        for alternative, body in zip(points.alternatives, seen.bodies, strict=True)
    )
    name = Namer(all_names(nest) | set(points.names))
    coordinates = tuple(
        Coordinate(point, limit, name(f"T{number}"), name(f"U{number}"), shown=shown)
        for number, (point, limit, shown) in enumerate(
            zip(points.names, points.limits, points.shown, strict=True)
        )
    )
    serial = [serial_loop(alternative.body) for alternative in alternatives]
    # The kernel is told the limit of this loop, so that a launch looks at it anyway.
    told = {at_most(loop.bound) for loop in serial if loop is not None}
    conditions = tuple(dict.fromkeys(c for c in (*points.conditions, *seen.conditions) if c not in told))
    tile = RegisterTile(
        coordinates,
        alternatives,
        name("D"),
        name("S"),
        name("M"),
        conditions=conditions,
        linear=seen.linear,
    )
    has_loop = any(loop is not None for loop in serial)
    tile = _with_batch(nest, tile, MOST_COORDINATES if has_loop else MOST_WITHOUT_LOOP)
    if not has_loop and transposed_store(nest, tile) is None:
        *others, last = tile.coordinates
        tile = replace(tile, coordinates=(*others, replace(last, shift=_shift(nest, tile))))
    coordinates = tile.coordinates
    constants = (*tile.sizes, tile.depth, tile.stages) if has_loop else tile.sizes
    blocks = [name(f"i{number}") for number in range(len(coordinates))]
    threads = [name(f"t{number}") for number in range(len(coordinates))]
    values = [name(f"r{number}") for number in range(len(coordinates))]
    body = _at_each_point(tile)
    for coordinate, block, thread, value in reversed(
        list(zip(coordinates, blocks, threads, values, strict=True))
    ):
        body = (_loop(coordinate, block, thread, value, body),)
    cut = replace(
        nest,
        scalars=(
            *nest.scalars,
            *(Scalar(constant, ScalarType.INT, Role.TILE) for constant in constants),
        ),
        grid=(
            *(Loop(batch.name, batch.limit) for batch in tile.batch),
            *(
                Loop(block, coordinate.tiles(coordinate.limit))
                for coordinate, block in zip(coordinates, blocks, strict=True)
            ),
        ),
        body=(
            Threads(
                tuple(
                    Loop(thread, Name(coordinate.threads))
                    for coordinate, thread in zip(coordinates, threads, strict=True)
                ),
                body,
                nest.bands[0].span,
            ),
        ),
        cached=(),
    )
    sizes = " x ".join((*("1" for _ in tile.batch), *(f"({c.threads}*{c.each})" for c in coordinates)))
    return Applied(Variant(cut, tile=tile), f"tiles of {sizes} points, in registers")


def _with_batch(nest: Nest, tile: RegisterTile, most: int) -> RegisterTile:
    """Put the outermost coordinates of a tile in a batch: all but ``most``, and as few more as its loop asks for.

    Along a coordinate of the batch every block has one value; so nothing is shared along it, and any subscript may
    read it.  Where no number of them helps, the tile is as large as its operands allow, and says why there is none.
    """
    least = max(0, len(tile.coordinates) - most)
    tried = [_batched(tile, number) for number in range(least, len(tile.coordinates))]
    return next((each for each in tried if tile_obstacle(nest, each) is None), tried[0])


def _batched(tile: RegisterTile, number: int) -> RegisterTile:
    batch = tuple(Batch(c.name, c.limit) for c in tile.coordinates[:number])
    return replace(tile, coordinates=tile.coordinates[number:], batch=batch)


def _shift(nest: Nest, tile: RegisterTile) -> int:
    """How far the first element that is stored is behind a multiple of the length of a line of the cache.

    As far as that is known: where data and rows begin at such multiples.
    """
    data = {a.name: a for a in nest.arrays}
    along = tile.coordinates[-1].name
    for statement in statements_in(tuple(s for body in tile.bodies for s in body)):
        match statement:
            case Assign(target=Index(array=array, subscripts=(*_, subscript))) if array in data:
                ring = Ring()
                value = ring.read(subscript)
                if value.degree(along) == 1 and value.coefficient(along, 1) == 1:
                    first = value.evaluate(dict.fromkeys(value.symbols, 0))
                    return int(first) % (LINE_BYTES // data[array].type.size_bytes)
            case _:
                pass
    return 0


def _loop(coordinate: Coordinate, block: str, thread: str, value: str, body: tuple[Stmt, ...]) -> Stmt:
    row = Binary("+", Binary("*", Name(block), Name(coordinate.each)), Name(value))
    place = Binary("+", Binary("*", row, Name(coordinate.threads)), Name(thread))
    if coordinate.shift:
        place = Binary("-", place, IntLiteral(coordinate.shift))
    inside = If(coordinate.inside(Name(coordinate.name), coordinate.limit), body)
    declared = Declare(ScalarType.INT, coordinate.name, initial=place)
    return For(ScalarType.INT, value, ZERO, "<", Name(coordinate.each), IntLiteral(1), (declared, inside))


def _at_each_point(tile: RegisterTile) -> tuple[Stmt, ...]:
    body: tuple[Stmt, ...] = ()
    for alternative in reversed(tile.alternatives):
        if alternative.condition is None:
            body = alternative.body
        else:
            body = (If(alternative.condition, alternative.body, body),)
    return body
