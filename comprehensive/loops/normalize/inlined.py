"""Integer scalars that are defined once, from what does not change, put where they are read.

::

    int row = i + u - 1;  s += a[row][j];    -->  s += a[i + u - 1][j];
    long row = at[i] * n;  s += a[row + j];  -->  s += a[at[i] * n + j];
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from collections.abc import Set as AbstractSet

from comprehensive.loops.access import names_read
from comprehensive.loops.types import as_type, type_of
from comprehensive.metafork.ast import Binary, Block, Cast, Declare, Expr, For, If, ScalarType, Stmt
from comprehensive.metafork.rewrite import map_expressions, substitute, with_bodies
from comprehensive.metafork.walk import (
    assigned_scalars,
    declared,
    elements,
    expressions_in,
    names,
    reads_data,
)
from comprehensive.records import replace


def inlined(body: Sequence[Stmt], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """Return the body without such scalars, but for those that read data; ``types`` are those of all names in it."""
    return _inlined(body, types, lambda _, value, __: not reads_data(value))


def with_known_headers(body: Sequence[Stmt], types: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """Return the body with such scalars put where headers of loops read them, but for those that read data."""
    return _with_known_headers(body, types, assigned_scalars(body), {})


def _with_known_headers(
    body: Sequence[Stmt],
    types: Mapping[str, ScalarType],
    changing: AbstractSet[str],
    known: Mapping[str, Expr],
) -> tuple[Stmt, ...]:
    result: list[Stmt] = []

    def inside(inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return _with_known_headers(inner, types, changing, known)

    for statement in body:
        seen = known
        # A name that is declared anew hides what was known of it.
        hidden = declared(statement)
        known = {n: e for n, e in known.items() if hidden.keys().isdisjoint((n, *names_read(e)))}
        match statement:
            case Declare(initial=initial, dims=()) if (
                initial is not None
                and statement.type.is_integer
                and not reads_data(initial)
                and type_of(initial, types).is_integer
                and not changing & {statement.name, *names_read(initial)}
            ):
                known[statement.name] = substitute(as_type(initial, statement.type, types), seen)
                result.append(statement)
            case For():
                sides = (statement.start, statement.bound, statement.step)
                start, bound, step = (substitute(side, seen) for side in sides)
                result.append(with_bodies(replace(statement, start=start, bound=bound, step=step), inside))
                known = seen
            case If() | Block():
                result.append(with_bodies(statement, inside))
            case _:
                result.append(statement)
    return tuple(result)


def with_looked_up_places(
    body: Sequence[Stmt], types: Mapping[str, ScalarType], read_only: Container[str]
) -> tuple[Stmt, ...]:
    """Return the body without those that are computed from elements, and that nothing but subscripts reads.

    ``read_only`` are the arrays that no point writes.
    """

    def is_place(name: str, value: Expr, rest: Sequence[Stmt]) -> bool:
        read = [e.array for e in elements(value)]
        return (
            isinstance(value, Binary)
            and len(read) == 1
            and read[0] in read_only
            and all(is_in_subscripts(name, whole) for whole in expressions_in(rest))
        )

    return _inlined(body, types, is_place)


def _inlined(
    body: Sequence[Stmt],
    types: Mapping[str, ScalarType],
    is_wanted: Callable[[str, Expr, Sequence[Stmt]], bool],
) -> tuple[Stmt, ...]:
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
                and is_wanted(statement.name, initial, left)
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
                result.append(with_bodies(statement, lambda inner: _inlined(inner, types, is_wanted)))
            case _:
                result.append(statement)
    return tuple(result)


def is_in_subscripts(name: str, expr: Expr) -> bool:
    """Whether an expression reads a scalar in subscripts alone, if at all."""
    read = sum(found == name for found in names(expr))
    return read == sum(found == name for e in elements(expr) for s in e.subscripts for found in names(s))
