"""Fission: what an iteration of a parallel loop does once, and its loops, each in a region of its own.

In: the uncut loops of a region.  Out: the same for each part of what stands inside of them, in the order of the text::

    #pragma omp parallel for                                 meta_for i: a[i][k] /= a[k][k];
    for (i...) {                                       -->   meta_for i, j: a[i][j] -= a[i][k] * a[k][j];
      a[i][k] /= a[k][k];
      for (j...) a[i][j] -= a[i][k] * a[k][j];
    }

Iterations of a parallel loop do not know of each other, so that all may do their first part before one does its
second: where that is proved (`widen.py` sees to it), elements need no other look.  Scalars belong to one part; those
that a later part reads are computed there again, from what no part writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from comprehensive.loops.traverse import names_read_in
from comprehensive.metafork.ast import Declare, For, Stmt
from comprehensive.metafork.walk import arrays_assigned, assigned_scalars, elements, statements_in
from comprehensive.pragmas.cutting import Loops
from comprehensive.records import replace


def parted(loops: Loops) -> tuple[Loops, ...]:
    """Return the loops for each part: each loop inside of them, and the statements between two; the loops themselves
    where these are no parts."""
    body = loops.inner
    if not any(isinstance(s, For) for s in body) or all(isinstance(s, For | Declare) for s in body):
        return (loops,)
    written, assigned = arrays_assigned(body), assigned_scalars(body)
    parts: list[tuple[Stmt, ...]] = []
    known: list[Declare] = []
    for part in _runs(body):
        needed = _needed(known, part)
        again = [
            name for s in needed if s.initial is not None for name in (e.array for e in elements(s.initial))
        ]
        if any(s.initial is None or s.dims or s.name in assigned for s in needed) or written & set(again):
            return (loops,)
        if any(not isinstance(s, Declare) for s in part):
            parts.append((*needed, *part))
        known += [s for s in part if isinstance(s, Declare)]
    inside = {s.name for part in parts for s in statements_in(part) if isinstance(s, Declare)}
    local = {name for part in parts for name in assigned_scalars(part)} - inside
    return (loops,) if local else tuple(replace(loops, inner=part) for part in parts)


def _runs(body: Sequence[Stmt]) -> Iterator[tuple[Stmt, ...]]:
    """Yield loops alone, and the statements between two of them."""
    run: list[Stmt] = []
    for statement in body:
        if not isinstance(statement, For):
            run.append(statement)
            continue
        yield tuple(run)
        yield (statement,)
        run = []
    yield tuple(run)


def _needed(known: Sequence[Declare], part: Sequence[Stmt]) -> tuple[Declare, ...]:
    """Return the definitions that a part reads, and what these read, in their order."""
    wanted = set(names_read_in(part)) | assigned_scalars(part)
    needed: list[Declare] = []
    for statement in reversed(known):
        if statement.name in wanted:
            needed.insert(0, statement)
            wanted |= names_read_in((statement,))
    return tuple(needed)
