"""C's operators on integers, one or one for each thread of a block.

    calculate("/", -7, 2)  -->  -3          calculate("<", numpy.arange(4), 2)  -->  [True, True, False, False]

Nothing overflows here; what is divided by zero is 0, since no thread that matters gets there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

Operator: TypeAlias = Callable[[Any, Any], Any]


def calculate(symbol: str, left: Any, right: Any) -> Any:
    """``left symbol right``; unary operators have ``left`` 0. ValueError for an operator that C does not have."""
    are_arrays = isinstance(left, np.ndarray) or isinstance(right, np.ndarray)
    found = (_OF_ARRAYS if are_arrays else _OF_NUMBERS).get(symbol) or _OF_BOTH.get(symbol)
    if found is None:
        raise ValueError(f"there is no operator {symbol}")
    return found(left, right)


def _divided(left: int, right: int) -> int:
    return 0 if right == 0 else abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _divided_arrays(left: Any, right: Any) -> Any:
    divisor = np.where(np.asarray(right) == 0, 1, right)
    quotient = np.abs(left) // np.abs(divisor) * (np.sign(left) * np.sign(divisor))
    return np.where(np.asarray(right) == 0, 0, quotient)


_OF_BOTH: Mapping[str, Operator] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "<<": lambda left, right: left << right,
    ">>": lambda left, right: left >> right,
    "~": lambda _, right: ~right,
}
_OF_NUMBERS: Mapping[str, Operator] = {
    "/": _divided,
    "%": lambda left, right: left - _divided(left, right) * right,
    "&&": lambda left, right: bool(left) and bool(right),
    "||": lambda left, right: bool(left) or bool(right),
    "!": lambda _, right: not right,
}
_OF_ARRAYS: Mapping[str, Operator] = {
    "/": _divided_arrays,
    "%": lambda left, right: left - _divided_arrays(left, right) * right,
    "&&": np.logical_and,
    "||": np.logical_or,
    "!": lambda _, right: np.logical_not(right),
}
