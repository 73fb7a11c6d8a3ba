"""Occupancy, P_occupancy: a variant in, resident warps over the most that can be resident out, exactly.

    B threads, 14 registers   -->   floor(W_SM/ceil(B/32))*ceil(B/32) / W_SM,  B_SM*ceil(B/32) / W_SM,  ...

A multiprocessor holds the least of the numbers of blocks that its resources allow. So occupancy is the least of these
shares, each a counter with the same limit: `P <= min(a, b)` is `P <= a` and `P <= b`, and where it is refused, the
branch says which resource is short of it. A share of its own may be above 1; the least of them is not.
"""

from __future__ import annotations

from msgspec import Struct, field

from comprehensive.algebra import RationalFunction
from comprehensive.counters.registers import Registers
from comprehensive.counters.residency import Limit, Residency
from comprehensive.counters.shared_words import SharedWords
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Counter, Evaluation, Kind


class Occupancy(Struct, frozen=True):
    """Resident warps as far as one resource goes, over W_SM; other counters say what a block takes."""

    of: str
    """The resource, as :class:`Limit` has it."""
    registers: Counter[Variant] = field(default_factory=Registers)
    shared_words: Counter[Variant] = field(default_factory=SharedWords)
    limit: str = "P_occupancy"
    kind: Kind = Kind.PERFORMANCE

    @property
    def name(self) -> str:
        return f"occupancy_by_{self.of}"

    def evaluate(self, fragment: Variant) -> Evaluation:
        of = Limit(self.of)
        residency = Residency.of(fragment, (of,), self.registers, self.shared_words)
        blocks = residency.blocks(of)
        return residency.evaluation(
            RationalFunction(blocks * residency.warps(), residency.of_machine("W_SM"))
        )
