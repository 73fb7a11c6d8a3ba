"""Accesses across the rows of a tile: through shared memory, which transposes them (`transposed_accesses.py`).

Composed of: split, bind, unroll and jam, stage(SHARED, transposed), peel.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule.context import BlockOrder, TileContext
from comprehensive.schedule.instances import Instance, for_wide_elements, table
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.transposed_accesses import (
    over_two_coordinates,
    transposed,
    transposed_accesses,
    transposed_words,
)


class Transposition(Struct, frozen=True):
    name: str = "transposition"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        return over_two_coordinates(nest, tile)

    def lower(self, context: TileContext) -> TileKernel:
        found = transposed_accesses(context.nest, context.tile)
        assert found is not None
        return TileKernel(
            transposed(context),
            context.tile.sizes,
            transposed_words(context),
            order=BlockOrder.COLUMNS if found.stores else BlockOrder.ROWS,
        )

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return for_wide_elements(kernel, table("transposition"))
