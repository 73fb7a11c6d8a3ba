"""A serial loop at points of one coordinate: sums of rows and of columns, products of a matrix and a vector.

::

    for (k) sum += a[y][k] * x[k]     a: tiles of T0 rows and D columns;  x: D elements;  T0*H threads copy, T0 add

Composed of: split, bind, stage(SHARED, S pieces of D steps in flight, swizzled where threads read down the rows),
accumulate (`reduction.py`, `gemv_loop.py`).
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.context import BlockOrder, TileContext
from comprehensive.schedule.gemv_loop import row_steps
from comprehensive.schedule.instances import Instance, for_wide_elements, has_wide_elements, table
from comprehensive.schedule.operands import loop_of
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.reduction import reduced, reduction


class Rows(Struct, frozen=True):
    name: str = "rows"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        if loop_of(tile) is None:
            return None
        found = reduced(nest, tile, 1)
        return replace(found, lanes=found.share) if isinstance(found, RegisterTile) else found

    def lower(self, context: TileContext) -> TileKernel:
        return reduction(context, BlockOrder.ROWS, row_steps)

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return for_wide_elements(
            kernel, table("rows_of_wide_elements" if has_wide_elements(kernel) else "rows")
        )
