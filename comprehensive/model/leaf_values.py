"""Values in the code of a leaf as its profile sees them: integers that a launch knows, and data that it does not.

An integer stays an expression; of data its depth is kept, and of integers that are looked up what they may be taken
for.
"""

from __future__ import annotations

from comprehensive.loops.integers import ZERO
from comprehensive.metafork.ast import Call, Cast, Expr, FloatLiteral, Index, ScalarType
from comprehensive.metafork.rewrite import map_expression
from comprehensive.metafork.walk import subexpressions
from comprehensive.model.depth import LOADED, Data

Value = Expr | Data


def integer_of(value: Value) -> Expr:
    """The expression that a value is; 0 for data, of which a launch knows nothing."""
    return ZERO if isinstance(value, Data) else value


def data_of(value: Value) -> Data:
    """The value as floating-point data: an integer that is converted is there at once."""
    return Data(value.depth) if isinstance(value, Data) else LOADED


def without_casts(expr: Expr) -> Expr:
    """Drop casts to integer types: what is computed in 64 bits needs none."""
    return map_expression(
        expr,
        lambda e: (
            e.operand
            if isinstance(e, Cast) and e.type in (ScalarType.INT, ScalarType.LONG, ScalarType.UNSIGNED)
            else e
        ),
    )


def is_of_data(expr: Expr) -> bool:
    """Whether an expression reads an element, or computes otherwise what is no integer of the launch."""
    return any(isinstance(e, Index | Call | FloatLiteral) for e in subexpressions(expr))
