"""Thread granularity: the serial loop of a thread becomes part of the grid.

In: a variant.  Out: the variant in which every thread does one iteration of each independent serial loop::

    grid j < dim; threads u < B; for w < s: S(j, w)      -->      grid j < dim*s; threads u < B; S(j / s, j % s)

Where all indices are functions of ``s*j + w``, the division is not needed and the body reads as if it had been
written for s = 1 (figure 7: ``i*s*B + k*B + j  -->  i*B + j``).  Where only some are, the others divide; arrays that
have no footprint then are no longer cached.
Copies of a statement count as a loop (figure 2).
The grid is *scaled*, never recomputed from the size of the data, so that exactly the same points are visited
also where ``s*B`` does not divide the range.  Source: comprehensive, section 5, decisions (3a) and (3b).
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import BlockStmt, Loop, Nest, Threads, Variant
from comprehensive.loops.traverse import all_names, declared_names, map_bands, rename
from comprehensive.loops.types import environment_of, exact_product
from comprehensive.metafork.ast import Binary, Declare, Expr, For, If, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.walk import bodies, own_expressions
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.poly.model import Conflict, Parallel
from comprehensive.records import replace
from comprehensive.strategies.caching import with_footprints
from comprehensive.strategies.collapse import Digits, collapse
from comprehensive.strategies.hoist import Hoistable, Stays, hoistable_loops
from comprehensive.strategies.reroll import rerollings

MAX_STEPS = 16
"""Loops moved at most: a body has no more, since every move takes one away."""


class Granularity(Struct, frozen=True):
    """All independent serial loops of the threads move to the grid at once, so that a second time finds none."""

    name: str = "granularity"
    improves: tuple[str, ...] = (
        "registers_per_thread",
        "shared_words_per_block",
        "occupancy_by_registers",
        "occupancy_by_shared_memory",
        "bank_efficiency",
        "latency_hiding_by_registers",
        "latency_hiding_by_shared_memory",
    )
    on_ir: bool = False
    decision: tuple[str, str] = ("3b", "3a")

    def stands(self, fragment: Variant, taken: bool) -> bool:
        return taken

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        nest, notes = fragment.nest, list[str]()
        for _ in range(MAX_STEPS):
            step = _step(nest)
            if isinstance(step, NotApplicable):
                if not notes:
                    return step
                break
            nest, note = step
            notes.append(note)
        return Applied(replace(fragment, nest=nest), "; ".join(notes))


def _step(nest: Nest) -> tuple[Nest, str] | NotApplicable:
    """One loop moved, the outermost that may; a run of copies is rolled up only where no loop is left."""
    reasons: list[str] = []
    for found in hoistable_loops(nest):
        moved = found if isinstance(found, Stays) else _move_if_independent(nest, found)
        if not isinstance(moved, Stays):
            return moved
        reasons.append(moved.reason)
    for rolled in rerollings(nest):
        for found in hoistable_loops(rolled.nest):
            if isinstance(found, Stays) or found.iterator != rolled.iterator:
                continue
            moved = _move_if_independent(rolled.nest, found)
            if not isinstance(moved, Stays):
                return moved[0], f"{rolled.copies} copies rolled into a loop; {moved[1]}"
            reasons.append(moved.reason)
    return NotApplicable("; ".join(reasons) or "a thread has no serial loop and no repeated statements")


def _move_if_independent(nest: Nest, found: Hoistable) -> tuple[Nest, str] | Stays:
    # isl is slow to import and only needed once a loop has been found.
    from comprehensive.poly.legality import serial_is_parallel

    if found.shared:
        return Stays(f"several loops over '{found.iterator}' share the array '{found.shared[0]}'")
    for band in sorted(set(found.bands)):
        legality = serial_is_parallel(nest, band, found.iterator)
        match legality:
            case Parallel():
                pass
            case Conflict(witness=witness):
                return Stays(
                    f"iterations of the loop over '{found.iterator}' depend on each other in '{witness.array}'"
                )
            case _:
                return Stays(
                    f"the loop over '{found.iterator}' is not known to be parallel: {legality.reason}"
                )
    return _move(nest, found)


def _move(nest: Nest, found: Hoistable) -> tuple[Nest, str]:
    """The grid scaled by the extent of the loop: along a loop whose digit collapses, else along the innermost."""
    stripped = map_bands(nest, lambda number, _: found.bodies[number])
    low = found.iterator
    for position in reversed(range(len(nest.grid))):
        high = nest.grid[position].iterator
        moved = _collapsed(stripped, position, Digits(high, low, found.extent, joined=high))
        if moved is not None:
            return moved, f"the loop over '{low}' joins the grid loop over '{nest.grid[position].shown}'"
    if low in declared_names(stripped.body).union(loop.iterator for loop in stripped.grid):
        new = fresh(low, all_names(stripped))
        stripped = map_bands(stripped, lambda _, body: rename(body, {low: new}))
        low = new
    for position in reversed(range(len(nest.grid))):
        digits = _with_a_name(stripped, position, low, found.extent)
        moved = _collapsed(stripped, position, digits)
        if moved is not None:
            return _divided(moved, digits, found)
    position = len(nest.grid) - 1
    digits = _with_a_name(stripped, position, low, found.extent)
    return _divided(_scaled(stripped, position, digits.joined, found.extent), digits, found)


def _divided(moved: Nest, digits: Digits, found: Hoistable) -> tuple[Nest, str]:
    """Define ``high, low := joined / radix, joined % radix`` at the block's start, if they are still read."""
    values, used = ((digits.high, "/"), (digits.low, "%")), all_names(moved)
    definitions = tuple(
        Declare(ScalarType.INT, name, (), Binary(operator, Name(digits.joined), digits.radix), const=True)
        for name, operator in values
        if name in used
    )
    divided = replace(moved, body=(*definitions, *moved.body))
    kept = with_footprints(divided)
    joined = next(loop for loop in moved.grid if loop.iterator == digits.joined)
    grid = f"'{digits.high}' as '{digits.joined}'" if joined.cut is None else f"'{joined.shown}'"
    note = f"the loop over '{found.iterator}' joins the grid loop over {grid}"
    lost = [name for name in divided.cached if name not in kept.cached]
    return kept, f"{note}; no longer cached: {', '.join(lost)}" if lost else note


