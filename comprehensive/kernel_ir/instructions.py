"""The approximate number of instructions for arithmetic on data: the one table for kernels over tiles and for leaves.

    of_operator("+")  -->  1       of_operator("/")  -->  10       of_function("fmaxf")  -->  1

A product that is added to something, or from which something is taken, is one instruction with the sum; signs and
conversions take none.  Slow operations have a path of their own for rare operands, behind a branch, beyond which the
compiler moves no load: ``x[i] / y`` at four points is four loads that wait one after the other (SASS of nvcc 13.0 for
sm_90).
"""

from __future__ import annotations

from comprehensive.metafork.ast import Binary, Call, Expr, Index
from comprehensive.metafork.walk import children

SLOW = 10
"""Instructions of a division or of a function of the mathematical library: about so many."""
COMPARED = 3
"""Instructions that the result of a comparison is waited for as long as: it comes by way of a predicate."""
COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
QUICK = frozenset(
    (
        *("fabs", "fabsf", "fmax", "fmaxf", "fmin", "fminf", "abs", "labs"),
        *("isnan", "isinf", "isfinite", "signbit", "lrint", "lrintf", "llrint", "llrintf"),
    )
)
"""Functions of the mathematical library that are one instruction."""
STRAIGHT = frozenset(("expf", "exp2f", "exp10f", "logf", "log2f", "log10f", "tanhf", "erff", "rsqrtf"))
"""Slow functions without a path of their own for rare operands (SASS of nvcc 13.0 for sm_90)."""


def of_operator(operator: str) -> int:
    """Return the instructions of an operator on data."""
    return SLOW if operator == "/" else 1


def waits_of(operator: str) -> int:
    """Return how long the result of an operator on data is waited for, in instructions that each wait for the last."""
    return COMPARED if operator in COMPARISONS else of_operator(operator)


def of_function(name: str) -> int:
    """Return the instructions of a function."""
    return 1 if name in QUICK else SLOW


def branches(operation: str) -> bool:
    """Return whether an operator or a function has a path of its own for rare operands, behind a branch: what stands
    behind it is begun when it has been done."""
    if operation in QUICK or operation in STRAIGHT:
        return False
    return operation == "/" or operation.isidentifier()


def is_fused(operator: str, operand: Expr) -> bool:
    """Return whether an operator is one instruction with an operand that is data: a product."""
    return operator in ("+", "-") and isinstance(operand, Binary) and operand.operator == "*"


def has_slow_path(expression: Expr) -> bool:
    """Return whether an expression has a division or a slow function outside of its subscripts."""
    match expression:
        case Index():
            return False
        case Binary(operator="/") | Binary(operator="%"):
            return True
        case Call(function=function) if of_function(function) == SLOW:
            return True
        case _:
            return any(map(has_slow_path, children(expression)))
