"""Removes local scalars that nothing reads any more.

In: a kernel body.  Out: the same without idle declarations: when a reference moves to a tile, the index scalars that
it was written with often have no reader left::

    int p = i * B0 + v; shared_c[v] = 0;  -->  shared_c[v] = 0;

A declaration is read by what follows it in its own scope.  Expressions of the language have no effects, so one
without a reader can always go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from comprehensive.kernel_ir.kernel import KernelStmt, SharedTile
from comprehensive.kernel_ir.names import names_in_kernel
from comprehensive.metafork.ast import Declare, Stmt
from comprehensive.metafork.rewrite import with_bodies


@overload
def without_unused(body: Sequence[Stmt]) -> tuple[Stmt, ...]: ...
@overload
def without_unused(body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]: ...
def without_unused(body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]:
    """The body without declarations that are never read, nor read only by such declarations."""
    kept: list[KernelStmt] = []
    later: frozenset[str] = frozenset()
    for statement in reversed(body):
        if isinstance(statement, Declare | SharedTile) and statement.name not in later:
            continue
        remaining = with_bodies(statement, without_unused)
        kept.append(remaining)
        later |= names_in_kernel((remaining,))
    return tuple(reversed(kept))
