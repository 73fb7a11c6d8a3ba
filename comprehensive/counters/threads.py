"""Threads of a thread block, T_B: a variant in, the product of the extents of its thread loops out.

Example: ``Threads v < B0, u < ub1`` gives ``B0*ub1``.  An extent ``n / 2`` counts as its rational value, which is
at least its value in C; the source then says ``upper bound``.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from comprehensive.algebra import Polynomial, RationalFunction
from comprehensive.diagnostics import CompileError
from comprehensive.loops.ir import Loop, Variant
from comprehensive.metafork.ast import Binary, Cast, Expr, IntLiteral, Name, Unary
from comprehensive.metafork.walk import subexpressions
from comprehensive.optimize.protocols import Evaluation, Kind


class Threads(Struct, frozen=True):
    """Threads that a block is launched with."""

    name: str = "threads_per_block"
    limit: str = "T_B"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        """Raises CompileError (CF0601) where an extent is no polynomial or quotient of polynomials."""
        product, exact = RationalFunction(1), True
        for loop in fragment.nest.thread_loops:
            product = product * extent_of(loop)
            exact = exact and not any(
                isinstance(e, Binary) and e.operator == "/" for e in subexpressions(loop.extent)
            )
        tile = fragment.tile
        if tile is not None and tile.lanes is not None:
            product = product * RationalFunction(Polynomial.symbol(tile.lanes))
        polynomial = product.as_polynomial()
        return Evaluation(product if polynomial is None else polynomial, "exact" if exact else "upper bound")


def extent_of(loop: Loop) -> RationalFunction:
    """The extent of a loop, quotients without rounding.

    Raises CompileError (CF0601) where it is no polynomial or quotient of polynomials.
    """
    found = quotient(loop.extent, lambda name: RationalFunction(Polynomial.symbol(name)))
    if found is None:
        raise CompileError.of(
            "CF0601",
            f"the number of threads along '{loop.iterator}' is no polynomial in the scalars",
            loop.span,
            help="make the extent a scalar of its own, defined by the host",
        )
    return found


def quotient(expr: Expr, of_name: Callable[[str], RationalFunction | None]) -> RationalFunction | None:
    """An expression with exact divisions over what names stand for; None for any other one."""
    match expr:
        case IntLiteral():
            return RationalFunction(expr.value)
        case Name():
            return of_name(expr.identifier)
        case Unary(operator="-" | "+"):
            operand = quotient(expr.operand, of_name)
            return -operand if operand is not None and expr.operator == "-" else operand
        case Cast() if expr.type.is_integer and not expr.type.is_narrow:
            return quotient(expr.operand, of_name)
        case Binary(operator="+" | "-" | "*" | "/"):
            left, right = quotient(expr.left, of_name), quotient(expr.right, of_name)
            if left is None or right is None or (expr.operator == "/" and right == RationalFunction(0)):
                return None
            return _APPLIED[expr.operator](left, right)
        case _:
            return None


_APPLIED: dict[str, Callable[[RationalFunction, RationalFunction], RationalFunction]] = {
    "+": RationalFunction.__add__,
    "-": RationalFunction.__sub__,
    "*": RationalFunction.__mul__,
    "/": RationalFunction.__truediv__,
}
