"""The approximate number of instructions for arithmetic on data: the one table for kernels over tiles and for leaves.

    of_operator("+")  -->  1       of_operator("/")  -->  10       of_function("fmaxf")  -->  1

A product that is added to something, or from which something is taken, is one instruction with the sum; signs and
conversions take none.
"""

from __future__ import annotations

from comprehensive.metafork.ast import Binary, Expr

SLOW = 10
"""Instructions of a division or of a function of the mathematical library: about so many."""
QUICK = frozenset(("fabs", "fabsf", "fmax", "fmaxf", "fmin", "fminf", "abs", "labs"))
"""Functions of the mathematical library that are one instruction."""


def of_operator(operator: str) -> int:
    """Return the instructions of an operator on data."""
    return SLOW if operator == "/" else 1


def of_function(name: str) -> int:
    """Return the instructions of a function."""
    return 1 if name in QUICK else SLOW


def is_fused(operator: str, operand: Expr) -> bool:
    """Return whether an operator is one instruction with an operand that is data: a product."""
    return operator in ("+", "-") and isinstance(operand, Binary) and operand.operator == "*"
