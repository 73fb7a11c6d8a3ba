"""Values in the code of a leaf as its profile sees them: integers that a launch knows, and data that it does not.

An integer stays an expression; of data only its depth is kept.
"""

from __future__ import annotations

from comprehensive.loops.integers import ZERO
from comprehensive.metafork.ast import Expr
from comprehensive.model.depth import LOADED, Data

Value = Expr | Data


def integer_of(value: Value) -> Expr:
    """The expression that a value is; 0 for data, of which a launch knows nothing."""
    return ZERO if isinstance(value, Data) else value


def data_of(value: Value) -> Data:
    """The value as data: an integer that is converted is there at once."""
    return value if isinstance(value, Data) else LOADED
