"""Several sweeps of a stencil in one launch: tiles that overlap, both grids of each in shared memory (`overlap.py`).

Composed of: split, bind, stage(SHARED) of two grids, overlap.  It is for regions in a loop of the host, several of them
at once: `strategies/time_tile.py` cuts them.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.instances import Instance, time_instances
from comprehensive.schedule.overlap import sweeps_parameter, swept
from comprehensive.schedule.recipe import TileKernel


@dataclass(frozen=True, slots=True)
class OverlappedSweeps:
    name: str = "overlapped sweeps"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        return tile if tile.sweeps is not None else None

    def lower(self, context: TileContext) -> TileKernel:
        sweeps = context.tile.sweeps
        assert sweeps is not None
        body, words, constraints = swept(context, sweeps)
        constants = (*context.tile.sizes, sweeps.most)
        return TileKernel(body, constants, words, constraints, parameters=(sweeps_parameter(context),))

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        assert tile.sweeps is not None
        return time_instances(tile.sweeps.halo)
