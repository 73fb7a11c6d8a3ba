"""The types of operations by the rules of C.

In: an operator and the types of its operands.  Out: the type of the result::

    result_type("+", ScalarType.UNSIGNED_CHAR, ScalarType.FLOAT) == ScalarType.FLOAT
"""

from __future__ import annotations

from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.precedence import COMPARISONS, LOGICAL

_RANKS = (ScalarType.INT, ScalarType.UNSIGNED, ScalarType.LONG, ScalarType.FLOAT, ScalarType.DOUBLE)


def promoted(kind: ScalarType) -> ScalarType:
    """``unsigned char`` computes as ``int``."""
    return ScalarType.INT if kind is ScalarType.UNSIGNED_CHAR else kind


def common_type(left: ScalarType, right: ScalarType) -> ScalarType:
    """The type in which an operation on two types is carried out (the usual arithmetic conversions)."""
    return max(promoted(left), promoted(right), key=_RANKS.index)


def result_type(operator: str, left: ScalarType, right: ScalarType) -> ScalarType:
    """The type of ``left operator right``."""
    if operator in COMPARISONS or operator in LOGICAL:
        return ScalarType.INT
    if operator in ("<<", ">>"):
        return promoted(left)
    return common_type(left, right)
