"""Data for arrays that say where a region writes: indices inside of what they index, each once or some twice.

In: the nests of a function and the shapes of its arrays.  Out: values for its index arrays.  A plain store
``y[p[i]] = a[i]`` has a meaning in parallel only if no index occurs twice in ``p``, and what is drawn keeps to it;
with ``duplicates`` it does not, and a check must then see that the order counts.  Indices of atomic updates are drawn
with duplicates at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
from msgspec import Struct

from comprehensive.loops.access import Mode, accesses
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Expr, Index, ScalarType
from comprehensive.metafork.walk import children
from comprehensive.soundness.conversions import with_conversions
from comprehensive.soundness.reach import types_of

SHARE_OUTSIDE = 4
"""One sample of so many has indices beyond the extent, for programs that guard against them."""
MOST = 51
"""Indices of what has no known extent are smaller, and those outside are so many more."""


class TooFewIndicesError(Exception):
    """An array is too small for all indices to be different."""


class IndexUse(Struct, frozen=True):
    """A use of data as an index: where ``array`` is written along ``dimension``, ``indices`` is read.

    ``direct`` where an element is the subscript itself; ``distinct`` where two equal ones would be a race; ``type``
    is that of the elements of ``indices``.
    """

    indices: str
    array: str
    dimension: int
    direct: bool
    distinct: bool
    type: ScalarType


def index_uses(nests: Iterable[Nest]) -> tuple[IndexUse, ...]:
    """Return how places of writes are read from arrays, in order of the text."""
    found: dict[IndexUse, None] = {}
    for nest in nests:
        data = {array.name: array.type for array in nest.arrays}
        for access in accesses(with_conversions(nest, types_of(nest))):
            if not access.mode.writes:
                continue
            distinct = access.mode is Mode.WRITE
            for dimension, subscript in enumerate(access.subscripts):
                found |= dict.fromkeys(_uses(subscript, access.array, dimension, distinct, data))
    return tuple(found)


def _uses(
    subscript: Expr, array: str, dimension: int, distinct: bool, data: Mapping[str, ScalarType]
) -> Iterator[IndexUse]:
    waiting: list[Expr] = [subscript]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Index) and part.array in data:
            yield IndexUse(part.array, array, dimension, part is subscript, distinct, data[part.array])
            for inner, place in enumerate(part.subscripts):
                yield from _uses(place, part.array, inner, distinct, data)
        else:
            waiting += reversed(children(part))


def scattered(uses: Iterable[IndexUse]) -> tuple[str, ...]:
    """The arrays in which no index may occur twice."""
    return tuple(dict.fromkeys(use.indices for use in uses if use.distinct))


def drawn_indices(
    uses: tuple[IndexUse, ...],
    shapes: Mapping[str, tuple[int, ...]],
    random: Any,
    *,
    duplicates: bool = False,
    outside: bool = False,
) -> dict[str, Any]:
    """Values for all index arrays of ``uses``, from a numpy generator; with ``outside`` some are too large.

    Raises TooFewIndicesError where indices that have to be different cannot be.
    """
    values: dict[str, Any] = {}
    taken: dict[tuple[str, int], int] = {}
    orders: dict[tuple[str, int], Any] = {}
    distinct = frozenset(scattered(uses))
    for name in dict.fromkeys(use.indices for use in uses if use.indices in shapes):
        own = [use for use in uses if use.indices == name]
        shape = shapes[name]
        bound = min(_bound(use, shapes) for use in own) + (MOST if outside else 0)
        bound = min(bound, *(_range(use.type) for use in own))
        if name not in distinct:
            values[name] = random.integers(0, max(1, bound), size=shape)
        elif duplicates:
            # Fewer indices than elements: two of them are equal.
            values[name] = random.integers(0, max(1, min(bound, prod(shape) // 2)), size=shape)
        else:
            # Two arrays that say where one array is written must not name the same place, either.
            place = next((use.array, use.dimension) for use in own)
            order = orders.setdefault(place, random.permutation(max(1, bound)))
            first = taken.get(place, 0)
            values[name] = _different(order[first:][order[first:] < max(1, bound)], shape, random)
            taken[place] = first + prod(shape)
    return values


def limit_of(uses: Iterable[IndexUse], name: str, shapes: Mapping[str, tuple[int, ...]]) -> int | None:
    """Return the number below which the indices in an array stay; None for an array that is no index array."""
    own = [use for use in uses if use.indices == name]
    return min((min(_bound(use, shapes), _range(use.type)) for use in own), default=None)


def data_range(type: ScalarType) -> tuple[int, int]:
    """The least and the greatest of the integers that data without another purpose is drawn from."""
    return max(type.lowest, -50), min(type.highest, 50)


def _range(type: ScalarType) -> int:
    """Return how many indices an element of this type can be."""
    return min(type.highest + 1, 2**31)


def _bound(use: IndexUse, shapes: Mapping[str, tuple[int, ...]]) -> int:
    shape = shapes.get(use.array)
    if shape is None:
        return MOST
    # Something is done to the index before it is one: half of the range leaves it room, if there is that much.
    room = shape[use.dimension]
    half = (room + 1) // 2
    return room if use.direct or prod(shapes[use.indices]) > half else half


def _different(order: Any, shape: tuple[int, ...], random: Any) -> Any:
    """Return elements that all differ, or, where there are too few for that, differ in every row."""
    count = prod(shape)
    if count <= len(order):
        return order[:count].reshape(shape)
    if len(shape) < 2 or shape[-1] > len(order):
        raise TooFewIndicesError
    rows = [random.permutation(order)[: shape[-1]] for _ in range(prod(shape[:-1]))]
    return np.stack(rows).reshape(shape)
