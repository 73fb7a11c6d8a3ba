"""If-conversion: conditions around assignments become choices between values.

::

    if (c) t = a; else t = b;                 -->   t = c ? a : b;
    if (v > best) { best = v; at = k; }       -->   int taken = v > best ? 1 : 0;
                                                    best = taken ? v : best;  at = taken ? k : at;

The value that is not chosen is not computed, so that nothing is read or divided which the program does not read or
divide.  An element of an array is stored by both branches or the condition stays: a store that the program does not
make would be seen by others.  Both values are converted to the type of their target, as the assignments convert them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Declare,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import with_bodies


def if_converted(body: tuple[Stmt, ...], types: Mapping[str, ScalarType], name: Namer) -> tuple[Stmt, ...]:
    """The body with choices in place of the conditions that can be; ``types`` are those of all names in it."""
    result: list[Stmt] = []
    for statement in body:
        inside = with_bodies(statement, partial(if_converted, types=types, name=name))
        converted = _converted(inside, types, name) if isinstance(inside, If) else None
        result += converted or (inside,)
    return tuple(result)


@dataclass(frozen=True, slots=True)
class _Choice:
    """``target = condition ? then : otherwise``, for a condition that is yet to come."""

    assign: Assign
    then: Expr
    otherwise: Expr


def _converted(statement: If, types: Mapping[str, ScalarType], name: Namer) -> tuple[Stmt, ...] | None:
    """The statement as assignments; None where a branch does something else, or stores what the other does not."""
    choices = _choices(statement, types)
    if choices is None:
        return None
    condition = statement.condition
    declared: tuple[Stmt, ...] = ()
    if len(choices) > 1:
        taken = name("taken")
        initial = Conditional(condition, IntLiteral(1), IntLiteral(0))
        declared, condition = (Declare(ScalarType.INT, taken, initial=initial),), Name(taken)
    return (
        *declared,
        *(
            replace(c.assign, operator="=", value=Conditional(condition, c.then, c.otherwise))
            for c in choices
        ),
    )


def _choices(statement: If, types: Mapping[str, ScalarType]) -> list[_Choice] | None:
    then, otherwise = _assignments(statement.then), _assignments(statement.otherwise)
    if then is None or otherwise is None:
        return None
    if [a.target for a in then] == [a.target for a in otherwise]:
        return [
            _Choice(first, _value(first, types), _value(second, types))
            for first, second in zip(then, otherwise, strict=True)
        ]
    if any(isinstance(a.target, Index) for a in (*then, *otherwise)):
        return None
    return [
        *(_Choice(a, _value(a, types), a.target) for a in then),
        *(_Choice(a, a.target, _value(a, types)) for a in otherwise),
    ]


def _assignments(body: tuple[Stmt, ...]) -> list[Assign] | None:
    """The body if it is nothing but assignments that are not atomic."""
    found = [s for s in body if isinstance(s, Assign) and not s.atomic]
    return found if len(found) == len(body) else None


def _value(assign: Assign, types: Mapping[str, ScalarType]) -> Expr:
    """Return the value that the assignment leaves in its target."""
    value = assign.value
    if assign.operator != "=":
        value = Binary(assign.operator.removesuffix("="), assign.target, value, assign.span)
    target = type_of(assign.target, types)
    return value if type_of(value, types) is target else Cast(target, value, assign.span)
