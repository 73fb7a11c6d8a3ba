"""Several loops over a row, with values carried from one to the next: softmax, layer norm, the logarithm of a sum.

::

    for (j) most = max(most, a[y][j]);  for (j) { y[y][j] = expf(a[y][j] - most); sum += .. };  for (j) y[y][j] /= sum
        a block: T0 rows, D threads a row; rows of up to S elements stay in shared memory

    for (k) sum += a[y][k] * x[k]
        the same: D threads bring a row in, one of them adds it up, where pieces of many rows would be too few threads

Composed of: split, bind, distribute (what has no order to all threads of a row, what has one to one of them), stage
(SHARED, whole rows, asynchronous), expand (values that the ordered part needs), share places (`distribute.py`,
`row_layout.py`, `row_phases.py`).  Sums keep their order but where the caller wants no such thing: then all threads
add up, and a tree puts their sums together.  Longer rows are left to others.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Binary, Name
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.accumulate import accumulated
from comprehensive.schedule.batch import with_inner
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.distribute import distribution_of, row_loops
from comprehensive.schedule.even_loops import with_even_loops
from comprehensive.schedule.instances import Instance, for_wide_elements, table, words_of_step
from comprehensive.schedule.operands import loop_of, loops_of, reduction_obstacle
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.recipes.rows import Rows
from comprehensive.schedule.row_layout import ResidentRows
from comprehensive.schedule.row_numbers import with_row_numbers_inside
from comprehensive.schedule.row_phases import RowPhases
from comprehensive.schedule.walk_ahead import MOST_AHEAD


class ResidentLoops(Struct, frozen=True):
    in_another_order: bool = False

    @property
    def name(self) -> str:
        return "split resident rows" if self.in_another_order else "resident rows"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        even = with_even_loops(nest, tile, stores=True)
        if loop_of(tile) is None or not loops_of(nest, even):
            return None
        body, *others = (alternative.body for alternative in tile.alternatives)
        if others:
            return NotApplicable("there is a serial loop under a condition")
        if is_reduction(nest, tile) and len(tile.coordinates) > 1:
            return None  # points share operands, which go through shared memory in pieces
        if even != tile and isinstance(Rows().fit(nest, tile), RegisterTile):
            return None  # blocks do the steps that some of their points do, and no others
        tile = replace(accumulated(nest, with_inner(even, 1)), reassociated=self.in_another_order)
        body = tile.alternatives[0].body
        distribution = distribution_of(nest, tile, body)
        if isinstance(distribution, str):
            return NotApplicable(distribution)
        if self.in_another_order and not distribution.rounds:
            return None
        resident = ResidentRows(nest, tile, distribution)
        if not resident.rows or (
            len(row_loops(body)) == 1 and all(row.of_block for row in resident.rows.values())
        ):
            return NotApplicable("no row is used more than once")
        fits = (Binary("<=", row.count, Name(tile.stages)) for row in resident.rows.values())
        conditions = tuple(dict.fromkeys((*tile.conditions, *fits)))
        return replace(tile, lanes=tile.depth, conditions=conditions)

    def lower(self, context: TileContext) -> TileKernel:
        tile = context.tile
        distribution = distribution_of(context.nest, tile, tile.alternatives[0].body)
        assert not isinstance(distribution, str)
        return RowPhases(context, ResidentRows(context.nest, tile, distribution)).kernel()

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        """Return the instances of the table, whose longest row is in words, shortened for several or wide rows."""
        place = kernel.constants.index(tile.stages)

        def longest(sizes: Sequence[int]) -> int:
            return int(sizes[place] / words_of_step(kernel, tile, sizes)) // MOST_AHEAD * MOST_AHEAD

        return tuple(
            Instance((*i.sizes[:place], longest(i.sizes), *i.sizes[place + 1 :]))
            for i in for_wide_elements(kernel, table("resident_rows"))
        )


def is_reduction(nest: Nest, tile: RegisterTile) -> bool:
    """Whether points have one loop, whose operands go through shared memory in pieces."""
    if len(row_loops(tile.alternatives[0].body)) != 1:
        return False
    inside = with_row_numbers_inside(nest, tile)
    loop = loop_of(inside)
    return loop is not None and reduction_obstacle(nest, inside, inside.alternatives[0].body, (loop,)) is None
