"""Unsigned parts of expressions: the conversions that let something be computed in an unsigned type.

In: an expression.  Out: its parts that no conversion to a signed type hides, and the unsigned type of a comparison::

    (unsigned)p < n   -->   32 bits        (long)(unsigned)p < n   -->   none
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from comprehensive.algebra import Polynomial
from comprehensive.metafork.ast import Binary, Cast, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.scalar_types import INTEGER_TYPES
from comprehensive.metafork.walk import children, subexpressions

WRAPPING = frozenset(type for type in INTEGER_TYPES if type.wraps)
WIDE = frozenset(type for type in INTEGER_TYPES if type.is_wide)
SIGNED = frozenset(type for type in INTEGER_TYPES if not type.wraps)


def is_of(expr: Expr, names: Set[str], types: Set[ScalarType]) -> bool:
    """Whether an expression is one of the names, or a literal or a conversion of these types."""
    if isinstance(expr, Name):
        return expr.identifier in names
    return isinstance(expr, IntLiteral | Cast) and expr.type in types


def unconverted(expr: Expr) -> Iterator[Expr]:
    """The parts of an expression that are not converted to a signed type before they are operands."""
    yield expr
    match expr:
        case Cast() if expr.type in SIGNED:
            pass
        case Unary() | Cast() | Binary():
            for operand in children(expr):
                yield from unconverted(operand)
        case _:
            yield from (e for e in subexpressions(expr) if e is not expr)


def unsigned_bits(comparison: Expr) -> int | None:
    """The bits of the unsigned type in which conversions let a comparison take place; None where it is signed."""
    types = {
        e.type for e in unconverted(comparison) if isinstance(e, IntLiteral | Cast) and e.type.is_integer
    }
    widest = max((t.bits for t in types), default=0)
    return widest if any(t.wraps and t.bits == widest for t in types) else None


def is_small_sum(bound: Polynomial, extents: Set[str]) -> bool:
    """Whether a number is a sum of few extents and a number in the lower half of 64 bits."""
    return all(
        (not term.powers and term.coefficient < 2**62)
        or (len(term.powers) == 1 and term.powers[0][1] == 1 and term.powers[0][0] in extents)
        for term in bound.terms()
    ) and all(abs(term.coefficient) < 2**16 for term in bound.terms() if term.powers)