def _with_a_name(nest: Nest, position: int, low: str, radix: Expr) -> Digits:
    high = nest.grid[position].iterator
    return Digits(high, low, radix, joined=fresh(f"{high}_{low}", all_names(nest)))


def _collapsed(stripped: Nest, position: int, digits: Digits) -> Nest | None:
    sunk = _sink(stripped, digits.high)
    if sunk is None:
        return None
    bodies: list[tuple[Stmt, ...]] = []
    for number, band in enumerate(sunk.bands):
        body = collapse(sunk, number, band.body, digits)
        if body is None:
            return None
        bodies.append(body)
    return _scaled(map_bands(sunk, lambda number, _: bodies[number]), position, digits.joined, digits.radix)


def _scaled(nest: Nest, position: int, iterator: str, factor: Expr) -> Nest:
    loop = nest.grid[position]
    extent = exact_product(loop.extent, factor, environment_of(nest))
    scaled = Loop(iterator, extent, loop.span, loop.cut)
    return replace(nest, grid=(*nest.grid[:position], scaled, *nest.grid[position + 1 :]))


def _sink(nest: Nest, name: str) -> Nest | None:
    """The nest whose block statements do not read ``name``: definitions that do are repeated in the bands.

    None where a loop or a condition of the block reads it.
    """
    body = _sunk(nest.body, (), frozenset((name,)))
    return None if body is None else replace(nest, body=body)


def _sunk(
    body: tuple[BlockStmt, ...], sinking: tuple[Declare, ...], names: frozenset[str]
) -> tuple[BlockStmt, ...] | None:
    result: list[BlockStmt] = []
    for statement in body:
        match statement:
            case Threads():
                result.append(replace(statement, body=(*sinking, *statement.body)))
            case Declare():
                if any(names_read(e) & names for e in own_expressions(statement)):
                    sinking = (*sinking, replace(statement, const=False))
                    names |= {statement.name}
                else:
                    result.append(statement)
            case For() | If():
                inner = [_sunk(within, sinking, names) for within in bodies(statement)]
                found = [within for within in inner if within is not None]
                if len(found) < len(inner) or any(names_read(e) & names for e in own_expressions(statement)):
                    return None
                left = iter(found)
                result.append(with_bodies(statement, lambda _, left=left: next(left)))
            case _:
                assert_never(statement)
    return tuple(result)
