"""Whether a step of a serial loop is one multiply-add, and of which operands.

In: the points of a tile, with the loop and the pieces that it reads.  Out: :class:`MultiplyAddStep`, or why not::

    sum += a[y0][k] * b[k][y1];     -->     MultiplyAddStep(left="a", right="b")

Where tensor cores compute such steps with the same bits, and where they do not, say the recipes that use them
(`recipes/tensor_core_product.py`, `recipes/mixed_precision_product.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Assign, Binary, Cast, Declare, Expr, For, Index, Name, ScalarType, Stmt
from comprehensive.metafork.walk import statements_in
from comprehensive.schedule.operands import OperandTile


@dataclass(frozen=True, slots=True)
class MultiplyAddStep:
    """The arrays whose pieces lie along the first and along the second coordinate of the tile."""

    left: str
    right: str


def multiply_add_of(
    nest: Nest,
    tile: RegisterTile,
    body: Sequence[Stmt],
    loop: For,
    pieces: Mapping[str, OperandTile],
    *,
    element: ScalarType,
    sum_type: ScalarType,
) -> MultiplyAddStep | str:
    """Return the operands of the one multiply-add of a step, or why it is none; the loop reads ``pieces``.

    Sums are of ``sum_type``, and so is the product of two elements of type ``element``.
    """
    called = {a.name: a.pointer for a in nest.arrays}
    if len(loop.body) != 1 or not isinstance(loop.body[0], Assign):
        return "a step does more than one multiply-add"
    statement = loop.body[0]
    factors = _factors(statement)
    if factors is None:
        return "a step adds something else than the product of two elements to its sum"
    if _type_of(statement.target, nest, body) is not sum_type:
        return f"the sum is not of type '{sum_type.value}'"
    found: dict[str, str] = {}
    for factor in (_converted(factor, element, sum_type) for factor in factors):
        if not isinstance(factor, Index) or factor.array not in pieces:
            return "a step multiplies something else than two elements that change from step to step"
        if nest.array(factor.array).type is not element:
            return f"the elements of '{called[factor.array]}' are not of type '{element.value}'"
        piece = pieces[factor.array]
        along = {piece.rows.variable, piece.columns.variable} - {None, loop.iterator}
        found |= {variable: factor.array for variable in along if variable is not None}
    names = [c.name for c in tile.coordinates]
    if set(found) != set(names):
        return "the two factors do not lie along one coordinate each"
    return MultiplyAddStep(*(found[name] for name in names))


def _converted(factor: Expr, element: ScalarType, sum_type: ScalarType) -> Expr:
    """The factor without the conversions that each element undergoes anyway, such as ``__half2float``."""
    while isinstance(factor, Cast) and factor.type in (element, sum_type):
        factor = factor.operand
    return factor


def _factors(statement: Assign) -> tuple[Expr, Expr] | None:
    """The factors of ``sum += x * y``, ``sum = sum + x * y`` or ``sum = x * y + sum``."""
    value = statement.value
    match statement.operator, value:
        case "+=", Binary("*", left, right):
            return left, right
        case "=", Binary("+", Binary("*", left, right), other) if other == statement.target:
            return left, right
        case "=", Binary("+", other, Binary("*", left, right)) if other == statement.target:
            return left, right
        case _:
            return None


def _type_of(target: Name | Index, nest: Nest, body: Sequence[Stmt]) -> ScalarType | None:
    if isinstance(target, Index):
        return nest.array(target.array).type
    declared = (s for s in statements_in(tuple(body)) if isinstance(s, Declare) and not s.dims)
    return next((s.type for s in declared if s.name == target.identifier), None)
