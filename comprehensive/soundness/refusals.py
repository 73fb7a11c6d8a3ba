"""Reasons for which a tile that is asked for is refused at some turn of host code, which is nothing wrong with it.

In: the kernels over tiles that stand for it, with their sizes and the scalars of their regions.  Out: a reason::

    for (d = 2; d <= n; d++) { a region whose tile needs d + 1 <= n }  -->  "d + 1 <= n does not hold where d = 3"

The launcher takes a leaf there where it may choose; where it is told to take this tile it has nothing to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from comprehensive.loops.access import names_read
from comprehensive.loops.interpreter import UndefinedBehaviour
from comprehensive.loops.ir import Nest, Role
from comprehensive.metafork.ast import Expr
from comprehensive.metafork.printer import print_expr
from comprehensive.model.values import wide_value
from comprehensive.plan.plan import TilePlan
from comprehensive.poly.moments import moments

TILE_REFUSED = "the register tile fits the device and the sizes"
"""The condition that a launcher cites where it cannot run the tile that it is told to take."""
MOST_TURNS = 64
MOST_CONDITIONS = 3


def refused_turn(
    tilings: Iterable[tuple[Nest, TilePlan, Mapping[str, int]]], arguments: Mapping[str, int]
) -> str:
    """Return which condition does not hold at some turn of a call; an empty text where none looks at host code.

    A kernel over tiles comes with the region that runs it, before, and its sizes.
    """
    open_conditions: dict[str, None] = {}
    for nest, tiling, sizes in tilings:
        of_host = {s.name for s in nest.with_role(Role.HOST)}
        looked_at = [c for c in tiling.conditions_of(sizes) if names_read(c) & of_host]
        for moment in islice(moments(nest, arguments), MOST_TURNS):
            if moment.guessed:
                continue
            for condition in looked_at:
                if not _holds(condition, tiling, moment.point):
                    return f"{print_expr(condition)} does not hold where {_named(condition, of_host, moment.point)}"
        open_conditions |= dict.fromkeys(map(print_expr, looked_at))
    if not open_conditions:
        return ""
    shown = list(open_conditions)[:MOST_CONDITIONS]
    return f"one of its conditions does not hold at a turn of host code, such as {', '.join(shown)}"


def _holds(condition: Expr, tiling: TilePlan, values: Mapping[str, int]) -> bool:
    try:
        return bool(wide_value(tiling.nest, condition, values))
    except UndefinedBehaviour:
        return False


def _named(condition: Expr, of_host: set[str], point: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {point[name]}" for name in sorted(names_read(condition) & of_host))
