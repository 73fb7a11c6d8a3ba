"""A store across the rows of memory: a tile of its values is transposed through shared memory (`transposed_store.py`).

Composed of: split, bind, unroll and jam, stage(SHARED, transposed), peel.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import If
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule.context import BlockOrder, TileContext
from comprehensive.schedule.instances import Instance, for_wide_elements, table
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.transposed_store import transposed, transposed_store, transposed_words
from comprehensive.schedule.unroll_and_jam import jammed_points


@dataclass(frozen=True, slots=True)
class Transposition:
    name: str = "transposition"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        return None if transposed_store(nest, tile) is None else tile

    def lower(self, context: TileContext) -> TileKernel:
        store = transposed_store(context.nest, context.tile)
        assert store is not None
        jam, partial = jammed_points(context, context.tile.alternatives[0].body)
        whole = transposed(context, jam, store)
        return TileKernel(
            (If(context.is_whole(), whole, partial, uniform=True),),
            context.tile.sizes,
            transposed_words(context),
            order=BlockOrder.COLUMNS,
        )

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return for_wide_elements(kernel, table("transposition"))
