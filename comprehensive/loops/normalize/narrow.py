"""Integers that fit into ``int`` are computed in ``int``, whatever type the program computes them in.

In: what is done at points, the types and the ranges of all names.  Out: the same, to the bit, without conversions that
change no value::

    a[(unsigned long)y + 1] = (unsigned long)y;  if ((unsigned long)y < 7ul) ...
        -->   a[y + 1] = y;  if (y < 7) ...                         where 0 <= y < 2^31 - 1

A subscript of 64 bits may be negative where the program computes it in ``size_t``: an address is the same modulo 2^64,
so that ``a[(unsigned long)y - 1]`` is ``a[y - 1]``; and so is any integer to which such a number is converted.
Elsewhere an expression is computed in ``int`` only where nothing in it wraps around.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from comprehensive.loops.integers import POLYNOMIAL_OPERATORS
from comprehensive.loops.intervals import Interval, Ranges, joined, negated, values_of
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Declare,
    Expr,
    Index,
    IntLiteral,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.precedence import COMPARISONS
from comprehensive.metafork.rewrite import map_expression, map_expressions, with_bodies, with_subscripts
from comprehensive.metafork.scalar_types import common_type, promote

_INT = ScalarType.INT


def in_int(body: tuple[Stmt, ...], types: Mapping[str, ScalarType], ranges: Ranges) -> tuple[Stmt, ...]:
    """The body with what fits into ``int`` computed in it; ``types`` are those of all names in the body."""
    narrow = _Narrow(types, ranges)

    def subscript(expr: Expr) -> Expr:
        return narrow.place(narrow.within(expr))

    return narrow.stored(
        map_expressions(body, narrow.within, lambda place: with_subscripts(place, subscript))
    )


@dataclass(frozen=True, slots=True)
class _Narrow:
    types: Mapping[str, ScalarType]
    ranges: Ranges

    def within(self, expr: Expr) -> Expr:
        """The expression with its parts in ``int`` wherever its own type is the same then."""
        return map_expression(expr, self._node)

    def stored(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements with what is converted to the type of a target in ``int`` before."""
        return tuple(map(self._statement, body))

    def place(self, subscript: Expr) -> Expr:
        """A subscript, of which the lowest 64 bits count."""
        found = self._int(subscript, modular=True)
        kind = self._kind(subscript)
        if found is not None or not kind.is_wide:
            return found or subscript
        match subscript:
            case Binary(operator=operator, left=left, right=right) if operator in POLYNOMIAL_OPERATORS:
                # What is in int on one side is converted for the other side's sake.
                one = replace(subscript, left=self.place(left))
                one = one if self._kind(one) is kind else subscript
                both = replace(one, right=self.place(right))
                return both if self._kind(both) is kind else one
            case _:
                return subscript

    def _converted(self, expr: Expr, to: ScalarType) -> Expr | None:
        """Return the operand of a conversion to a type in ``int``: for an integer type the lowest 64 bits count."""
        return self._int(expr, modular=to.is_integer)

    def _statement(self, statement: Stmt) -> Stmt:
        match statement:
            case Declare(type=kind, initial=initial) if initial is not None:
                return replace(statement, initial=self._converted(initial, kind) or initial)
            case Assign(operator=operator, target=target, value=value):
                if operator == "=":
                    kind = type_of(target, self.types)
                    return replace(statement, value=self._converted(value, kind) or value)
                return replace(statement, value=self._operand(value, target))
            case _:
                return with_bodies(statement, self.stored)

    def _node(self, expr: Expr) -> Expr:
        match expr:
            case Index():
                return replace(expr, subscripts=tuple(map(self.place, expr.subscripts)))
            case Cast(type=kind, operand=operand):
                found = self._converted(operand, kind)
                if found is None:
                    return expr
                is_idle = kind is _INT and type_of(found, self.types) is _INT
                return found if is_idle else replace(expr, operand=found)
            case Binary(operator=operator, left=left, right=right) if operator in COMPARISONS:
                sides = self._int(left), self._int(right)
                if sides[0] is not None and sides[1] is not None and self._compare_alike(left, right):
                    return replace(expr, left=sides[0], right=sides[1])
                return replace(expr, left=self._operand(left, right), right=self._operand(right, left))
            case Binary(operator="+" | "-" | "*" | "/" | "%", left=left, right=right):
                left = self._operand(left, right)
                return replace(expr, left=left, right=self._operand(right, left))
            case _:
                return expr

    def _operand(self, expr: Expr, other: Expr) -> Expr:
        """An operand in ``int`` where C converts it to the same type again, for the other operand's sake."""
        found = self._int(expr)
        kind = type_of(other, self.types)
        if found is None or common_type(_INT, kind) is not common_type(type_of(expr, self.types), kind):
            return expr
        return found

    def _compare_alike(self, left: Expr, right: Expr) -> bool:
        """Whether two integers that fit into ``int`` compare there as they do in their common type."""
        if not common_type(type_of(left, self.types), type_of(right, self.types)).wraps:
            return True
        return all(self._values(side).least >= 0 for side in (left, right))

    def _int(self, expr: Expr, *, modular: bool = False) -> Expr | None:
        """An expression of ``int`` that has the value of an integer expression, of which, where it is ``modular``, the
        lowest 64 bits count; None where none is known."""
        kind = self._kind(expr)
        if kind is _INT:
            return expr
        if not kind.is_integer:
            return None
        modular = modular and kind.is_wide
        match expr:
            case IntLiteral(value=value) if Interval(value, value).within(_INT):
                return replace(expr, type=_INT)
            case Cast(operand=operand):
                found = self._int(operand, modular=modular)
                return found if found is not None and (modular or self._fits(found, kind)) else None
            case Unary(operator="-" | "+" as operator, operand=operand):
                found = self._int(operand, modular=modular)
                if found is None:
                    return None
                values = self._values(found)
                values = negated(values) if operator == "-" else values
                if not values.within(_INT) or not (modular or values.within(kind)):
                    return None
                return replace(expr, operand=found)
            case Binary(operator=operator, left=left, right=right) if operator in POLYNOMIAL_OPERATORS:
                parts = self._int(left, modular=modular), self._int(right, modular=modular)
                if parts[0] is None or parts[1] is None:
                    return None
                values = joined(operator, *(self._values(part) for part in parts if part is not None))
                exact = all(self._fits(part, kind) for part in parts if part is not None)
                if not values.within(_INT) or not (modular or (exact and values.within(kind))):
                    return None
                return replace(expr, left=parts[0], right=parts[1])
            case Binary(operator="/" | "%", left=left, right=right):
                first, second = self._int(left), self._int(right)
                if first is None or second is None:
                    return None
                if not (self._fits(first, kind) and self._fits(second, kind)):
                    return None
                return replace(expr, left=first, right=second)
            case Conditional(then=then, otherwise=otherwise):
                first, second = self._int(then, modular=modular), self._int(otherwise, modular=modular)
                if first is None or second is None:
                    return None
                if not (modular or (self._fits(first, kind) and self._fits(second, kind))):
                    return None
                return replace(expr, then=first, otherwise=second)
            case _:
                return None

    def _kind(self, expr: Expr) -> ScalarType:
        return promote(type_of(expr, self.types))

    def _values(self, expr: Expr) -> Interval:
        return values_of(expr, self.types, self.ranges)

    def _fits(self, expr: Expr, kind: ScalarType) -> bool:
        return self._values(expr).within(kind)
