"""Integers that are looked up in memory, as what they may be taken for in an address.

In: the places where they are.  Out: numbers far from each other, the same where the place is the same.  A block gives
its places numbers one after the other; in a leaf, where places are expressions, they are a multiple of the place::

    row = at[l];  table[row * n + j]    -->  row is 16777217 * l:  threads along j read neighbours, those along l do not
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import numpy as np
from msgspec import Struct, field

from comprehensive.metafork.ast import (
    Binary,
    Conditional,
    Expr,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.terms import times
from comprehensive.metafork.walk import subexpressions
from comprehensive.model.depth import LOADED, Data, taken_for
from comprehensive.model.leaf_values import Value
from comprehensive.model.thread_values import Value as ThreadValue

LINEAR = frozenset(("+", "-", "*"))
"""The operators of which results differ where integers do."""
FAR = 1 << 13
"""The least distance between integers that are looked up in different places, as far as it is known."""
SCATTERED = (1 << 24) + 1
"""The same for the threads of a block: farther apart than rows that they read, and in different banks."""


class Places(Struct, frozen=True):
    """The places where a block has looked up integers, numbered in the order in which it came to them."""

    _known: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    def at(self, array: str, begin: ThreadValue) -> ThreadValue:
        """Return what the integers of an array at these bytes, one or one for each thread, may be taken for."""
        if isinstance(begin, int):
            return self._known.setdefault((array, begin), FAR * len(self._known))
        places, number = np.unique(begin, return_inverse=True)
        found = [
            self._known.setdefault((array, place), SCATTERED * len(self._known)) for place in places.tolist()
        ]
        return np.asarray(found, np.int64)[number.reshape(-1)]


def looked_up(subscript: Value) -> Data:
    """An integer that is read at a subscript: it differs between threads, blocks and turns where the subscript does."""
    place = taken_for(subscript)
    return LOADED if place is None else Data(like=times(IntLiteral(SCATTERED), place))


def with_likes(expr: Expr, types: Mapping[str, ScalarType], data: AbstractSet[str]) -> Expr | None:
    """The expression with what integers of arrays of these types may be taken for in their place; None where they, or
    those that ``data`` names, are in more than sums and products: a remainder may be the same for many."""
    for part in subexpressions(expr):
        if not isinstance(part, Binary | Unary | Conditional) or _is_linear(part):
            continue
        if any(
            isinstance(e, Index) or (isinstance(e, Name) and e.identifier in data)
            for e in subexpressions(part)
        ):
            return None

    def taken(part: Expr) -> Expr:
        if isinstance(part, Index) and part.array in types and types[part.array].is_integer:
            return times(IntLiteral(SCATTERED), part.subscripts[0])
        return part

    return map_expression(expr, taken)


def _is_linear(expr: Expr) -> bool:
    return isinstance(expr, Binary) and expr.operator in LINEAR


def calculated(operator: str, left: Value, right: Value) -> Expr | None:
    """Return what an integer computed from data may be taken for."""
    one, other = taken_for(left), taken_for(right)
    if operator not in LINEAR or one is None or other is None:
        return None
    return Binary(operator, one, other)
