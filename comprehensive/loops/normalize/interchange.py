"""Interchange: the coordinates of points in the order in which data lies in memory.

::

    0 <= y0 < n, 0 <= y1 < m:  b[y1][y0] = 2 * a[y1][y0]      -->  0 <= y0 < m, 0 <= y1 < n:  b[y0][y1] = 2 * a[y0][y1]

Points may run in any order, so that it is right whatever they do.  What it is good for: neighbouring threads have
neighbouring values of the last coordinate, and rows of tiles are rows of memory, whichever loop the user has written
first.  The last coordinate becomes the one along which the elements of most references are the nearest to each other;
the others are in the order of the subscripts of what is stored.  Where nothing speaks for another order, that of the
user stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from comprehensive.algebra import Polynomial
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Alternative, Nest, Points
from comprehensive.loops.normalize.subscripts import Subscripts
from comprehensive.metafork.ast import Assign, Expr, Index, Name, Stmt
from comprehensive.metafork.rewrite import map_expression, map_expressions, substitute
from comprehensive.metafork.walk import elements_in, statements_in
from comprehensive.records import replace


def interchanged(nest: Nest, points: Points) -> Points:
    """Return the same points with their coordinates in the order of memory; outermost are those far apart."""
    order = _order(nest, points)
    if order == points.names:
        return points
    new_names: dict[str, Expr] = {old: Name(new) for old, new in zip(order, points.names, strict=True)}
    places = [points.names.index(name) for name in order]

    def renamed(expr: Expr) -> Expr:
        return substitute(expr, new_names)

    return replace(
        points,
        shown=tuple(points.shown[place] for place in places),
        limits=tuple(points.limits[place] for place in places),
        alternatives=tuple(
            Alternative(
                None if each.condition is None else map_expression(each.condition, renamed),
                map_expressions(each.body, renamed),
            )
            for each in points.alternatives
        ),
        called=tuple((name, map_expression(value, renamed)) for name, value in points.called),
    )


def _order(nest: Nest, points: Points) -> tuple[str, ...]:
    subscripts = _subscripts(nest, points)
    bodies = [alternative.body for alternative in points.alternatives]
    # References that speak of fewer coordinates touch little.
    places = [_places(values, points.names) for values in _values(nest, points, subscripts)]
    most = max(map(len, places), default=0)
    nearest = Counter(name for each in places if len(each) == most for name in [_nearest(each)])
    # The one of the user where several are as good.
    last = max(reversed(points.names), key=lambda name: nearest[name])
    others = [name for name in points.names if name != last]
    for stored in _stored(nest, bodies):
        of_stored = _places([subscripts.polynomial(s) for s in stored.subscripts], points.names)
        if all(name in of_stored for name in others):
            others.sort(key=lambda name: of_stored[name])
        break
    return (*others, last)


def some_run_along(nest: Nest, points: Points, name: str) -> bool:
    """Whether some reference to data goes from element to element along a coordinate."""
    subscripts = _subscripts(nest, points)
    every = _values(nest, points, subscripts)
    return any(runs_along(values, points.names, subscripts.ring) == name for values in every)


def _values(nest: Nest, points: Points, subscripts: Subscripts) -> list[list[Polynomial]]:
    """Return the subscripts of all different references to data."""
    references = dict.fromkeys(_references(nest, [alternative.body for alternative in points.alternatives]))
    return [[subscripts.polynomial(s) for s in reference.subscripts] for reference in references]


def _subscripts(nest: Nest, points: Points) -> Subscripts:
    bodies = [alternative.body for alternative in points.alternatives]
    return Subscripts.of(nest, bodies, dict(zip(points.names, points.limits, strict=True)))


def _references(nest: Nest, bodies: Sequence[Sequence[Stmt]]) -> Iterator[Index]:
    """Return the references to data that points read or write."""
    data = {array.name for array in nest.arrays}
    return (e for body in bodies for e in elements_in(body) if e.array in data)


def _stored(nest: Nest, bodies: Sequence[Sequence[Stmt]]) -> Iterator[Index]:
    data = {array.name for array in nest.arrays}
    for statement in (s for body in bodies for s in statements_in(tuple(body))):
        match statement:
            case Assign(target=Index(array=array) as target) if array in data:
                yield target
            case _:
                pass


def runs_along(subscripts: Sequence[Polynomial], names: Iterable[str], ring: Ring) -> str | None:
    """Return the one coordinate along which a reference with these subscripts goes from element to element."""
    *outer, last = subscripts
    far = {name for value in outer for name in ring.names_in(value)}
    found = [
        name
        for name in names
        if name not in far and last.degree(name) == 1 and last.coefficient(name, 1) in (1, -1)
    ]
    return found[0] if len(found) == 1 else None


def _places(values: Sequence[Polynomial], names: Iterable[str]) -> dict[str, tuple[int, int, int]]:
    """Return for the coordinates that a reference with these subscripts speaks of keys that are less for those along
    which its elements are farther apart."""
    places: dict[str, tuple[int, int, int]] = {}
    for number, value in enumerate(values):
        for name in names:
            if value.degree(name) == 1 and name not in places:
                step = value.coefficient(name, 1)
                apart = int(abs(step.constant_value())) if step.is_constant else 0
                places[name] = (number, -step.total_degree, -apart)
    return places


def _nearest(places: Mapping[str, tuple[int, int, int]]) -> str | None:
    """Return the coordinate along which elements are the nearest to each other; None where there are several."""
    most = max(places.values(), default=None)
    found = [name for name, place in places.items() if place == most]
    return found[0] if len(found) == 1 else None
