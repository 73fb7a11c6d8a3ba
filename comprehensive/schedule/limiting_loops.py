"""The serial loops of the points of a tile whose bounds are limits of its kernel, of which costs count the turns.

::

    for (k < q) sum += a[y0][k] * b[k][y1]                           -->  q
    for (k < q) if (0 <= y + k - r) for (l < p) sum += ..            -->  q and p: each point does the second for itself
    for (k = max(0, y - r); k <= min(h - 1, y + r); k++) sum += ..   -->  2*r + 1, the most that a point does
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.loops.access import names_read
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Block, DoWhile, Expr, For, If, Stmt, While
from comprehensive.metafork.walk import bodies
from comprehensive.schedule.even_loops import with_even_loops
from comprehensive.schedule.operands import loops_beside, loops_of
from comprehensive.schedule.short_loops import is_short_nest


def limiting_loops(nest: Nest, tile: RegisterTile) -> tuple[For, ...]:
    """The serial loops whose bounds are limits of the kernel: those in each other, or one of those beside each other
    for each bound."""
    found: dict[Expr, For] = {}
    for loop in loops_beside(nest, tile):
        found.setdefault(loop.bound, loop)
    return tuple(found.values()) or _in_each_other(nest, tile)


def _in_each_other(nest: Nest, tile: RegisterTile) -> tuple[For, ...]:
    """The loops that all points go through together, then those in them that each point does for itself."""
    together = loops_of(nest, tile)
    if tile.steps is not None:
        return together
    even = with_even_loops(nest, tile, stores=True)
    every = max((_deepest(nest, each.body) for each in even.alternatives), key=len, default=())
    begin = tuple(loop.bound for loop in every[: len(together)])
    return every if begin == tuple(loop.bound for loop in together) else together


def _deepest(nest: Nest, body: Sequence[Stmt]) -> tuple[For, ...]:
    """The most loops in each other of which a launch knows the number of turns, outermost first."""
    found: tuple[For, ...] = ()
    for statement in body:
        match statement:
            case For() | If() | While() | DoWhile() | Block():
                inside = max((_deepest(nest, each) for each in bodies(statement)), key=len, default=())
            case _:
                continue
        if isinstance(statement, For) and _is_counted(nest, statement):
            inside = (statement, *inside) if inside or not is_short_nest(statement) else ()
        found = inside if len(inside) > len(found) else found
    return found


def _is_counted(nest: Nest, loop: For) -> bool:
    return (loop.start, loop.relation, loop.step) == (ZERO, "<", ONE) and names_read(loop.bound) <= {
        s.name for s in nest.scalars
    }
