"""Threads of a thread block, T_B: a variant in, the product of the extents of its thread loops out.

Example: ``Threads v < B0, u < ub1`` gives ``B0*ub1``.  An extent ``n / 2`` counts as its rational value, which is
at least its value in C; the source then says ``upper bound``.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.algebra import Polynomial, RationalFunction
from comprehensive.diagnostics import CompileError
from comprehensive.loops.ir import Loop, Variant
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, Unary
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
            exact = exact and not _divides(loop.extent)
        tile = fragment.tile
        if tile is not None and tile.lanes is not None:
            product = product * RationalFunction(Polynomial.symbol(tile.lanes))
        polynomial = product.as_polynomial()
        return Evaluation(product if polynomial is None else polynomial, "exact" if exact else "upper bound")


def extent_of(loop: Loop) -> RationalFunction:
    """The extent of a loop, quotients without rounding.

    Raises CompileError (CF0601) where it is no polynomial or quotient of polynomials.
    """
    return _value(loop.extent, loop)


def _value(expr: Expr, loop: Loop) -> RationalFunction:
    match expr:
        case IntLiteral():
            return RationalFunction(expr.value)
        case Name():
            return RationalFunction(Polynomial.symbol(expr.identifier))
        case Unary(operator="-"):
            return -_value(expr.operand, loop)
        case Binary(operator="+"):
            return _value(expr.left, loop) + _value(expr.right, loop)
        case Binary(operator="-"):
            return _value(expr.left, loop) - _value(expr.right, loop)
        case Binary(operator="*"):
            return _value(expr.left, loop) * _value(expr.right, loop)
        case Binary(operator="/"):
            return _value(expr.left, loop) / _value(expr.right, loop)
        case _:
            raise CompileError.of(
                "CF0601",
                f"the number of threads along '{loop.iterator}' is no polynomial in the scalars",
                loop.span,
                help="make the extent a scalar of its own, defined by the host",
            )


def _divides(expr: Expr) -> bool:
    match expr:
        case Binary():
            return expr.operator == "/" or _divides(expr.left) or _divides(expr.right)
        case Unary():
            return _divides(expr.operand)
        case _:
            return False
