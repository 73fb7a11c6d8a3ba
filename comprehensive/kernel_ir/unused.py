"""Removes local scalars that nothing reads any more.

In: a kernel body.  Out: the same without idle declarations: when a reference moves to a tile, the index scalars that
it was written with often have no reader left::

    int p = i * B0 + v; shared_c[v] = 0;  -->  shared_c[v] = 0;

A declaration is read by what follows it in its own scope.  Expressions of the language have no effects, so one
without a reader can always go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from comprehensive.kernel_ir.kernel import (
    Barrier,
    Comment,
    KernelStmt,
    OfTiles,
    Plain,
    SharedTile,
    ThreadIf,
    UniformFor,
    UniformIf,
)
from comprehensive.kernel_ir.names import names_in_body, names_in_kernel
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    For,
    If,
    MetaFor,
    Stmt,
    While,
)


def without_unused(body: Sequence[KernelStmt]) -> tuple[KernelStmt, ...]:
    """The body without declarations that are never read, nor read only by such declarations."""
    kept: list[KernelStmt] = []
    later: frozenset[str] = frozenset()
    for statement in reversed(body):
        remaining = _remaining(statement, later)
        if remaining is not None:
            kept.append(remaining)
            later |= names_in_kernel((remaining,))
    return tuple(reversed(kept))


def _remaining(statement: KernelStmt, later: frozenset[str]) -> KernelStmt | None:
    match statement:
        case Plain():
            body = _plain(statement.body, later)
            return Plain(body) if body else None
        case UniformFor():
            return replace(statement, body=without_unused(statement.body))
        case UniformIf() | ThreadIf():
            then, otherwise = without_unused(statement.then), without_unused(statement.otherwise)
            return replace(statement, then=then, otherwise=otherwise)
        case SharedTile():
            return statement if statement.name in later else None
        case Barrier() | Comment() | OfTiles():
            return statement
        case _:
            assert_never(statement)


def _plain(body: Sequence[Stmt], later: frozenset[str]) -> tuple[Stmt, ...]:
    kept: list[Stmt] = []
    for statement in reversed(body):
        match statement:
            case Declare():
                if statement.name not in later:
                    continue
                remaining: Stmt = statement
            case If():
                then = _plain(statement.then, frozenset())
                remaining = replace(statement, then=then, otherwise=_plain(statement.otherwise, frozenset()))
            case For() | MetaFor() | While() | DoWhile() | Block():
                remaining = replace(statement, body=_plain(statement.body, frozenset()))
            case Assign() | Break() | Continue():
                remaining = statement
            case _:
                assert_never(statement)
        kept.append(remaining)
        later |= names_in_body((remaining,))
    return tuple(reversed(kept))
