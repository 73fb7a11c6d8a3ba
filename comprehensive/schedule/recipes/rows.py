"""A serial loop at points of one coordinate: sums of rows and of columns, products of a matrix and a vector.

::

    for (k) sum += a[y][k] * x[k]     a: tiles of T0 rows and D columns;  x: D elements;  T0*H threads copy, T0 add

Composed of: split, bind, stage(SHARED, S pieces of D steps in flight, swizzled where threads read down the rows),
accumulate (`reduction.py`, `gemv_loop.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule.batch import with_inner
from comprehensive.schedule.context import BlockOrder, TileContext
from comprehensive.schedule.equalize import equalized
from comprehensive.schedule.gemv_loop import row_steps
from comprehensive.schedule.instances import Instance, for_wide_elements, has_wide_elements, table
from comprehensive.schedule.operands import loop_of, reduction_loops, reduction_obstacle
from comprehensive.schedule.predicate import predicated
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.reduction import reduction
from comprehensive.schedule.row_numbers import with_row_numbers_inside


@dataclass(frozen=True, slots=True)
class Rows:
    name: str = "rows"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        if loop_of(tile) is None:
            return None
        tile = with_row_numbers_inside(nest, with_inner(tile, 1))
        tile = equalized(nest, predicated(nest, tile))
        tile = replace(tile, lanes=tile.share)
        obstacle = reduction_obstacle(nest, tile, tile.alternatives[0].body, reduction_loops(nest, tile))
        return tile if obstacle is None else NotApplicable(obstacle)

    def lower(self, context: TileContext) -> TileKernel:
        return reduction(context, BlockOrder.ROWS, row_steps)

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return for_wide_elements(
            kernel, table("rows_of_wide_elements" if has_wide_elements(kernel) else "rows")
        )
