"""The places in arrays to which expressions point.

In: an expression over pointers.  Out: the array, and where it points in it::

    a + i * n      a, i * n
    &a[i][k]       a[i], k
    c ? a : a + n  a, c ? 0 : n
"""

from __future__ import annotations

from comprehensive.metafork.ast import (
    Binary,
    Cast,
    Conditional,
    Expr,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.substitution import Part
from comprehensive.records import replace

ZERO = IntLiteral(0)


def place(pointer: Expr) -> Part | None:
    """The array that an expression points into, and where: ``a + e``, ``a[i] + e``; None for anything else."""
    match pointer:
        case Name(identifier):
            return Part(identifier)
        case Index(array, subscripts):
            return Part(array, subscripts)
        case Binary("+" | "-" as operator, left, right):
            part = place(left)
            if part is None:
                return None
            if part.offset is not None:
                return replace(part, offset=Binary(operator, _wide(part.offset), right, pointer.span))
            return replace(part, offset=right if operator == "+" else Unary("-", _wide(right), pointer.span))
        case Conditional(condition, then, otherwise):
            first, second = place(then), place(otherwise)
            if first is None or second is None:
                return None
            if (first.array, first.subscripts) != (second.array, second.subscripts):
                return None
            offsets = _wide(first.offset or ZERO), _wide(second.offset or ZERO)
            return replace(first, offset=Conditional(condition, *offsets, pointer.span))
        case _:
            return None


def _wide(offset: Expr) -> Expr:
    """The offset in the type of distances of pointers, in which they are added up and negated."""
    if isinstance(offset, IntLiteral):
        return replace(offset, type=ScalarType.LONG)
    return offset if _is_wide(offset) else Cast(ScalarType.LONG, offset, offset.span)


def _is_wide(expression: Expr) -> bool:
    match expression:
        case Cast(type=ScalarType.LONG) | IntLiteral(type=ScalarType.LONG):
            return True
        case Binary("+" | "-", left, _):
            return _is_wide(left)
        case Unary("-", operand):
            return _is_wide(operand)
        case _:
            return False


def element(pointer: Expr) -> Index | None:
    """Return the element that ``*pointer`` is: ``a[e]`` for ``a + e``; None where it is no array and no sum of one."""
    part = place(pointer)
    if part is None:
        return None
    return Index(part.array, (*part.subscripts, part.offset or ZERO), pointer.span)


def address(operand: Expr) -> Expr | None:
    """The pointer that ``&operand`` is: ``a + e`` for ``a[e]``; None for what is no element of an array."""
    match operand:
        case Index(array, (*first, last)):
            base = Index(array, tuple(first), operand.span) if first else Name(array, operand.span)
            return base if last == ZERO else Binary("+", base, last, operand.span)
        case _:
            return None
