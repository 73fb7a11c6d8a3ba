"""Coalescing, P_coalescing: a variant in, bytes used over bytes moved of global memory out.

    c[j*N + i] = a[i*N + j], threads along j   -->   2/9: 4 bytes used of a sector of 32 for c, all of those for a

Global memory is moved in sectors of 32 bytes. An access of a warp counts with the sectors that its 32 lanes along
``threadIdx.x`` touch, the first lane at the beginning of one; one element for all lanes counts as whole use. A stride
that is not a number, as a row's length, is taken to bring every lane to a sector of its own.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.counters.lanes import sector_share
from comprehensive.counters.shares import WeightedShare, share_of_accesses
from comprehensive.counters.work import Access
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Evaluation, Kind


class Coalescing(Struct, frozen=True):
    """Bytes that a block uses of global memory, over those of the sectors that are moved for it."""

    name: str = "coalescing"
    limit: str = "P_coalescing"
    kind: Kind = Kind.PERFORMANCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        def weighted(access: Access) -> WeightedShare:
            return access.count, access.size_bytes, sector_share(access.stride, access.size_bytes)

        sizes = (a.type.size_bytes for a in fragment.nest.arrays)
        worst = min((sector_share(None, size).value for size in sizes), default=1)
        return share_of_accesses(fragment, weighted, is_shared=False, worst=worst)
