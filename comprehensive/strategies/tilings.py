"""Every region as points, for the recipes that cut them into tiles: nests in, alternatives at the roots of trees out.

::

    grid i < dim, threads v < B: for j < s: S(i, v, j)  -->  0 <= y < dim*B*s: S(y)  -->  tiles of T*U points

However the user has cut the ranges (`points.py`), the recipes (`schedule/recipes`) are given the same points.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.loops.ir import Nest, Points
from comprehensive.loops.normalize.sizes_in_int import sizes_that_fit, with_sizes_in_int
from comprehensive.loops.normalize.unflatten import DIVISIONS
from comprehensive.metafork.ast import Binary, For
from comprehensive.metafork.walk import expressions_in, statements_in, subexpressions
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.alternatives import Tiling, of_loops, of_region
from comprehensive.strategies.apart_reads import with_apart_reads
from comprehensive.strategies.planes import with_rows_of_planes
from comprehensive.strategies.to_points import points_of


def tilings(nest: Nest, *, in_another_order: bool = False) -> tuple[Tiling, ...]:
    """Return the tilings of a region by its recipes; sums may be added up in another order where the caller says so."""
    ((nest, points),) = _with_points((nest,))
    return of_region(*_with_views(nest, points), in_another_order=in_another_order)


def every_tiling(nests: Sequence[Nest], *, in_another_order: bool) -> tuple[tuple[Tiling, ...], ...]:
    """Return the tilings of each region of a program by each recipe; those for loops of the host come last."""
    found = _with_points(nests)
    # What is read apart in one region another one may write: loops of the host do several in a launch.
    of_host = of_loops(*zip(*found, strict=True)) if found else ()
    return tuple(
        (*of_region(*_with_views(nest, points), in_another_order=in_another_order), *together)
        for (nest, points), together in zip(found, of_host, strict=True)
    )


def _with_points(nests: Sequence[Nest]) -> list[tuple[Nest, Points | NotApplicable]]:
    """Return the nests over sizes in ``int``, as far as a launch can tell that they fit, each with its points.

    Regions of one program have the same sizes, so that one kernel can do several of them.
    """
    wide = [(nest, points_of(nest)) for nest in nests]
    sizes = {
        size for nest, points in wide if isinstance(points, Points) for size in sizes_that_fit(nest, points)
    }
    found: list[tuple[Nest, Points | NotApplicable]] = []
    for nest, points in wide:
        narrow, conditions = with_sizes_in_int(nest, sizes)
        again = points_of(narrow) if conditions and isinstance(points, Points) else points
        if isinstance(again, Points):
            again = replace(again, conditions=(*conditions, *again.conditions))
        elif isinstance(points, Points):
            return list(wide)
        found.append((narrow, again))
    return found


def _with_views(nest: Nest, points: Points | NotApplicable) -> tuple[Nest, Points | NotApplicable]:
    """Return the nest with views of what is read apart and of planes that are rows, where points have loops, with its
    points; without loops each point reads for itself."""
    if isinstance(points, NotApplicable) or not _loops(points):
        return nest, points
    for with_more_views in (with_apart_reads, with_rows_of_planes):
        viewed = with_more_views(nest)
        again = points if viewed is nest else points_of(viewed)
        # Views of planes are for loops that become one, and for steps that need not be divided.
        if isinstance(again, NotApplicable) or (
            with_more_views is with_rows_of_planes and _effort(again) >= _effort(points)
        ):
            continue
        conditions = tuple(dict.fromkeys((*points.conditions, *again.conditions)))
        nest, points = viewed, replace(again, conditions=conditions)
    return nest, points


def _effort(points: Points) -> int:
    """Return the number of serial loops of points and of divisions in them."""
    parts = (
        part for each in points.alternatives for e in expressions_in(each.body) for part in subexpressions(e)
    )
    divisions = sum(isinstance(part, Binary) and part.operator in DIVISIONS for part in parts)
    return _loops(points) + divisions


def _loops(points: Points) -> int:
    """Return the number of serial loops of points."""
    bodies = (alternative.body for alternative in points.alternatives)
    return sum(isinstance(s, For) for body in bodies for s in statements_in(body))
