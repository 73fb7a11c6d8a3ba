"""Equality of statements and expressions up to integer arithmetic: ``a[(k + 1) - 1] * x`` is ``a[k] * x``.

In: two pieces of the IR and the types of their names.  Out: whether they compute the same to the bit.  Integer
expressions are compared as polynomials where C computes what mathematics says; all else has to be equal as trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import cast

from comprehensive.loops.integers import Ring
from comprehensive.loops.traverse import subexpressions
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
            kind = self._plain(one)
            if kind is not None and kind is self._plain(other):
                return self._ring.read(one) == self._ring.read(other)
        if not isinstance(one, _NODES) or type(one) is not type(other):
            return False
        compared = (field.name for field in fields(one) if field.compare)
        return all(self.same(getattr(one, name), getattr(other, name)) for name in compared)

    def _plain(self, expr: Expr) -> ScalarType | None:
        """The type of an integer expression in which nothing wraps around."""
        try:
            found = {promote(type_of(e, self._types)) for e in subexpressions(expr)}
        except KeyError:
            return None
        return found.pop() if found in ({ScalarType.INT}, {ScalarType.LONG}) else None
