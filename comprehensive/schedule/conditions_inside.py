"""Conditions inside: conditions around loops become conditions in them, so that all points go through the loops.

::

    for (u) if (y + u < h) for (v) { t = b[v];  s = x + v < w ? s + t : s; }
        -->  for (u) for (v) { t = y + u < h ? b[v] : 0;  s = y + u < h && x + v < w ? s + t : s; }

It is right where nothing under a condition changes what the condition reads; else a scalar holds the condition.  What
is declared under one is not used where it does not hold.  The loops have to have headers that can be computed without
the condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

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
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.walk import assigned_scalars, reads_data, statements_in
from comprehensive.records import replace
from comprehensive.schedule.context import ONE, ZERO


def conditions_inside(
    body: Sequence[Stmt], types: Mapping[str, ScalarType], name: Namer, *, stores: bool = False
) -> tuple[Stmt, ...]:
    """Return the body without conditions around loops, as far as they can be brought inside.

    ``types`` are those of all names, and ``name`` gives free ones; ``stores`` says whether elements may be assigned
    under conditions.
    """
    return _Inside(types, name, stores).all(body)


def under(
    condition: Expr,
    body: Sequence[Stmt],
    types: Mapping[str, ScalarType],
    name: Namer,
    *,
    stores: bool = False,
) -> tuple[Stmt, ...] | None:
    """Return statements that do what the body does under a condition; None where they cannot."""
    return _Inside(types, name, stores).under(condition, body)


class _Inside(Struct, frozen=True):
    types: Mapping[str, ScalarType]
    name: Namer
    stores: bool

    def all(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(found for statement in body for found in self._without_conditions(statement))

    def _without_conditions(self, statement: Stmt) -> tuple[Stmt, ...]:
        match statement:
            case If() if _has_loops(statement):
                return self._branches(statement) or (statement,)
            case For():
                return (replace(statement, body=self.all(statement.body)),)
            case _:
                return (statement,)

    def _branches(self, choice: If, around: Sequence[Expr] = ()) -> tuple[Stmt, ...] | None:
        """Both branches, one behind the other, each under its condition and those ``around``; None where one cannot be.

        A condition that cannot be asked again, since branches may change what it reads, is held in a scalar.
        """
        held: tuple[Stmt, ...] = ()
        condition = choice.condition
        if reads_data(condition) or names_read(condition) & assigned_scalars((choice,)):
            holds = Conditional(conjunction([*around, condition]), ONE, ZERO)
            held = (Declare(ScalarType.INT, self.name("taken"), initial=holds, span=choice.span, const=True),)
            condition = Name(held[0].name)
        then = self.under(conjunction([*around, condition]), choice.then)
        otherwise = self.under(conjunction([*around, Unary("!", condition)]), choice.otherwise)
        return None if then is None or otherwise is None else (*held, *then, *otherwise)

    def under(self, condition: Expr, body: Sequence[Stmt]) -> tuple[Stmt, ...] | None:
        if names_read(condition) & assigned_scalars(body) or reads_data(condition):
            return None
        found: list[Stmt] = []
        for statement in body:
            done = self._under(condition, statement)
            if done is None:
                return None
            found += done
        return tuple(found)

    def _under(self, condition: Expr, statement: Stmt) -> tuple[Stmt, ...] | None:
        match statement:
            case Declare(dims=(), initial=initial):
                if initial is None or not reads_data(initial):
                    return (statement,)
                return (replace(statement, initial=Conditional(condition, initial, ZERO)),)
            case Assign(target=Name(), atomic=False):
                value = _chosen(condition, assigned_value(statement, self.types), statement.target)
                return (Assign(statement.target, "=", value, statement.span),)
            case Assign(target=Index(), atomic=False) if self.stores:
                return (If(condition, (statement,)),)
            case If():
                return self._branches(statement, [condition])
            case For():
                inside = self.under(condition, statement.body)
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


def _has_loops(statement: Stmt) -> bool:
    return any(isinstance(s, For) for s in statements_in((statement,)))
