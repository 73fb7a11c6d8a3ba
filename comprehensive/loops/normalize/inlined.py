"""Integer scalars that are defined once, from what does not change, put where they are read.

::

    int row = i + u - 1;  s += a[row][j];    -->  s += a[i + u - 1][j];
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comprehensive.loops.access import names_read
from comprehensive.loops.rewrite import substitute
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Cast, Declare, Expr, For, If, Index, ScalarType, Stmt
from comprehensive.metafork.rewrite import map_expressions, with_bodies
from comprehensive.metafork.walk import assigned_scalars, subexpressions


def inlined(body: Sequence[Stmt], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """Return the body without such scalars; ``types`` are those of all names in it."""
    changing = assigned_scalars(body)
    result: list[Stmt] = []
    left = list(body)
    while left:
        statement = left.pop(0)
        match statement:
            case Declare(initial=initial, dims=()) if (
                initial is not None
                and statement.type.is_integer
                and type_of(initial, types).is_integer
                and statement.name not in changing
                and not reads_data(initial)
                and not names_read(initial) & changing
            ):
                name, value = statement.name, initial
                if type_of(initial, types) is not statement.type:
                    value = Cast(statement.type, initial, statement.span)
                left = list(
                    map_expressions(
                        tuple(left), lambda e, name=name, value=value: substitute(e, {name: value})
                    )
                )
            case For() | If():
                result.append(with_bodies(statement, lambda inner: inlined(inner, types)))
            case _:
                result.append(statement)
    return tuple(result)


def reads_data(expr: Expr) -> bool:
    """Whether an expression reads an element of an array."""
    return any(isinstance(e, Index) for e in subexpressions(expr))
