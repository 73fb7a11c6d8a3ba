"""The register pressure: the number of registers of 32 bits needed at once, before anything is allocated.

In: liveness, and what is known of values.  Out: a :class:`Pressure`, words before every step::

    live_words_of(live)[7]   # ML0 before step 7: that takes no more than liveness
    pressure = pressure_of(live, ssa, variance)
    pressure.words[7]        # the same
    pressure.ml2             # the greatest of ML2: 68

ML0 counts all that is live: 64 bits are two words, predicates none (they have their own).  ML1 leaves out what ptxas
computes again where it is needed: parameters, literals, addresses of variables, and sums of such.  ML2 also leaves out
integers that are the same in all threads of a warp, which have registers of their own.  Registers of ptxas are about
``0.87 * ML2 + 12.5`` (189 kernels of sm_90: r = 0.94; without a spill at least about ``0.88 * ML2 + 7.4``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.liveness import Liveness
from comprehensive.ptx.analysis.ssa import NONE, Ssa
from comprehensive.ptx.analysis.variance import Level, Variance

# Bits for each of several sums in one number: so many words are never live.
_PART = 40
_LOWEST = (1 << _PART) - 1


@dataclass(frozen=True)
class Pressure:
    """The 32-bit registers needed before every step: ``words`` (ML0), ``not_again`` (ML1), ``variant`` (ML2).

    ``predicates`` counts predicate registers.
    """

    words: tuple[int, ...]
    not_again: tuple[int, ...]
    variant: tuple[int, ...]
    predicates: tuple[int, ...]
    rematerialisable: frozenset[int]
    """Registers that ML1 leaves out."""
    uniform: frozenset[int]
    """Registers that ML2 leaves out besides."""

    @property
    def ml2(self) -> int:
        return max(self.variant, default=0)


def live_words_of(live: Liveness) -> tuple[int, ...]:
    """Return the words of 32 bits that are live before every step (ML0).

    >>> live_words_of(live)[7]    # doctest: +SKIP
    72
    """
    (words,) = _counts(live, [(register.words,) for register in live.cfg.flow.registers], 1)
    return words


def pressure_of(live: Liveness, ssa: Ssa, variance: Variance) -> Pressure:
    """Return the counts of live registers before every step.

    >>> pressure_of(live, ssa, variance).ml2    # doctest: +SKIP
    68
    """
    flow = live.cfg.flow
    again = _rematerialisable(ssa)
    uniform = _uniform(ssa, variance) - again
    neither = again | uniform
    weights = [
        (
            r.words,
            0 if r.number in again else r.words,
            0 if r.number in neither else r.words,
            int(not r.words),
        )
        for r in flow.registers
    ]
    words, not_again, variant, predicates = _counts(live, weights, 4)
    return Pressure(words, not_again, variant, predicates, again, uniform)


def _counts(live: Liveness, weights: Sequence[tuple[int, ...]], kinds: int) -> list[tuple[int, ...]]:
    """Return the sums of the weights of live registers before every step, one tuple a kind of weight."""
    steps = live.cfg.flow.steps
    # The sums of all kinds are parts of one number, far enough apart that none reaches the next.
    weight_of = [sum(weight << _PART * kind for kind, weight in enumerate(each)) for each in weights]
    # Registers of equal weights are counted at once at the ends of blocks.
    members: dict[int, list[int]] = {}
    for number, weight in enumerate(weight_of):
        members.setdefault(weight, []).append(number)
    masks = [(weight, _mask(numbers)) for weight, numbers in members.items()]
    bits = [1 << number for number in range(len(weights))]
    found = [0] * len(steps)
    for block in live.cfg.blocks:
        alive = live.live_out[block.number]
        now = sum(weight * (alive & mask).bit_count() for weight, mask in masks)
        for index in reversed(block.steps):
            step = steps[index]
            if step.guard is None:
                for register in step.defines:
                    if alive & bits[register]:
                        alive ^= bits[register]
                        now -= weight_of[register]
            for register in step.reads:
                if not alive & bits[register]:
                    alive |= bits[register]
                    now += weight_of[register]
            found[index] = now
    return [tuple([count >> _PART * kind & _LOWEST for count in found]) for kind in range(kinds)]


def _mask(numbers: Iterable[int]) -> int:
    data = bytearray()
    for number in numbers:
        if number >> 3 >= len(data):
            data.extend(bytes((number >> 3) + 1 - len(data)))
        data[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(data, "little")


def _rematerialisable(ssa: Ssa) -> frozenset[int]:
    """Registers with one definition, by a literal, an address, a kernel's parameter, or a sum of such."""
    flow = ssa.cfg.flow
    parameters = flow.function.kernel_parameters.keys()
    found: set[int] = set()
    for block in ssa.cfg.order:
        for number in ssa.cfg.blocks[block].steps:
            step = flow.steps[number]
            code = step.instruction.opcode
            if step.guard is not None or len(step.defines) != 1 or flow.definitions[step.defines[0]] != 1:
                continue
            is_parameter = code.base == "ld" and code.space == "param" and parameters >= set(step.symbols)
            is_move = code.base in ("mov", "cvta") and not any(s.startswith("%") for s in step.symbols)
            if (is_parameter or is_move) and found.issuperset(step.uses):
                found.add(step.defines[0])
    return frozenset(found)


def _uniform(ssa: Ssa, variance: Variance) -> frozenset[int]:
    """Registers all whose values are integers and the same in a warp."""
    flow = ssa.cfg.flow
    variant: set[int] = set()
    seen: set[int] = set()
    for value, definition in enumerate(ssa.values):
        if ssa.is_entry(value):
            continue
        seen.add(definition.register)
        if variance.values[value] > Level.WARP:
            variant.add(definition.register)
        elif definition.step != NONE:
            types = flow.steps[definition.step].instruction.opcode.types
            if not types or types[0][0] not in "sub":
                variant.add(definition.register)
    return frozenset(seen - variant)
