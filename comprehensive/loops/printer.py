"""Nests as MetaFork text: every stage can be read, and fed back.

In: a nest.  Out: its region, ``meta_schedule cache(a) { meta_for (int v = 0; v < dim; v++) ... }``.  Building it
again, in a function with the same parameters and host scalars, gives an equal nest; only a grid of k loops right
around bands of another number of loops is printed with an ``if (1)`` between them, which the language needs.
"""

from __future__ import annotations

from typing import assert_never

from comprehensive.loops.ir import BlockStmt, Loop, Nest, Role, Threads
from comprehensive.metafork.ast import (
    Declare,
    For,
    HostScalar,
    If,
    IntLiteral,
    MetaFor,
    MetaSchedule,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.printer import print_region
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.records import replace


def print_nest(nest: Nest) -> str:
    """The region of the nest as text."""
    region = to_region(nest)
    return print_region(region.cache, region.body)


def to_region(nest: Nest) -> MetaSchedule:
    """The syntax tree of the region; host scalars and asserts come along, arrays of the host do not."""
    body = _blocks(nest.body)
    if len(nest.body) == 1 and isinstance(nest.body[0], Threads) and len(nest.grid) != len(nest.thread_loops):
        # Without something between them, grid and threads would be one perfect nest, split in the middle.
        body = (If(IntLiteral(1), body),)
    host = [HostScalar(s.name, s.type, s.value, s.span) for s in nest.scalars if s.role is Role.HOST]
    return MetaSchedule(
        cache=nest.cached or None,
        body=_parallel(nest.grid, body),
        scalars=tuple(host),
        preconditions=nest.preconditions,
        span=nest.span,
    )


def _parallel(loops: tuple[Loop, ...], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    for loop in reversed(loops):
        zero, one = IntLiteral(0), IntLiteral(1)
        body = (MetaFor(ScalarType.INT, loop.iterator, zero, "<", loop.extent, one, body, loop.span),)
    return body


def _blocks(body: tuple[BlockStmt, ...]) -> tuple[Stmt, ...]:
    result: list[Stmt] = []
    for statement in body:
        match statement:
            case Threads():
                result += _parallel(statement.loops, statement.body)
            case For() | If():
                result.append(with_bodies(statement, _blocks))
            case Declare():
                result.append(replace(statement, const=False))
            case _:
                assert_never(statement)
    return tuple(result)
