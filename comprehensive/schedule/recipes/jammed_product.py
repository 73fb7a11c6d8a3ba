"""A serial loop that puts together what loops in it find, several turns at a time: nearest centres, sums of kernels.

::

    for (c < k) { float s = 0;  for (j < d) s += (x[y0][j] - y[c][j])^2;  if (s < best) { best = s; arg = c; } }
        x: boxes of T0*U0 x D;  y: boxes of 16 x D, so that a thread has U0 x 16 sums

Composed of: jam of the outer loop (`jam_serial_loop.py`), and what a window product is composed of
(`window_product.py`).
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.schedule.batch import with_shared
from comprehensive.schedule.box_kernel import box_kernel
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.instances import Instance, for_wide_elements, meeting_constraints, table
from comprehensive.schedule.jam_serial_loop import with_jammed_loop
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.recipes.window_product import WindowProduct


class JammedProduct(Struct, frozen=True):
    turns: int

    @property
    def name(self) -> str:
        return f"jammed product of {self.turns}"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | None:
        jammed = with_jammed_loop(nest, with_shared(tile, 1), self.turns)
        found = None if jammed is None else WindowProduct(is_jammed=True).fit(nest, jammed)
        return found if isinstance(found, RegisterTile) else None

    def lower(self, context: TileContext) -> TileKernel:
        return box_kernel(context)

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return for_wide_elements(
            kernel, meeting_constraints(kernel, table(f"jammed_product_of_{self.turns}"))
        )
