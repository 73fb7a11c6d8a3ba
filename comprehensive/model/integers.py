"""C's operators on integers, one or one for each thread of a block.

    calculate("/", -7, 2)  -->  -3          calculate("<", numpy.arange(4), 2)  -->  [1, 1, 0, 0]
    calculate(">>", kept(2**63), 63, unsigned=True)  -->  1

Nothing overflows here: every integer is kept by its 64 bits, as the signed number that has them, and results wrap
around.  Operators for which it matters whether C takes these bits as a signed number are told so.  A division by zero
and a shift by more bits than there are give 0, since no thread that matters gets there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Set
from typing import Any, TypeAlias

import numpy as np

from comprehensive.metafork.ast import Binary, Cast, Conditional, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.c_integers import OPERATORS, divided, remainder

Operator: TypeAlias = Callable[[Any, Any], Any]

HALF = 2**63
"""The numbers that are kept are those from minus this on and below it."""
_LOOKS_AT_SIGNS = frozenset(("<", "<=", ">", ">=", "/", "%", ">>"))
"""The operators whose 64 bits are others for unsigned operands than for signed ones."""


def calculate(symbol: str, left: Any, right: Any, *, unsigned: bool = False) -> Any:
    """Return ``left symbol right``; unary operators have ``left`` 0.

    ``unsigned`` says that C computes it in an unsigned type of 64 bits.  ValueError for an operator that C does not
    have.
    """
    of_arrays = _is_array(left) or _is_array(right)
    if unsigned and symbol in _LOOKS_AT_SIGNS:
        left, right = _without_sign(left, of_arrays), _without_sign(right, of_arrays)
    if of_arrays:
        # What compares is an int in C, with which a program may go on to compute: `(i < n) % 3`.
        return np.asarray(_named(symbol, _OF_ARRAYS)(left, right)).astype(np.int64, copy=False)
    return kept(int(_named(symbol, _OF_NUMBERS)(left, right)))


def is_unsigned(written: Binary, unsigned: Set[str]) -> bool:
    """Return whether C computes this in an unsigned type of 64 bits, and the operator looks at signs.

    ``unsigned`` are the scalars of such types.
    """
    of_both = (written.left,) if written.operator == ">>" else (written.left, written.right)
    return written.operator in _LOOKS_AT_SIGNS and any(_is_wide_unsigned(e, unsigned) for e in of_both)


def kept(value: Any) -> Any:
    """Return an integer as the signed number that has its lower 64 bits; what is none stays."""
    if not isinstance(value, int) or -HALF <= value < HALF:
        return value
    return (value + HALF) % (2 * HALF) - HALF


def in_type(type: ScalarType, value: Any) -> Any:
    """Return an integer, or one for each thread, converted to an integer type."""
    if type is ScalarType.LONG:
        return value  # all that is kept is one
    if _is_array(value):
        return value.astype(type.numpy_name).astype(np.int64)
    if type is not ScalarType.BOOL and type.lowest <= value <= type.highest:
        return value
    return kept(type.wrapped(value))


def _is_wide_unsigned(expression: Expr, names: Set[str]) -> bool:
    """Whether C computes an expression in an unsigned type of 64 bits; ``names`` are the scalars that have one.

    Data are none of these: they are not computed.
    """
    match expression:
        case Name():
            return expression.identifier in names
        case IntLiteral() | Cast():
            return expression.type.wraps and expression.type.is_wide
        case Binary(operator="<<" | ">>"):
            return _is_wide_unsigned(expression.left, names)
        case Binary(operator="+" | "-" | "*" | "/" | "%" | "&" | "|" | "^"):
            return _is_wide_unsigned(expression.left, names) or _is_wide_unsigned(expression.right, names)
        case Unary(operator="-" | "+" | "~"):
            return _is_wide_unsigned(expression.operand, names)
        case Conditional():
            return _is_wide_unsigned(expression.then, names) or _is_wide_unsigned(expression.otherwise, names)
        case _:
            return False


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _without_sign(operand: Any, as_array: bool) -> Any:
    """The unsigned number that has the 64 bits of one that may have a sign; beside arrays an array, which is never
    taken for a number with a sign."""
    if _is_array(operand):
        return operand.astype(np.uint64)
    number = operand % (2 * HALF)
    return np.array([number], np.uint64) if as_array else number


def _named(symbol: str, operators: Mapping[str, Operator]) -> Operator:
    found = operators.get(symbol)
    if found is None:
        raise ValueError(f"there is no operator {symbol}")
    return found


def _divided_arrays(left: Any, right: Any) -> Any:
    divisor = np.where(np.asarray(right) == 0, 1, right)
    quotient = np.abs(left) // np.abs(divisor) * (np.sign(left) * np.sign(divisor))
    return np.where(np.asarray(right) == 0, 0, quotient)


def _shifted(left: Any, right: Any, shift: Operator) -> Any:
    """A shift of numbers or arrays by 0 to 63 bits; 0 where C has no meaning."""
    number, amount = np.asarray(left), np.asarray(right)
    defined = (amount >= 0) & (amount < 64)
    return np.where(defined, shift(number, np.where(defined, amount, 0).astype(number.dtype)), 0)


_OF_BOTH: Mapping[str, Operator] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "<<": lambda left, right: _shifted(left, right, np.left_shift),
    ">>": lambda left, right: _shifted(left, right, np.right_shift),
    "~": lambda _, right: ~right,
}
_OF_NUMBERS: Mapping[str, Operator] = {
    **_OF_BOTH,
    "/": lambda left, right: 0 if right == 0 else divided(left, right),
    "%": lambda left, right: left if right == 0 else remainder(left, right),
    "&&": OPERATORS["&&"],
    "||": OPERATORS["||"],
    "!": lambda _, right: not right,
}
_OF_ARRAYS: Mapping[str, Operator] = {
    **_OF_BOTH,
    "/": _divided_arrays,
    "%": lambda left, right: left - _divided_arrays(left, right) * right,
    "&&": np.logical_and,
    "||": np.logical_or,
    "!": lambda _, right: np.logical_not(right),
}
