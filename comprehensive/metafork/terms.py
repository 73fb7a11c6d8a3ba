"""Expressions of many operands, made and taken apart: ``c0 && c1 && c2`` from and to its three conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import GENERATED, Binary, Expr, IntLiteral


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
