"""The tile or leaf of a region that the launcher takes, and every one's cost: the header's choice, in Python.

In: a region, a machine (parameters and speeds), values of all scalars.  Out: :class:`Candidate` for every tile and for
the leaf that the parameters lead to, and the one that the generated ``<region>_tile`` returns::

    found = candidates(region, load_device("h200").machine(), {"n": 1024, ...}, addresses={}, sweeps_left=1)
    chosen(found, sweeps_left=1).number        # 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from msgspec import Struct

from comprehensive.algebra import with_quotients
from comprehensive.kernel_ir.kernel import Source
from comprehensive.kernel_ir.terms import size_of
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.normalize.counters import LARGEST_COUNT
from comprehensive.machine.cost import Cost, Launch, cost
from comprehensive.machine.counts import SATURATED
from comprehensive.metafork.printer import print_expr
from comprehensive.model.launched import FEWEST_SWEEPS, stairs_of
from comprehensive.model.leaf_cost import leaf_cost
from comprehensive.model.values import stride, wide_value
from comprehensive.plan.plan import RegionPlan, TilePlan
from comprehensive.schedule.instances import Instance

VECTOR_BYTES = 16


class Candidate(Struct, frozen=True):
    """A tile or a leaf with what a launch of ``sweeps`` sweeps costs. Without a cost it does not fit, ``because``."""

    number: int
    """The number of a tile as callers ask for it, from 1 on; of a leaf its own."""
    kind: str
    sizes: Mapping[str, int]
    together: int
    """The number of elements accessed together; 0 where there is no choice."""
    sweeps: int
    cost: Cost | None
    because: str


def candidates(
    region: RegionPlan,
    machine: Mapping[str, int],
    values: Mapping[str, int],
    *,
    addresses: Mapping[str, int],
    sweeps_left: int,
) -> tuple[Candidate, ...]:
    """Every tile of the region in the order of their numbers, then the leaf that runs, if there is one.

    ``values`` has all integer scalars of the region, ``addresses`` where data begins: multiples of 16 bytes unless
    given.
    """
    together = min(
        (
            _together(plan, region.widths, values, addresses)
            for plan in region.tilings
            if plan.kernel.together
        ),
        default=0,
    )
    leaf = leaf_candidate(region, machine, values)
    tiles = tile_candidates(region, machine, values, together=together, sweeps_left=sweeps_left)
    return tiles if leaf is None else (*tiles, leaf)


def tile_candidates(
    region: RegionPlan,
    machine: Mapping[str, int],
    values: Mapping[str, int],
    *,
    together: int,
    sweeps_left: int,
) -> tuple[Candidate, ...]:
    """The tiles alone, which access so many elements together where they have a choice."""
    found: list[Candidate] = []
    for plan in region.tilings:
        for position, instance in enumerate(plan.instances):
            sweeps = sweeps_at_once(max(FEWEST_SWEEPS, sweeps_left - 1), plan.most_sweeps(instance))
            number = region.tile_of(plan.first + position)
            found.append(_candidate(plan, instance, number, machine, values, together, sweeps))
    return tuple(found)


def leaf_candidate(
    region: RegionPlan, machine: Mapping[str, int], values: Mapping[str, int]
) -> Candidate | None:
    """The leaf whose system holds, with its own number; None where none does."""
    point = with_quotients({**machine, **values}, region.quotients)
    for leaf in region.leaves:
        if all(atom.holds({s: point[s] for s in atom.symbols}) for atom in leaf.system.atoms):
            price = leaf_cost(leaf, machine, values)
            because = "" if price is not None else "a multiprocessor has no room for a block"
            return Candidate(leaf.index, "leaf", {}, 0, 1, price, because)
    return None


def chosen(found: Sequence[Candidate], *, sweeps_left: int) -> Candidate | None:
    """Return what the launcher takes where it is free to choose; None where nothing fits.

    Time tiles are for more than three sweeps, and only where a launch costs no more than as many single sweeps.
    """
    single = _best([c for c in found if c.sweeps == 1])
    several = _best([c for c in found if c.sweeps > 1]) if sweeps_left > FEWEST_SWEEPS else None
    if several is None or single is None:
        return several or single
    return several if _cycles(several) <= _times(_cycles(single), several.sweeps) else single


def sweeps_left(region: RegionPlan, values: Mapping[str, int]) -> int:
    """Return how many sweeps the host's loop around the region has left at its first turn."""
    return max((1, *(wide_value(plan.nest, plan.tile.sweeps.left, values) for plan in region.tilings)))


