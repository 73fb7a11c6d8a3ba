"""Equality of statements and expressions up to integer arithmetic: ``a[(k + 1) - 1] * x`` is ``a[k] * x``.

In: two pieces of the IR and the types of their names.  Out: whether they compute the same to the bit.  Integer
expressions of one type are compared as polynomials, which have its values modulo its range; all else has to be equal as
trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from comprehensive.algebra import Polynomial
from comprehensive.loops.access import names_read
from comprehensive.loops.conversions import without_conversions
from comprehensive.loops.integers import Ring
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.scalar_types import promote
from comprehensive.records import compared_names_of

_EXPRESSIONS = (IntLiteral, FloatLiteral, Name, Index, Unary, Binary, Conditional, Cast, Call)
_NODES = (*_EXPRESSIONS, Declare, Assign, If, For, While, DoWhile, Break, Continue, Block)


def same(one: Stmt | Expr, other: Stmt | Expr, types: Mapping[str, ScalarType]) -> bool:
    """Whether two statements, or two expressions, compute the same."""
    return _Comparison(types, Ring()).same(one, other)


class _Comparison:
    def __init__(self, types: Mapping[str, ScalarType], ring: Ring) -> None:
        self._types, self._ring = types, ring

    def same(self, one: object, other: object) -> bool:
        if one == other:
            return True
        if isinstance(one, tuple) and isinstance(other, tuple):
            left, right = cast("tuple[object, ...]", one), cast("tuple[object, ...]", other)
            return len(left) == len(right) and all(map(self.same, left, right))
        if isinstance(one, _EXPRESSIONS) and isinstance(other, _EXPRESSIONS):
            kind = self._kind(one)
            if kind is not None and kind is self._kind(other):
                return self._polynomial(one) == self._polynomial(other)
            if isinstance(one, Index) and isinstance(other, Index) and one.array == other.array:
                return len(one.subscripts) == len(other.subscripts) and all(
                    map(self._same_place, one.subscripts, other.subscripts)
                )
        if not isinstance(one, _NODES):
            return False
        node = cast("Expr | Stmt", one)
        if type(node) is not type(other):
            return False
        compared = compared_names_of(type(node))
        return all(self.same(getattr(node, name), getattr(other, name)) for name in compared)

    def _same_place(self, one: Expr, other: Expr) -> bool:
        """Whether two subscripts are the same: their lowest 64 bits count."""
        if all(map(self._is_place, (one, other))):
            return self._polynomial(one) == self._polynomial(other)
        return self.same(one, other)

    def _is_place(self, subscript: Expr) -> bool:
        """Whether the lowest 64 bits of a subscript are those of its polynomial."""
        kind = self._kind(subscript)
        return kind is not None and (kind.is_exact or kind.is_wide or isinstance(subscript, IntLiteral))

    def _polynomial(self, expr: Expr) -> Polynomial:
        return self._ring.read(without_conversions(expr, self._types))

    def _kind(self, expr: Expr) -> ScalarType | None:
        """The type in which C computes an integer expression."""
        if isinstance(expr, Index) or not names_read(expr) <= self._types.keys():
            return None
        found = promote(type_of(expr, self._types))
        return found if found.is_integer else None
