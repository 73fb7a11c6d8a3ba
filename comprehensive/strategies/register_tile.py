"""Register tiles: a nest in, the same points cut into tiles of which every thread holds a part in registers, out.

::

    0 <= y0 < m, 0 <= y1 < n: S(y0, y1)
        -->  grid i0 < ceil(m / (T0*U0)), i1 < ceil(n / (T1*U1));  threads t0 < T0, t1 < T1
               for r0 < U0, r1 < U1:  y0 = (i0*U0 + r0)*T0 + t0, y1 = (i1*U1 + r1)*T1 + t1
                 if (y0 < m && y1 < n) S(y0, y1)

The sizes are constants that the tool adds; how the user has cut the ranges (`coordinates.py`) no longer matters but
for where they end.  Each point is visited once, and what a point does keeps its order: results are the same to the bit.
What it is good for: a value that is read for a row and a value that is read for a column serve U0*U1 points, and
loads of several points are in flight together.
"""

from __future__ import annotations

from dataclasses import replace

from comprehensive.codegen.pieces import serial_loop
from comprehensive.loops.integers import ZERO
from comprehensive.loops.ir import Coordinate, Loop, Nest, RegisterTile, Role, Scalar, Threads, Variant
from comprehensive.loops.rewrite import all_names
from comprehensive.metafork.ast import Binary, Declare, For, If, IntLiteral, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.strategies.coordinates import points_of


def register_tile(nest: Nest) -> Applied[Variant] | NotApplicable:
    """The nest over tiles, with one name for each size."""
    points = points_of(nest)
    if isinstance(points, NotApplicable):
        return points
    name = Namer(all_names(nest) | set(points.names))
    coordinates = tuple(
        Coordinate(point, limit, name(f"T{number}"), name(f"U{number}"))
        for number, (point, limit) in enumerate(zip(points.names, points.limits, strict=True))
    )
    tile = RegisterTile(coordinates, points.alternatives, name("D"), name("S"), name("M"))
    has_loop = any(serial_loop(alternative.body) is not None for alternative in tile.alternatives)
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
        grid=tuple(
            Loop(block, coordinate.tiles(coordinate.limit))
            for coordinate, block in zip(coordinates, blocks, strict=True)
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
    sizes = " x ".join(f"({c.threads}*{c.each})" for c in coordinates)
    return Applied(Variant(cut, tile=tile), f"tiles of {sizes} points, in registers")


def _loop(coordinate: Coordinate, block: str, thread: str, value: str, body: tuple[Stmt, ...]) -> Stmt:
    row = Binary("+", Binary("*", Name(block), Name(coordinate.each)), Name(value))
    place = Binary("+", Binary("*", row, Name(coordinate.threads)), Name(thread))
    inside = If(Binary("<", Name(coordinate.name), coordinate.limit), body)
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
