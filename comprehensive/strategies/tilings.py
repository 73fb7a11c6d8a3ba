"""Every region as points, for the recipes that cut them into tiles: nests in, alternatives at the roots of trees out.

::

    grid i < dim, threads v < B: for j < s: S(i, v, j)  -->  0 <= y < dim*B*s: S(y)  -->  tiles of T*U points

However the user has cut the ranges (`points.py`), the recipes (`schedule/recipes`) are given the same points.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.loops.ir import Nest
from comprehensive.schedule.alternatives import Tiling, of_loops, of_region
from comprehensive.strategies.points import points_of


def tilings(nest: Nest, *, in_another_order: bool = False) -> tuple[Tiling, ...]:
    """Return the tilings of a region by its recipes; sums may be added up in another order where the caller says so."""
    return of_region(nest, points_of(nest), in_another_order=in_another_order)


def every_tiling(nests: Sequence[Nest], *, in_another_order: bool) -> tuple[tuple[Tiling, ...], ...]:
    """Return the tilings of each region of a program by each recipe; those for loops of the host come last."""
    points = tuple(map(points_of, nests))
    return tuple(
        (*of_region(nest, of_nest, in_another_order=in_another_order), *together)
        for nest, of_nest, together in zip(nests, points, of_loops(nests, points), strict=True)
    )
