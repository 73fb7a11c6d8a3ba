"""Integer expressions on many iterations at once, as C computes them.

In: an expression, a numpy column or a number for each of its names, and their types.  Out: a column::

    p - 1 < n  with p = [0, 1], unsigned n = 8   -->   [0, 1], since 0 - 1 is 4294967295 there

Signed results are exact: where they overflow, the program has no meaning anyway.  Columns of unsigned types of 64 bits
are ``uint64``, all others ``int64``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

import numpy as np

from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.poly.domains import term_text

Columns: TypeAlias = dict[str, Any]
"""An integer column for each iterator, with one entry an iteration; scalars are plain numbers."""

Types: TypeAlias = Mapping[str, ScalarType]

_COMPARISONS: Mapping[str, Any] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
_OPERATIONS: Mapping[str, Any] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}


class NotEvaluableError(Exception):
    """A subscript or a bound depends on data; the message names the term."""


def evaluate(expr: Expr, columns: Columns, types: Types) -> Any:
    """The value of an integer expression; NotEvaluableError for one over anything but ``columns``."""
    match expr:
        case IntLiteral():
            return _column(expr.value, expr.type)
        case Name():
            type = types.get(expr.identifier)
            if expr.identifier not in columns or type is None or not type.is_integer:
                raise NotEvaluableError(_text(expr))
            return _column(columns[expr.identifier], type)
        case Unary():
            return _unary(expr, evaluate(expr.operand, columns, types), types)
        case Binary():
            left, right = (evaluate(operand, columns, types) for operand in (expr.left, expr.right))
            return _binary(expr, left, right, types)
        case Conditional():
            condition, then, otherwise = (
                evaluate(e, columns, types) for e in (expr.condition, expr.then, expr.otherwise)
            )
            common = type_of(expr, types)
            where: Any = np.where
            return where(condition != 0, _wrapped(then, common), _wrapped(otherwise, common))
        case Cast() if expr.type.is_integer:
            return converted(evaluate(expr.operand, columns, types), expr.type)
        case Index() | Call() | FloatLiteral() | Cast():
            raise NotEvaluableError(_text(expr))
        case _:
            assert_never(expr)


def _text(term: Expr) -> str:
    """The term as the program has it; the place of a name that the tool has given, which the program does not have."""
    text = term_text(term)
    if not isinstance(term, Name) or term.identifier == text:
        return text
    return f"'{text.lstrip('; ')}' of line {term.span.position[0]}"


def converted(value: Any, type: ScalarType) -> Any:
    """The value converted to an integer type."""
    if type is ScalarType.BOOL:
        return (value != 0).astype(np.int64)
    if type.is_wide:
        return value.astype(type.numpy_name)
    low: Any = value.astype(np.int64) & (2**type.bits - 1)
    where: Any = np.where
    return where(low > type.highest, low - 2**type.bits, low) if type.is_signed else low


def _column(value: Any, type: ScalarType) -> Any:
    """Values of a type as a column: of an unsigned one, those of 64 bits may be more than ``int64`` holds."""
    given: Any = np.asarray(value)
    return given.astype(np.uint64 if type.wraps and type.is_wide else np.int64)


def _unary(expr: Unary, operand: Any, types: Types) -> Any:
    if expr.operator == "!":
        return (operand == 0).astype(np.int64)
    value = {"-": -operand, "~": ~operand, "+": operand}[expr.operator]
    return _wrapped(value, type_of(expr, types))


def _binary(expr: Binary, left: Any, right: Any, types: Types) -> Any:
    operator = expr.operator
    if operator in ("&&", "||"):
        both = np.logical_and if operator == "&&" else np.logical_or
        return both(left != 0, right != 0).astype(np.int64)
    if operator in ("<<", ">>"):
        type = promote(type_of(expr.left, types))
        left = _wrapped(left, type)
        right = right.astype(left.dtype)  # numpy has no shift of uint64 by int64
        return _wrapped(left << right if operator == "<<" else left >> right, type)
    common = common_type(type_of(expr.left, types), type_of(expr.right, types))
    left, right = _wrapped(left, common), _wrapped(right, common)
    if operator in _COMPARISONS:
        return _COMPARISONS[operator](left, right).astype(np.int64)
    if operator in ("/", "%"):
        where: Any = np.where
        safe = where(right == 0, np.ones_like(right), right)
        quotient = np.sign(left) * np.sign(safe) * (np.abs(left) // np.abs(safe))
        return quotient if operator == "/" else left - quotient * safe
    return _wrapped(_OPERATIONS[operator](left, right), common)


def _wrapped(value: Any, type: ScalarType) -> Any:
    """A value in the type of an operation: only unsigned ones wrap."""
    return converted(value, type) if type.wraps else value.astype(np.int64)
