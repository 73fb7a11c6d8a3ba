"""Coalescing, P_coalescing: a variant in, bytes used over bytes moved of global memory out.

    c[j*N + i] = a[i*N + j], threads along j   -->   2/9: 4 bytes used of a sector of 32 for c, all of those for a

Global memory is moved in sectors of 32 bytes. An access of a warp counts with the sectors that its 32 lanes along
``threadIdx.x`` touch, the first lane at the beginning of one; one element for all lanes counts as whole use. A stride
that is not a number, as a row's length, is taken to bring every lane to a sector of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.algebra import Polynomial
from comprehensive.counters.assumptions import assumptions
from comprehensive.counters.lanes import sector_share
from comprehensive.counters.shares import least_of_cases, share_of
from comprehensive.counters.work import UncountableError, work_of
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Evaluation, Kind


@dataclass(frozen=True, slots=True)
class Coalescing:
    """Bytes that a block uses of global memory, over those of the sectors that are moved for it."""

    name: str = "coalescing"
    limit: str = "P_coalescing"
    kind: Kind = Kind.PERFORMANCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        scalars = assumptions(fragment.nest)
        try:
            cases = work_of(fragment)
        except UncountableError as reason:
            worst = min(
                (sector_share(None, a.type.size_bytes).value for a in fragment.nest.arrays), default=1
            )
            return Evaluation(Polynomial(worst), f"bound: {reason} is not counted")
        shares = [
            share_of(
                [
                    (a.count, a.size_bytes, sector_share(a.stride, a.size_bytes))
                    for a in work.accesses
                    if not a.is_shared
                ],
                scalars,
            )
            for work in cases
        ]
        return least_of_cases(shares, scalars)
