"""Left early: a loop that a point may leave becomes one that it goes through to the end, doing nothing any more.

::

    for (j < n) { if (s[y][j] == 0) break;  hash = hash * 31 + s[y][j]; }
        -->  int going = 1;
             for (j < n) if (going) { if (s[y][j] == 0) going = 0;  if (going) hash = hash * 31 + s[y][j]; }

All points then go through the loop together.  That is right for loops that declare their iterators, which nothing reads
behind them; a jump out of a loop inside of it, or out of a ``while`` loop, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.loops.traverse import all_names, declared_names
from comprehensive.metafork.ast import Assign, Block, Break, Declare, For, If, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import replace_statements, with_bodies
from comprehensive.metafork.walk import leaves_loop
from comprehensive.records import replace
from comprehensive.schedule.context import ONE, ZERO, is_same_for_all_points


def with_loops_to_the_end(nest: Nest, tile: RegisterTile) -> RegisterTile:
    """The tile with every loop to the end whose header is the same for all points."""
    taken = all_names(nest).union(*map(declared_names, tile.bodies))
    name = Namer(taken | {c.name for c in (*tile.coordinates, *tile.batch)})

    def to_the_end(statement: Stmt) -> Iterator[Stmt]:
        match statement:
            case For() if is_same_for_all_points(nest, statement) and leaves_loop(statement.body, Break):
                going = name("going")
                yield Declare(ScalarType.INT, going, initial=ONE)
                yield replace(statement, body=(If(Name(going), _without_jumps(statement.body, going)),))
            case _:
                yield statement

    return replace(
        tile,
        alternatives=tuple(
            replace(a, body=replace_statements(a.body, to_the_end)) for a in tile.alternatives
        ),
    )


def _without_jumps(body: tuple[Stmt, ...], going: str) -> tuple[Stmt, ...]:
    """Return the statements of a turn; what follows a jump, and what may follow one, is done where none was made."""
    for place, statement in enumerate(body):
        match statement:
            case Break():
                return (*body[:place], Assign(Name(going), "=", ZERO, statement.span))
            case If() | Block() if leaves_loop((statement,), Break):
                inside = with_bodies(statement, lambda inner: _without_jumps(inner, going))
                rest = _without_jumps(body[place + 1 :], going)
                return (*body[:place], inside, *((If(Name(going), rest),) if rest else ()))
            case _:
                pass
    return body
