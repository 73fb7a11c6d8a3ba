"""Common subexpressions of data: a body in, the body in which equal trees of pure reads are computed once out.

Floating-point values keep every bit: only equal trees are shared and nothing is re-associated::

    c[i] = a[i]*x + a[i]*y;  d[i] = a[i]*x;      -->      float t0 = a[i]*x;  c[i] = t0 + a[i]*y;  d[i] = t0;

What a tree reads must not change between its uses.  Two arrays may be one in C, so every store ends the life of
every value read from memory, except from arrays that nothing in the region writes.  A tree is shared only where
its first use is certain to be evaluated: never out of a branch, a loop or the right side of ``&&``, ``||``, ``?:``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeGuard

from comprehensive.loops.access import names_read
from comprehensive.loops.traverse import always_evaluated
from comprehensive.loops.types import type_of, with_declarations, within_bodies
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Declare,
    Expr,
    For,
    If,
    Index,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import FreshNames
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import assigned_scalars, subexpressions
from comprehensive.strategies.effects import effects_of, may_change


def share_values(
    body: tuple[Stmt, ...], types: Mapping[str, ScalarType], fresh: FreshNames, constants: frozenset[str]
) -> tuple[Stmt, ...]:
    """Share subexpressions that a body computes or loads more than once.

    ``types`` are those of what is visible (element types for arrays); ``constants`` are arrays that are never
    written.
    """
    while True:
        inner = with_declarations(types, body)
        changed = _share_one(body, inner, fresh, constants)
        if changed is None:
            break
        body = changed
    return within_bodies(body, inner, partial(share_values, fresh=fresh, constants=constants))


def _share_one(
    body: tuple[Stmt, ...], types: Mapping[str, ScalarType], fresh: FreshNames, constants: frozenset[str]
) -> tuple[Stmt, ...] | None:
    """The body with the largest common tree shared, or None where there is none."""
    found: list[tuple[int, int, Expr, int]] = []
    for position, statement in enumerate(body):
        for tree in _certain_trees(statement):
            if not _is_data(tree, types):
                continue
            last = _end_of_life(body, position, tree, constants)
            if _occurrences(body[position:last], tree) >= 2:
                found.append((-_size(tree), position, tree, last))
    if not found:
        return None
    _, position, tree, last = min(found, key=lambda entry: entry[:2])
    first, later = body[position], body[last:]
    type = promote(type_of(tree, types))
    if _is_definition_of(first, tree, type) and not assigned_scalars(body) & {first.name}:
        # The source has a name for it already.
        return (*body[: position + 1], *_replaced(body[position + 1 : last], tree, Name(first.name)), *later)
    name = fresh()
    definition = Declare(type, name, (), tree, const=True, span=first.span)
    return (*body[:position], definition, *_replaced(body[position:last], tree, Name(name)), *later)


def _is_definition_of(statement: Stmt, tree: Expr, type: ScalarType) -> TypeGuard[Declare]:
    return isinstance(statement, Declare) and statement.initial == tree and statement.type is type


def _size(tree: Expr) -> int:
    return sum(1 for _ in subexpressions(tree))


def _occurrences(body: tuple[Stmt, ...], tree: Expr) -> int:
    return sum(e == tree for expr in _values_in(body) for e in subexpressions(expr))


def _values_in(body: tuple[Stmt, ...]) -> Iterator[Expr]:
    """The expressions that are evaluated: a target stands for its subscripts, it is not read."""
    seen: list[Expr] = []
    map_expressions(body, lambda e: (seen.append(e), e)[1])
    yield from seen


def _replaced(body: tuple[Stmt, ...], tree: Expr, by: Expr) -> tuple[Stmt, ...]:
    return map_expressions(body, lambda expr: map_expression(expr, lambda e: by if e == tree else e))


def _end_of_life(body: tuple[Stmt, ...], position: int, tree: Expr, constants: frozenset[str]) -> int:
    """The first statement that may no longer read the value that the tree has at ``position``."""
    for number in range(position, len(body)):
        statement = body[number]
        if may_change(tree, effects_of((statement,)), constants):
            # A plain statement reads everything before it writes; one with a body may write first.
            return number + 1 if isinstance(statement, Assign | Declare) else number
    return len(body)


def _certain_trees(statement: Stmt) -> Iterator[Expr]:
    """The trees that are evaluated whenever the statement is reached."""
    match statement:
        case Declare():
            if statement.initial is not None:
                yield from always_evaluated(statement.initial)
        case Assign():
            yield from always_evaluated(statement.value)
            if isinstance(statement.target, Index):
                for subscript in statement.target.subscripts:
                    yield from always_evaluated(subscript)
        case If():
            yield from always_evaluated(statement.condition)
        case For():
            yield from always_evaluated(statement.start)
        case _:
            pass


def _is_data(tree: Expr, types: Mapping[str, ScalarType]) -> bool:
    """Whether sharing the tree saves a load, a call or floating-point arithmetic."""
    match tree:
        case Index():
            return True
        case Binary():
            computes = tree.operator in ("+", "-", "*", "/") and not type_of(tree, types).is_integer
        case Call():
            computes = True
        case _:
            return False
    return computes and bool(names_read(tree))
