"""The candidates for tuning: a function at given sizes in, the parameters that its launcher may be called with out.

    Candidate("matmul", (("n", 1024),), (("B0", 16), ("ub1", 16), ("s", 2), ("tile", 0)), pipeline="")

First every register and time tile, then leaves with the blocks that their systems admit, those of about 256 threads
first: the rule of the header for callers without parameters.  Whoever has a better order gives it to
:func:`comprehensive.tuning.tune.tune`; the first ones are measured.  Kernels can go through passes over
their PTX, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.interpreter import c_value, holds_preconditions
from comprehensive.machine.device import Device
from comprehensive.machine.occupancy import register_cliffs
from comprehensive.plan.interface import Interface, interface
from comprehensive.plan.plan import FunctionPlan, RegionPlan
from comprehensive.ptx.build import LEAST_REGISTERS, REGISTER_STEP
from comprehensive.records import replace
from comprehensive.soundness.sampling import all_scalars

LARGEST_BLOCK = 1024
MOST_POINTS = 20_000
"""Program parameters looked at; with more of these, fewer values of each."""
USUAL_THREADS = 256
LEAST_THREADS = 32


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate to be measured.

    ``parameters`` are the members of ``<function>_params`` in order; a tile of 0 is the leaf.
    """

    function: str
    sizes: tuple[tuple[str, int], ...]
    parameters: tuple[tuple[str, int], ...]
    pipeline: str = ""
    """The passes over their PTX, as for ``opt``, that the kernels that it asks for are compiled through."""

    @property
    def key(self) -> str:
        """Text that is the same for the same candidate; its order decides between equals."""
        return json.dumps([dict(self.parameters), self.pipeline])

    @property
    def shown(self) -> str:
        """The parameters and passes for people: ``B0 = 16, s = 2, tile = 0, passes dce``."""
        return shown(self.parameters, self.pipeline)


def shown(parameters: Sequence[tuple[str, int]], pipeline: str) -> str:
    """Parameters and passes for people."""
    words = [f"{name} = {value}" for name, value in parameters] or ["no parameters"]
    return ", ".join([*words, *([f"passes {pipeline}"] if pipeline else [])])


Order: TypeAlias = Callable[[Sequence[Candidate]], Sequence[Candidate]]
"""The most promising ones first; some may be left out."""


def points(plan: FunctionPlan, domains: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int]]:
    """Values of the program parameters, ascending from 1: powers of two, or those of a parameter's domain."""
    program = interface(plan).program
    open_names = [a.name for a in program if a.name not in domains]
    powers = LARGEST_BLOCK.bit_length()
    while powers > 2 and powers ** len(open_names) > MOST_POINTS:
        powers -= 1
    values = [domains.get(a.name, [1 << k for k in range(powers)]) for a in program]
    for chosen in product(*values):
        yield dict(zip((a.name for a in program), chosen, strict=True))


def candidates(
    plan: FunctionPlan,
    sizes: Mapping[str, int],
    baseline: Mapping[str, int],
    domains: Mapping[str, Sequence[int]],
    device: Device,
) -> tuple[Candidate, ...]:
    """Return the candidates in the order of the plain rule, without passes.

    Where the caller's ``domains`` name every program parameter, all of them are there, whether a leaf admits them or
    not: the launcher says why it refuses.
    """
    host = interface(plan)
    own = {a.name for a in host.program} <= domains.keys()
    chosen = [
        point
        for point in points(plan, domains)
        if own or (admitted(plan, sizes, point) and _suits(plan, sizes, point, device))
    ]
    chosen.sort(key=lambda point: _plain(plan, sizes, point))
    # A region without tiles runs its leaf, whatever tile is asked for: blocks matter there.
    blocks = [baseline] if all(region.single for region in plan.regions) else chosen
    of_tiles = [_candidate(host, sizes, point, tile) for tile in range(1, plan.tiles + 1) for point in blocks]
    return (*of_tiles, *(_candidate(host, sizes, point, 0) for point in chosen))


