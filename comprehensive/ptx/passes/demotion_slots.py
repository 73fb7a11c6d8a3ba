"""Slots for demoted values: values that are never kept at once share them.

In: values and the liveness of their registers.  Out: the slots of each value, one a word::

    slots = slots_of(values, liveness)
    slots.of[7], slots.count        # (3, 4), 18: register 7 has two words, of 18 in all

Two values conflict where one is stored while the other is still to be read.  A slot is to be read at most where its
register is live, so that the liveness of registers is enough (Chaitin et al., Register allocation via coloring, 1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.liveness import Liveness
from comprehensive.ptx.passes.demotion_values import Value


@dataclass(frozen=True)
class Slots:
    """``of`` are the slots by number of the register; ``count`` is how many there are."""

    of: Mapping[int, tuple[int, ...]]
    count: int


def slots_of(values: Sequence[Value], live: Liveness) -> Slots:
    """Return the slots, a slot of the least number for each word in the order of the first stores."""
    demoted = sum(1 << value.register.number for value in values)
    found: dict[int, tuple[int, ...]] = {}
    # By slot, masks of the values that are in it, and of those that are kept where one of them is stored.
    inside: list[int] = []
    beside: list[int] = []
    for value in sorted(values, key=lambda value: (min(value.stores, default=0), value.register.number)):
        number = value.register.number
        kept = 0
        for step in value.stores:
            kept |= live.after[step]
        kept &= demoted & ~(1 << number)
        slots = [n for n, each in enumerate(inside) if not (each & kept or beside[n] >> number & 1)]
        while len(slots) < value.words:
            slots.append(len(inside))
            inside.append(0)
            beside.append(0)
        found[number] = tuple(slots[: value.words])
        for slot in found[number]:
            inside[slot] |= 1 << number
            beside[slot] |= kept
    return Slots(found, len(inside))
