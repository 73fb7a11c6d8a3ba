"""Where C computes what mathematics says: an integer expression and the types of its names in, yes or no out.

``int`` and ``long`` do wherever they do not overflow, which is undefined.  ``unsigned`` wraps around, a conversion to
a narrower type cuts off, and of two operands of different signedness a negative one changes its value.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from comprehensive.loops.types import promote, type_of
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

_HOLDS = {
    ScalarType.UNSIGNED_CHAR: {ScalarType.UNSIGNED_CHAR},
    ScalarType.INT: {ScalarType.UNSIGNED_CHAR, ScalarType.INT},
    ScalarType.UNSIGNED: {ScalarType.UNSIGNED_CHAR, ScalarType.UNSIGNED},
    ScalarType.LONG: {ScalarType.UNSIGNED_CHAR, ScalarType.INT, ScalarType.UNSIGNED, ScalarType.LONG},
}


def holds_values_of(target: ScalarType, source: ScalarType) -> bool:
    """Whether every value of the source type is one of the target type."""
    return source in _HOLDS.get(target, ())


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
            return is_exact(expr.operand, types, positive) and holds_values_of(
                expr.type, type_of(expr.operand, types)
            )
        case Binary(operator="&&" | "||"):
            return is_exact(expr.left, types, positive) and is_exact(expr.right, types, positive)
        case Binary():
            if not (is_exact(expr.left, types, positive) and is_exact(expr.right, types, positive)):
                return False
            if expr.operator in ("+", "-", "*", "<<", ">>", "&", "|", "^"):
                return _is_signed(expr, types)
            # Comparisons, quotients and remainders: nothing wraps, but operands are converted.
            return _is_signed(expr.left, types) == _is_signed(expr.right, types) or any(
                promote(type_of(side, types)) is ScalarType.LONG or is_plain(side, types, positive)
                for side in (expr.left, expr.right)
            )
        case Conditional():
            return all(
                is_exact(part, types, positive) for part in (expr.condition, expr.then, expr.otherwise)
            ) and (_is_signed(expr.then, types) == _is_signed(expr.otherwise, types))
        case FloatLiteral() | Index() | Call():
            return False


def _is_signed(expr: Expr, types: Mapping[str, ScalarType]) -> bool:
    return promote(type_of(expr, types)) is not ScalarType.UNSIGNED


def is_plain(expr: Expr, types: Mapping[str, ScalarType], positive: Set[str]) -> bool:
    """Whether the expression is signed and certainly not negative."""
    match expr:
        case IntLiteral():
            return expr.value >= 0 and expr.type is ScalarType.INT
        case Name():
            return expr.identifier in positive or types[expr.identifier] is ScalarType.UNSIGNED_CHAR
        case Binary(operator="+" | "*" | "/"):
            return is_plain(expr.left, types, positive) and is_plain(expr.right, types, positive)
        case _:
            return False
