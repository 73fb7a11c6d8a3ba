"""Several sweeps of a stencil in one launch: tiles that overlap, both grids of each in shared memory (`overlap.py`).

::

    for (t...) { b = f(a);  a = g(b); }
        -->  each block, for the points of a tile and halo*(K - 1) more on all sides:
               sweep 0 reads a in global memory; sweeps 1, 2, ... read what the one before left in shared memory,
               each for as many points less as neighbours are away; the last one writes b in global memory

Composed of: split, bind, stage(SHARED) of two grids, overlap.

Tiles overlap: what two of them need, both compute (overlapped tiling).  Every value is computed from the same values in
the same way, so results are those of the serial C.  It is right where

- two sweeps take turns between two grids (`sweeps.py`), and the grids do not overlap;
- both do the same points, so that later sweeps write all that a launch leaves out;
- a launch does an odd number of sweeps, so that it reads one grid and writes the other one;
- the last sweep of the loop has a launch of its own: then both grids are left as the loop leaves them.

What it is good for: a grid is read and written once for several sweeps.  Not with three coordinates: there a tile that
fits computes about half of its points for itself alone.  Measured on one H200, three sweeps a launch of the 3-D heat
equation with 512 points along each coordinate, 13 sizes of tiles: 0.47 to 0.998 of the speed of one sweep a launch.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.kernel_ir.c_expr import is_wide
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.access import atomically_updated, names_read
from comprehensive.loops.integers import ONE
from comprehensive.loops.ir import (
    Alternative,
    Coordinate,
    Nest,
    Points,
    RegisterTile,
    Repetition,
    Scalar,
    SweepPair,
    Sweeps,
    TileKind,
)
from comprehensive.loops.traverse import all_names, declared_names
from comprehensive.loops.types import environment_of, with_declarations
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, ScalarType
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expressions, substitute
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import expressions_in
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.instances import Instance, time_instances
from comprehensive.schedule.overlap import sweeps_parameter, swept
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.sweeps import (
    NoSweepsError,
    apart,
    cycle_of,
    farthest,
    in_rows,
    sweeps_of,
)

_MOST_COORDINATES = 2
_OTHER_LOOP = "no loop 'for (int t = ...; t < ...; t++)' with nothing but regions in it is around it"


class OverlappedSweeps(Struct, frozen=True):
    name: str = "overlapped sweeps"

    def fit(
        self, nests: Sequence[Nest], points: Sequence[Points | NotApplicable]
    ) -> tuple[tuple[Nest, RegisterTile] | NotApplicable | None, ...]:
        found: list[tuple[Nest, RegisterTile] | NotApplicable | None] = []
        while len(found) < len(nests):
            nest = nests[len(found)]
            repetition = nest.repetition
            if repetition is None:
                found.append(NotApplicable(_OTHER_LOOP) if nest.is_repeated else None)
                continue
            together = slice(len(found), len(found) + repetition.loop.regions)
            try:
                found += _tiled(nests[together], points[together], repetition)
            except NoSweepsError as error:
                found += [NotApplicable(str(error)) for _ in nests[together]]
        return tuple(found)

    def lower(self, context: TileContext) -> TileKernel:
        body, words, constraints = swept(context)
        constants = (*context.tile.sizes, *context.tile.sweeps.sizes)
        return TileKernel(body, constants, words, constraints, parameters=(sweeps_parameter(context),))

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return time_instances(tile.sweeps.halo)


def _tiled(
    nests: Sequence[Nest], of_regions: Sequence[Points | NotApplicable], repetition: Repetition
) -> list[tuple[Nest, RegisterTile]]:
    """The nest of each region of a loop, with all that a launch there does, and how it is cut."""
    if any(map(atomically_updated, nests)):
        raise NoSweepsError("elements are updated atomically, also for the neighbours of a tile")
    found = [_known(points) for points in of_regions]
    rank = len(found[0].names)
    if rank > _MOST_COORDINATES:
        raise NoSweepsError(f"tiles that overlap along {rank} coordinates cost more than they save")
    names = _names(found, nests, repetition)
    name = Namer({*names, *(s.name for s in repetition.scalars)}.union(*map(all_names, nests)))
    regions = [_renamed(points, names) for points in found]
    limits = regions[0].limits
    if any(points.limits != limits for points in regions):
        raise NoSweepsError("the regions of the loop do other points, or name their blocks otherwise")
    cycle = cycle_of(regions, repetition.loop)
    _demand_independent(
        repetition.loop.iterator, (*limits, *(e for body in cycle.bodies for e in expressions_in(body)))
    )
    types = dict.fromkeys(names, ScalarType.INT)
    for nest, body in zip((*nests, *nests), cycle.bodies, strict=False):
        types |= with_declarations(environment_of(nest), body)
    arrays = frozenset(a.name for nest in nests for a in nest.arrays)
    scalars = frozenset(s.name for nest in nests for s in nest.scalars)
    sweeps, pitches = sweeps_of(cycle, names, types, arrays, scalars)
    if types[sweeps[0].written.array] is not types[sweeps[1].written.array]:
        raise NoSweepsError("the two grids have different types")
    halo = tuple(farthest(sweeps, number) for number in range(rank))
    conditions = (
        *apart(sweeps, names, limits, halo),
        *in_rows(pitches, limits[-1], halo[-1]),
        *dict.fromkeys(condition for points in regions for condition in points.conditions),
    )
    lefts = [_left(repetition, number) for number in range(len(nests))]
    known = {s.name: s.type for nest in nests for s in nest.scalars} | {
        s.name: s.type for s in repetition.scalars
    }
    if not all(is_wide(e, known) for e in (*lefts, *conditions)):
        raise NoSweepsError(
            "how many sweeps are left, or where grids are, is no integer expression over scalars"
        )
    if not time_instances(halo):
        raise NoSweepsError(f"neighbours are up to {max(halo)} points away, too far for tiles that overlap")
    most = Name(name("K"))
    coordinates = tuple(
        Coordinate(point, limit, name(f"T{number}"), name(f"U{number}"), _lead(away, most))
        for number, (point, limit, away) in enumerate(zip(names, limits, halo, strict=True))
    )
    constants = (name("D"), name("S"), name("M"))
    result: list[tuple[Nest, RegisterTile]] = []
    for number, nest in enumerate(nests):
        pairs = tuple(
            SweepPair(start.condition, sweeps[start.second], sweeps[not start.second])
            for start in cycle.starts
            if start.region == number
        )
        several = Sweeps(pairs, halo, most, lefts[number])
        tile = RegisterTile(coordinates, (), *constants, several, TileKind.TIME, conditions=conditions)
        result.append((_together(nest, nests, repetition), tile))
    return result


def _known(points: Points | NotApplicable) -> Points:
    if isinstance(points, NotApplicable):
        raise NoSweepsError(points.reason)
    return points


def _names(found: Sequence[Points], nests: Sequence[Nest], repetition: Repetition) -> tuple[str, ...]:
    """Return names for the coordinates of all regions: those of the first one, where nothing else has them."""
    taken = {s.name for s in (*repetition.scalars, *(s for nest in nests for s in nest.scalars))}
    taken |= {a.name for nest in nests for a in nest.arrays} | {repetition.loop.iterator}
    bodies = (each.body for points in found for each in points.alternatives)
    return tuple(map(Namer(taken.union(*map(declared_names, bodies))), found[0].names))


def _renamed(points: Points, names: tuple[str, ...]) -> Points:
    """The same with other names of coordinates."""
    if len(points.names) != len(names):
        raise NoSweepsError("the regions of the loop have different numbers of coordinates")
    values = {old: Name(new) for old, new in zip(points.names, names, strict=True)}
    alternatives = tuple(
        Alternative(a.condition, map_expressions(a.body, lambda e: substitute(e, values)))
        for a in points.alternatives
    )
    return Points(names, points.shown, points.limits, alternatives, points.conditions)


def _demand_independent(iterator: str, expressions: Sequence[Expr]) -> None:
    if any(iterator in names_read(e) for e in expressions):
        raise NoSweepsError(f"'{iterator}' is in what a sweep computes, or in its limits")


def _lead(away: int, most: Expr) -> Expr | None:
    return times(IntLiteral(away), Binary("-", most, ONE)) if away else None


def _left(repetition: Repetition, number: int) -> Expr:
    """Return the number of sweeps that the loop has yet to do when it comes to a region."""
    loop = repetition.loop
    end = plus(loop.bound, ONE) if loop.relation == "<=" else loop.bound
    turns = Binary("-", end, Name(loop.iterator))
    all_of_them = times(IntLiteral(loop.regions), turns)
    return Binary("-", all_of_them, IntLiteral(number)) if number else all_of_them


def _together(nest: Nest, nests: Sequence[Nest], repetition: Repetition) -> Nest:
    """The nest, with the scalars and arrays of all that a launch does."""
    others = [*nests, *([nest] if nest not in nests else [])]
    scalars: dict[str, Scalar] = {s.name: s for s in nest.scalars}
    for scalar in (*(s for other in others for s in other.scalars), *repetition.scalars):
        scalars.setdefault(scalar.name, scalar)
    arrays = {a.name: a for a in nest.arrays}
    for array in (a for other in others for a in other.arrays):
        arrays.setdefault(array.name, array)
    return replace(nest, scalars=tuple(scalars.values()), arrays=tuple(arrays.values()), cached=())
