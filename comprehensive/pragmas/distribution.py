"""Distribution: a serial loop, parted into loops that are parallel or have parallel loops in them (Allen and Kennedy).

In: the uncut loop of a region that is not parallel as it stands.  Out: the regions of its parts, in an order in which
every dependence goes forward::

    for (i...) {                                       meta_for i: { t[i] = 0; for (j...) t[i] += a[i][j] * x[j]; }
      t[i] = 0;                                  -->   meta_for j: for (i...) y[j] += a[i][j] * t[i];
      for (j...) t[i] += a[i][j] * x[j];
      for (j...) y[j] += a[i][j] * t[i];
    }

A statement has to stay before another one where it touches the same element in the same or an earlier iteration, or
computes a scalar of that one.  Statements that have to stay before each other are one component; components that are
parallel together, too, are put together again.  Loops in the loop are parted as well where that is needed.  A loop
whose work is all in regions inside of it (a time loop, for example) is not tried (`read.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from comprehensive.diagnostics import Span
from comprehensive.loops.access import accesses
from comprehensive.loops.normalize.canonical import obstacle
from comprehensive.loops.scopes import free_names
from comprehensive.loops.traverse import declared_names
from comprehensive.metafork.ast import Declare, For, Function, MetaSchedule, Program, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.walk import assigned_scalars, elements_in, leaves_loop, statements_in
from comprehensive.poly.conflicts import Order, Question, may_meet
from comprehensive.poly.domains import Place
from comprehensive.pragmas.cutting import Loops, single
from comprehensive.pragmas.dimension import MAXIMUM_LOOPS, dimension, serial_inside
from comprehensive.pragmas.widen import Widened, built, scalar_types, widest_grid
from comprehensive.records import replace

Component: TypeAlias = tuple[int, ...]
"""The places of statements in a body."""
Edges: TypeAlias = frozenset[tuple[int, int]]
"""Pairs of statements of which the first has to stay before the second."""


def distributed(
    program: Program, function: Function, region: MetaSchedule, loops: Loops, serial: frozenset[int]
) -> tuple[Widened, ...] | None:
    """Return the regions of the parts of a loop; None where it has no such parts.

    ``serial`` are the offsets of loops that are said to be serial.
    """
    inside = {s.name for s in statements_in(loops.inner) if isinstance(s, Declare)}
    if len(loops.dimensions) != 1 or assigned_scalars(loops.inner) - inside:
        return None

    def edges(around: Loops) -> Edges | None:
        return _edges(program, function, region, around)

    def grid(body: tuple[Stmt, ...]) -> Widened | None:
        whole = replace(loops, dimensions=(), inner=serial_inside(loops.dimensions, body))
        return widest_grid(program, function, region, whole, serial)

    for each in (loops, replace(loops, inner=_parted_inside(loops, edges))):
        found = edges(each)
        parts = None if found is None else _grids(each.inner, found, grid)
        if parts is not None and len(parts) > 1:
            return parts
    return None


def _grids(
    body: tuple[Stmt, ...], edges: Edges, grid: Callable[[tuple[Stmt, ...]], Widened | None]
) -> tuple[Widened, ...] | None:
    """Return the grids of the parts of a body; None where a part has none."""
    parts: list[tuple[Component, Widened]] = []
    for component in _components(len(body), edges):
        alone = grid(tuple(body[k] for k in component))
        if alone is None:
            return None
        for place in reversed(range(len(parts))):
            before, other = parts[place]
            together = tuple(sorted((*before, *component)))
            both = grid(tuple(body[k] for k in together))
            most = max(len(each.loops.dimensions) for each in (alone, other))
            if both is not None and len(both.loops.dimensions) >= most:
                parts[place] = (together, both)
                break
            if any((one, two) in edges for one in before for two in component):
                parts.append((component, alone))
                break
        else:
            parts.append((component, alone))
    return tuple(found for _, found in parts)


def _parted_inside(loops: Loops, edges: Callable[[Loops], Edges | None]) -> tuple[Stmt, ...]:
    """Return the body of the loops with each loop in it parted into one for each component of its own body."""
    result: list[Stmt] = []
    local = declared_names(loops.inner) | assigned_scalars(loops.inner)
    types = scalar_types(loops)
    name = Namer(loops.text.taken | {each.counted.iterator for each in loops.dimensions})
    for statement in loops.inner:
        match statement:
            case For(type=kind, body=body) if (
                kind is not None
                and len(loops.dimensions) < MAXIMUM_LOOPS
                and obstacle(statement, types) is None
                and not free_names(body) & (local - {statement.iterator})
            ):
                around = (*loops.dimensions, dimension(statement, types, name))
                within = replace(loops, dimensions=around, inner=body)
                within = replace(within, inner=_parted_inside(within, edges))
                found = edges(within)
                parts = [(*range(len(body)),)] if found is None else _components(len(within.inner), found)
                each = within.inner if found is not None else body
                result += (replace(statement, body=tuple(each[k] for k in part)) for part in parts)
            case _:
                result.append(statement)
    return tuple(result)


# --- what has to stay before what -------------------------------------------------------------------------


def _edges(program: Program, function: Function, region: MetaSchedule, loops: Loops) -> Edges | None:
    """Return the dependences between the statements in loops, at equal iterations of all but the innermost one of
    these; None where it is not known which of them does what."""
    made = None if leaves_loop(loops.inner) else single(loops)
    nest = None if made is None else built(program, function, replace(region, body=made), ())
    if nest is None or len(nest.grid) != len(loops.dimensions):
        return None
    local = declared_names(loops.inner)
    spans = [{e.span for e in elements_in((s,)) if e.array not in local} for s in loops.inner]
    found = accesses(nest)
    if {each.span for each in found} != set[Span]().union(*spans):
        return None
    if sum(len(own) for own in spans) != len({each.span for each in found}):
        return None  # a place of the text in two statements
    ordinals = [frozenset(each.ordinal for each in found if each.span in own) for own in spans]
    last = len(nest.grid) - 1
    agreeing = frozenset(loop.iterator for loop in nest.grid[:last])
    behind, not_behind = (
        Question(frozenset(), (Place.GRID, last), None, True, agreeing, order)
        for order in (Order.BEHIND, Order.NOT_BEHIND)
    )
    edges: set[tuple[int, int]] = set(_ties(loops.inner))
    for one, two in combinations(range(len(spans)), 2):
        if may_meet(nest, not_behind, ordinals[one], ordinals[two]):
            edges.add((one, two))
        if may_meet(nest, behind, ordinals[one], ordinals[two]):
            edges.add((two, one))
    return frozenset(edges)


def _ties(body: Sequence[Stmt]) -> Iterator[tuple[int, int]]:
    """Yield pairs of statements with a scalar or local array of the iteration in common, in both orders."""
    local = {s.name for s in body if isinstance(s, Declare)}
    used = [(free_names((s,)) | declared_names((s,))) & local for s in body]
    for one, two in combinations(range(len(body)), 2):
        if used[one] & used[two]:
            yield from ((one, two), (two, one))


def _components(count: int, edges: Edges) -> list[Component]:
    """Return the strongly connected components of so many statements, each behind all that have to stay before it;
    otherwise they keep their order."""
    reached: set[tuple[int, int]] = {(k, k) for k in range(count)} | edges
    for middle in range(count):
        into = [one for one in range(count) if (one, middle) in reached]
        out = [two for two in range(count) if (middle, two) in reached]
        reached |= {(one, two) for one in into for two in out}
    left: list[int] = [*range(count)]
    found: list[Component] = []
    while left:
        first = next(k for k in left if all((k, o) in reached for o in left if (o, k) in reached))
        component = tuple(k for k in left if (k, first) in reached and (first, k) in reached)
        found.append(component)
        left = [k for k in left if k not in component]
    return found
