"""Kernels without idle braces: a body in, the same body with blocks that end a body put into it out.

::

    if (c) { { float value = a[i]; b[i] = value; } }   -->   if (c) { float value = a[i]; b[i] = value; }

What a block declares is then declared in the body around it, where nothing follows that could mean another variable of
that name.  A block stays where the body, or what begins it, has declared such a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from comprehensive.kernel_ir.kernel import KernelParameter, KernelStmt
from comprehensive.metafork.ast import Block, For
from comprehensive.metafork.rewrite import with_all_bodies
from comprehensive.metafork.walk import declared


def spliced(body: tuple[KernelStmt, ...], parameters: Sequence[KernelParameter]) -> tuple[KernelStmt, ...]:
    """The body of a kernel with these parameters, without idle braces."""
    return _without_last_block(body, {p.name for p in parameters})


def _without_last_block(body: tuple[KernelStmt, ...], known: Iterable[str]) -> tuple[KernelStmt, ...]:
    """The body without idle braces, where ``known`` are names that are declared in its scope before it."""
    inside = tuple(map(_in_bodies, body))
    match inside:
        case (*before, Block(body=last)) if not _names(last) & ({*known} | _names(before)):
            return (*before, *last)
        case _:
            return inside


def _in_bodies(statement: KernelStmt) -> KernelStmt:
    iterator = {statement.iterator} if isinstance(statement, For) else set[str]()
    return with_all_bodies(statement, lambda inner: _without_last_block(inner, iterator))


def _names(body: Iterable[KernelStmt]) -> set[str]:
    """The names that a body declares, itself or in blocks: of blocks that declare the same all stay, or none."""
    inside = (inner for s in body for inner in (s.body if isinstance(s, Block) else (s,)))
    return {name for statement in inside for name in declared(statement)}
