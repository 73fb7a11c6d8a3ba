"""The meaning of names in a region.

In: a function and a region.  Out: the outermost scope of the region, to which the check adds locals::

    scope_of_region(function, region).get("n") == Symbol(PARAMETER, INT, ...)
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import Function, MetaSchedule, ScalarType


class Kind(Enum):
    """The kind of a declaration; the value is how a diagnostic calls it."""

    PARAMETER = "parameter"
    HOST = "host variable"
    DATA = "array"
    LOCAL = "local variable"
    LOCAL_ARRAY = "local array"
    ITERATOR = "iterator"


class Symbol(Struct, frozen=True):
    """A declared name; ``rank`` is the number of subscripts that an array takes."""

    kind: Kind
    type: ScalarType
    span: Span
    rank: int = 0
    const: bool = False

    @property
    def is_data(self) -> bool:
        return self.kind is Kind.DATA

    @property
    def is_array(self) -> bool:
        return self.kind in (Kind.DATA, Kind.LOCAL_ARRAY)


class Scope(Struct):
    """Names between two braces; ``outer`` is the scope around it."""

    outer: Scope | None
    symbols: dict[str, Symbol]

    def get(self, name: str) -> Symbol | None:
        scope: Scope | None = self
        while scope is not None:
            found = scope.symbols.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def all(self) -> dict[str, Symbol]:
        """Every name that can be used here."""
        return self.symbols if self.outer is None else {**self.outer.all(), **self.symbols}

    def inner(self) -> Scope:
        return Scope(self, {})


def scope_of_region(function: Function, region: MetaSchedule, opaque: frozenset[str]) -> Scope:
    """The parameters, and over them the host scalars, pointers and arrays that the region can see.

    ``opaque`` names are declared by host code in words outside the language: they hide parameters.
    """
    symbols: dict[str, Symbol] = {}
    for p in function.parameters:
        if p.name in opaque:
            continue
        rank = 1 if p.pointer else len(p.dims)
        kind = Kind.DATA if p.is_data else Kind.PARAMETER
        symbols[p.name] = Symbol(kind, p.type, p.span, rank, p.const)
    for scalar in region.scalars:
        symbols[scalar.name] = Symbol(Kind.HOST, scalar.type, scalar.span)
    for pointer in region.pointers:
        rank = max(1, len(pointer.dims))
        symbols[pointer.name] = Symbol(Kind.DATA, pointer.type, pointer.span, rank, pointer.const)
    for table in region.tables:
        symbols[table.name] = Symbol(Kind.DATA, table.type, table.span, len(table.lengths), const=True)
    for array in region.arrays:
        symbols[array.name] = Symbol(Kind.DATA, array.type, array.span, len(array.dims))
    return Scope(None, symbols)
