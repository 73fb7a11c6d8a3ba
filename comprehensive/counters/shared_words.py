"""Shared memory of a thread block in words, Z_B: a variant in, the exact polynomial out.

It is what the kernel of the variant allocates: per band the tiles of all cached arrays, and of the bands the
largest.  Example: 1D Jacobi with ``cache(a)`` needs ``2*s*B + 2`` words (comprehensive, figure 7).
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Evaluation, Kind

KERNEL_NAME = "kernel"
"""Counters do not depend on the name; one name for all lets them share the kernels that are lowered."""


@dataclass(frozen=True, slots=True)
class SharedWords:
    """Words of 4 bytes that a block allocates in shared memory."""

    name: str = "shared_words_per_block"
    limit: str = "Z_B"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        from comprehensive.codegen.lower import lower

        return Evaluation(lower(fragment, KERNEL_NAME).shared_words, "exact")
