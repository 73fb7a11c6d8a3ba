"""Recipes as alternatives at the root of the tree: regions as points in, the same cut into tiles by each recipe out.

How the user has cut the ranges no longer matters but for where they end.  Each point is visited once, and what a point
does keeps its order: results are the same to the bit.  The sizes are constants that the tool adds.
What it is good for: a value that is read for a row and a value that is read for a column serve all points of a thread,
and loads of several points are in flight together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from comprehensive.loops.access import atomically_updated
from comprehensive.loops.ir import Coordinate, Nest, Points, RegisterTile, Variant
from comprehensive.loops.normalize.counters import at_most
from comprehensive.loops.normalize.points import normalize_points
from comprehensive.loops.traverse import all_names
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.printer import print_expr
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.collapse_coordinates import collapsed, with_lines_joined
from comprehensive.schedule.cut import cut
from comprehensive.schedule.joined_members import with_members_joined
from comprehensive.schedule.operands import serial_loop
from comprehensive.schedule.recipe import RegionRecipe
from comprehensive.schedule.recipes.registry import OF_LOOPS, Where, only_in_any_order, rows


class Tiling(Struct, frozen=True):
    """An alternative at the root of the tree: what a recipe made of a nest, or why it did not."""

    recipe: str
    result: Applied[Variant] | NotApplicable


def of_region(
    nest: Nest, points: Points | NotApplicable, *, in_another_order: bool = False
) -> tuple[Tiling, ...]:
    """Return for each row of recipes the first one that fits the nest, with its tile, and why those before do not.

    With ``in_another_order`` sums may be added up in another order than that of the source.
    """
    if isinstance(points, NotApplicable):
        return (Tiling("points", points),)
    nest, tile = one_tile(nest, points)
    if atomically_updated(nest):
        return _of_rows(nest, tile, Where.ATOMIC)
    on_a_line = _on_a_line(collapsed(nest, tile))
    nest, tile = with_lines_joined(nest, tile)
    if in_another_order or nest.in_any_order:
        found = _of_rows(nest, tile, Where.IN_ORDER | Where.IN_ANY_ORDER)
        return (*_with_members(nest, tile, found), *on_a_line)
    found = _of_rows(nest, tile, Where.IN_ORDER)
    return (*_with_members(nest, tile, found), *on_a_line, *_not_allowed(nest, tile))


def _on_a_line(found: tuple[Nest, RegisterTile] | NotApplicable | None) -> tuple[Tiling, ...]:
    """Return what recipes make of points whose coordinates are one, or why they are not."""
    if found is None:
        return ()
    if isinstance(found, NotApplicable):
        return tuple(Tiling(recipe.name, found) for row in rows(Where.ON_A_LINE) for recipe in row)
    return _of_rows(*found, Where.ON_A_LINE)


def _with_members(nest: Nest, tile: RegisterTile, found: Sequence[Tiling]) -> tuple[Tiling, ...]:
    """Return the tilings with those of points that read members of elements as neighbours in the place of others."""
    joined = with_members_joined(nest, tile)
    made = () if joined is None else _of_rows(*joined, Where.OF_MEMBERS)
    of_members = {each.recipe: each for each in made if isinstance(each.result, Applied)}
    return tuple(of_members.get(each.recipe, each) for each in found)


def _of_rows(nest: Nest, tile: RegisterTile, where: Where) -> tuple[Tiling, ...]:
    return tuple(found for row in rows(where) for found in _up_to_one_that_fits(nest, tile, row))


def _not_allowed(nest: Nest, tile: RegisterTile) -> Iterator[Tiling]:
    """Yield the recipes that would stand beside the others if sums might be added up in another order."""
    reason = "it adds up sums in another order than the source, which --reassociate allows"
    for recipe in only_in_any_order():
        if isinstance(recipe.fit(nest, tile), RegisterTile):
            yield Tiling(recipe.name, NotApplicable(reason))


def of_loops(
    nests: Sequence[Nest], points: Sequence[Points | NotApplicable]
) -> tuple[tuple[Tiling, ...], ...]:
    """Return for each region of a program what each recipe for a loop of the host makes of it."""
    made = [(recipe.name, recipe.fit(nests, points)) for recipe in OF_LOOPS]
    return tuple(
        tuple(
            Tiling(recipe, _applied(recipe, fitted))
            for recipe, found in made
            if (fitted := found[number]) is not None
        )
        for number in range(len(nests))
    )


def _up_to_one_that_fits(nest: Nest, tile: RegisterTile, row: Sequence[RegionRecipe]) -> Iterator[Tiling]:
    for recipe in row:
        fitted = recipe.fit(nest, tile)
        if isinstance(fitted, RegisterTile):
            yield Tiling(recipe.name, _applied(recipe.name, (nest, fitted)))
            return
        if fitted is not None:
            yield Tiling(recipe.name, fitted)


def _applied(
    recipe: str, fitted: tuple[Nest, RegisterTile] | NotApplicable
) -> Applied[Variant] | NotApplicable:
    if isinstance(fitted, NotApplicable):
        return fitted
    nest, tile = fitted
    tile = replace(tile, recipe=recipe)
    sizes = " x ".join((*("1" for _ in tile.batch), *(f"({c.threads}*{c.each})" for c in tile.coordinates)))
    how = tile.kind.how.format(most=print_expr(tile.sweeps.most))
    return Applied(Variant(cut(nest, tile), tile=tile), f"tiles of {sizes} points, {how}")


def one_tile(nest: Nest, points: Points) -> tuple[Nest, RegisterTile]:
    """The nest in normal form, and all of its points as one tile, with a name for each size."""
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
