"""Recipes as alternatives at the root of the tree: a nest in, the same points cut into tiles by each recipe, out.

::

    0 <= y0 < m, 0 <= y1 < n: S(y0, y1)
        -->  grid i0 < ceil(m / (T0*U0)), i1 < ceil(n / (T1*U1));  threads t0 < T0, t1 < T1
               for r0 < U0, r1 < U1:  y0 = (i0*U0 + r0)*T0 + t0, y1 = (i1*U1 + r1)*T1 + t1
                 if (y0 < m && y1 < n) S(y0, y1)

The sizes are constants that the tool adds; how the user has cut the ranges (`points.py`) no longer matters but for
where they end.  Each point is visited once, and what a point does keeps its order: results are the same to the bit.
What it is good for: a value that is read for a row and a value that is read for a column serve U0*U1 points, and
loads of several points are in flight together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from comprehensive.loops.access import atomically_updated, names_read
from comprehensive.loops.integers import ZERO
from comprehensive.loops.ir import Coordinate, Loop, Nest, RegisterTile, Role, Scalar, Threads, Variant
from comprehensive.loops.normalize.counters import at_most
from comprehensive.loops.normalize.points import normalize_points
from comprehensive.loops.rewrite import all_names
from comprehensive.metafork.ast import Binary, Declare, Expr, For, If, IntLiteral, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.schedule.operands import loops_of, serial_loop
from comprehensive.schedule.recipe import Recipe
from comprehensive.schedule.recipes.registry import ALTERNATIVES, IN_ANOTHER_ORDER, WITH_ATOMIC_UPDATES
from comprehensive.strategies.points import points_of


@dataclass(frozen=True, slots=True)
class Tiling:
    """An alternative at the root of the tree: what a recipe made of a nest, or why it did not."""

    recipe: str
    result: Applied[Variant] | NotApplicable


def tilings(nest: Nest, *, in_another_order: bool = False) -> tuple[Tiling, ...]:
    """What each row of recipes makes of a nest: the first recipe of it that fits, and why those before it do not.

    With ``in_another_order`` sums may be added up in another order than that of the source.
    """
    cut = _points(nest)
    if isinstance(cut, NotApplicable):
        return (Tiling("points", cut),)
    nest, tile = cut
    first, *others = ALTERNATIVES
    rows = ((*IN_ANOTHER_ORDER, *first) if in_another_order or nest.in_any_order else first, *others)
    if atomically_updated(nest):
        rows = WITH_ATOMIC_UPDATES
    return tuple(found for row in rows for found in _up_to_one_that_fits(nest, tile, row))


def _up_to_one_that_fits(nest: Nest, tile: RegisterTile, row: tuple[Recipe, ...]) -> Iterator[Tiling]:
    for recipe in row:
        fitted = recipe.fit(nest, tile)
        if isinstance(fitted, RegisterTile):
            yield Tiling(recipe.name, _applied(nest, replace(fitted, recipe=recipe.name)))
            return
        if fitted is not None:
            yield Tiling(recipe.name, fitted)


def _points(nest: Nest) -> tuple[Nest, RegisterTile] | NotApplicable:
    """The nest in normal form, and all of its points as one tile, with a name for each size."""
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
    return nest, RegisterTile(
        coordinates,
        alternatives,
        name("D"),
        name("S"),
        name("M"),
        share=name("H"),
        conditions=conditions,
        linear=seen.linear,
    )


def _applied(nest: Nest, tile: RegisterTile) -> Applied[Variant]:
    """The nest over tiles, as people read it and as threads are counted."""
    points = {c.name for c in (*tile.coordinates, *tile.batch)}
    name = Namer(all_names(nest) | points | {tile.depth, tile.stages, tile.blocks, tile.share, *tile.sizes})
    coordinates = tile.coordinates
    constants = _constants(nest, tile)
    blocks = [name(f"i{number}") for number in range(len(coordinates))]
    threads = [name(f"t{number}") for number in range(len(coordinates))]
    values = [name(f"r{number}") for number in range(len(coordinates))]
    body = _at_each_point(tile)
    for number, (coordinate, block, thread, value) in reversed(
        list(enumerate(zip(coordinates, blocks, threads, values, strict=True)))
    ):
        if coordinate.turns is None:
            body = (_loop(coordinate, Name(block), thread, value, body),)
            continue
        turn, turns = name(f"g{number}"), Name(coordinate.turns)
        once = Binary("+", Binary("*", Name(block), turns), Name(turn))
        inner = (_loop(coordinate, once, thread, value, body),)
        body = (For(ScalarType.INT, turn, ZERO, "<", turns, IntLiteral(1), inner),)
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


def _constants(nest: Nest, tile: RegisterTile) -> tuple[str, ...]:
    """The names of the sizes that the kernel is a template over."""
    used = {name for name in (*(c.turns for c in tile.coordinates), tile.lanes) if name is not None}
    if loops_of(nest, tile):
        used |= {tile.depth, tile.stages}
    else:
        used = used.union(*map(names_read, tile.conditions))
    others = dict.fromkeys((tile.depth, tile.stages, tile.lanes))
    return (*tile.sizes, *(name for name in others if name is not None and name in used))


def _loop(coordinate: Coordinate, tile: Expr, thread: str, value: str, body: tuple[Stmt, ...]) -> Stmt:
    row = Binary("+", Binary("*", tile, Name(coordinate.each)), Name(value))
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
    return body if tile.predicate is None else (If(tile.predicate, body),)
