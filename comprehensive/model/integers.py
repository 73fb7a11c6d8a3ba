"""C's operators on integers, one or one for each thread of a block.

    calculate("/", -7, 2)  -->  -3          calculate("<", numpy.arange(4), 2)  -->  [1, 1, 0, 0]

Nothing overflows here: results wrap around in 64 bits.  A division by zero and a shift by more bits than there are give
0, since no thread that matters gets there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from comprehensive.metafork.c_integers import OPERATORS, divided, remainder

Operator: TypeAlias = Callable[[Any, Any], Any]


def calculate(symbol: str, left: Any, right: Any) -> Any:
    """Return ``left symbol right``; unary operators have ``left`` 0.

    ValueError for an operator that C does not have.
    """
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        # What compares is an int in C, with which a program may go on to compute: `(i < n) % 3`.
        return np.asarray(_named(symbol, _OF_ARRAYS)(left, right)).astype(np.int64, copy=False)
    found = int(_named(symbol, _OF_NUMBERS)(left, right))
    return found if -_HALF <= found < _HALF else (found + _HALF) % (2 * _HALF) - _HALF


_HALF = 2**63


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
    amount = np.asarray(right)
    defined = (amount >= 0) & (amount < 64)
    return np.where(defined, shift(np.asarray(left, np.int64), np.where(defined, amount, 0)), 0)


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
