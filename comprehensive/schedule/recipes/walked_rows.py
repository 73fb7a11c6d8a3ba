"""Points that walk along rows of their own, in an order that nothing may change: sums so far, filters, checksums.

::

    for (t < n) { z = a * z + x[c][t];  y[c][t] = z; }    a block: T0 rows, T0*H threads that copy, of which T0 walk;
                                                          S strips of D steps of each row that is read

Threads of a warp that walk along rows in global memory access as many lines, and of each line one element at a time.
Here strips of the rows of a block are copied to shared memory by threads that are neighbours along a row, and each
point walks along its own; what it stores goes back in the same way.

Composed of: left early, even loops, split, bind, stage(SHARED, S strips in flight), walk ahead (`walks.py`,
`strip_layout.py`, `walk_kernel.py`).
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Break
from comprehensive.metafork.walk import leaves_loop
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.batch import with_inner
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.distribute import distribution_of, row_loops
from comprehensive.schedule.even_loops import with_even_loops
from comprehensive.schedule.instances import Instance, for_wide_elements, in_pieces_with_room, table
from comprehensive.schedule.left_early import with_loops_to_the_end
from comprehensive.schedule.phases import Ordered
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.recipes.product import Product
from comprehensive.schedule.recipes.resident_rows import ResidentLoops
from comprehensive.schedule.recipes.rows import Rows
from comprehensive.schedule.recipes.window_product import WindowProduct
from comprehensive.schedule.walk_kernel import WalkKernel, walks_of

SHARING = (Product(), WindowProduct(), Rows())
"""Recipes for points that share what they read, or add up alone."""


class WalkedRows(Struct, frozen=True):
    name: str = "walked rows"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        if len(tile.alternatives) > 1:
            return None
        even = with_inner(with_even_loops(nest, with_loops_to_the_end(nest, tile), stores=True), 1)
        if not walks_of(nest, even, even.alternatives[0].body):
            return None
        if any(isinstance(recipe.fit(nest, tile), RegisterTile) for recipe in SHARING) or _stays(nest, tile):
            return None
        loops = [loop for body in tile.bodies for loop in row_loops(body)]
        early = [loop for loop in loops if leaves_loop(loop.body, Break)]
        if early:
            return NotApplicable(
                f"the loop over '{early[0].shown}' may end early, and strips are copied beyond that"
            )
        return replace(even, lanes=even.share)

    def lower(self, context: TileContext) -> TileKernel:
        return WalkKernel(context).kernel()

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        if tile.depth not in kernel.constants:
            return for_wide_elements(kernel, table("walked_short_rows"))
        return for_wide_elements(kernel, in_pieces_with_room(kernel, tile, table("walked_rows")))


def _stays(nest: Nest, tile: RegisterTile) -> bool:
    """Whether rows stay in shared memory for loops without an order, of which all threads do the steps."""
    resident = ResidentLoops().fit(nest, tile)
    if not isinstance(resident, RegisterTile):
        return False
    body = resident.alternatives[0].body
    distribution = distribution_of(nest, resident, body)
    assert not isinstance(distribution, str)
    in_order = [s for p in distribution.phases if isinstance(p, Ordered) for s in row_loops(p.body)]
    return len(in_order) < len(row_loops(body))
