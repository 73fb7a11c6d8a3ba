"""Integer constant expressions, with the types and the limits of C on a 64-bit device.

In: an expression.  Out: its value if it consists of integer literals only, or that C gives it none::

    constant(parsed "2 * (3 + 1)")     == Constant(8, INT)
    constant(parsed "1 << 40")         == NoValue("a shift by 40 bits of an int", ...)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from comprehensive.metafork.ast import Binary, Expr, IntLiteral, ScalarType, Unary
from comprehensive.metafork.types import promoted, result_type


@dataclass(frozen=True, slots=True)
class Constant:
    """A value with the integer type in which C computes it."""

    value: int
    type: ScalarType


@dataclass(frozen=True, slots=True)
class NoValue:
    """A constant expression whose value C leaves undefined, with the reason and what to do."""

    reason: str
    remedy: str


DIVISION_BY_ZERO = NoValue("a division by zero", "correct the divisor")

Folded: TypeAlias = Constant | NoValue | None
"""None is no constant, or has an operand without value, about which more cannot be said."""

_BITS = {ScalarType.INT: 32, ScalarType.UNSIGNED: 32, ScalarType.LONG: 64, ScalarType.UNSIGNED_CHAR: 8}
_SIGNED = (ScalarType.INT, ScalarType.LONG)
_WIDER = "compute in long, with a literal such as 1L, or correct the number"
_FOLDED = frozenset({"+", "-", "*", "/", "%", "<<"})


def constant_value(expression: Expr) -> int | None:
    """The value; None where it is no constant, or where C gives it none (``1 / 0``)."""
    found = constant(expression)
    return found.value if isinstance(found, Constant) else None


def constant(expression: Expr) -> Folded:
    """The value of literals, signs, sums, products, quotients and shifts to the left."""
    match expression:
        case IntLiteral(value, kind):
            return Constant(value, kind)
        case Unary("-" | "+" as sign, operand):
            found = constant(operand)
            if not isinstance(found, Constant):
                return None
            return _in_type(-found.value if sign == "-" else found.value, promoted(found.type))
        case Binary(operator, left, right) if operator in _FOLDED:
            first, second = constant(left), constant(right)
            if not isinstance(first, Constant) or not isinstance(second, Constant):
                return None
            return _apply(operator, first, second)
        case _:
            return None


def changed_by(value: Constant, kind: ScalarType) -> int | None:
    """What a constant becomes when it is stored in an integer type that cannot hold it; None where nothing is lost.

    A negative number for an unsigned type, and all bits of a signed one as in ``int k = 0xffffffff``, are meant.
    """
    bits = _BITS[kind]
    same_bits = kind in _SIGNED and value.type is ScalarType.UNSIGNED and bits == _BITS[value.type]
    highest = 2**bits - 1 if kind not in _SIGNED or same_bits else 2 ** (bits - 1) - 1
    if -(2 ** (bits - 1)) <= value.value <= highest:
        return None
    return stored(value.value, kind)


def stored(value: int, kind: ScalarType) -> int:
    """What a number is in an integer type: the same modulo its range."""
    bits = _BITS[kind]
    wrapped = value % 2**bits
    return wrapped - 2**bits if kind in _SIGNED and wrapped >= 2 ** (bits - 1) else wrapped


def _apply(operator: str, left: Constant, right: Constant) -> Folded:
    kind = result_type(operator, left.type, right.type)
    first, second = left.value, right.value
    match operator:
        case "+":
            return _in_type(first + second, kind)
        case "-":
            return _in_type(first - second, kind)
        case "*":
            return _in_type(first * second, kind)
        case "/" | "%" if second != 0:
            if kind is ScalarType.UNSIGNED:
                first, second = first % 2**32, second % 2**32
            quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
            return _in_type(quotient if operator == "/" else first - quotient * second, kind)
        case "/" | "%":
            return DIVISION_BY_ZERO
        case _ if 0 <= second < _BITS[kind]:
            return _in_type(first << second, kind)
        case _:
            return NoValue(f"a shift by {second} bits of {_article(kind)}", _WIDER)


def _in_type(value: int, kind: ScalarType) -> Constant | NoValue:
    bits = _BITS[kind]
    if kind not in _SIGNED:
        return Constant(value % 2**bits, kind)
    if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        return Constant(value, kind)
    return NoValue(f"{value} is no value of {_article(kind)}", _WIDER)


def _article(kind: ScalarType) -> str:
    return f"{'an' if kind.value[0] in 'iu' else 'a'} {kind.value}"
