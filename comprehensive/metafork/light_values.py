"""Values that may be written more than once: arguments in, whether a variable need hold them out.

::

    f(3), f(-x), f(a[i])    light: as short as the name of a variable
    f(i * n + j)            cheap: a compiler computes it once, wherever it is written
"""

from __future__ import annotations

from comprehensive.metafork.ast import Binary, Cast, Expr, FloatLiteral, Index, IntLiteral, Name, Unary
from comprehensive.metafork.walk import subexpressions


def is_light(value: Expr) -> bool:
    """Whether a value costs nothing to write twice."""
    match value:
        case IntLiteral() | FloatLiteral() | Name() | Index():
            return True
        case Unary("-", operand) | Cast(_, operand):
            return isinstance(operand, IntLiteral | FloatLiteral | Name)
        case _:
            return False


def is_cheap(value: Expr) -> bool:
    """Whether a value is arithmetic on scalars, which a compiler does once however often it is written."""
    scalar = (IntLiteral, FloatLiteral, Name, Binary, Unary, Cast)
    return is_light(value) or all(isinstance(e, scalar) for e in subexpressions(value))
