"""Sequentialize: a coordinate of a few known values, beside each other in memory, becomes a loop of the point.

::

    0 <= y0 < h, 0 <= y1 < w, 0 <= y2 < 3:  out[y2][y0][y1] = in[y0][y1][y2]
        -->  0 <= y0 < h, 0 <= y1 < w:  for (c = 0; c < 3; c++) out[c][y0][y1] = in[y0][y1][c]

Points may run in any order, so that it is right whatever they do.  What it is good for: colours of a pixel and parts of
a number would else take a row of threads each, of which three have work.  Points that have loops of their own keep the
coordinate, along which recipes for loops share what they read.
"""

from __future__ import annotations

from comprehensive.loops.fold import fold
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.ir import Nest, Points
from comprehensive.loops.normalize.interchange import some_run_along
from comprehensive.metafork.ast import Expr, For, IntLiteral, ScalarType
from comprehensive.metafork.walk import statements_in
from comprehensive.records import replace

MOST_VALUES = 4
"""Values of a coordinate that a point does one after the other: those of a colour with its opacity."""


def sequentialized(nest: Nest, points: Points) -> Points:
    """Return the points without their last coordinate of a few values, which is a loop of each point; else as they
    are."""
    if any(isinstance(s, For) for each in points.alternatives for s in statements_in(each.body)):
        return points
    for place, (name, limit) in reversed([*enumerate(zip(points.names, points.limits, strict=True))]):
        turns = fold(limit)
        is_few = isinstance(turns, IntLiteral) and 0 < turns.value <= MOST_VALUES
        if is_few and len(points.names) > 1 and some_run_along(nest, points, name):
            return _in_turn(points, place, turns)
    return points


def _in_turn(points: Points, place: int, turns: Expr) -> Points:
    others = [number for number in range(len(points.names)) if number != place]
    iterator = points.names[place]
    return replace(
        points,
        names=tuple(points.names[number] for number in others),
        shown=tuple(points.shown[number] for number in others),
        limits=tuple(points.limits[number] for number in others),
        alternatives=tuple(
            replace(each, body=(For(ScalarType.INT, iterator, ZERO, "<", turns, ONE, each.body),))
            for each in points.alternatives
        ),
    )
