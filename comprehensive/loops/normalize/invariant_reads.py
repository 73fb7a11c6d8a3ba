"""Reads that are the same in all turns of a loop come before it.

::

    for (j < n) f += x[j] - x[i];    -->    float x_of = 0 < n ? x[i] : 0;  for (j < n) f += x[j] - x_of;

Only elements that depend on the point: what is the same for all points is a matter of the cache.  The element is read
where the loop runs at all, so that nothing is read which the program does not read; the array is one that the points
do not write.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE
from comprehensive.loops.normalize.before_loop import read_before
from comprehensive.loops.traverse import always_evaluated, declared_names
from comprehensive.metafork.ast import (
    Assign,
    Break,
    Continue,
    Declare,
    Expr,
    For,
    Index,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.metafork.walk import assigned_scalars, expressions_in, statements_in


def with_invariant_reads_first(
    body: tuple[Stmt, ...], points: Set[str], read_only: Mapping[str, ScalarType], name: Namer
) -> tuple[Stmt, ...]:
    """The body with what its loops read again and again in scalars.

    ``points`` are the coordinates, ``read_only`` the types of the arrays that no point writes.
    """
    result: list[Stmt] = []
    for statement in body:
        if isinstance(statement, For):
            found = {index: name(f"{index.array}_of") for index in _invariant(statement, points, read_only)}
            for index, scalar in found.items():
                initial = read_before(statement, index)
                result.append(Declare(read_only[index.array], scalar, initial=initial, span=statement.span))
            result.append(replace(statement, body=_with_scalars(statement.body, found)))
        else:
            result.append(statement)
    return tuple(result)


def _invariant(loop: For, points: Set[str], read_only: Mapping[str, ScalarType]) -> tuple[Index, ...]:
    """The elements that every turn of a loop reads, in order."""
    leaves_early = any(isinstance(s, Break | Continue) for s in statements_in(loop.body))
    if leaves_early or (loop.relation, loop.step) != ("<", ONE):
        return ()
    changing = assigned_scalars(loop.body) | declared_names(loop.body) | {loop.iterator}
    straight = tuple(s for s in loop.body if isinstance(s, Declare | Assign))
    read = (
        e
        for x in expressions_in(straight)
        for e in always_evaluated(x)
        if isinstance(e, Index) and e.array in read_only
    )
    return tuple(dict.fromkeys(e for e in read if names_read(e) & points and not names_read(e) & changing))


def _with_scalars(body: tuple[Stmt, ...], scalars: Mapping[Index, str]) -> tuple[Stmt, ...]:
    def replaced(expr: Expr) -> Expr:
        return Name(scalars[expr], expr.span) if isinstance(expr, Index) and expr in scalars else expr

    return map_expressions(body, lambda e: map_expression(e, replaced)) if scalars else body
