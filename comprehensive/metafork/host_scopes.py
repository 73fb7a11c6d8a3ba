"""The scopes that are open at a place of host code, with what is declared and what holds in each.

In: scopes that open and end in the order of the text, and items: declarations, asserts, conditions.  Out: what a name
stands for, the items in force, and the loops that alone decide how often a place is reached::

    { int n = 4; for (int t = 0; t < n; t++) { double n;   -->   in force: HostScalar(t), HostScalar(n, DOUBLE)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct, field

from comprehensive.diagnostics import GENERATED
from comprehensive.metafork.ast import Expr, HostArray, HostLoop, HostScalar, ScalarType
from comprehensive.metafork.scope import Kind, Scope, Symbol
from comprehensive.metafork.walk import names
from comprehensive.records import replace


class Opaque(Struct, frozen=True):
    """A name that host code declares in a way that the language has no words for."""

    name: str


class Precondition(Struct, frozen=True):
    condition: Expr


class Fact(Struct, frozen=True):
    """A condition that holds at ``position`` and until something that it reads changes.

    ``governs``: the condition of a statement of host code, which runs only where it holds.
    """

    condition: Expr
    position: int
    governs: bool = False


Item: TypeAlias = HostScalar | HostArray | Opaque | Precondition | Fact
"""A declaration, or a condition that holds."""


class HostScope(Struct):
    """``kind`` is "brace", "if", "switch" or "statement" (what a loop or an else governs).

    What is no brace starts at ``start`` and ends before ``end``; ``loop`` is its header, ``condition`` what has to hold
    for it to run, where these are understood.
    """

    kind: str
    start: int = 0
    end: int = 0
    loop: HostLoop | None = None
    condition: Expr | None = None
    items: list[Item] = field(default_factory=lambda: [])


class HostScopes:
    """The open scopes, innermost last; ``parameters`` are the scalars of the function around all of them."""

    def __init__(self, parameters: Mapping[str, ScalarType]) -> None:
        self._parameters = parameters
        self.open = [HostScope("brace")]
        self._bindings: dict[str, list[HostScalar | HostArray | Opaque]] = {}

    def binding(self, name: str) -> HostScalar | HostArray | Opaque | None:
        stack = self._bindings.get(name)
        return stack[-1] if stack else None

    def is_scalar(self, name: str) -> bool:
        item = self.binding(name)
        return name in self._parameters if item is None else isinstance(item, HostScalar)

    def add(self, item: Item) -> None:
        self.open[-1].items.append(item)
        if not isinstance(item, Precondition | Fact):
            self._bindings.setdefault(item.name, []).append(item)

    def leave(self) -> str:
        """Closes the innermost scope; its kind."""
        scope = self.open.pop()
        for item in scope.items:
            if not isinstance(item, Precondition | Fact):
                self._bindings[item.name].pop()
        return scope.kind

    def visible_scalars(self) -> Scope:
        """The scalars that are visible here."""
        symbols = {name: Symbol(Kind.PARAMETER, kind, GENERATED) for name, kind in self._parameters.items()}
        for name, stack in self._bindings.items():
            match stack:
                case [*_, HostScalar(_, kind)]:
                    symbols[name] = Symbol(Kind.HOST, kind, GENERATED)
                case [*_, _]:
                    symbols.pop(name, None)
                case _:
                    pass
        return Scope(None, symbols)

    def in_force(self) -> tuple[Item, ...]:
        """The items in force here: a name hides an outer one, and what was said in terms of that one."""
        items: dict[int, Item] = {}
        speaking_of: dict[str, list[int]] = {}
        for number, item in enumerate(item for scope in self.open for item in scope.items):
            if not isinstance(item, Precondition | Fact):
                for earlier in speaking_of.pop(item.name, []):
                    _hide(items, earlier, item.name)
            items[number] = item
            for name in _mentioned(item):
                speaking_of.setdefault(name, []).append(number)
        return tuple(items.values())

    def governing(self) -> tuple[HostLoop, ...]:
        """The loops around a place here, if nothing else decides how often it runs."""
        loops: list[HostLoop] = []
        hidden: set[str] = set()
        for scope in reversed(self.open):
            loop = scope.loop
            if loop is not None and not hidden & {loop.iterator, *names(loop.start), *names(loop.bound)}:
                loops.insert(0, loop)
            elif scope.kind != "brace":
                return ()
            hidden |= {item.name for item in scope.items if not isinstance(item, Precondition | Fact)}
        return tuple(loops)


def _mentioned(item: Item) -> set[str]:
    match item:
        case HostScalar(name, _, value):
            return {name, *(() if value is None else names(value))}
        case HostArray(name, _, dims):
            return {name, *(read for dim in dims for read in names(dim))}
        case Opaque(name):
            return {name}
        case Precondition(condition) | Fact(condition):
            return set(names(condition))


def _hide(items: dict[int, Item], number: int, name: str) -> None:
    """Forget what an item says when a new ``name`` hides an outer one."""
    match items.get(number):
        case HostScalar(own) as scalar if own != name:
            items[number] = replace(scalar, value=None)
        case HostArray(own) if own != name:
            items[number] = Opaque(own)
        case None:
            pass
        case _:
            del items[number]
