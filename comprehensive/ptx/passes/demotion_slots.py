"""Slots for demoted values: values that are never kept at once share them.

In: values and the liveness of their registers.  Out: the slots of each value, one a word, and those for which there are
none::

    slots = slots_of(values, liveness, most=24)
    slots.of[7], slots.count        # (3, 4), 18: register 7 has two words, of 18 in all
    live_slots(values, slots, analyses, step=12)     # {3, 4}: those that are read behind a call at step 12

Two values conflict where one is stored while the other is still to be read.  A slot is to be read at most where its
register is live, so that the liveness of registers is enough (Chaitin et al., Register allocation via coloring, 1981).
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.liveness import Liveness, numbers_in
from comprehensive.ptx.passes.demotion_values import Value
from comprehensive.ptx.passes.slot_coloring import Coloring, anywhere, coloring


def slots_of(values: Sequence[Value], live: Liveness, most: int) -> Coloring:
    """Return the slots, by number of the register, ``most`` in all."""
    widths = {value.register.number: value.words for value in values}
    demoted = sum(1 << number for number in widths)
    interferes = {number: set[int]() for number in widths}
    for value in values:
        number = value.register.number
        kept = 0
        for step in value.stores:
            kept |= live.after[step]
        for other in numbers_in(kept & demoted & ~(1 << number)):
            interferes[number].add(other)
            interferes[other].add(number)
    return coloring(widths, interferes, most, anywhere)


def live_slots(values: Sequence[Value], slots: Coloring, analyses: Analyses, step: int) -> frozenset[int]:
    """Return the slots that hold, over a step that accesses none of them, what is loaded later."""
    return frozenset(
        slot
        for value in values
        if _is_loaded_behind(value, analyses, step)
        for slot in slots.of[value.register.number]
    )


def _is_loaded_behind(value: Value, analyses: Analyses, step: int) -> bool:
    """Whether a value is loaded behind a step before it is surely defined again.

    At the end of a block a slot is read later exactly where the register is: the first use of a block loads.
    """
    block = analyses.cfg.block_of[step]
    reloads, number = frozenset(value.reloads), value.register.number
    # What a call defines it has not read from a slot.
    for later in analyses.cfg.blocks[block].steps[analyses.cfg.blocks[block].steps.index(step) :]:
        if later > step and later in reloads:
            return True
        at = analyses.flow.steps[later]
        if number in at.defines and at.guard is None:
            return False
    return bool(analyses.liveness.live_out[block] >> number & 1)
