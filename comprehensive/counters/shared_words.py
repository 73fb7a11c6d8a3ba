"""Shared memory of a thread block in words, Z_B: a variant in, the exact polynomial out.

It is what the kernel of the variant allocates: per band the tiles of all cached arrays, and of the bands the
largest.  Example: 1D Jacobi with ``cache(a)`` needs ``2*s*B + 2`` words (comprehensive, figure 7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from comprehensive.algebra import Polynomial
from comprehensive.counters.threads import Threads
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Variant
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.optimize.protocols import Evaluation, Kind

KERNEL_NAME = "kernel"
"""Counters do not depend on the name; one name for all lets them share the kernels that are lowered."""


@dataclass(frozen=True, slots=True)
class SharedWords:
    """Words of 4 bytes that a block allocates in shared memory."""

    name: str = "shared_words_per_block"
    limit: str = "Z_B"
    kind: Kind = Kind.RESOURCE

    slots: Callable[[Kernel], int] | None = field(default=None, compare=False)
    """The function for the words of a thread in shared memory in place of registers, in a demoted kernel."""

    def evaluate(self, fragment: Variant) -> Evaluation:
        from comprehensive.lowering.lower import lower

        kernel = lower(fragment, KERNEL_NAME)
        slots = 0 if not fragment.demoted or self.slots is None else self.slots(kernel)
        if not slots:
            return Evaluation(kernel.shared_words, "exact")
        # A block has slots for whole warps: for up to 31 threads more than it has.
        threads = Threads().evaluate(fragment).value + Polynomial(WARP_THREADS - 1)
        return Evaluation(threads * Polynomial(slots) + kernel.shared_words, "upper bound")
