"""A serial loop that several threads share, where its sums may be added up in another order (`--reassociate`).

::

    sum = 0;  for (k < n) sum += a[y][k] * x[k];
        -->   thread l of D:  part = 0;  for (k of thread l) part += a[y][k] * x[k];
              sum = 0;  sum += part of thread 0 + part of thread 1 + ..   in pairs, a tree

No law of floating-point numbers: results differ in their last bits from those of the source, by at most what the order
of a sum may change, about ``n * 2^-24`` of the sum of the absolute values in single precision (Higham, Accuracy and
Stability of Numerical Algorithms, section 4.2).  Hence only where it is asked for.  On integers it is exact.  The
order is fixed: the same input gives the same bits.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import VECTOR, Kernel
from comprehensive.kernel_ir.terms import product
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import IntLiteral, Name
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.instances import Instance, table
from comprehensive.schedule.operands import loop_of, reduction_obstacle
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.split_reduction import SplitReduction, sums_of


class SplitRows(Struct, frozen=True):
    name: str = "split rows"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        loop = loop_of(tile)
        if loop is None or len(tile.coordinates) > 1:
            return None  # there are enough points: more than one coordinate
        if (obstacle := reduction_obstacle(nest, tile, tile.alternatives[0].body, (loop,))) is not None:
            return NotApplicable(obstacle)
        if isinstance(found := sums_of(nest, tile, loop), str):
            return NotApplicable(found)
        return replace(tile, lanes=tile.depth, reassociated=True)

    def lower(self, context: TileContext) -> TileKernel:
        loop, tile = loop_of(context.tile), context.tile
        assert loop is not None
        made = SplitReduction.of(context, tile.alternatives[0].body, loop)
        return TileKernel(
            made.body(),
            (*tile.sizes, tile.depth, tile.stages),
            made.words(),
            made.constraints(),
            made.alignments(),
            (4, 1),
            block=(made.threads(),),
            lanes=Name(tile.depth),
            step=product([Name(tile.depth), Name(tile.stages), IntLiteral(VECTOR)]),
        )

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return table("split_rows")
