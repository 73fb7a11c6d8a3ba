"""Latency hiding, P_latency_hiding: a variant in, words in flight over those that keep global memory busy out.

    B threads that read 3 words each before they use the first one   -->   3*B*blocks / F_SM,  blocks of each resource

By Little's law memory is busy while latency times bandwidth is in flight, F_SM words of a multiprocessor. In flight
are, for each thread that is resident, the words that it reads before it uses one of them: those of a statement, and
of the statements before it that do nothing but read. Where that differs from place to place, it is words read over
times waited. Threads are resident in as many blocks as the scarcest resource allows, so that the value is the least
of one for each resource (as in `occupancy.py`); what is above 1 counts as 1, since P_latency_hiding is not above 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from comprehensive.algebra import Atom, Polynomial, RationalFunction
from comprehensive.counters.assumptions import assumptions
from comprehensive.counters.registers import Registers
from comprehensive.counters.residency import Limit, Residency
from comprehensive.counters.shared_words import SharedWords
from comprehensive.counters.shares import least_of_cases, plain, quotient
from comprehensive.counters.work import UncountableError, Work, total, work_of
from comprehensive.loops.ir import Variant
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.optimize.protocols import Counter, Evaluation, Kind


class LatencyHiding(Struct, frozen=True):
    """Words in flight as far as one resource allows blocks, over F_SM; other counters say what a block takes."""

    of: str
    """The resource, as :class:`Limit` has it."""
    registers: Counter[Variant] = field(default_factory=Registers)
    shared_words: Counter[Variant] = field(default_factory=SharedWords)
    limit: str = "P_latency_hiding"
    kind: Kind = Kind.PERFORMANCE

    @property
    def name(self) -> str:
        return f"latency_hiding_by_{self.of}"

    def evaluate(self, fragment: Variant) -> Evaluation:
        of = Limit(self.of)
        residency = Residency.of(fragment, (of,), self.registers, self.shared_words)
        blocks = residency.blocks(of)
        scalars = assumptions(fragment.nest)
        try:
            cases = work_of(fragment)
        except UncountableError as reason:
            return Evaluation(Polynomial(0), f"bound: {reason} is not counted")
        if not any(work.waits for work in cases):
            return Evaluation(Polynomial(1), "exact")
        words = least_of_cases([_words_in_flight(work, scalars) for work in cases if work.waits], scalars)
        resident = blocks * residency.threads
        value = RationalFunction(1) * words.value * resident / residency.of_machine("F_SM")
        found = residency.evaluation(plain(value))
        source = ", ".join(dict.fromkeys(s for s in (words.source, found.source) if s != "exact")) or "exact"
        return Evaluation(found.value, source, found.facts, found.quotients)


def _words_in_flight(work: Work, scalars: Sequence[Atom]) -> Evaluation:
    """Return the words that a thread has in flight.

    Where counts are not known, this is one element of the narrowest type.
    """
    reads = [a for a in work.accesses if not a.is_shared and not a.writes]
    words = total(
        None if a.count is None else a.count * RationalFunction(a.size_bytes, WORD_BYTES) for a in reads
    )
    waits = total(work.waits)
    found = quotient(words, waits, scalars) if words is not None and waits is not None else None
    if found is None:
        least = RationalFunction(min(a.size_bytes for a in reads), WORD_BYTES)
        return Evaluation(plain(least), "bound: counts that are not known")
    return Evaluation(found, "exact")
