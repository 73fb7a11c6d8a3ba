"""A batch of tiles: coordinates along which nothing is shared, of which every block has one value each.

``c[b][y0][y1] += a[b][y0][k] * x[b][k][y1]`` is a batch along ``b`` of products over ``y0`` and ``y1``: the loop shares
nothing along the coordinates of a batch, and any subscript may read them.  Which coordinates these are does not depend
on where they stand: ``c[y0][b][y1] += a[y0][b][k] * x[k][b][y1]`` is the same batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Batch, Coordinate, RegisterTile
from comprehensive.metafork.ast import For, Index
from comprehensive.metafork.walk import elements_in, statements_in
from comprehensive.records import replace
from comprehensive.schedule.operands import serial_loop


def with_inner(tile: RegisterTile, number: int) -> RegisterTile:
    """The tile over the innermost ``number`` of its coordinates, or all that it has; the others are a batch."""
    return _with(tile, tile.coordinates[max(0, len(tile.coordinates) - number) :])


def with_shared(tile: RegisterTile, number: int) -> RegisterTile:
    """The tile over the innermost coordinate and ``number - 1`` others, or all that it has; the others are a batch.

    Of tiles as long along each coordinate it is the one for which the loops read the fewest elements, as elements of
    ``a[y0][k]`` along one coordinate are fewer than those of ``b[k][y1][y2]`` along two; else the one that reads the
    fewest far from each other, as ``b[y1][k]`` does where the tile is done for one ``k`` after the other; else the
    innermost one.
    """
    *others, last = tile.coordinates
    loops = [s for a in tile.alternatives for s in statements_in(a.body) if isinstance(s, For)]
    read = tuple(dict.fromkeys(elements_in(loops)))
    in_pieces = {loop.iterator for loop in loops if serial_loop(loop.body) is None}

    def elements_along(inner: Sequence[Coordinate], read: Sequence[Index]) -> tuple[int, ...]:
        """Return how many references there are to elements along all of the coordinates, along one less, and so on."""
        along = Counter(sum(c.name in names_read(element) for c in inner) for element in read)
        return tuple(along[count] for count in range(len(inner), 0, -1))

    def elements_read(inner: Sequence[Coordinate]) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of all references, and of those of which the tile reads no elements side by side."""
        near = in_pieces | {c.name for c in inner}
        apart = [element for element in read if names_read(element.subscripts[-1]).isdisjoint(near)]
        return elements_along(inner, read), elements_along(inner, apart)

    innermost_first = combinations(reversed(others), min(number - 1, len(others)))
    tiles = [(*reversed(found), last) for found in innermost_first]
    return _with(tile, min(tiles, key=elements_read))


def _with(tile: RegisterTile, inner: Sequence[Coordinate]) -> RegisterTile:
    more = tuple(Batch(c.name, c.limit) for c in tile.coordinates if c not in inner)
    return replace(tile, coordinates=tuple(inner), batch=(*tile.batch, *more))
