"""The definitions of local scalars that are pure, and the statements that may change the value of an expression.

In: the body of a band.  Out: predicates that several strategies share.  Example: in
``int p = i*B + j; c[p] = x;`` the definition of ``p`` is pure and may be moved or repeated; in
``float y = c[p]; c[q] = 0; d[p] = y;`` that of ``y`` may not pass the store to ``c``.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.metafork.ast import Declare, Expr, Stmt
from comprehensive.metafork.walk import (
    arrays_assigned,
    assigned_scalars,
    elements,
    expressions_in,
)


class Effects(Struct, frozen=True):
    """The scalars and arrays that statements change; ``stores`` is empty just where no memory is written."""

    scalars: frozenset[str]
    stores: frozenset[str]


def effects_of(body: tuple[Stmt, ...]) -> Effects:
    return Effects(assigned_scalars(body), arrays_assigned(body))


def may_change(expr: Expr, effects: Effects, constants: frozenset[str]) -> bool:
    """Whether the value of an expression may differ after the effects.

    Two arrays may be one in C, so any store may change what is read from memory; ``constants`` are the arrays that
    nothing in the region writes.
    """
    reads = frozenset(e.array for e in elements(expr)) - constants
    return bool(names_read(expr) & effects.scalars) or bool(reads and effects.stores)


def is_single_definition(statement: Declare, body: tuple[Stmt, ...]) -> bool:
    """Whether a declared scalar keeps its first value in the whole body."""
    return (
        not statement.dims and statement.initial is not None and statement.name not in assigned_scalars(body)
    )


def reads_name(body: tuple[Stmt, ...], name: str) -> bool:
    """Whether some expression of a body reads a name."""
    return any(name in names_read(expr) for expr in expressions_in(body))
