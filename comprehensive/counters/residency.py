"""The blocks of a kernel that one multiprocessor holds, as far as one resource goes: symbols in, a symbol out.

    Residency(variant, registers).blocks(Limit.REGISTERS)
    # "floor(Q_SM*floor(R_SM/(Q_SM*R_U*ceil(448/R_U)))/ceil(B/32))" at 14 registers and blocks of B threads

The rule is that of `machine/resident.py` for blocks that meet the limits of a single one (T_B, R_B, Z_B): a
multiprocessor holds the least of the numbers that the resources allow. Barriers are none of these: every known device
has as many slots as it holds blocks, and a block takes one. Nor are the registers of a single block, which may have
all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from msgspec import Struct, field

from comprehensive.algebra import (
    Atom,
    Defined,
    Polynomial,
    Quotient,
    RationalFunction,
    at_least,
    ceiling_of,
    floor_of,
)
from comprehensive.algebra.sign_sets import POSITIVE, Signs
from comprehensive.counters.assumptions import assumptions
from comprehensive.counters.threads import Threads
from comprehensive.loops.ir import Variant
from comprehensive.machine.parameters import MACHINE_PARAMETERS, WARP_THREADS
from comprehensive.machine.resident import Taken, by_blocks, by_registers, by_shared_memory, by_warps
from comprehensive.optimize.protocols import Counter, CounterError, Evaluation, Value


class Limit(Enum):
    """The resources that bound the number of resident blocks."""

    WARPS = "warps"
    BLOCKS = "blocks"
    REGISTERS = "registers"
    SHARED_MEMORY = "shared_memory"


_RULES = {
    Limit.WARPS: by_warps,
    Limit.BLOCKS: by_blocks,
    Limit.REGISTERS: by_registers,
    Limit.SHARED_MEMORY: by_shared_memory,
}


class Residency(Struct):
    """A calculation for one variant; it grows facts and quotients as values are asked for."""

    threads: Value
    registers: Polynomial
    shared_words: Polynomial
    source: str
    """The weakest source of the numbers that a block needs."""
    scalars: tuple[Atom, ...]
    """The atoms that hold of the parameters of the program."""
    facts: dict[Atom, None] = field(default_factory=dict[Atom, None])
    quotients: dict[Quotient, None] = field(default_factory=dict[Quotient, None])

    @staticmethod
    def of(
        variant: Variant,
        limits: Collection[Limit],
        registers: Counter[Variant],
        shared_words: Counter[Variant],
    ) -> Residency:
        """Return the residency of the kernel of a variant. Only the numbers that the limits need are counted."""
        threads, nothing = Threads().evaluate(variant), Evaluation(Polynomial(0), "exact")
        each = registers.evaluate(variant) if Limit.REGISTERS in limits else nothing
        words = shared_words.evaluate(variant) if Limit.SHARED_MEMORY in limits else nothing
        inexact = [e.source for e in (threads, each, words) if e.source != "exact"]
        source = ", ".join(dict.fromkeys(inexact)) or "exact"
        return Residency(
            threads.value, _whole(each.value), _whole(words.value), source, assumptions(variant.nest)
        )

    def warps(self) -> Polynomial:
        """Warps of a block, which has at least one thread."""
        threads = RationalFunction(1) * self.threads
        if not self._signs().of(threads.numerator * threads.denominator) <= POSITIVE:
            self.facts[at_least(threads.numerator, threads.denominator)] = None
        return self._defined(ceiling_of(threads * RationalFunction(1, WARP_THREADS), self._signs().of))

    def blocks(self, limit: Limit) -> Polynomial:
        """The number of blocks that the resource allows.

        A kernel without registers or shared memory counts with one of them: what that allows is more than B_SM, so that
        it does not decide, and less than any number of another kernel is not.
        """
        words = self.shared_words or Polynomial(1)
        if limit is Limit.SHARED_MEMORY and not self._signs().of(words) <= POSITIVE:
            # Where it takes nothing, a word more: a number of blocks that is not too large.
            words, self.source = words + 1, "bound: with one word more, since there may be none"
        needs_warps = limit in (Limit.WARPS, Limit.REGISTERS)
        warps = self.warps() if needs_warps else Polynomial(1)
        return _RULES[limit](self, Taken(warps, self.registers or Polynomial(1), words))

    def evaluation(self, value: Value) -> Evaluation:
        return Evaluation(value, self.source, tuple(self.facts), tuple(self.quotients))

    # --- the arithmetic of counts (`machine/counts.py`)

    def count(self, value: int) -> Polynomial:
        return Polynomial(value)

    def of_machine(self, name: str) -> Polynomial:
        """A machine parameter, of which every device has some."""
        found = Polynomial.symbol(name)
        self.facts[at_least(found, MACHINE_PARAMETERS[name].minimum)] = None
        return found

    def plus(self, first: Polynomial, second: Polynomial) -> Polynomial:
        return first + second

    def times(self, first: Polynomial, second: Polynomial) -> Polynomial:
        return first * second

    def down(self, above: Polynomial, below: Polynomial) -> Polynomial:
        return self._defined(floor_of(RationalFunction(above, below), self._signs().of))

    def up(self, above: Polynomial, below: Polynomial) -> Polynomial:
        return self._defined(ceiling_of(RationalFunction(above, below), self._signs().of))

    def named(self, name: str, value: Polynomial) -> Polynomial:
        del name
        return value

    # --- facts

    def _defined(self, found: Defined) -> Polynomial:
        self.quotients.update(dict.fromkeys(found.quotients))
        return found.value

    def _signs(self) -> Signs:
        definitions = (atom for quotient in self.quotients for atom in quotient.definition)
        return Signs((*self.scalars, *self.facts, *definitions))


def _whole(value: Value) -> Polynomial:
    """Registers and words are counted in whole numbers."""
    found = value if isinstance(value, Polynomial) else value.as_polynomial()
    if found is None:
        raise CounterError(
            f"{value} registers or words are no polynomial", "count them as a polynomial of the parameters"
        )
    return found
