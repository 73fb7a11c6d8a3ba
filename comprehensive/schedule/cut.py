"""A nest over the tiles that a recipe has fitted, as people read it and as threads are counted.

::

    0 <= y0 < m, 0 <= y1 < n: S(y0, y1)
        -->  grid i0 < ceil(m / (T0*U0)), i1 < ceil(n / (T1*U1));  threads t0 < T0, t1 < T1
               for r0 < U0, r1 < U1:  y0 = (i0*U0 + r0)*T0 + t0, y1 = (i1*U1 + r1)*T1 + t1
                 if (y0 < m && y1 < n) S(y0, y1)

Steps of a loop that only some points do (`equalize.py`) have their condition.
The sizes are scalars that the tool adds.  Each point is visited once; with several sweeps, once in each of them, and
before the last one also in the tiles around it, as far as they need it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.ir import (
    BlockStmt,
    Coordinate,
    Loop,
    Nest,
    RegisterTile,
    Role,
    Scalar,
    Sweeps,
    Threads,
)
from comprehensive.loops.traverse import all_names, declared_names
from comprehensive.metafork.ast import Binary, Declare, Expr, For, If, IntLiteral, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.terms import times
from comprehensive.records import replace
from comprehensive.schedule.operands import loops_of


class _Along(Struct, frozen=True):
    """The names of the block, the thread, the value of a thread and the turn of a block along a coordinate."""

    coordinate: Coordinate
    block: str
    thread: str
    value: str
    turn: str


def cut(nest: Nest, tile: RegisterTile) -> Nest:
    """The nest over tiles; it caches nothing."""
    most = tile.sweeps.sizes
    declared = frozenset[str]().union(*map(declared_names, tile.bodies))
    own = {tile.depth, tile.stages, tile.blocks, tile.share, *tile.sizes, *most}
    name = Namer(all_names(nest) | tile.limits.keys() | declared | own)
    along = [
        _Along(coordinate, name(f"i{number}"), name(f"t{number}"), name(f"r{number}"), name(f"g{number}"))
        for number, coordinate in enumerate(tile.coordinates)
    ]
    threads = tuple(Loop(each.thread, Name(each.coordinate.threads)) for each in along)
    sweep = name("m")
    points = _points(tile, along) if tile.alternatives else _points_of_a_sweep(tile.sweeps, along, sweep)
    body: tuple[BlockStmt, ...] = (Threads(threads, points, nest.bands[0].span),)
    for constant in most:
        body = (For(ScalarType.INT, sweep, ZERO, "<", Name(constant), ONE, body),)
    return replace(
        nest,
        scalars=(
            *nest.scalars,
            *(Scalar(constant, ScalarType.INT, Role.TILE) for constant in (*_constants(nest, tile), *most)),
        ),
        grid=(
            *(Loop(batch.name, batch.limit) for batch in tile.batch),
            *(Loop(each.block, each.coordinate.tiles(each.coordinate.limit)) for each in along),
        ),
        body=body,
        cached=(),
    )


def _constants(nest: Nest, tile: RegisterTile) -> tuple[str, ...]:
    """The names of the sizes that the kernel is a template over, but for how many sweeps it does."""
    used = {name for name in (*(c.turns for c in tile.coordinates), tile.lanes) if name is not None}
    if loops_of(nest, tile):
        used |= {tile.depth, tile.stages}
    else:
        used = used.union(*map(names_read, tile.conditions))
    others = dict.fromkeys((tile.depth, tile.stages, tile.lanes))
    return (*tile.sizes, *(name for name in others if name is not None and name in used))


def _points(tile: RegisterTile, along: Sequence[_Along]) -> tuple[Stmt, ...]:
    """All points of a thread, those that are inside of the limits."""
    body: tuple[Stmt, ...] = ()
    for alternative in reversed(tile.alternatives):
        body = _where(alternative.condition, _with_own_steps(tile, alternative.body), body)
    if tile.predicate is not None and not tile.masked:
        body = (If(tile.predicate, body),)
    for each in reversed(along):
        c = each.coordinate
        number: Expr = Name(each.block)
        if c.turns is not None:
            number = Binary("+", Binary("*", number, Name(c.turns)), Name(each.turn))
        row = Binary("+", Binary("*", number, Name(c.each)), Name(each.value))
        place = Binary("+", Binary("*", row, Name(c.threads)), Name(each.thread))
        if c.shift:
            place = Binary("-", place, IntLiteral(c.shift))
        body = _loop(each, place, c.inside(Name(c.name), c.limit), body)
        if c.turns is not None:
            body = (For(ScalarType.INT, each.turn, ZERO, "<", Name(c.turns), ONE, body),)
    return body


def _with_own_steps(tile: RegisterTile, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body of a point; where the steps of its loop differ between points, each does its own."""
    steps = tile.steps
    if steps is None:
        return body
    return tuple(
        replace(s, body=(If(steps.condition(Name(s.iterator)), s.body),)) if isinstance(s, For) else s
        for s in body
    )


def _points_of_a_sweep(sweeps: Sweeps, along: Sequence[_Along], sweep: str) -> tuple[Stmt, ...]:
    """The points of a thread whose neighbours the sweep before has computed."""
    body: tuple[Stmt, ...] = ()
    for pair in reversed(sweeps.pairs):
        both = If(Binary("%", Name(sweep), IntLiteral(2)), pair.second.body, pair.first.body)
        body = _where(pair.condition, (both,), body)
    for each, away in reversed(list(zip(along, sweeps.halo, strict=True))):
        c = each.coordinate
        row = Binary("+", Binary("*", Name(each.value), Name(c.threads)), Name(each.thread))
        less = times(IntLiteral(away), Name(sweep))
        computed = Binary(
            "&&", Binary("<=", less, row), Binary("<", row, Binary("-", c.extent, less) if away else c.extent)
        )
        inside = Binary("&&", Binary("<=", ZERO, Name(c.name)), Binary("<", Name(c.name), c.limit))
        place = Binary("+", c.origin(Name(each.block)), row)
        body = _loop(each, place, Binary("&&", computed, inside), body)
    return body


def _where(condition: Expr | None, then: tuple[Stmt, ...], otherwise: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return then if condition is None else (If(condition, then, otherwise),)


def _loop(along: _Along, place: Expr, inside: Expr, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The loop over the values of a thread along a coordinate."""
    c = along.coordinate
    declared = Declare(ScalarType.INT, c.name, initial=place)
    return (For(ScalarType.INT, along.value, ZERO, "<", Name(c.each), ONE, (declared, If(inside, body))),)
