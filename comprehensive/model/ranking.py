"""All that can run for a region on a device at given sizes, the fastest expected first.

In: a region, a machine, values of all scalars.  Out: :class:`Ranking`, tiles and the leaf that the parameters lead to,
each with its cost; what does not fit comes with the reason::

    rank(region, machine, {"n": 1024, "B0": 16, ...}, sweeps_left=1).fitting[0].name     # "register tile 3"
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.machine.cost import Cost
from comprehensive.model.choice import candidates, chosen
from comprehensive.plan.plan import RegionPlan


class Ranked(Struct, frozen=True):
    """A tile or a leaf; ``sweeps`` are those of one launch, for which the cost is.  Without a cost: ``because``."""

    kind: str
    number: int
    what: str
    sweeps: int
    cost: Cost | None
    because: str
    is_chosen: bool
    together: int = 0
    """The number of elements accessed together; 0 where there is no choice."""

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"


class Ranking(Struct, frozen=True):
    """The tiles and the leaf of a region: ``fitting`` by cycles for a sweep, ``others`` by their numbers."""

    fitting: tuple[Ranked, ...]
    others: tuple[Ranked, ...]


def rank(
    region: RegionPlan, machine: Mapping[str, int], values: Mapping[str, int], *, sweeps_left: int
) -> Ranking:
    """Return everything that fits in the order of expected cycles, and what does not fit.

    ``values`` has all integer scalars of the region.
    """
    found = candidates(region, machine, values, addresses={}, sweeps_left=sweeps_left)
    best = chosen(found, sweeps_left=sweeps_left)
    ranked = [
        Ranked(
            c.kind,
            c.number,
            ", ".join(f"{name} = {size}" for name, size in c.sizes.items()),
            c.sweeps,
            c.cost,
            c.because,
            c is best,
            c.together,
        )
        for c in found
    ]
    fitting = sorted((r for r in ranked if r.cost is not None), key=_cycles_a_sweep)
    return Ranking(tuple(fitting), tuple(r for r in ranked if r.cost is None))


def _cycles_a_sweep(ranked: Ranked) -> float:
    assert ranked.cost is not None
    return ranked.cost.cycles / ranked.sweeps
