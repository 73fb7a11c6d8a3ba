"""Subscripts that are functions of one sum: by the sum a box is laid out, by the function it is filled.

::

    in[y0 + y - r < 0 ? 0 : y0 + y - r >= h ? h - 1 : y0 + y - r]
        -->  sum y0 + y - r;  of the place p:  p < 0 ? 0 : p >= h ? h - 1 : p
    in[(y0 + y + n - 1) % n]   -->  sum y0 + y + n - 1;  p % n

Whatever stands at the border (its element, the one opposite, a mirror image) then lies in the box like all others, and
threads that read it there ask for nothing.
"""

from __future__ import annotations

from collections.abc import Set

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import POLYNOMIAL_OPERATORS, Ring
from comprehensive.metafork.ast import Binary, Cast, Conditional, Expr, Name, Unary
from comprehensive.metafork.rewrite import with_operands
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import children

PLACE = "the place"
"""The name of the value of a sum in a function of it; no name of a program."""


class MappedSubscript(Struct, frozen=True):
    """A subscript: a ``sum``, and the function of its value, over ``PLACE``, that the subscript is; None for itself."""

    sum: Expr
    of_place: Expr | None = None


class _NoFunctionError(Exception):
    """The error that an expression is no function of a sum."""


def mapped_subscript(ring: Ring, subscript: Expr, moving: Set[str], same: Set[str]) -> MappedSubscript | None:
    """The subscript as a function of a sum of ``moving`` names, and of names that are the ``same`` for all points.

    None where it is no such function.
    """
    sums = [part for part in _sums(subscript, same) if not moving.isdisjoint(names_read(part))]
    if not sums or subscript in sums:
        return MappedSubscript(subscript)
    try:
        return MappedSubscript(sums[0], _over_place(ring, subscript, ring.read(sums[0]), same))
    except _NoFunctionError:
        return None


def _sums(expr: Expr, same: Set[str]) -> list[Expr]:
    """Return the largest parts of an expression that are sums."""
    if _is_sum(expr, same):
        return [expr]
    return [part for operand in children(expr) for part in _sums(operand, same)]


def _is_sum(expr: Expr, same: Set[str]) -> bool:
    """Whether an expression is a sum of products of names and of what is the same for all points."""
    match expr:
        case Name():
            return True
        case Unary(operator="-" | "+", operand=operand):
            return _is_sum(operand, same)
        case Binary(operator=operator, left=left, right=right) if operator in POLYNOMIAL_OPERATORS:
            return _is_sum(left, same) and _is_sum(right, same)
        case _:
            return names_read(expr) <= same


def _over_place(ring: Ring, expr: Expr, base: Polynomial, same: Set[str]) -> Expr:
    """Return the expression over ``PLACE``, whose value is that of the base.

    Raises _NoFunctionError where it reads other names that are not the same.
    """
    if names_read(expr) <= same:
        return expr
    if _is_sum(expr, same):
        value = ring.read(expr)
        for apart, at in ((value - base, Name(PLACE)), (value + base, Unary("-", Name(PLACE)))):
            if ring.names_in(apart) <= same:
                return plus(at, ring.write(apart))
        raise _NoFunctionError
    if not isinstance(expr, Conditional | Unary | Binary | Cast):
        raise _NoFunctionError
    return with_operands(expr, lambda operand: _over_place(ring, operand, base, same))
