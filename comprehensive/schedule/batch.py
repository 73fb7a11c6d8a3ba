"""A batch of tiles: coordinates along which nothing is shared, of which every block has one value each.

``c[b][y0][y1] += a[b][y0][k] * x[b][k][y1]`` is a batch along ``b`` of products over ``y0`` and ``y1``: the loop shares
nothing along the coordinates of a batch, and any subscript may read them.
"""

from __future__ import annotations

from dataclasses import replace

from comprehensive.loops.ir import Batch, RegisterTile


def with_inner(tile: RegisterTile, number: int) -> RegisterTile:
    """The tile over the innermost ``number`` of its coordinates, or all that it has; the others are a batch."""
    outer = max(0, len(tile.coordinates) - number)
    batch = tuple(Batch(c.name, c.limit) for c in tile.coordinates[:outer])
    return replace(tile, coordinates=tile.coordinates[outer:], batch=batch)
