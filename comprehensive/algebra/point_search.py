"""Points of systems by trying many at once: a system and a point nearby in, a point or None out.

First the pool of the nearest ancestor, at which only the new atoms have to be judged.  Then pools around a point, the
parent's or the one that misses the system by the least; one that has a point of the system is kept for its children.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from comprehensive.algebra.columns import Columns, columns_of
from comprehensive.algebra.inherited import Inherited
from comprehensive.algebra.points import Point
from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.pool import Pool
from comprehensive.algebra.system import System

# Each takes some kilobytes.
_MOST_COLUMNS = 1 << 8
# So often the search goes on from the nearest point.
_TURNS = 2


class PointSearch:
    """Remembers columns along the tree."""

    def __init__(self) -> None:
        self._columns = Inherited[Columns | None](_judged, _MOST_COLUMNS)

    def find(self, system: System, start: Mapping[str, Scalar] | None) -> Point | None:
        """An integer point (with shares that are multiples of 1/1024); `start` is where to look first."""
        columns = self._columns.of(system)
        for turn in range(_TURNS):
            point = None if columns is None else columns.first_point()
            if columns is None or point is not None:
                return point
            if start is None or turn > 0:
                start = columns.point(columns.nearest(system.all_atoms))
            columns = columns_of(system.all_atoms, partial(Pool.near, start, turn=turn))
            if columns is not None and columns.inside.any():
                self._columns.put(system, columns)
        return None if columns is None else columns.first_point()


def _judged(system: System, above: Columns | None) -> Columns | None:
    found = None if above is None else above.extended(system.added)
    return columns_of(system.all_atoms, Pool.spread) if found is None else found
