"""A loop moved out of everything around it, together with the loops beside it that have the same range.

In: what an iteration does, and one of the loops in it.  Out: what is left where the iterator of that loop is given::

    for (j...) c[i][j] *= b;                                 c[i][j] *= b;
    for (k...) for (j...) c[i][j] += a[i][k] * d[k][j];  -->   for (k...) c[i][j] += a[i][k] * d[k][j];

Everything must stand in loops of that range, but for scalars that get their only value where they are declared: they
are computed again for every iteration.  Whether the loop may be moved is not decided here: it may where no two
conflicting iterations differ in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from comprehensive.loops.normalize.assigned_first import mentions
from comprehensive.loops.normalize.local_scalars import assigns
from comprehensive.loops.traverse import declared_names, rename
from comprehensive.metafork.ast import Block, Declare, For, If, Stmt
from comprehensive.metafork.walk import leaves_loop, statements_in
from comprehensive.records import replace

Grid = TypeVar("Grid")
"""Whatever has loops around a body."""


def widest(grid: Grid, wider: Callable[[Grid], Iterable[Grid]]) -> Grid:
    """A grid with more loops, one after the other: the first of the ``wider`` ones, as long as there are any."""
    while (found := next(iter(wider(grid)), None)) is not None:
        grid = found
    return grid


def hoistable(body: tuple[Stmt, ...]) -> tuple[For, ...]:
    """The loops that may stand around all others, outer before inner."""
    return tuple(s for s in statements_in(body) if isinstance(s, For) and s.type is not None)


def hoisted(body: tuple[Stmt, ...], loop: For) -> tuple[Stmt, ...] | None:
    """The statements for one value of the iterator of ``loop``; None where some of them stand in no loop like it."""
    assigned = {
        s.name
        for s in statements_in(body)
        if isinstance(s, Declare) and any(assigns(o, s.name) for o in body)
    }
    return _hoisted(body, loop, frozenset(assigned))


def _hoisted(body: tuple[Stmt, ...], loop: For, assigned: frozenset[str]) -> tuple[Stmt, ...] | None:
    """``assigned`` are local scalars that may get another value behind their declaration."""
    result: list[Stmt] = []
    several = sum(not isinstance(statement, Declare) for statement in body) > 1
    for statement in body:
        found = _statement(statement, loop, assigned)
        if found is None:
            return None
        if isinstance(statement, For) and several and any(isinstance(s, Declare) for s in found):
            found = (Block(found, statement.span),)  # its names are not those of the other statements
        result += found
    return tuple(result)


def _statement(statement: Stmt, loop: For, assigned: frozenset[str]) -> tuple[Stmt, ...] | None:
    match statement:
        case Declare(dims=(), initial=initial) if initial is not None and statement.name not in assigned:
            return (statement,)
        case For() if _is_like(statement, loop):
            return _body(statement, loop.iterator)
        case For() | Block():
            inner = _hoisted(statement.body, loop, assigned)
            return None if inner is None else (replace(statement, body=inner),)
        case If(_, then, otherwise):
            one, other = (_hoisted(branch, loop, assigned) for branch in (then, otherwise))
            return None if one is None or other is None else (replace(statement, then=one, otherwise=other),)
        case _:
            return None


def _is_like(statement: For, loop: For) -> bool:
    """Whether a loop becomes one with ``loop``: it, or one beside it that has the same range.

    Of two such loops inside of each other it is the one over an iterator of the same name, if there is one.
    """
    if statement is loop:
        return True
    inner = [s for s in statements_in(statement.body) if isinstance(s, For)]
    if header_of(statement) != header_of(loop) or any(s is loop for s in inner):
        return False
    named = any(header_of(s) == header_of(loop) and s.iterator == loop.iterator for s in inner)
    return statement.iterator == loop.iterator or not named


def header_of(loop: For) -> tuple[object, ...]:
    """Return what two loops through the same turns have in common."""
    return loop.type, loop.start, loop.relation, loop.bound, loop.step


def _body(loop: For, iterator: str) -> tuple[Stmt, ...] | None:
    """Return the body of the loop with another iterator; None where a jump ends it or the name is taken."""
    if leaves_loop(loop.body):
        return None
    if loop.iterator == iterator:
        return loop.body
    if iterator in declared_names(loop.body) or mentions(loop.body, iterator):
        return None
    return rename(loop.body, {loop.iterator: iterator})
