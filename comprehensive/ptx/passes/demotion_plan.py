"""The values to demote in one function so that at most so many words are live.

In: a function, how many slots there are, and the words that the functions which it calls need.  Out: a :class:`Plan`::

    planner = Planner(analyses, Strategy.PRESSURE)
    planner.plan(58, most_slots=24, called={})        # values and their slots

Uses that lie near each other share a reload as long as that leaves few enough words live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.passes.demotion_choice import Strategy, choose, relieve
from comprehensive.ptx.passes.demotion_slots import slots_of
from comprehensive.ptx.passes.demotion_values import Value, Values, values_of
from comprehensive.ptx.passes.slot_coloring import Coloring

# Steps between uses that share a reload, the widest window first.
_WINDOWS = (24, 8, 2, 0)

Called = Mapping[int, int]
"""The words that a called function needs, by the step of the call."""


@dataclass(frozen=True)
class Plan:
    """``words`` are still live where most are, those of called functions with them.

    ``is_cut`` says that there were not slots for all that was chosen.
    """

    values: tuple[Value, ...]
    slots: Coloring
    words: int
    is_cut: bool

    @property
    def loads(self) -> int:
        """Loads of words in the text."""
        return sum(value.words * len(value.reloads) for value in self.values)

    @property
    def stores(self) -> int:
        """Stores of words in the text."""
        return sum(value.words * len(value.stores) for value in self.values)


@dataclass(frozen=True, eq=False)
class Planner:
    """Plans for one function."""

    analyses: Analyses
    strategy: Strategy

    def pressure(self, called: Called) -> Sequence[int]:
        """The words that are live before each step (ML2), and one for the address of the slots."""
        return tuple(
            words + 1 + called.get(step, 0) for step, words in enumerate(self.analyses.pressure.variant)
        )

    def plan(self, words: int, most_slots: int, called: Called) -> Plan:
        """Return the plan after which at most so many words are live, or as few as can be."""
        plans = (self._plan(words, window, most_slots, called) for window in _WINDOWS)
        best: Plan | None = None
        for plan in plans:
            if best is None or plan.words < best.words:
                best = plan
            # Smaller windows make more values, not more slots.
            if best.words <= words or best.is_cut:
                break
        assert best is not None
        return best

    def values(self, window: int) -> Values:
        """Return the values that may be demoted, where uses at most ``window`` steps apart share a reload."""
        if window not in self._known:
            self._known[window] = values_of(self.analyses, window)
        return self._known[window]

    @cached_property
    def _known(self) -> dict[int, Values]:
        return {}

    def _plan(self, words: int, window: int, most_slots: int, called: Called) -> Plan:
        pressure = self.pressure(called)
        chosen = choose(self.values(window).found, pressure, words, self.strategy, self.analyses.flow)
        slots = slots_of(chosen, self.analyses.liveness, most_slots)
        is_cut = bool(slots.spilled)
        if is_cut:
            # The first relieve most: fewer of them are better than those for which the colouring finds slots.
            chosen = chosen[: self._most_that_fit(chosen, most_slots)]
            slots = slots_of(chosen, self.analyses.liveness, most_slots)
        return Plan(chosen, slots, self._words(pressure, chosen), is_cut)

    def _most_that_fit(self, chosen: Sequence[Value], most_slots: int) -> int:
        low, high = 0, len(chosen)
        while high - low > 1:
            middle = (low + high) // 2
            if slots_of(chosen[:middle], self.analyses.liveness, most_slots).spilled:
                high = middle
            else:
                low = middle
        return low

    def _words(self, pressure: Sequence[int], values: Sequence[Value]) -> int:
        left = np.array(pressure, np.int64)
        for value in values:
            relieve(left, value, -value.words)
        return int(left.max(initial=0))
