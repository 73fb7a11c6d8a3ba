"""The iterator of a loop that counts in another way, in the body of the loop.

In: a body, and what the old iterator is in terms of the new one.  Out: the body over the new one::

    a[k - 1] = k  where k becomes 1 + k       -->   a[k] = 1 + k
    a[k] = k      where k becomes (long)k     -->   a[k] = (long)k
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.normalize.sums import Sum, addends
from comprehensive.loops.types import as_type, type_of
from comprehensive.metafork.ast import Binary, Cast, Expr, Index, IntLiteral, Name, ScalarType
from comprehensive.metafork.rewrite import map_expression, map_expressions, substitute, with_subscripts
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import S, subexpressions
from comprehensive.records import replace

Types = Mapping[str, ScalarType]


class Counted(Struct, frozen=True):
    """A header counted from 0, and the value of the old iterator in terms of the new one, which has its name.

    Where the old one was of another type, ``value`` converts ``place``, which is never less than ``least``.
    """

    type: ScalarType
    extent: Expr
    value: Expr
    place: Expr
    least: int


def in_statements(body: tuple[S, ...], iterator: str, counted: Counted, types: Types) -> tuple[S, ...]:
    def one(expr: Expr) -> Expr:
        return _replaced(expr, iterator, counted, types)

    def subscript(expr: Expr) -> Expr:
        return one(_hidden(expr, iterator, counted.least))

    return map_expressions(body, one, lambda place: with_subscripts(place, subscript))


def _replaced(expr: Expr, iterator: str, counted: Counted, types: Types) -> Expr:
    if not {iterator, _PLACE} & names_read(expr):
        return expr

    def subscripts(e: Expr) -> Expr:
        if not isinstance(e, Index):
            return e
        return replace(e, subscripts=tuple(_hidden(s, iterator, counted.least) for s in e.subscripts))

    values = {iterator: counted.value, _PLACE: counted.place}
    return tidy(substitute(map_expression(expr, subscripts), values), types)


_PLACE = "#place"
"""No name of a program; during a substitution it stands for the old iterator where that need not be converted."""


def _hidden(subscript: Expr, iterator: str, least: int) -> Expr:
    """A subscript that can be computed as an ``int``, as ``a[k - 1]`` for ``long k`` from 1 on, with _PLACE in it."""
    match subscript:
        case Name(identifier=name):
            distance = 0
        case Binary(operator="+" | "-", left=Name(identifier=name), right=IntLiteral(value=value)):
            distance = value if subscript.operator == "+" else -value
        case _:
            return subscript
    if name != iterator or not -least <= distance <= 1:
        return subscript
    return substitute(subscript, {iterator: Name(_PLACE)})


def tidy(expr: Expr, types: Types) -> Expr:
    """The expression with sums of ``int`` written shorter where that can be."""

    def one(e: Expr) -> Expr:
        if not isinstance(e, Binary) or e.operator not in ("+", "-"):
            return e
        # Those that cancel each other, too: the difference of a value that is not a number and itself is none.
        if any(_type(term, types) is not ScalarType.INT for term in addends(e)):
            return e
        shorter = Sum.of(e).expression()
        return shorter if _size(shorter) < _size(e) else e

    return map_expression(expr, one)


def _type(expr: Expr, types: Types) -> ScalarType | None:
    try:
        return promote(type_of(expr, types))
    except KeyError:  # of a name that is declared further inside
        return None


def _size(expr: Expr) -> int:
    return sum(1 for _ in subexpressions(expr))


def without_idle_names(expr: Expr, types: Types) -> Expr:
    """The expression without names whose multiples cancel each other, as those of the row in ``(i + 1)*n - i*n``."""

    def unconverted(e: Expr) -> Expr:
        return e.operand if isinstance(e, Cast) and type_of(e.operand, types) is e.type else e

    ring = Ring()
    value = ring.read(map_expression(expr, unconverted))
    if not ring.names_in(value) < names_read(expr):
        return expr
    return as_type(ring.write(value), type_of(expr, types), types)
