"""A product of 16-bit elements on tensor cores, added up in single precision in another order (`--reassociate`).

::

    float sum = 0;  for (k) sum += a[y0][k] * b[k][y1]    a: tiles of T0*U0 rows, D columns;  b: D rows, T1*U1 columns

Composed of: split, bind, unroll and jam, stage(SHARED, S pieces of D steps in flight), stage(REGISTER, sixteen steps
ahead), accumulate, epilogue through shared memory (`reduction.py`, `tensor_core_loop.py`, `tensor_core_halves.py`,
`shared_epilogue.py`).  Elements are ``half`` or ``bfloat16``, and a step is one multiply-add of two of them, which
are converted to ``float``, and nothing else (`multiply_add.py`).

The product of two such elements is exact in single precision.  A tensor core adds sixteen of them to a sum at once,
in an order and with a rounding that are NVIDIA's secret, and cuts off what is beyond the sum's 24 bits or a few more:
results differ from those of the source in their last bits, as with any other order of the sum (Fasi, Higham, Mikaitis
and Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330, 2021).  Hence only where it is
asked for.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import ScalarType
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.context import BlockOrder, TileContext
from comprehensive.schedule.instances import Instance, table
from comprehensive.schedule.multiply_add import of_multiply_adds
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.reduction import reduction
from comprehensive.schedule.shared_epilogue import stored_through_shared_memory
from comprehensive.schedule.tensor_core_halves import HalvesLayout
from comprehensive.schedule.tensor_core_loop import tensor_core_steps


class MixedPrecisionProduct(Struct, frozen=True):
    name: str = "mixed-precision product"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        found = of_multiply_adds(nest, tile, ScalarType.FLOAT, (ScalarType.HALF, ScalarType.BFLOAT16))
        if isinstance(found, RegisterTile):
            return replace(found, reassociated=True)
        return NotApplicable(found) if isinstance(found, str) else None

    def lower(self, context: TileContext) -> TileKernel:
        return reduction(
            context, BlockOrder.GROUPS, tensor_core_steps, HalvesLayout, stored_through_shared_memory
        )

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return table("mixed_precision_product")
