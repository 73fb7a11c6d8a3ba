"""A serial loop whose operands are shared along two coordinates: the product of two matrices, and what is like it.

::

    for (k) sum += a[y0][k] * b[k][y1]     a: tiles of T0*U0 rows and D columns;  b: D rows and T1*U1 columns

Composed of: split, bind, unroll and jam, stage(SHARED, S pieces of D steps in flight), stage(REGISTER, a step ahead),
accumulate, epilogue through shared memory where rows are not aligned (`reduction.py`, `gemm_loop.py`,
`coalesced_epilogue.py`).
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule.coalesced_epilogue import stored_by_neighbours
from comprehensive.schedule.context import BlockOrder, TileContext
from comprehensive.schedule.gemm_loop import patch_steps
from comprehensive.schedule.instances import Instance, for_wide_elements, table, with_room_for_sums
from comprehensive.schedule.operands import loop_of
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.reduction import reduced, reduction


class Product(Struct, frozen=True):
    name: str = "product"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        if loop_of(tile) is None or len(tile.coordinates) < 2:
            return None
        return reduced(nest, tile, 2)

    def lower(self, context: TileContext) -> TileKernel:
        return reduction(context, BlockOrder.GROUPS, patch_steps, ends=stored_by_neighbours)

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return with_room_for_sums(kernel, tile, for_wide_elements(kernel, table("product")))
