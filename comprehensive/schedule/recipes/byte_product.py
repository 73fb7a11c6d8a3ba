"""A product of bytes on tensor cores, added up in integers: matrices of quantized numbers.

::

    int sum = 0;  for (k) sum += a[y0][k] * b[y1][k]      a: tiles of T0*U0 rows, D columns;  b: T1*U1 rows, D columns

Composed of: split, bind, unroll and jam, stage(SHARED, S pieces of D steps in flight), stage(REGISTER, 32 steps ahead),
accumulate, epilogue through shared memory (`reduction.py`, `tensor_core_loop.py`, `tensor_core_bytes.py`,
`shared_epilogue.py`).  Both elements are ``signed char``, ``char`` or ``unsigned char``, and a step is one multiply-add
of two of them and nothing else (`multiply_add.py`).

Sums of integers are the same in any order, so that results are those of the source.  Where a sum leaves ``int`` it has
no value in C, and wraps around here.
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
from comprehensive.schedule.shared_epilogue import stored_through_shared_memory
from comprehensive.schedule.tensor_core_bytes import BytesLayout
from comprehensive.schedule.tensor_core_loop import tensor_core_steps

BYTES = (ScalarType.SIGNED_CHAR, ScalarType.CHAR, ScalarType.UNSIGNED_CHAR)


class ByteProduct(Struct, frozen=True):
    name: str = "product of bytes"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        found = of_multiply_adds(nest, tile, ScalarType.INT, BYTES)
        return NotApplicable(found) if isinstance(found, str) else found

    def lower(self, context: TileContext) -> TileKernel:
        return reduction(
            context, BlockOrder.GROUPS, tensor_core_steps, BytesLayout, stored_through_shared_memory
        )

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return table("byte_product")
