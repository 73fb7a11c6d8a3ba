"""Choices in the places of a reference, as cases: an access in, one access for each outcome of its choices out.

::

    a[i == 0 ? n - 1 : i - 1]   -->   a[n - 1] where i == 0,   a[i - 1] where i != 0

Subscripts have choices, and headers of loops around the access do; what is known of the access may speak of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from comprehensive.loops.access import Access
from comprehensive.metafork.ast import Conditional, Expr, Unary
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.walk import subexpressions
from comprehensive.records import replace

_MOST_CASES = 8


def chosen(access: Access) -> tuple[Access, ...]:
    """The access in all cases of the choices in its places; as it is where these are many."""
    found = tuple(_chosen(access, _MOST_CASES))
    return found if len(found) <= _MOST_CASES else (access,)


def _chosen(access: Access, most: int) -> Iterator[Access]:
    headers = (e for loop in access.context.loops for e in (loop.start, loop.bound))
    places = (part for place in (*access.subscripts, *headers) for part in subexpressions(place))
    choice = next((part for part in places if isinstance(part, Conditional)), None)
    if choice is None or most < 1:
        yield access
        return
    for condition, value in (
        (choice.condition, choice.then),
        (Unary("!", choice.condition), choice.otherwise),
    ):
        yield from _chosen(_where(access, condition, choice, value), most // 2)


def _where(access: Access, condition: Expr, choice: Expr, value: Expr) -> Access:
    """The access where a condition holds, by which a choice has this value."""

    def known(expr: Expr) -> Expr:
        return map_expression(expr, lambda e: value if e == choice else e)

    context = access.context
    loops = tuple(replace(each, start=known(each.start), bound=known(each.bound)) for each in context.loops)
    context = replace(context, loops=loops, guards=(*map(known, context.guards), condition))
    return replace(access, subscripts=tuple(map(known, access.subscripts)), context=context)
