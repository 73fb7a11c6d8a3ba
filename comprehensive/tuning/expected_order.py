"""Candidates in the order of what the model expects them to take: a function and a device in, an order out.

    by_expected_cost(plan, device)(candidates)     # the fastest expected first

Tiles and the first leaves of the plain rule are ranked; the other leaves come after them, as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from comprehensive.loops.ir import Role
from comprehensive.machine.counts import SATURATED
from comprehensive.machine.device import Device
from comprehensive.model.choice import candidates, leaf_candidate, sweeps_left
from comprehensive.plan.plan import FunctionPlan, RegionPlan
from comprehensive.records import replace
from comprehensive.soundness.sampling import all_scalars
from comprehensive.tuning.candidates import Candidate, Order, tile_of, values_at

MOST_LEAVES = 500
"""The most leaves whose costs are computed: the cost of one takes some milliseconds."""


def by_expected_cost(plan: FunctionPlan, device: Device) -> Order:
    """An order for the candidates of the function."""
    machine = device.machine()

    @cache
    def expected(candidate: Candidate) -> float:
        tile = tile_of(plan, candidate)
        return sum(_cycles(plan, region, candidate, tile, machine) for region in plan.regions)

    def ordered(every: Sequence[Candidate]) -> Sequence[Candidate]:
        leaves = [c for c in every if tile_of(plan, c) == 0]
        counted = [c for c in every if tile_of(plan, c) != 0] + leaves[:MOST_LEAVES]
        return (*sorted(counted, key=expected), *leaves[MOST_LEAVES:])

    return ordered


def _cycles(
    plan: FunctionPlan, region: RegionPlan, candidate: Candidate, tile: int, machine: Mapping[str, int]
) -> float:
    """Return the cycles that the model expects for a sweep; the largest number where nothing fits."""
    values = region_values(region, values_at(plan, dict(candidate.sizes), dict(candidate.parameters)))
    if tile == 0:
        return _leaf_cycles(region, values, machine)
    left = sweeps_left(region, values)
    every = candidates(region, machine, values, addresses={}, sweeps_left=left)
    found = [c for c in every if c.kind != "leaf"]
    asked = [c for c in found if c.number == tile] or [c for c in found if c.sweeps == 1]
    return min((c.cost.cycles / c.sweeps for c in asked if c.cost is not None), default=SATURATED)


def region_values(region: RegionPlan, given: Mapping[str, int | float]) -> dict[str, int]:
    """The integer scalars of the region and of its tiles: a time tile also reads how often the loop around runs."""
    values: dict[str, int] = {}
    for nest in (region.nest, *(tiling.nest for tiling in region.tilings)):
        known = replace(nest, scalars=tuple(s for s in nest.scalars if s.role is not Role.TILE))
        found = all_scalars(known, given)
        values |= {name: value for name, value in found.items() if isinstance(value, int)}
    return values


def _leaf_cycles(region: RegionPlan, values: Mapping[str, int], machine: Mapping[str, int]) -> float:
    leaf = leaf_candidate(region, machine, values)
    return SATURATED if leaf is None or leaf.cost is None else leaf.cost.cycles
