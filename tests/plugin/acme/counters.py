"""A resource and a performance counter with limits of their own, and one that rests on the registers of the run."""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.algebra import Polynomial, RationalFunction
from comprehensive.loops.access import accesses
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Counter, Evaluation, Kind


@dataclass(frozen=True, slots=True)
class WordsRead:
    """References that read data, each counted once."""

    name: str = "words_read"
    limit: str = "L_READ"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        reads = [access for access in accesses(fragment.nest) if access.mode.reads]
        return Evaluation(Polynomial.constant(len(reads)), "exact")


@dataclass(frozen=True, slots=True)
class Spread:
    """One over the number of references that read data."""

    name: str = "spread"
    limit: str = "P_spread"
    kind: Kind = Kind.PERFORMANCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        reads = WordsRead().evaluate(fragment).value
        assert isinstance(reads, Polynomial)
        return Evaluation(RationalFunction(1, reads.constant_value()), "exact")


@dataclass(frozen=True, slots=True)
class RegistersTwice:
    """Twice the registers of a thread."""

    registers: Counter[Variant]
    name: str = "registers_twice"
    limit: str = "L_TWICE"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        found = self.registers.evaluate(fragment)
        return Evaluation(found.value * 2, f"twice: {found.source}")


def registers_twice(registers: Counter[Variant] | None = None) -> RegistersTwice:
    """The counter over the registers that a run counts."""
    from comprehensive.counters.registers import Registers

    return RegistersTwice(Registers() if registers is None else registers)
