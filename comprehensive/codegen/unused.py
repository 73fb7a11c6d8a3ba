"""Removes local scalars that nothing reads any more.

In: a kernel body.  Out: the same without idle declarations: when a reference moves to a tile, the index scalars that
it was written with often have no reader left::

    int p = i * B0 + v; shared_c[v] = 0;  -->  shared_c[v] = 0;

Expressions of the language have no effects, so a declaration without a reader can always go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from comprehensive.codegen.kernel import (
    Barrier,
    Comment,
    KernelStmt,
    Plain,
    SharedTile,
    UniformFor,
    UniformIf,
)
from comprehensive.codegen.names import names_in_kernel
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


def without_unused(body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
    """The body without declarations that are never read, nor read only by such declarations."""
    while True:
        smaller = _kernel(body, names_in_kernel(body))
        if smaller == body:
            return body
        body = smaller


def _kernel(body: Iterable[KernelStmt], used: frozenset[str]) -> tuple[KernelStmt, ...]:
    kept: list[KernelStmt] = []
    for statement in body:
        match statement:
            case Plain():
                plain = _plain(statement.body, used)
                if plain:
                    kept.append(Plain(plain))
            case UniformFor():
                kept.append(replace(statement, body=_kernel(statement.body, used)))
            case UniformIf():
                then = _kernel(statement.then, used)
                otherwise = _kernel(statement.otherwise, used)
                kept.append(replace(statement, then=then, otherwise=otherwise))
            case SharedTile():
                if statement.name in used:
                    kept.append(statement)
            case Barrier() | Comment():
                kept.append(statement)
            case _:
                assert_never(statement)
    return tuple(kept)


def _plain(body: Iterable[Stmt], used: frozenset[str]) -> tuple[Stmt, ...]:
    kept: list[Stmt] = []
    for statement in body:
        match statement:
            case Declare():
                if statement.name in used:
                    kept.append(statement)
            case If():
                then = _plain(statement.then, used)
                otherwise = _plain(statement.otherwise, used)
                kept.append(replace(statement, then=then, otherwise=otherwise))
            case For() | MetaFor() | While() | DoWhile() | Block():
                kept.append(replace(statement, body=_plain(statement.body, used)))
            case Assign() | Break() | Continue():
                kept.append(statement)
            case _:
                assert_never(statement)
    return tuple(kept)
