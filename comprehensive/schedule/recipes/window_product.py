"""Serial loops in each other whose operands are shared: convolutions, and products with several loops or windows.

::

    for (c) for (y < 3) for (x < 3) sum += in[c][y1 + y][y2 + x] * k[y0][c][y][x]
        in: boxes of D x (T1*U1 + 2) x (T2*U2 + 2);  k: boxes of T0*U0 x D x 3 x 3
    for (y < h) for (x < w) sum += in[y0 + y][y1 + x] * k[y][x]
        in: boxes of (T0*U0 + D - 1) x (T1*U1 + D - 1);  k: boxes of D x D, where w <= D; else a row of each at a time

Composed of: split of the outermost loop that has only short ones in it, and of the loop over a window's rows around it,
bind, unroll and jam, stage(SHARED, boxes of S pieces of D steps in flight), stage(REGISTER, rows of a box that several
steps share), accumulate (`box_loop.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import AXES, Nest, RegisterTile
from comprehensive.metafork.ast import Binary, Conditional, Expr, IntLiteral, Name
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.batch import with_shared
from comprehensive.schedule.box_kernel import box_kernel
from comprehensive.schedule.box_nest import LoopNest, ReferenceGroup
from comprehensive.schedule.context import ZERO, TileContext
from comprehensive.schedule.even_loops import with_even_loops
from comprehensive.schedule.instances import (
    Instance,
    for_wide_elements,
    in_pieces_with_room,
    meeting_constraints,
    table,
)
from comprehensive.schedule.operands import (
    MOST_COORDINATES,
    loop_of,
    loops_of,
)
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.recipes.rows import Rows
from comprehensive.schedule.reduction import reduced
from comprehensive.schedule.reference_groups import NoBoxError, loop_nests

SHORTEST_PIECE = 8
"""The least depth of pieces that have several rows, for windows of any size."""


class WindowProduct(Struct, frozen=True):
    name: str = "window product"
    is_jammed: bool = False
    """Whether several turns of a point read the same elements in a step, so that boxes of one coordinate pay."""

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        even = with_even_loops(nest, tile)
        if loop_of(even) is None or not loops_of(nest, even):
            return None
        if isinstance(reduced(nest, tile, MOST_COORDINATES), RegisterTile):
            return None  # operands lie along one coordinate each: products and rows do these
        reasons: list[str] = []
        for number in range(min(len(even.coordinates), len(AXES)), 0, -1):
            if number == 1 and even == tile and _is_for_rows(nest, tile):
                return None
            inner = with_shared(even, number)
            try:
                nests = loop_nests(nest, inner)
            except NoBoxError as error:
                reasons.append(str(error))
                continue
            names = [c.name for c in inner.coordinates]
            if even == tile and not any(loops.uncached or loops.bounding for loops in nests):
                groups = (group for loops in nests for group in loops.groups)
                fits = number == 1 or any(_is_shared(group, names[0]) for group in groups)
            else:
                fits = self.is_jammed or any(_is_worthwhile(loops, names) for loops in nests)
                reasons += [reason for loops in nests for reason in loops.uncached.values()]
                reasons.append("no box that differs between points serves several")
            if fits:
                demanded = (
                    each for loops in nests for each in (*loops.conditions, *_wide_enough(inner, loops))
                )
                return replace(inner, conditions=tuple(dict.fromkeys((*inner.conditions, *demanded))))
        return NotApplicable(reasons[0])

    def lower(self, context: TileContext) -> TileKernel:
        return box_kernel(context)

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        name = f"window_product_{len(tile.coordinates)}"
        found = meeting_constraints(kernel, table(f"{name}_in_rows" if kernel.in_rows else name))
        found = in_pieces_with_room(kernel, tile, found or table(f"{name}_of_rows"))
        return for_wide_elements(kernel, found)


def _wide_enough(tile: RegisterTile, loops: LoopNest) -> tuple[Expr, ...]:
    """Return the condition that windows need pieces of so many rows: narrow ones would copy predicated turns alone."""
    if loops.rows is None:
        return ()
    extent = loops.path[-1].bound
    turns = Conditional(Binary("<", ZERO, extent), extent, ZERO)
    return (Binary("<=", Binary("-", Name(tile.depth), IntLiteral(SHORTEST_PIECE)), turns),)


def _is_for_rows(nest: Nest, tile: RegisterTile) -> bool:
    """Whether the recipe for rows takes the points along their last coordinate."""
    return isinstance(Rows().fit(nest, tile), RegisterTile)


def _is_shared(group: ReferenceGroup, coordinate: str) -> bool:
    """Whether neighbours along a coordinate read the same elements."""
    return coordinate not in group.variables or any(
        coordinate in axis.factors and (len(axis.factors) > 1 or axis.span > 0) for axis in group.axes
    )


def _is_worthwhile(loops: LoopNest, coordinates: Sequence[str]) -> bool:
    """Whether boxes save reads where other reads stay: one that differs between points and serves several of them."""
    return any(
        not group.variables.isdisjoint(coordinates) and _is_shared(group, name)
        for group in loops.groups
        for name in coordinates
    )
