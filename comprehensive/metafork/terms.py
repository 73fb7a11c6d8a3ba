"""Expressions of several operands, made and taken apart: ``c0 && c1 && c2`` from and to its three conditions.

Sums and products of two are of integers, whose identities they know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import GENERATED, Assign, Binary, Expr, IntLiteral, Unary
from comprehensive.metafork.precedence import COMPARISONS, LOGICAL


def plus(left: Expr, right: Expr) -> Expr:
    """Return ``left + right`` without zeros."""
    match left, right:
        case IntLiteral(value=0), _:
            return right
        case _, IntLiteral(value=0):
            return left
        case IntLiteral(value=x), IntLiteral(value=y):
            return IntLiteral(x + y)
        case _:
            return Binary("+", left, right)


def times(left: Expr, right: Expr) -> Expr:
    """Return ``left * right`` without ones and zeros."""
    match left, right:
        case (IntLiteral(value=0), _) | (_, IntLiteral(value=0)):
            return IntLiteral(0)
        case IntLiteral(value=1), _:
            return right
        case _, IntLiteral(value=1):
            return left
        case IntLiteral(value=x), IntLiteral(value=y):
            return IntLiteral(x * y)
        case _:
            return Binary("*", left, right)


def value_left(statement: Assign) -> Expr:
    """Return what an assignment leaves in its target, conversions aside: ``x + v`` of ``x += v``."""
    if statement.operator == "=":
        return statement.value
    return Binary(statement.operator[:-1], statement.target, statement.value, statement.span)


def product(factors: Sequence[Expr]) -> Expr:
    """Return ``f0 * f1 * ...``, 1 for no factor."""
    return _chain("*", factors, 1)


def total(summands: Sequence[Expr]) -> Expr:
    """Return ``t0 + t1 + ...``, 0 for no summand."""
    return _chain("+", summands, 0)


def conjunction(conditions: Sequence[Expr], span: Span = GENERATED) -> Expr:
    """Return ``c0 && c1 && ...``, 1 for no condition."""
    return _chain("&&", conditions, 1, span)


def disjunction(conditions: Sequence[Expr]) -> Expr:
    """Return ``c0 || c1 || ...``, 0 for no condition."""
    return _chain("||", conditions, 0)


def conjuncts(condition: Expr) -> Iterator[Expr]:
    """Yield the conditions that ``&&`` joins, each by itself."""
    match condition:
        case Binary(operator="&&", left=left, right=right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield condition


def _chain(operator: str, operands: Sequence[Expr], empty: int, span: Span = GENERATED) -> Expr:
    if not operands:
        return IntLiteral(empty)
    result = operands[0]
    for operand in operands[1:]:
        result = Binary(operator, result, operand, span)
    return result


def truth(condition: Expr) -> Expr:
    """1 where a condition holds, else 0."""
    match condition:
        case Binary(operator) if operator in COMPARISONS or operator in LOGICAL:
            return condition
        case Unary("!"):
            return condition
        case _:
            return Binary("!=", condition, IntLiteral(0), condition.span)
