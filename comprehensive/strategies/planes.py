"""Planes: what loops in each other read through all of its rows is one row.

::

    float x[m][h][w]:   for (i < h) for (j < w) s += x[y][i][j];
        -->  for (i < h) for (j < w) s += x_row[y][i*w + j];        float x_row[m][h*w]: the data of x

The rows of a declared array lie beside each other, so that loops right inside of each other, over one subscript after
the other and from end to end of all but the first one, go from element to element.  Written so, such loops number
their steps together, and points have one loop in their place (`points.py`): the recipes for rows then take them.
Where the program has numbered the steps so, ``x[y][t / w][t % w]`` is ``x_row[y][t]`` for every ``t``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE, ZERO, Ring
from comprehensive.loops.ir import Array, Nest
from comprehensive.loops.normalize.inlined import inlined
from comprehensive.loops.traverse import all_names, map_bands, map_indices
from comprehensive.loops.types import environment_of, exact_product, with_declarations
from comprehensive.metafork.ast import Binary, Expr, For, Index, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import arrays_assigned, statements_in
from comprehensive.records import replace


def with_rows_of_planes(nest: Nest) -> Nest:
    """Return the nest with views of the arrays that it reads so, and does not write; as it is where there are none."""
    views = _Views(nest, Namer(all_names(nest)))

    def viewed_in(number: int, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        types = with_declarations(environment_of(nest, number), statements_in(body))
        types |= {s.iterator: s.type for s in statements_in(body) if isinstance(s, For) and s.type}
        return views.body(map_indices(inlined(body, types), lambda index: views.viewed(index, ())), ())

    viewed = map_bands(nest, viewed_in)
    return replace(viewed, arrays=(*nest.arrays, *views.made.values())) if views.made else nest


class _Views:
    """The views that have been needed so far, by the array and the places of subscripts that join the ones before."""

    def __init__(self, nest: Nest, name: Namer) -> None:
        written = arrays_assigned(statement for band in nest.bands for statement in band.body)
        pointers = {a.pointer for a in nest.arrays if a.name in written}
        self._arrays = {
            a.name: a for a in nest.arrays if a.name not in written and (a.const or a.pointer not in pointers)
        }
        self._types = environment_of(nest)
        self._name = name
        self._ring = Ring()
        self.made: dict[tuple[str, tuple[int, ...]], Array] = {}

    def body(self, body: tuple[Stmt, ...], around: tuple[For, ...]) -> tuple[Stmt, ...]:
        """The body with references to the views; loops ``around`` it have nothing else in them."""
        result: list[Stmt] = []
        for statement in body:
            if isinstance(statement, For) and _counts_up(statement):
                run = (*around, statement) if len(body) == 1 else (statement,)
                inner = self.body(statement.body, run)
                result.append(replace(statement, body=inner))
            elif len(around) < 2:
                result.append(with_bodies(statement, partial(self.body, around=())))
            else:
                result += map_indices((statement,), lambda index: self.viewed(index, around))
        return tuple(result)

    def viewed(self, index: Index, loops: Sequence[For]) -> Index:
        """The reference with subscripts as one that go through rows together."""
        array = self._arrays.get(index.array)
        if array is None or array.dims is None or array.rank < 2:
            return index
        joined = self._joined(index, array.dims, loops)
        if not joined:
            return index
        if (index.array, joined) not in self.made:
            extents = tuple(self._together(array.dims, array.dims, joined))
            name = self._name(f"{array.pointer}_row")
            self.made[index.array, joined] = replace(
                array, name=name, dims=extents, view_of=array.pointer, const=True
            )
        view = self.made[index.array, joined]
        subscripts = (s for s in self._together(index.subscripts, array.dims, joined) if s is not None)
        return replace(index, array=view.name, subscripts=tuple(subscripts))

    def _joined(self, index: Index, extents: Sequence[Expr | None], loops: Sequence[For]) -> tuple[int, ...]:
        """The places of the subscripts that join the one before: the iterators of a loop and of the one right inside of
        it, which goes from end to end, or the digits of one number."""
        found: list[int] = []
        runs = {(Name(o.iterator), Name(i.iterator)): self._ring.read(i.bound) for o, i in pairwise(loops)}
        for place, (first, second) in enumerate(pairwise(index.subscripts), 1):
            run = runs.get((first, second)) if isinstance(first, Name) and isinstance(second, Name) else None
            extent = extents[place]
            if run is None and _number_of(first, second) is not None:
                assert isinstance(second, Binary)
                run = self._ring.read(second.right)
            if run is not None and extent is not None and run == self._ring.read(extent):
                found.append(place)
        return tuple(found)

    def _together(
        self, values: Sequence[Expr | None], extents: Sequence[Expr | None], joined: Sequence[int]
    ) -> list[Expr | None]:
        """Extents as the extents of views, subscripts as their subscripts; the first extent may be None."""
        result: list[Expr | None] = []
        for place, value in enumerate(values):
            extent = extents[place]
            if place not in joined:
                result.append(value)
                continue
            first = result.pop()
            assert extent is not None
            if values is not extents and (number := _number_of(first, value)) is not None:
                result.append(number)
                continue
            # Subscripts read iterators of loops, which are of type int.
            types = dict.fromkeys(names_read(first or ZERO), ScalarType.INT) | self._types
            rows = None if first is None else exact_product(first, extent, types)
            is_extent = values is extents
            result.append(rows if rows is None or is_extent or value is None else Binary("+", rows, value))
        return result


def _number_of(high: Expr | None, low: Expr | None) -> Expr | None:
    """Return the number of whose digits one is in front of the other; None where they are no such digits."""
    match high, low:
        case Binary("/", whole, radix), Binary("%", left, right) if (whole, radix) == (left, right):
            return whole
        case _:
            return None


def _counts_up(loop: For) -> bool:
    return (loop.type, loop.start, loop.relation, loop.step) == (ScalarType.INT, ZERO, "<", ONE)
