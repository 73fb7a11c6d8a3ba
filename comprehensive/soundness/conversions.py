"""The integer locals of a nest with their conversions written out, so that they can be substituted.

In: a nest.  Out: the same nest in which an integer local holds the exact value of its definition::

    unsigned q = p - 1;   -->   long q = (unsigned)(p - 1);

For evaluation only: where such a local is read without being substituted, its type is no longer the declared one.
"""

from __future__ import annotations

from collections.abc import Mapping

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Cast, Declare, Expr, ScalarType
from comprehensive.metafork.rewrite import with_all_bodies
from comprehensive.metafork.walk import S
from comprehensive.records import replace


def with_conversions(nest: Nest, types: Mapping[str, ScalarType]) -> Nest:
    """The nest with a cast around the definition of every integer local that it may change.

    ``types`` are those of the names of the nest, as far as they have one.
    """

    def inside(body: tuple[S, ...]) -> tuple[S, ...]:
        return tuple(map(one, body))

    def one(statement: S) -> S:
        if isinstance(statement, Declare) and statement.initial is not None:
            initial, type = _converted(statement.initial, statement.type, types)
            return replace(statement, type=type, initial=initial)
        return with_all_bodies(statement, inside)

    return replace(nest, body=inside(nest.body))


def _converted(value: Expr, type: ScalarType, types: Mapping[str, ScalarType]) -> tuple[Expr, ScalarType]:
    """The value of a local and the type that holds it exactly."""
    if not type.is_integer:
        return value, type
    known = all(name in types for name in names_read(value))
    same = known and type_of(value, types) is type
    return value if same else Cast(type, value), ScalarType.LONG
