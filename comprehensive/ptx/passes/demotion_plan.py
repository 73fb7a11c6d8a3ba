"""What is demoted of a kernel so that at most so many words are live, and the kernel that comes of it.

In: a kernel and how many slots there is room for.  Out: a :class:`Plan`, and the kernel::

    planner = Planner(analyses, Strategy.PRESSURE, room.region, most_slots=24)
    plan = planner.plan(58)             # values and their slots
    planner.function(plan, volatile=False)

Uses that lie near each other share a reload as long as that leaves few enough words live.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import Function
from comprehensive.ptx.passes.demotion_choice import Strategy, choose, relieve
from comprehensive.ptx.passes.demotion_code import Region, demoted_body
from comprehensive.ptx.passes.demotion_slots import Slots, slots_of
from comprehensive.ptx.passes.demotion_values import Value, Values, values_of

# Steps between uses that share a reload, the widest window first.
_WINDOWS = (24, 8, 2, 0)


@dataclass(frozen=True)
class Plan:
    """``words`` are still live where most are; ``is_cut`` says that there were not slots for all that was chosen."""

    values: tuple[Value, ...]
    slots: Slots
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
    """Plans for one kernel."""

    analyses: Analyses
    strategy: Strategy
    region: Region
    most_slots: int

    @cached_property
    def pressure(self) -> Sequence[int]:
        """The words that are live before each step (ML2), and one for the address of the slots."""
        return tuple(words + 1 for words in self.analyses.pressure.variant)

    def plan(self, words: int) -> Plan:
        """Return the plan after which at most so many words are live, or as few as can be."""
        plans = (self._plan(words, window) for window in _WINDOWS)
        best: Plan | None = None
        for plan in plans:
            if best is None or plan.words < best.words:
                best = plan
            # Smaller windows make more values, not more slots.
            if best.words <= words or best.is_cut:
                break
        assert best is not None
        return best

    def function(self, plan: Plan, *, volatile: bool) -> Function:
        flow = self.analyses.flow
        body = demoted_body(flow, plan.values, plan.slots, self.region, volatile=volatile)
        return flow.function.with_body(body)

    def values(self, window: int) -> Values:
        """What may be demoted where uses so many steps apart share a reload."""
        if window not in self._known:
            self._known[window] = values_of(self.analyses, window)
        return self._known[window]

    @cached_property
    def _known(self) -> dict[int, Values]:
        return {}

    def _plan(self, words: int, window: int) -> Plan:
        chosen = choose(self.values(window).found, self.pressure, words, self.strategy, self.analyses.flow)
        slots = self._slots(chosen)
        is_cut = slots.count > self.most_slots
        if is_cut:
            chosen = chosen[: self._most_that_fit(chosen)]
            slots = self._slots(chosen)
        return Plan(chosen, slots, self._words(chosen), is_cut)

    def _most_that_fit(self, chosen: Sequence[Value]) -> int:
        low, high = 0, len(chosen)
        while high - low > 1:
            middle = (low + high) // 2
            if self._slots(chosen[:middle]).count <= self.most_slots:
                low = middle
            else:
                high = middle
        return low

    def _slots(self, values: Sequence[Value]) -> Slots:
        return slots_of(values, self.analyses.liveness)

    def _words(self, values: Sequence[Value]) -> int:
        left = np.array(self.pressure, np.int64)
        for value in values:
            relieve(left, value, -value.words)
        return int(left.max(initial=0))
