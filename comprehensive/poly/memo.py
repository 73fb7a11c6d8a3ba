"""Remembers what was computed for a nest object: a function of a nest in, the same function in constant time out.

Nests are compared and hashed node by node, which costs more than most look-ups save; so these caches go by the
object itself.  ``functools.lru_cache`` stays right where equal nests are built again and again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from comprehensive.loops.ir import Nest

Value = TypeVar("Value")
_MOST_NESTS = 64


def remembered(function: Callable[[Nest], Value]) -> Callable[[Nest], Value]:
    """The function with the values of the last nests kept; the cache holds the nests, so that ids stay theirs."""
    values: OrderedDict[int, tuple[Nest, Value]] = OrderedDict()

    @wraps(function)
    def look_up(nest: Nest) -> Value:
        known = values.get(id(nest))
        if known is not None:
            return known[1]
        value = function(nest)
        values[id(nest)] = (nest, value)
        if len(values) > _MOST_NESTS:
            values.popitem(last=False)
        return value

    return look_up
