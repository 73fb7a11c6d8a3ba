"""A product of doubles on tensor cores: the points and operands of `product.py`.

::

    for (k) sum += a[y0][k] * b[k][y1]     a: tiles of T0*U0 rows and D columns;  b: D rows and T1*U1 columns

Composed of: split, bind, unroll and jam, stage(SHARED, S pieces of D steps in flight), stage(REGISTER, eight steps
ahead), accumulate (`reduction.py`, `tensor_core_loop.py`).  Legal where a step is one multiply-add of doubles and
nothing else (`multiply_add.py`), since the compiler may contract that; where it is told not to (``-fmad=false``),
and on devices without tensor cores for doubles, the kernel takes the steps one by one.

``mma.sync`` of doubles gives the bits of a chain of ``fma`` in the order of the loop.  Measured on one H200 and one
H100 with m8n8k4, m16n8k8 and m16n8k16: no difference in 1,021,000 results for normal numbers, nor for infinities, NaN
(but for their payloads), signed zeros, cancellation and overflow.  Where results are subnormal 1 to 16 of 85,581 and
of 262,144 differed; NVIDIA does not document why.  So the kernel is the serial program as the compiler contracts it,
unless a sum is subnormal.  `tests/gpu/tensor_cores.py` looks at all of this on the device at hand.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import ScalarType
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule.context import BlockOrder, TileContext
from comprehensive.schedule.instances import Instance, table
from comprehensive.schedule.multiply_add import of_multiply_adds
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.reduction import reduction
from comprehensive.schedule.tensor_core_doubles import DoublesLayout
from comprehensive.schedule.tensor_core_loop import tensor_core_steps


class TensorCoreProduct(Struct, frozen=True):
    name: str = "tensor-core product"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        double = ScalarType.DOUBLE  # tensor cores round other elements in other ways
        found = of_multiply_adds(nest, tile, double, (double,))
        return NotApplicable(found) if isinstance(found, str) else found

    def lower(self, context: TileContext) -> TileKernel:
        return reduction(context, BlockOrder.GROUPS, tensor_core_steps, DoublesLayout)

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return table("tensor_core_product")
