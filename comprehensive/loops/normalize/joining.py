"""The operation by which a statement joins a new value with the one that a scalar or an element has.

In: a statement and its target.  Out: the operator and the new value, or that one of the two is chosen::

    s += a[k], s = a[k] + s                       joined by +
    m = fmaxf(m, a[k]), if (m < a[k]) m = a[k]    a choice
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.loops.normalize.equality import same
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.scalar_types import promote

_CHOICES = frozenset(("fminf", "fmaxf", "fmin", "fmax"))
_ZERO, _ONE = IntLiteral(0), IntLiteral(1)


class Joined(Struct, frozen=True):
    """``target = target operator value``, or ``choice``: the target keeps its value or takes the new one."""

    operator: str
    value: Expr


def joined_in(statement: Stmt, target: Name | Index, types: Mapping[str, ScalarType]) -> Joined | None:
    """Return how a statement joins a value with what the target has; None where it does something else."""
    return _Reader(target, types).joined(statement)


def neutral(operator: str, type: ScalarType) -> Expr | None:
    """The value of this type that leaves every value that is joined with it as it is."""
    computed = promote(type)
    match operator:
        case "+":
            return _ZERO if type.is_integer else Unary("-", FloatLiteral("0.0", computed))
        case "-":  # of a number that is none, -x and -0.0 - x differ in the sign
            return _ZERO if type.is_integer else None
        case "*":
            return _ONE if type.is_integer else FloatLiteral("1.0", computed)
        case "&":
            return IntLiteral(-1)
        case "|" | "^":
            return _ZERO
        case _:
            return None


class _Reader:
    """Reads how a statement joins a new value with what a target has."""

    def __init__(self, target: Name | Index, types: Mapping[str, ScalarType]) -> None:
        self._target, self._types = target, types

    def joined(self, statement: Stmt) -> Joined | None:
        match statement:
            case Assign(atomic=True):
                return None
            case Assign(operator="=", target=found, value=value) if self._is_target(found):
                return self._value(value)
            case Assign(operator=operator, target=found, value=value) if self._is_target(found):
                return Joined(operator.removesuffix("="), value)
            case If(then=(Assign(operator="=", target=found, value=value, atomic=False),), otherwise=()) if (
                self._is_target(found) and self._compares(statement.condition, value)
            ):
                return Joined("choice", value)
            case _:
                return None

    def _value(self, value: Expr) -> Joined | None:
        match value:
            case Binary(operator="+" | "-" | "*" | "&" | "|" | "^" as operator, left=left, right=right):
                if self._is_target(left):
                    return Joined(operator, right)
                return Joined(operator, left) if operator != "-" and self._is_target(right) else None
            case Call(function=function, arguments=(left, right)) if function in _CHOICES:
                left, right = self._narrow(left), self._narrow(right)
                new = right if self._is_target(left) else left
                return Joined("choice", new) if self._is_target(left) or self._is_target(right) else None
            case Conditional(condition=condition, then=left, otherwise=right):
                new = right if self._is_target(left) else left
                if not (self._is_target(left) or self._is_target(right)):
                    return None
                return Joined("choice", new) if self._compares(condition, new) else None
            case _:
                return None

    def _is_target(self, expr: Expr) -> bool:
        return same(expr, self._target, self._types)

    def _compares(self, condition: Expr, new: Expr) -> bool:
        """Whether a condition reads nothing but the old value and the new one."""
        match condition:
            case Binary(operator="<" | "<=" | ">" | ">=", left=left, right=right):
                return all(self._is_target(side) or same(side, new, self._types) for side in (left, right))
            case _:
                return False

    def _narrow(self, expr: Expr) -> Expr:
        """The float that was converted to double for a call."""
        match expr:
            case Cast(type=ScalarType.DOUBLE, operand=operand) if (
                type_of(operand, self._types) is ScalarType.FLOAT
            ):
                return operand
            case _:
                return expr
