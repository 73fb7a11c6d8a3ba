"""Joined members: the members of elements side by side, as the real and the imaginary part, are neighbours in a row.

::

    float a[n][n][2]:   sum += a[y0][k][0] * b[k][y1][1]  -->  sum += a_members[y0][2*k] * b_members[k][2*y1 + 1]

Loops that read several members of an element read a row of them, which is copied as it lies in memory; one by one
they would be boxes of two elements a row.  Only points with a serial loop whose operands are no pieces of rows and
columns have such a tile: to those, members are operands each.
"""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Array, Nest, RegisterTile
from comprehensive.loops.normalize.counters import at_most
from comprehensive.loops.traverse import all_names, declared_names, map_indices
from comprehensive.loops.types import environment_of, exact_product
from comprehensive.metafork.ast import Expr, Index, IntLiteral
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.walk import arrays_assigned, elements_in
from comprehensive.records import replace
from comprehensive.schedule.operands import MOST_COORDINATES, loop_of
from comprehensive.schedule.reduction import reduced

MOST_MEMBERS = 4
"""Members of an element: a vector of 16 bytes has so many."""


def with_members_joined(nest: Nest, tile: RegisterTile) -> tuple[Nest, RegisterTile] | None:
    """Return the nest with such views of arrays, and the tile that reads them; None where there is nothing to join."""
    loop = loop_of(tile)
    if loop is None or any(
        isinstance(reduced(nest, tile, count), RegisterTile) for count in range(1, MOST_COORDINATES + 1)
    ):
        return None
    pointers = {a.name: a.pointer for a in nest.arrays}
    written = {pointers.get(name) for body in tile.bodies for name in arrays_assigned(body)}
    name = Namer(all_names(nest) | {n for body in tile.bodies for n in declared_names(body)})
    views: dict[str, tuple[Array, IntLiteral]] = {}
    extents: list[Expr] = []
    for array in nest.arrays:
        read = {e for body in tile.bodies for e in elements_in(body) if e.array == array.name}
        inside = {e for e in elements_in(loop.body) if e.array == array.name}
        members = None if array.pointer in written else _members(array, read)
        if members is None or len({e.subscripts[-1] for e in inside}) < 2:
            continue
        assert array.dims is not None
        *before, row, _ = array.dims
        assert row is not None
        extents.append(exact_product(row, members, environment_of(nest)))
        called, dims = name(f"{array.pointer}_members"), (*before, extents[-1])
        views[array.name] = replace(array, name=called, dims=dims, view_of=array.pointer), members
    if not views:
        return None

    def joined(reference: Index) -> Index:
        if reference.array not in views:
            return reference
        view, members = views[reference.array]
        *before, element, member = reference.subscripts
        ring = Ring()
        place = ring.write(ring.read(element) * members.value + ring.read(member))
        return replace(reference, array=view.name, subscripts=(*before, place))

    alternatives = tuple(
        replace(each, body=tuple(map_indices(each.body, joined))) for each in tile.alternatives
    )
    conditions = tuple(dict.fromkeys((*tile.conditions, *map(at_most, extents))))
    nest = replace(nest, arrays=(*nest.arrays, *(view for view, _ in views.values())))
    return nest, replace(tile, alternatives=alternatives, conditions=conditions)


def _members(array: Array, read: Iterable[Index]) -> IntLiteral | None:
    """Return how many members elements of an array have, of which references say the number; None where they have
    none."""
    match array.dims:
        case (*_, extent, IntLiteral(value=count) as members) if extent is not None:
            numbers = all(isinstance(e.subscripts[-1], IntLiteral) for e in read)
            return members if numbers and 2 <= count <= MOST_MEMBERS and array.values is None else None
        case _:
            return None
