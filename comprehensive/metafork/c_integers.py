"""C's binary operators on Python's integers, which have no limits: the one definition for all that computes them.

    divided(-7, 2)  -->  -3       remainder(-7, 2)  -->  -1       towards zero, where Python's // and % round down

What C leaves undefined is for the caller to look at before: a divisor of 0, shifts by too many bits, and values that a
type does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping


def divided(a: int, b: int) -> int:
    """Return the quotient, rounded towards zero."""
    return a // b if (a < 0) == (b < 0) else -(abs(a) // abs(b))


def remainder(a: int, b: int) -> int:
    """Return what the quotient leaves of ``a``, with its sign."""
    return a - divided(a, b) * b


OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "/": divided,
    "%": remainder,
    "<<": int.__lshift__,
    ">>": int.__rshift__,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
}