def _candidate(host: Interface, sizes: Mapping[str, int], point: Mapping[str, int], tile: int) -> Candidate:
    last = () if host.tile is None else ((host.tile, tile),)
    return Candidate(host.name, tuple(sizes.items()), (*point.items(), *last))


def tile_of(plan: FunctionPlan, candidate: Candidate) -> int:
    """Return the number of the tile that a candidate asks for; 0 for the leaf."""
    return dict(candidate.parameters).get(interface(plan).tile or "", 0)


def capped(plan: FunctionPlan, candidate: Candidate, device: Device) -> tuple[Candidate, ...]:
    """A candidate of leaves with limits of registers a thread: at the cliffs of occupancy and a step to either side.

    A cap also changes what ptxas schedules, so that caps may pay where there is no cliff between them and no spill.
    """
    point = {**dict(candidate.sizes), **dict(candidate.parameters)}
    caps: set[int] = set()
    for threads in {threads_of(region, point) for region in plan.regions}:
        if not 1 <= threads <= device.max_threads_per_block:
            continue
        for cliff, _ in register_cliffs(device, threads_per_block=threads, shared_bytes_per_block=0):
            caps |= {cliff - REGISTER_STEP, cliff, cliff + REGISTER_STEP}
    most = device.max_registers_per_thread
    return tuple(
        replace(candidate, pipeline=f"register-cap{{registers={cap}}}")
        for cap in sorted(caps, reverse=True)
        if LEAST_REGISTERS <= cap <= most
    )


def admitted(plan: FunctionPlan, sizes: Mapping[str, int], point: Mapping[str, int]) -> bool:
    """Whether the asserts of the program hold."""
    try:
        return all(holds_preconditions(region.nest, values_at(plan, sizes, point)) for region in plan.regions)
    except UndefinedBehaviour:
        return False


def _suits(plan: FunctionPlan, sizes: Mapping[str, int], point: Mapping[str, int], device: Device) -> bool:
    """Whether every region has a leaf for the point, in blocks of a warp or more that the device allows."""
    for region in plan.regions:
        values = all_scalars(region.nest, values_at(plan, sizes, point))
        known = {**device.parameters(), **{k: v for k, v in values.items() if isinstance(v, int)}}
        systems = [leaf.system for leaf in region.leaves]
        if not any(all(a.holds(known) for a in s.atoms if known.keys() >= {*a.symbols}) for s in systems):
            return False
        if not LEAST_THREADS <= threads_of(region, known) <= device.max_threads_per_block:
            return False
    return True


def _plain(plan: FunctionPlan, sizes: Mapping[str, int], point: Mapping[str, int]) -> tuple[int, ...]:
    """Return the key of the plain rule: less is better."""
    threads = [threads_of(region, {**sizes, **point}) for region in plan.regions]
    innermost = [_innermost(region, {**sizes, **point}) for region in plan.regions]
    far = sum(abs(count - USUAL_THREADS) for count in threads)
    return (far, sum(count < LEAST_THREADS for count in innermost), sum(point.values()), *point.values())


def threads_of(region: RegionPlan, values: Mapping[str, int]) -> int:
    """Return the threads of a block of the region's leaves."""
    return prod(int(c_value(loop.extent, values)) for loop in region.nest.thread_loops)


def _innermost(region: RegionPlan, values: Mapping[str, int]) -> int:
    loops = region.nest.thread_loops
    return int(c_value(loops[-1].extent, values)) if loops else 1


def values_at(
    plan: FunctionPlan, sizes: Mapping[str, int], point: Mapping[str, int]
) -> dict[str, int | float]:
    """Return the values of all scalars.

    What only host code knows counts as 0: no condition of a block speaks of it. Data is there, and numbers that are no
    integers are 1.
    """
    numbers = {p.name: 1.0 for p in plan.function.parameters if not p.is_data and not p.type.is_integer}
    scalars = [s for region in plan.regions for s in region.nest.scalars]
    host = {s.name: int(s.pointer is not None) for s in scalars if s.role.value == "host"}
    return {**host, **numbers, **sizes, **point}
