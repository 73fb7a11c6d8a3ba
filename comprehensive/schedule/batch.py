"""A batch of tiles: coordinates along which nothing is shared, of which every block has one value each.

``c[b][y0][y1] += a[b][y0][k] * x[b][k][y1]`` is a batch along ``b`` of products over ``y0`` and ``y1``: the loop shares
nothing along the coordinates of a batch, and any subscript may read them.  Which coordinates these are does not depend
on where they stand: ``c[y0][b][y1] += a[y0][b][k] * x[k][b][y1]`` is the same batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Batch, Coordinate, RegisterTile
from comprehensive.metafork.ast import For
from comprehensive.metafork.walk import elements_in, statements_in
from comprehensive.records import replace


def with_inner(tile: RegisterTile, number: int) -> RegisterTile:
    """The tile over the innermost ``number`` of its coordinates, or all that it has; the others are a batch."""
    return _with(tile, tile.coordinates[max(0, len(tile.coordinates) - number) :])


def with_shared(tile: RegisterTile, number: int) -> RegisterTile:
    """The tile over the innermost coordinate and ``number - 1`` others, first of all the innermost of those along which
    its loops share what they read, or all that it has; the others are a batch."""
    *others, last = tile.coordinates
    loops = [s for a in tile.alternatives for s in statements_in(a.body) if isinstance(s, For)]
    read = [names_read(element) for element in elements_in(loops)]
    shared = [c for c in others if any(c.name not in names for names in read)]
    taken = sorted(others, key=lambda c: (c in shared, others.index(c)))[max(0, len(others) - number + 1) :]
    return _with(tile, (*(c for c in others if c in taken), last))


def _with(tile: RegisterTile, inner: Sequence[Coordinate]) -> RegisterTile:
    batch = tuple(Batch(c.name, c.limit) for c in tile.coordinates if c not in inner)
    return replace(tile, coordinates=tuple(inner), batch=batch)
