"""Conditions inside: conditions around loops become conditions in them, so that all points go through the loops.

::

    for (u) if (y + u < h) for (v) { t = b[v];  s = x + v < w ? s + t : s; }
        -->  for (u) for (v) { t = y + u < h ? b[v] : 0;  s = y + u < h && x + v < w ? s + t : s; }

It is right where nothing under a condition changes what the condition reads.  What is declared under one is not used
where it does not hold.  The loops have to have headers that can be computed without the condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from comprehensive.kernel_ir.terms import conjunction
from comprehensive.loops.access import names_read
from comprehensive.loops.normalize.if_conversion import assigned_value
from comprehensive.metafork.ast import (
    Assign,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.walk import assigned_scalars, reads_data, statements_in
from comprehensive.records import replace


def conditions_inside(
    body: Sequence[Stmt], types: Mapping[str, ScalarType], *, stores: bool = False
) -> tuple[Stmt, ...]:
    """Return the body without conditions around loops, as far as they can be brought inside.

    ``types`` are those of all names; ``stores`` says whether elements may be assigned under conditions.
    """
    return tuple(found for statement in body for found in _without_conditions(statement, types, stores))


def _without_conditions(statement: Stmt, types: Mapping[str, ScalarType], stores: bool) -> Iterator[Stmt]:
    match statement:
        case If(condition=condition, then=then, otherwise=otherwise) if _has_loops((*then, *otherwise)):
            away = Unary("!", condition)
            done = (
                under(condition, then, types, stores=stores),
                under(away, otherwise, types, stores=stores),
            )
            if None in done or names_read(condition) & assigned_scalars((statement,)):
                yield statement
            else:
                yield from (found for branch in done for found in branch or ())
        case For():
            yield replace(statement, body=conditions_inside(statement.body, types, stores=stores))
        case _:
            yield statement


def under(
    condition: Expr, body: Sequence[Stmt], types: Mapping[str, ScalarType], *, stores: bool = False
) -> tuple[Stmt, ...] | None:
    """Return statements that do what the body does under a condition; None where they cannot."""
    if names_read(condition) & assigned_scalars(body) or reads_data(condition):
        return None
    found: list[Stmt] = []
    for statement in body:
        done = _under(condition, statement, types, stores)
        if done is None:
            return None
        found += done
    return tuple(found)


def _under(
    condition: Expr, statement: Stmt, types: Mapping[str, ScalarType], stores: bool
) -> tuple[Stmt, ...] | None:
    match statement:
        case Declare(dims=(), initial=initial):
            if initial is None or not reads_data(initial):
                return (statement,)
            return (replace(statement, initial=Conditional(condition, initial, IntLiteral(0))),)
        case Assign(target=Name(), atomic=False):
            value = _chosen(condition, assigned_value(statement, types), statement.target)
            return (Assign(statement.target, "=", value, statement.span),)
        case Assign(target=Index(), atomic=False) if stores:
            return (If(condition, (statement,)),)
        case If():
            both = conjunction([condition, statement.condition])
            away = conjunction([condition, Unary("!", statement.condition)])
            done = (
                under(both, statement.then, types, stores=stores),
                under(away, statement.otherwise, types, stores=stores),
            )
            if names_read(statement.condition) & assigned_scalars((statement,)):
                return None
            return None if done[0] is None or done[1] is None else (*done[0], *done[1])
        case For():
            inside = under(condition, statement.body, types, stores=stores)
            return None if inside is None else (replace(statement, body=inside),)
        case _:
            return None


def _chosen(condition: Expr, value: Expr, otherwise: Expr) -> Expr:
    """Return a choice; one of a choice is one under both conditions."""
    match value:
        case Conditional(condition=inner, then=then, otherwise=other) if other == otherwise:
            return Conditional(conjunction([condition, inner]), then, otherwise)
        case _:
            return Conditional(condition, value, otherwise)


def _has_loops(body: Sequence[Stmt]) -> bool:
    return any(isinstance(s, For) for s in statements_in(tuple(body)))
