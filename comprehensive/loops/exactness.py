"""The exactness of C: an integer expression and the types of its names in, whether C computes the true value out.

``int`` and ``long`` do wherever they do not overflow, which is undefined.  ``unsigned`` and wider unsigned types wrap
around, a conversion to a narrower type cuts off, and of two operands of different signedness a negative one changes
its value.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

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
from comprehensive.metafork.scalar_types import common_type


def is_exact(expr: Expr, types: Mapping[str, ScalarType], positive: Set[str] = frozenset()) -> bool:
    """Whether the value of an integer expression is that of mathematics, for all values of its names.

    ``positive`` are the names whose values are not negative.
    """
    match expr:
        case IntLiteral():
            return True
        case Name():
            return types[expr.identifier].is_integer
        case Unary(operator="!"):
            return is_exact(expr.operand, types, positive)
        case Unary():
            return is_exact(expr.operand, types, positive) and _is_signed(expr, types)
        case Cast():
            operand = type_of(expr.operand, types)
            return (
                is_exact(expr.operand, types, positive) and expr.type.is_integer and expr.type.holds(operand)
            )
        case Binary(operator="&&" | "||"):
            return is_exact(expr.left, types, positive) and is_exact(expr.right, types, positive)
        case Binary():
            if not (is_exact(expr.left, types, positive) and is_exact(expr.right, types, positive)):
                return False
            if expr.operator in ("+", "-", "*", "<<", ">>", "&", "|", "^"):
                return _is_signed(expr, types)
            # Comparisons, quotients and remainders: nothing wraps, but operands are converted.
            common = common_type(type_of(expr.left, types), type_of(expr.right, types))
            return not common.wraps or all(
                not _is_signed(side, types) or is_plain(side, types, positive)
                for side in (expr.left, expr.right)
            )
        case Conditional():
            return all(
                is_exact(part, types, positive) for part in (expr.condition, expr.then, expr.otherwise)
            ) and (_is_signed(expr.then, types) == _is_signed(expr.otherwise, types))
        case FloatLiteral() | Index() | Call():
            return False


def _is_signed(expr: Expr, types: Mapping[str, ScalarType]) -> bool:
    return not type_of(expr, types).wraps


def is_plain(expr: Expr, types: Mapping[str, ScalarType], positive: Set[str]) -> bool:
    """Whether the expression is signed and certainly not negative."""
    match expr:
        case IntLiteral():
            return expr.value >= 0 and expr.type is ScalarType.INT
        case Name():
            return expr.identifier in positive or not types[expr.identifier].is_signed
        case Binary(operator="+" | "*" | "/"):
            return is_plain(expr.left, types, positive) and is_plain(expr.right, types, positive)
        case _:
            return False
