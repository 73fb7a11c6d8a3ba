"""Conditions that hold in every launch: a nest and a condition over its scalars in, whether it is proved out.

``(n + B - 1)/B * B >= n`` holds wherever ``B >= 1``: a grid that is rounded up covers its range.
"""

from __future__ import annotations

from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Unary
from comprehensive.poly.domains import complete
from comprehensive.poly.indices import scope_of
from comprehensive.poly.lifting import infeasible


def always_holds(nest: Nest, condition: Expr) -> bool:
    """Whether roles, host definitions and preconditions imply the condition; False says that it is not known."""
    violated = scope_of(nest).condition(Unary("!", condition))
    if violated.opaque:
        return False
    facts = (complete(nest, list(piece), ()) for piece in violated.pieces)
    return all(infeasible(known.constraints, known.lower) for known in facts)


def one_not_negative(nest: Nest, outer: Expr, inner: Expr) -> list[Expr]:
    """Return what a launch has to see to so that the product of two bounds is a number of steps: that of two negative
    ones is positive."""
    conditions: list[Expr] = [Binary("<=", IntLiteral(0), bound) for bound in (inner, outer)]
    return [] if any(always_holds(nest, each) for each in conditions) else conditions[:1]
