"""More coordinates: loops of a point that are proved to be parallel join the grid, whatever stands around them.

::

    grid i < m:  for (j < n) c[i][j] = 0;  for (k < l) for (j < n) c[i][j] += a[i][k] * b[k][j];
        -->  grid i < m, j < n:  c[i][j] = 0;  for (k < l) c[i][j] += a[i][k] * b[k][j];

A programmer who says that the rows are parallel need not say it of the columns.  Legal where no two iterations that use
an element, one of which assigns it, differ in the loop: the order of all others stays (`loops/normalize/outward.py`).
The loops of a directive of OpenMP are widened so when they are read (`pragmas/widen.py`); here it is the points of
tiles that are, and the grid of the leaves stays what the user has made of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from comprehensive.loops.access import atomically_updated, names_read
from comprehensive.loops.ir import Loop, Nest
from comprehensive.loops.normalize.outward import hoistable, hoisted, widest
from comprehensive.loops.traverse import map_bands
from comprehensive.metafork.ast import For, ScalarType
from comprehensive.records import replace

MOST_COORDINATES = 6
"""Coordinates of points: those that a tile has no extents along are a batch."""


def with_wider_grid(nest: Nest) -> Nest:
    """Return the nest with such loops in its grid, at its end; itself where there are none."""
    # isl is slow to import.
    from comprehensive.poly.conflicts import obstacle_to
    from comprehensive.poly.legality import grid_question

    if len(nest.bands) != 1 or atomically_updated(nest):
        return nest

    def wider(nest: Nest) -> Iterator[Nest]:
        for loop in hoistable(nest.bands[0].body) if _has_room(nest) else ():
            found = _with(nest, loop) if _is_of_nest(nest, loop) else None
            if found is not None and obstacle_to(found, grid_question(len(nest.grid)))[0] is None:
                yield found

    return widest(nest, wider)


def _has_room(nest: Nest) -> bool:
    return max(len(nest.grid), len(nest.thread_loops)) < MOST_COORDINATES


def _is_of_nest(nest: Nest, loop: For) -> bool:
    """Whether a loop counts up from 0 to what scalars of the nest say."""
    return (
        loop.type is ScalarType.INT
        and loop.counts_up
        and names_read(loop.bound) <= {scalar.name for scalar in nest.scalars}
    )


def _with(nest: Nest, loop: For) -> Nest | None:
    """Return the nest with a loop of its only band in the grid; None where it cannot be moved out of the band."""
    (band,) = nest.bands
    inner = hoisted(band.body, loop)
    if inner is None:
        return None
    grid = (*nest.grid, Loop(loop.iterator, loop.bound, loop.span))
    return replace(map_bands(nest, lambda _, __: inner), grid=grid)