def sweeps_at_once(sweeps: int, most: int) -> int:
    """An odd number, from 3 to ``most`` or 1, so that few launches do so many sweeps, all about alike."""
    launches = -(-sweeps // most)
    launches += (launches + sweeps) % 2
    return min(most, FEWEST_SWEEPS if sweeps < FEWEST_SWEEPS * launches else sweeps // launches | 1)


def _best(found: Sequence[Candidate]) -> Candidate | None:
    """The least cost for a sweep; the first of several."""
    best: Candidate | None = None
    for candidate in found:
        if candidate.cost is None:
            continue
        if best is None or _times(_cycles(best), candidate.sweeps) > _times(_cycles(candidate), best.sweeps):
            best = candidate
    return best


def _cycles(candidate: Candidate) -> int:
    assert candidate.cost is not None
    return candidate.cost.cycles


def _times(a: int, b: int) -> int:
    return min(SATURATED, a * b)


def _candidate(
    plan: TilePlan,
    instance: Instance,
    number: int,
    machine: Mapping[str, int],
    values: Mapping[str, int],
    together: int,
    sweeps: int,
) -> Candidate:
    sizes = plan.sizes(instance)
    accessed = plan.kernel.accessed(together)
    because = _obstacle(plan, sizes, machine, values)
    price = None
    if not because:
        price = cost(machine, plan.work(instance, accessed), launch_of(plan, instance, values, sweeps))
        because = "" if price is not None else "a multiprocessor has no room for a block"
    return Candidate(number, plan.kind, sizes, accessed, sweeps, price, because)


def _obstacle(
    plan: TilePlan, sizes: Mapping[str, int], machine: Mapping[str, int], values: Mapping[str, int]
) -> str:
    """Return why a tile does not fit; an empty text where it does."""
    point = {**machine, **sizes}
    for atom in plan.system.atoms:
        if not atom.holds({name: point[name] for name in atom.symbols}):
            return atom.substitute(sizes).format()
    return size_obstacle(plan, sizes, values)


def size_obstacle(plan: TilePlan, sizes: Mapping[str, int], values: Mapping[str, int]) -> str:
    """Return why a tile of these sizes cannot run at these values of scalars; an empty text where it can."""
    try:
        if any(abs(limit) > LARGEST_COUNT for limit in _limits(plan, values)):
            return "a kernel counts in 32 bits"
        for condition in plan.conditions_of(sizes):
            if not wide_value(plan.nest, condition, values):
                return f"{print_expr(condition)} does not hold"
    except UndefinedBehaviour as error:
        return f"its conditions cannot be computed: {error}"
    return ""


def launch_of(plan: TilePlan, instance: Instance, values: Mapping[str, int], sweeps: int) -> Launch:
    sizes = plan.sizes(instance)
    limits, counted = _limits(plan, values), [wide_value(plan.nest, c, values) for c in plan.counted]
    blocks = _tiles(plan, sizes, limits, values)
    blocks *= prod(max(0, limit) for limit in limits[len(limits) - len(plan.tile.batch) :])
    of_loops, length = [max(0, number) for number in plan.turns(counted, sweeps)], plan.step(instance)
    steps, parts, turns = _steps(plan, of_loops, length, plan.mean_rest(instance))
    overlaps = any(c.shift or c.lead is not None for c in plan.tile.coordinates)
    ends_inside = any(
        limit % size_of(c.extent, sizes) for c, limit in zip(plan.tile.coordinates, limits, strict=False)
    )
    is_cut = not plan.kernel.has_copies and (overlaps or ends_inside)
    bytes_ = sum(t.bytes * prod(max(0, n) for n in t.of(limits, counted)) for t in plan.traffic)
    more = 0
    if plan.mean_steps is not None:
        most, mean = (max(0, of[plan.loop_limits[-1]]) // plan.step(instance) for of in (limits, counted))
        more = max(0, most - mean)
    return Launch(
        min(SATURATED, blocks),
        steps,
        parts,
        turns,
        is_cut,
        min(SATURATED, bytes_),
        plan.kernel.tensor_core_bytes,
        more,
    )


def _steps(
    plan: TilePlan, of_loops: Sequence[int], length: int, mean_rest: int | None
) -> tuple[int, int, int]:
    """Return the whole steps of a block, those that are not whole, and their turns: for loops whose outermost one
    threads share, all turns of those inside."""
    if plan.kernel.shares_outermost:
        shared, *inside = of_loops
        whole, part = shared // length, int(shared % length > 0)
        return whole, part, min(SATURATED, (whole + part) * prod(inside))
    outer, done = (1, of_loops) if plan.kernel.beside else (prod(of_loops[:-1]), of_loops[-1:])
    rests = [n % length if mean_rest is None else mean_rest for n in done]
    each = (sum(n // length for n in done), sum(rest > 0 for rest in rests), sum(rests))
    steps, parts, turns = (min(SATURATED, outer * n) for n in each)
    return steps, parts, turns


def _tiles(plan: TilePlan, sizes: Mapping[str, int], limits: Sequence[int], values: Mapping[str, int]) -> int:
    """Return the number of tiles that are launched for each value of the batch."""
    stairs = stairs_of(plan.kernel, plan.nest, {**values, **sizes})
    if stairs is not None:
        return stairs.rows * stairs.columns
    return prod(
        -(-max(0, limit + c.shift) // size_of(c.step, sizes))
        for c, limit in zip(plan.tile.coordinates, limits, strict=False)
    )


def _limits(plan: TilePlan, values: Mapping[str, int]) -> list[int]:
    return [wide_value(plan.nest, limit, values) for _, limit in plan.kernel.limits]


def _together(
    plan: TilePlan, widths: Sequence[int], values: Mapping[str, int], addresses: Mapping[str, int]
) -> int:
    """Return the vector width of these: as many elements as data, rows and what is added to these are multiples of."""
    *wanted, least = widths
    return next((count for count in wanted if _are_multiples(plan, values, addresses, count)), least)


def _are_multiples(
    plan: TilePlan, values: Mapping[str, int], addresses: Mapping[str, int], count: int
) -> bool:
    for alignment in plan.kernel.alignments:
        array = plan.nest.array(alignment.array)
        elements = count if count < 4 else max(4, VECTOR_BYTES // array.type.size_bytes)
        if addresses.get(array.pointer, 0) % VECTOR_BYTES:
            return False
        strides = [p for p in plan.kernel.parameters if p.source is Source.STRIDE and p.of == array.name]
        if any(stride(plan.nest, p, values) % elements for p in strides):
            return False
        if any(wide_value(plan.nest, number, values) % elements for number in alignment.multiples):
            return False
    return True
