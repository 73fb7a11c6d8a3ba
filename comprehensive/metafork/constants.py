"""Integer constant expressions, with the types and the limits of C on a 64-bit device.

In: an expression.  Out: its value if it consists of integer literals only, or that C gives it none::

    constant(parsed "2 * (3 + 1)")     == Constant(8, INT)
    constant(parsed "1 << 40")         == NoValue("a shift by 40 bits of an int", ...)
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from comprehensive.metafork.ast import Binary, Expr, IntLiteral, ScalarType, Unary
from comprehensive.metafork.c_integers import OPERATORS
from comprehensive.metafork.precedence import COMPARISONS
from comprehensive.metafork.scalar_types import common_type, promote, result_type


class Constant(Struct, frozen=True):
    """A value with the integer type in which C computes it."""

    value: int
    type: ScalarType


class NoValue(Struct, frozen=True):
    """A constant expression whose value C leaves undefined, with the reason and what to do."""

    reason: str
    remedy: str


Folded: TypeAlias = Constant | NoValue | None
"""None is no constant, or has an operand without value, about which more cannot be said."""

_WIDER = "compute in long, with a literal such as 1L, or correct the number"
_FOLDED = frozenset({"+", "-", "*", "/", "%", "<<"}) | COMPARISONS


def constant_value(expression: Expr) -> int | None:
    """The value; None where it is no constant, or where C gives it none (``1 / 0``)."""
    found = constant(expression)
    return found.value if isinstance(found, Constant) else None


def constant(expression: Expr) -> Folded:
    """The value of literals, signs, sums, products, quotients, shifts to the left and comparisons."""
    match expression:
        case IntLiteral(value, kind):
            return Constant(value, kind)
        case Unary("-" | "+" as sign, operand):
            found = constant(operand)
            if not isinstance(found, Constant):
                return None
            return _in_type(-found.value if sign == "-" else found.value, promote(found.type))
        case Binary(operator, left, right) if operator in _FOLDED:
            first, second = constant(left), constant(right)
            if not isinstance(first, Constant) or not isinstance(second, Constant):
                return None
            return without_value(operator, first.type, right) or _apply(operator, first, second)
        case _:
            return None


def without_value(operator: str, left: ScalarType, right: Expr) -> NoValue | None:
    """Return why no value of an integer type has a result with this right side: 0 divides, or bits are too many."""
    second = constant_value(right)
    if second is None or not left.is_integer:
        return None
    kind = promote(left)
    match operator:
        case "/" | "%" if second == 0:
            return NoValue("a division by zero", "correct the divisor")
        case "<<" | ">>" if not 0 <= second < kind.bits:
            wider = "" if kind.is_wide else ", or convert to long before"
            return NoValue(
                f"a shift by {second} bits of {_article(kind)}", f"shift by 0 to {kind.bits - 1} bits{wider}"
            )
        case _:
            return None


def changed_by(value: Constant, kind: ScalarType) -> int | None:
    """Return what a constant becomes in an integer type that cannot hold it; None where nothing is lost.

    A negative number for an unsigned type, and all bits of a signed one as in ``int k = 0xffffffff``, are meant.
    """
    if kind is ScalarType.BOOL:
        return None
    bits = kind.bits
    same_bits = kind.is_signed and value.type.wraps and bits == value.type.bits
    highest = 2**bits - 1 if same_bits else kind.highest
    return None if -(2 ** (bits - 1)) <= value.value <= highest else kind.wrapped(value.value)


def _apply(operator: str, left: Constant, right: Constant) -> Folded:
    kind, common = result_type(operator, left.type, right.type), common_type(left.type, right.type)
    first, second = left.value, right.value
    if operator != "<<" and common.wraps:
        first, second = common.wrapped(first), common.wrapped(second)
    return _in_type(OPERATORS[operator](first, second), kind)


def _in_type(value: int, kind: ScalarType) -> Constant | NoValue:
    if kind.wraps or kind.lowest <= value <= kind.highest:
        return Constant(kind.wrapped(value), kind)
    return NoValue(f"{value} is no value of {_article(kind)}", _WIDER)


def _article(kind: ScalarType) -> str:
    return f"{'an' if kind.value[0] in 'iu' else 'a'} {kind.value}"
