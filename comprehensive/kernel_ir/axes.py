"""Loops on the axes of a launch: the innermost along x, the next one along y, all others together along z.

In: what belongs to the loops of a grid or a block, outermost first.  Out: the same by axes, and the iterators that
share an axis as digits of the number along it::

    on_axes((i, j, k, l))                            -->   ((l,), (k,), (i, j))
    digits(outer, ("i", "j"), (n, m))                -->   const int i = outer / m;  const int j = outer % m;
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeVar

from comprehensive.loops.ir import AXES
from comprehensive.loops.types import exact_product
from comprehensive.metafork.ast import Binary, Declare, Expr, IntLiteral, ScalarType
from comprehensive.metafork.terms import product

_Item = TypeVar("_Item")


def on_axes(items: Sequence[_Item]) -> tuple[tuple[_Item, ...], ...]:
    """Return for each axis in use, from x on, the items along it, outermost first."""
    last = len(AXES) - 1
    alone = tuple((item,) for item in tuple(reversed(items))[:last])
    return (*alone, tuple(items[:-last])) if len(items) > last else alone


def axis_extents(extents: Sequence[Expr], types: Mapping[str, ScalarType]) -> tuple[Expr, ...]:
    """Return the extents along x, y and z, given those of the loops, outermost first.

    Extents of loops along one axis are multiplied, and the product is exact.
    """
    found = [
        reduce(lambda left, right: exact_product(left, right, types), along) for along in on_axes(extents)
    ]
    return (*found, *(IntLiteral(1) for _ in AXES[len(found) :]))


def digits(number: Expr, iterators: Sequence[str], extents: Sequence[Expr]) -> tuple[Declare, ...]:
    """The iterators of the loops along an axis, from the number of a place along it."""
    found: list[Declare] = []
    for position, iterator in enumerate(iterators):
        inner = extents[position + 1 :]
        value = Binary("/", number, product(inner)) if inner else number
        if position > 0:
            value = Binary("%", value, extents[position])
        found.append(Declare(ScalarType.INT, iterator, initial=value, const=True))
    return tuple(found)
