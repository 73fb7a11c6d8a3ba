"""Whether a step of the serial loop of a product is one multiply-add of two elements.

In: the points of a tile, and the types of sums and elements.  Out: the tile of the product, or why a step is another::

    sum += a[y0][k] * b[k][y1];      the product of two elements, one along each coordinate
    sum += 2 * a[y0][k] * b[k][y1];  "a step multiplies something else than two elements ..."

Where tensor cores compute such steps with the same bits, and where they do not, say the recipes that use them
(`recipes/tensor_core_product.py`, `recipes/mixed_precision_product.py`, `recipes/byte_product.py`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from msgspec import Struct

from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Assign, Binary, Cast, Declare, Expr, For, Index, Name, ScalarType, Stmt
from comprehensive.metafork.walk import statements_in
from comprehensive.schedule.batch import with_shared
from comprehensive.schedule.operands import (
    MOST_COORDINATES,
    OperandTile,
    loop_of,
    operands_of,
    reduction_obstacle,
)
from comprehensive.schedule.predicate import predicated
from comprehensive.schedule.row_numbers import with_row_numbers_inside


def of_multiply_adds(
    nest: Nest,
    tile: RegisterTile,
    sum_type: ScalarType,
    elements: Container[ScalarType],
) -> RegisterTile | str | None:
    """The tile of a product in which a step of the loop is one multiply-add, as tensor cores take them.

    Sums are of ``sum_type``, and so is the product of two elements of one of the types ``elements``.  A text says why a
    step is another one; None is for what is no product, or of other elements.
    """
    loop = loop_of(tile)
    if loop is None or len(tile.coordinates) < MOST_COORDINATES:
        return None
    tile = predicated(nest, with_row_numbers_inside(nest, with_shared(tile, MOST_COORDINATES)))
    loop = loop_of(tile)
    assert loop is not None
    body = tile.alternatives[0].body
    if reduction_obstacle(nest, tile, body, (loop,)) is not None:
        return None  # the recipe for a product says why
    _, pieces = operands_of(nest, tile, body, loop)
    types = [nest.array(name).type for name in pieces]
    element = next((type for type in types if type in elements), None)
    if element is None:
        return None
    return _Step(nest, tile, body, loop, pieces, element, sum_type).obstacle() or tile


class _Step(Struct, frozen=True):
    """A step of a loop that reads ``pieces``, with the types that its elements and its sum have to have."""

    nest: Nest
    tile: RegisterTile
    body: Sequence[Stmt]
    loop: For
    pieces: Mapping[str, OperandTile]
    element: ScalarType
    sum_type: ScalarType

    def obstacle(self) -> str | None:
        """Return why the step is not one multiply-add; None where it is."""
        called = {a.name: a.pointer for a in self.nest.arrays}
        if len(self.loop.body) != 1 or not isinstance(self.loop.body[0], Assign):
            return "a step does more than one multiply-add"
        statement = self.loop.body[0]
        factors = _factors(statement)
        if factors is None:
            return "a step adds something else than the product of two elements to its sum"
        if _type_of(statement.target, self.nest, self.body) is not self.sum_type:
            return f"the sum is not of type '{self.sum_type.value}'"
        found: set[str | None] = set()
        for factor in (_converted(factor, self.element, self.sum_type) for factor in factors):
            if not isinstance(factor, Index) or factor.array not in self.pieces:
                return "a step multiplies something else than two elements that change from step to step"
            if self.nest.array(factor.array).type is not self.element:
                return f"the elements of '{called[factor.array]}' are not of type '{self.element.value}'"
            piece = self.pieces[factor.array]
            if self.element.size_bytes == 1 and piece.columns.variable != self.loop.iterator:
                return f"the steps of '{called[factor.array]}' do not lie side by side, as matrices of bytes have them"
            if piece.columns.downward and self.element.size_bytes <= 2:
                return f"'{called[factor.array]}' is read downwards, and matrices of it are loaded upwards"
            found |= {piece.rows.variable, piece.columns.variable} - {None, self.loop.iterator}
        if found != {c.name for c in self.tile.coordinates}:
            return "the two factors do not lie along one coordinate each"
        return None


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
