"""Remembers what was computed for a nest object: a function of a nest in, the same function in constant time out.

Nests are compared and hashed node by node, which costs more than most look-ups save; so these caches go by the
object itself.  Where equal nests are built again and again they are compared (`remembered_in_text`), and their places
with them: what is found for a nest has places in its text, which an editor changes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

from comprehensive.diagnostics import Span
from comprehensive.loops.ir import Nest

Arguments = ParamSpec("Arguments")
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


def remembered_in_text(
    maxsize: int,
) -> Callable[[Callable[Concatenate[Nest, Arguments], Value]], Callable[Concatenate[Nest, Arguments], Value]]:
    """The function with the values of the last nests kept, equal nests at one place of one text being the same."""

    def decorate(
        function: Callable[Concatenate[Nest, Arguments], Value],
    ) -> Callable[Concatenate[Nest, Arguments], Value]:
        @lru_cache(maxsize=maxsize)
        def known(_: Span, nest: Nest, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
            return function(nest, *args, **kwargs)

        @wraps(function)
        def look_up(nest: Nest, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
            return known(nest.span, nest, *args, **kwargs)

        return look_up

    return decorate
