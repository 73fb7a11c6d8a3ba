"""Integer constant expressions.

In: an expression.  Out: its value if it consists of integer literals only::

    constant_value(parsed "2 * (3 + 1)") == 8
"""

from __future__ import annotations

from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Unary


def constant_value(expression: Expr) -> int | None:
    """The value; None where it is no constant, or where C gives it none (``1 / 0``)."""
    match expression:
        case IntLiteral(value):
            return value
        case Unary("-", operand):
            value = constant_value(operand)
            return None if value is None else -value
        case Unary("+", operand):
            return constant_value(operand)
        case Binary(operator, left, right):
            first, second = constant_value(left), constant_value(right)
            return None if first is None or second is None else _apply(operator, first, second)
        case _:
            return None


def _apply(operator: str, left: int, right: int) -> int | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%" if right != 0:
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if operator == "/" else left - quotient * right
        case "<<" if 0 <= right < 32:
            return left << right
        case _:
            return None
