"""Values of pointers of host code: variables, where they point, and expressions over them as small trees.

::

    float *p = even ? a : buf + n;    -->   p at (a, 0) where even holds, at (buf, n) where it does not

A :class:`State` says where all variables point at one time; trees do not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from msgspec import Struct

from comprehensive.metafork.ast import Address, Expr, HostPointer, ScalarType
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import names

UNKNOWN = Address(None, None)
_MOST_VALUES = 16
"""Addresses that one expression may have."""


class Variable(Struct, frozen=True):
    """A parameter with data, or a pointer of host code; ``key`` is its own among variables of one name.

    It points to elements of ``type`` or, where ``rows`` are given, to rows of these extents; ``levels`` is 2 for a
    pointer to a pointer.
    """

    key: str
    name: str
    type: ScalarType
    rows: tuple[Expr | None, ...] = ()
    row_texts: tuple[str, ...] = ()
    """The same extents as they are written."""
    levels: int = 1
    declared: HostPointer | None = None


class Reference(Struct, frozen=True):
    """The target of a pointer to a pointer: the variable with this key."""

    key: str


class Decision(Struct, frozen=True):
    """The value that a condition has turned out to have; ``read`` are the names in it."""

    holds: bool
    read: frozenset[str]


Value: TypeAlias = Address | Reference | Decision
State: TypeAlias = tuple[tuple[str, Value], ...]
"""The values of all variables and of conditions, by key, in the order of the keys; that of a condition is its text."""


class Read(Struct, frozen=True):
    """The value of a variable or, ``through`` it, of the one that it points to."""

    variable: Variable
    through: bool = False


class Moved(Struct, frozen=True):
    pointer: Tree
    offset: Expr | None


class Condition(Struct, frozen=True):
    """``text`` has a sign of C before it that no name has."""

    text: str
    read: frozenset[str]


class Choice(Struct, frozen=True):
    """A choice between two trees: once a condition is decided, it stays so until what it reads changes."""

    condition: Condition
    then: Tree
    otherwise: Tree


class Constant(Struct, frozen=True):
    value: Value


Tree: TypeAlias = Read | Moved | Choice | Constant


def at(state: State, key: str) -> Value:
    """Return the value of a variable: where it points."""
    return next((value for name, value in state if name == key), UNKNOWN)


def values(tree: Tree, state: State) -> frozenset[tuple[Value, State]]:
    """Return the places where the value of an expression may point, each with the state in which it does."""
    match tree:
        case Constant(value):
            return frozenset(((value, state),))
        case Read(variable, through):
            value = at(state, variable.key)
            if through:
                value = at(state, value.key) if isinstance(value, Reference) else UNKNOWN
            return frozenset(((value, state),))
        case Choice(condition, then, otherwise):
            found: frozenset[tuple[Value, State]] = frozenset()
            for holds, chosen in ((True, then), (False, otherwise)):
                decided = at(state, condition.text)
                if decided == UNKNOWN or decided == Decision(holds, condition.read):
                    with_it = substituted(state, {condition.text: Decision(holds, condition.read)})
                    found |= values(chosen, with_it)
            return found if len(found) <= _MOST_VALUES else frozenset(((UNKNOWN, state),))
        case Moved(pointer, offset):
            return frozenset((_moved(value, offset), after) for value, after in values(pointer, state))


def _moved(value: Value, offset: Expr | None) -> Value:
    match value:
        case Address(base, before) if before is not None and offset is not None:
            return Address(base, plus(before, offset))
        case Address(base):
            return Address(base, None)
        case _:
            return UNKNOWN


def forgetting(state: State, changed: AbstractSet[str]) -> State:
    """The state after some scalars may have got other values: conditions and offsets that read them are not known."""
    found: list[tuple[str, Value]] = []
    for key, value in state:
        match value:
            case Decision(_, read) if read & changed:
                continue
            case Address(base, offset) if offset is not None and changed & set(names(offset)):
                found.append((key, Address(base, None)))
            case _:
                found.append((key, value))
    return tuple(found)


def substituted(state: State, changes: Mapping[str, Value]) -> State:
    """The state with other values of some variables."""
    return tuple(sorted({**dict(state), **changes}.items(), key=lambda item: item[0]))
