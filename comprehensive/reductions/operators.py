"""The operators with which a loop may put values together, and the statements that do it.

In: a statement.  Out: what it updates, and with which :class:`Operator`::

    s += a[i] * b[i];     s = s + f(i);                            +
    if (a[i] > m) m = a[i];     m = m < x ? x : m;     m = fmaxf(m, x);     max
    all = all && a[i] > 0;                                         &&
    if (a[i] < 0) found = 1;                                       = 1

Values that are put together in another order give the same result for integers, which wrap around, and for the least
and the greatest of numbers; where some of these are NaN, the result is that of some order, since ``x > m ? x : m``
forgets an ``x`` that is NaN and keeps an ``m`` that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)
from comprehensive.metafork.walk import elements, subexpressions


class Operator(Struct, frozen=True):
    """``neutral`` changes no value that it is put together with.

    It is None where a value changes nothing when it is put together with itself: what the variable holds before the
    loop then serves for every part.
    """

    symbol: str
    neutral: int | None
    constant: int | None = None
    """The number that a variable is set to, where that is all that happens to it."""

    @property
    def is_logical(self) -> bool:
        """Whether results are 0 or 1, whatever the values are."""
        return self.symbol in ("&&", "||")

    def serves(self, type: ScalarType) -> bool:
        """Whether there is the operator for values of a type."""
        return type.is_integer or self.symbol in ("+", "*", "max", "min", "&&", "||")

    def rounds(self, type: ScalarType, values: Iterable[ScalarType]) -> bool:
        """Whether every step rounds what an integer is put together with, so that the order of the steps counts."""
        return type.is_integer and self.symbol in ("+", "*") and any(not value.is_integer for value in values)

    def update(self, target: Name | Index, value: Expr) -> Assign:
        """The statement that puts a value together with what a variable holds."""
        match self.symbol:
            case _ if self.constant is not None:
                is_set = Binary("==", value, IntLiteral(self.constant))
                return Assign(target, "=", Conditional(is_set, value, target))
            case "max" | "min":
                relation = ">" if self.symbol == "max" else "<"
                return Assign(target, "=", Conditional(Binary(relation, value, target), value, target))
            case "&&" | "||":
                # The value first, so that it is read in any case.
                return Assign(target, "=", Binary(self.symbol, value, target))
            case _:
                return Assign(target, f"{self.symbol}=", value)


OPERATORS: Mapping[str, Operator] = {
    symbol: Operator(symbol, neutral)
    for symbol, neutral in (
        ("+", 0),
        ("*", 1),
        ("^", 0),
        ("&", None),
        ("|", None),
        ("&&", None),
        ("||", None),
        ("max", None),
        ("min", None),
    )
}
_OF_CLAUSES = {"-": "+"}
"""The operators that put parts together, where they are others than the clause names."""
_EXTREMES = {"fmax": "max", "fmaxf": "max", "fmin": "min", "fminf": "min"}
_GREATER, _LESS = frozenset((">", ">=")), frozenset(("<", "<="))


class Update(Struct, frozen=True):
    """``target`` is put together with a value; ``read`` are the expressions that the value is made of, none of which
    mentions the target."""

    target: Name | Index
    operator: Operator
    read: tuple[Expr, ...]


def operator_called(symbol: str) -> Operator | None:
    """The operator of a reduction clause; None for one that there is not."""
    return OPERATORS.get(_OF_CLAUSES.get(symbol, symbol))


def update_of(statement: Stmt) -> Update | None:
    """Return the update that the statement is; None where it does something else."""
    match statement:
        case Block((only,)):
            return update_of(only)
        case If(Binary(relation, left, right), (Assign(target, "=", value),), ()) if not mentions(
            value, target
        ):
            return _extreme(relation, left, right, value, target, target)
        case Assign(Name() as target, "=", IntLiteral(constant)):
            return Update(target, Operator(f"= {constant}", None, constant), ())
        case Assign(target, "=", value):
            return _assigned(target, value)
        case Assign(target, operator, value) if not mentions(value, target):
            found = OPERATORS.get(_OF_CLAUSES.get(operator[:-1], operator[:-1]))
            return None if found is None else Update(target, found, (value,))
        case _:
            return None


def mentions(expression: Expr, target: Name | Index) -> bool:
    """Whether an expression reads a variable, or any element of its array."""
    if isinstance(target, Name):
        return any(
            isinstance(e, Name) and e.identifier == target.identifier for e in subexpressions(expression)
        )
    return any(e.array == target.array for e in elements(expression))


def _assigned(target: Name | Index, value: Expr) -> Update | None:
    match value:
        case Conditional(Binary(relation, left, right), then, otherwise):
            return _extreme(relation, left, right, then, otherwise, target)
        case Call(function, (left, right)) if function in _EXTREMES:
            found, operands = OPERATORS[_EXTREMES[function]], (left, right)
        case Binary("+" | "-" | "*" | "&" | "|" | "^" | "&&" | "||" as symbol):
            found = OPERATORS["+" if symbol == "-" else symbol]
            operands = tuple(_operands(value, found.symbol))
        case _:
            return None
    read = tuple(e for e in operands if e != target)
    if len(read) != len(operands) - 1 or any(mentions(e, target) for e in read):
        return None
    return Update(target, found, read)


def _operands(expression: Expr, symbol: str) -> list[Expr]:
    """``s + a - b`` as ``s``, ``a`` and ``-b``."""
    match expression:
        case Binary(operator, left, right) if operator == symbol:
            return [*_operands(left, symbol), *_operands(right, symbol)]
        case Binary("-", left, right) if symbol == "+":
            return [*_operands(left, symbol), Unary("-", right)]
        case _:
            return [expression]


def _extreme(
    relation: str, left: Expr, right: Expr, then: Expr, otherwise: Expr, target: Name | Index
) -> Update | None:
    """``left relation right ? then : otherwise`` as the greater or the less of the target and a value."""
    if {left, right} != {then, otherwise} or target not in (then, otherwise) or left == right:
        return None
    value = otherwise if then == target else then
    if mentions(value, target) or relation not in _GREATER | _LESS:
        return None
    is_greater = (relation in _GREATER) == (left == then)
    return Update(target, OPERATORS["max" if is_greater else "min"], (value,))
