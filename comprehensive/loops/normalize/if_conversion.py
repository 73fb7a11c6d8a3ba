"""If-conversion: conditions around assignments become choices between values.

::

    if (c) t = a; else t = b;                 -->   t = c ? a : b;
    if (v > best) { best = v; at = k; }       -->   int taken = v > best ? 1 : 0;
                                                    best = taken ? v : best;  at = taken ? k : at;
    if (i < n) { sum += a[i]; count++; }      -->   sum = i < n ? sum + a[i] : sum;
                                                    count = i < n ? count + 1 : count;

The value that is not chosen is not computed, so that nothing is read or divided which the program does not read or
divide.  An element of an array is stored by both branches or the condition stays: a store that the program does not
make would be seen by others.  Both values are converted to the type of their target, as the assignments convert them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from comprehensive.loops.access import names_read
from comprehensive.loops.types import as_type, type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import subexpressions


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
    if len(choices) > 1 and not _is_repeatable(condition, [c.assign for c in choices]):
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


def _is_repeatable(condition: Expr, assigned: Sequence[Assign]) -> bool:
    """Whether a condition is one on scalars that are not assigned: it costs little, and says more than a variable."""
    is_simple = all(isinstance(e, Name | IntLiteral | Binary | Unary) for e in subexpressions(condition))
    targets = {a.target.identifier for a in assigned if isinstance(a.target, Name)}
    return is_simple and not names_read(condition) & targets


def _choices(statement: If, types: Mapping[str, ScalarType]) -> list[_Choice] | None:
    then, otherwise = _assignments(statement.then), _assignments(statement.otherwise)
    if then is None or otherwise is None:
        return None
    if [a.target for a in then] == [a.target for a in otherwise]:
        return [
            _Choice(first, assigned_value(first, types), assigned_value(second, types))
            for first, second in zip(then, otherwise, strict=True)
        ]
    if any(isinstance(a.target, Index) for a in (*then, *otherwise)):
        return None
    return [
        *(_Choice(a, assigned_value(a, types), a.target) for a in then),
        *(_Choice(a, a.target, assigned_value(a, types)) for a in otherwise),
    ]


def _assignments(body: tuple[Stmt, ...]) -> list[Assign] | None:
    """The body if it is nothing but assignments that are not atomic."""
    found = [s for s in body if isinstance(s, Assign) and not s.atomic]
    return found if len(found) == len(body) else None


def assigned_value(assign: Assign, types: Mapping[str, ScalarType]) -> Expr:
    """Return the value that the assignment leaves in its target."""
    value = assign.value
    if assign.operator != "=":
        value = Binary(assign.operator.removesuffix("="), assign.target, value, assign.span)
    return as_type(value, type_of(assign.target, types), types)
