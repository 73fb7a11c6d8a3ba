"""The statements that an IR has besides those of programs, as walkers and rewriters see them.

In: a frozen record that derives from :class:`OwnStatement`.  Out: its expressions, and the same with other ones, by
the declared types of its fields::

    class Copy(OwnStatement):              Copy(Name("p"), a[i], i).own_expressions == (Name("p"), a[i], i)
        target: Name
        source: Index
        count: Expr
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from operator import is_
from typing import Any, TypeAlias, TypeVar

from comprehensive.metafork.ast import Expr, Index, Name, ScalarType, Stmt
from comprehensive.records import replace, types_of

OnExpression: TypeAlias = Callable[[Expr], Expr]
OnPlace: TypeAlias = Callable[[Name | Index], Name | Index]
"""The change of a variable or an element that something is done to: it stays a variable or an element."""

_Self = TypeVar("_Self", bound="OwnStatement")


class _Kind(Enum):
    EXPRESSION = "expression"
    EXPRESSIONS = "expressions"
    PLACE = "place"


_KINDS = {
    "Expr": _Kind.EXPRESSION,
    "Expr | None": _Kind.EXPRESSION,
    "tuple[Expr, ...]": _Kind.EXPRESSIONS,
    "Name": _Kind.PLACE,
    "Index": _Kind.PLACE,
    "Index | None": _Kind.PLACE,
    "Name | Index": _Kind.PLACE,
}


class OwnStatement:
    """A statement that only one IR has.  No statement of this IR stands in it; those of one thread may.

    A field declared as ``Name`` or ``Index`` is a place.  A class with expressions or statements elsewhere than in
    fields of its own says so in these methods.
    """

    __slots__ = ()

    @property
    def own_expressions(self) -> tuple[Expr, ...]:
        """The expressions in it, but for those of ``thread_body``, in the order of the fields."""
        found: list[Expr] = []
        for name, kind in _fields(type(self)):
            value = getattr(self, name)
            if kind is _Kind.EXPRESSIONS:
                found += value
            elif value is not None:
                found.append(value)
        return tuple(found)

    def with_own_expressions(self: _Self, change: OnExpression, place: OnPlace) -> _Self:
        """The statement with every one of ``own_expressions`` changed."""
        changed: dict[str, Any] = {}
        for name, kind in _fields(type(self)):
            value = getattr(self, name)
            match kind:
                case _Kind.EXPRESSIONS:
                    found = tuple(map(change, value))
                    changed[name] = value if all(map(is_, found, value)) else found
                case _Kind.PLACE:
                    changed[name] = None if value is None else place(value)
                case _Kind.EXPRESSION:
                    changed[name] = None if value is None else change(value)
        same = all(value is getattr(self, name) for name, value in changed.items())
        return self if same else replace(self, **changed)

    @property
    def declared(self) -> Mapping[str, ScalarType]:
        """The names that it declares, with their types."""
        return {}

    @property
    def thread_body(self) -> tuple[Stmt, ...]:
        """The statements of one thread in it."""
        return ()

    def with_thread_body(self: _Self, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> _Self:
        """The statement with another ``thread_body``."""
        return self


class OwnCall(OwnStatement):
    """An own statement that is one call in C."""

    __slots__ = ()


@cache
def _fields(kind: type[OwnStatement]) -> tuple[tuple[str, _Kind], ...]:
    return tuple((name, _KINDS[type]) for name, type in types_of(kind).items() if type in _KINDS)
