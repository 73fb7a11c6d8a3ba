"""Use of the banks of shared memory, P_bank_efficiency: a variant in, 1 over the mean conflict degree out.

    shared_c[u1*B0 + u0], threads along u1   -->   1/32, the least for a row of B0 words; 1 for one of 2*B0 + 1

There are 32 banks of 4 bytes, which serve a warp in one turn unless lanes want different words of one bank; one word
for several lanes is no conflict. Of elements of 8 bytes half a warp is served in a turn. Of a stride that is not a
number counts what is known of its divisors by powers of two.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from comprehensive.counters.lanes import bank_share, turns
from comprehensive.counters.shares import WeightedShare, share_of_accesses
from comprehensive.counters.work import Access
from comprehensive.loops.ir import Variant
from comprehensive.machine.sites import BANKS
from comprehensive.optimize.protocols import Evaluation, Kind


class BankEfficiency(Struct, frozen=True):
    """Turns in which shared memory could serve a block, over those that it takes."""

    name: str = "bank_efficiency"
    limit: str = "P_bank_efficiency"
    kind: Kind = Kind.PERFORMANCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        def weighted(access: Access) -> WeightedShare:
            return access.count, turns(access.size_bytes), bank_share(access.stride, access.size_bytes)

        return share_of_accesses(fragment, weighted, is_shared=True, worst=Fraction(1, BANKS))
