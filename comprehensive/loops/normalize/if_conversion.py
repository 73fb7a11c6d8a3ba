"""If-conversion: conditions around assignments become choices between values.

::

    if (c) t = a; else t = b;                 -->   t = c ? a : b;
    if (v > best) { best = v; at = k; }       -->   int taken = v > best ? 1 : 0;
                                                    best = taken ? v : best;  at = taken ? k : at;
    if (i < n) { sum += a[i]; count++; }      -->   sum = i < n ? sum + a[i] : sum;
                                                    count = i < n ? count + 1 : count;
    if (c) { float t = d * d; s += t; }       -->   float t = c ? d * d : 0;  s = c ? s + t : s;
    if (c) if (d) S                           -->   if (c && d) S

The value that is not chosen is not computed, so that nothing is read or divided which the program does not read or
divide.  An element of an array is stored by both branches or the condition stays: a store that the program does not
make would be seen by others.  Both values are converted to the type of their target, as the assignments convert them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct

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
from comprehensive.metafork.terms import value_left
from comprehensive.metafork.walk import subexpressions
from comprehensive.records import replace


def if_converted(body: tuple[Stmt, ...], types: Mapping[str, ScalarType], name: Namer) -> tuple[Stmt, ...]:
    """The body with choices in place of the conditions that can be; ``types`` are those of all names in it."""
    result: list[Stmt] = []
    for statement in body:
        inside = with_bodies(statement, partial(if_converted, types=types, name=name))
        converted = _converted(inside, types, name) if isinstance(inside, If) else None
        result += converted or (inside,)
    return tuple(result)


class _Choice(Struct, frozen=True):
    """``target = condition ? then : otherwise``, for a condition that is yet to come; or the declaration of a scalar
    with such a value."""

    assign: Assign | Declare
    then: Expr
    otherwise: Expr

    def under(self, condition: Expr) -> Stmt:
        """Return the statement for a condition."""
        value = Conditional(condition, self.then, self.otherwise)
        if isinstance(self.assign, Declare):
            return replace(self.assign, initial=value)
        return replace(self.assign, operator="=", value=value)


def _converted(statement: If, types: Mapping[str, ScalarType], name: Namer) -> tuple[Stmt, ...] | None:
    """The statement as assignments; None where a branch does something else, or stores what the other does not."""
    choices = _choices(statement, types)
    if choices is None:
        return None
    condition = statement.condition
    declared: tuple[Stmt, ...] = ()
    if len(choices) > 1 and not _is_repeatable(condition, choices):
        taken = name("taken")
        initial = Conditional(condition, IntLiteral(1), IntLiteral(0))
        declared, condition = (Declare(ScalarType.INT, taken, initial=initial),), Name(taken)
    return (*declared, *(choice.under(condition) for choice in choices))


def _is_repeatable(condition: Expr, choices: Sequence[_Choice]) -> bool:
    """Whether a condition is one on scalars that are not assigned: it costs little, and says more than a variable."""
    is_simple = all(isinstance(e, Name | IntLiteral | Binary | Unary) for e in subexpressions(condition))
    assigned = (choice.assign for choice in choices if isinstance(choice.assign, Assign))
    targets = {a.target.identifier for a in assigned if isinstance(a.target, Name)}
    return is_simple and not names_read(condition) & targets


def _choices(statement: If, types: Mapping[str, ScalarType]) -> list[_Choice] | None:
    then, otherwise = _assignments(statement.then), _assignments(statement.otherwise)
    if then is None or otherwise is None:
        return None
    both = list(zip(then, otherwise, strict=False))
    if len(then) == len(otherwise) and all(_target(a) == _target(b) is not None for a, b in both):
        return [
            _Choice(first, assigned_value(first, types), assigned_value(second, types))
            for first, second in both
            if isinstance(first, Assign) and isinstance(second, Assign)
        ]
    if any(isinstance(_target(a), Index) for a in (*then, *otherwise)):
        return None
    return [
        *(_Choice(a, _value(a, types), _besides(a)) for a in then),
        *(_Choice(a, _besides(a), _value(a, types)) for a in otherwise),
    ]


def _assignments(body: tuple[Stmt, ...]) -> list[Assign | Declare] | None:
    """The body if it is nothing but assignments that are not atomic, and declarations of scalars with a value."""
    found: list[Assign | Declare] = []
    for statement in body:
        match statement:
            case Assign(atomic=False):
                found.append(statement)
            case Declare(dims=(), initial=initial) if initial is not None:
                found.append(statement)
            case _:
                return None
    return found


def _target(statement: Assign | Declare) -> Name | Index | None:
    return statement.target if isinstance(statement, Assign) else None


def _value(statement: Assign | Declare, types: Mapping[str, ScalarType]) -> Expr:
    if isinstance(statement, Assign):
        return assigned_value(statement, types)
    assert statement.initial is not None
    return as_type(statement.initial, statement.type, types)


def _besides(statement: Assign | Declare) -> Expr:
    """Return the value where the branch of a statement is not taken; nothing reads that of a scalar of the branch."""
    return IntLiteral(0) if isinstance(statement, Declare) else statement.target


def assigned_value(assign: Assign, types: Mapping[str, ScalarType]) -> Expr:
    """Return the value that the assignment leaves in its target."""
    return as_type(value_left(assign), type_of(assign.target, types), types)


def with_conditions_joined(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with such conditions in one, at any depth."""
    return tuple(_joined(with_bodies(statement, with_conditions_joined)) for statement in body)


def _joined(statement: Stmt) -> Stmt:
    match statement:
        case If(condition=outer, then=(If(condition=inner, then=then, otherwise=()),), otherwise=()):
            return replace(statement, condition=Binary("&&", outer, inner), then=then)
        case _:
            return statement
