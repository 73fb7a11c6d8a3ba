"""The runs of a function that a point admits.

In: the plan of a function, its trees and arguments.  Out: a :class:`Case` for each leaf, on a machine that leads to it,
for each tile that fits, and for the launcher's own choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from comprehensive.loops.interpreter import UndefinedBehaviour, c_value
from comprehensive.loops.ir import Variant
from comprehensive.machine.device import load_device
from comprehensive.model.choice import size_obstacle
from comprehensive.optimize.tree import Tree
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan, RegionPlan
from comprehensive.soundness.machines import machine_for, serves_all
from comprehensive.soundness.sampling import all_scalars

MAX_BLOCK_THREADS = 1024


@dataclass(frozen=True, slots=True)
class Case:
    """A run of a leaf, of a tile, or of the launcher's own choice; ``number``: of its region, and its own."""

    kind: str
    name: str
    number: tuple[int, int]
    machine: Mapping[str, int]
    parameters: Mapping[str, int]
    tile: int = 1
    """The number of tiles that a region must have for none of its leaves to run."""


def cases_at(plan: FunctionPlan, trees: Sequence[Tree[Variant]], arguments: Mapping[str, Any]) -> list[Case]:
    """The cases that can run with these arguments; ``trees`` are those of the regions of the function."""
    host = interface(plan)
    tile, program = host.tile, {a.name: int(arguments[a.name]) for a in host.program}
    nests = [region.nest for region in plan.regions]
    # Blocks are those of the caller: where grids are rounded down, results depend on them.
    choice = Case("choice", "free choice", (-1, -1), {}, {**program, tile or "": -1})
    try:
        values = [
            {k: v for k, v in all_scalars(n, arguments, 1).items() if isinstance(v, int)} for n in nests
        ]
    except (UndefinedBehaviour, ValueError):
        return [] if tile is None else [choice]
    positive = [{k: max(0, v) for k, v in point.items()} for point in values]
    cases: list[Case] = []
    if tile is not None and all(map(_has_a_case, plan.regions, values)):
        cases.append(choice)
    for r, region in enumerate(plan.regions):
        threads = _threads(region, values[r])
        for number in region.numbers:
            kind = region.kind_of(number)
            if region.tiling_of(number) is not None:
                wanted = region.tile_of(number)
                # A number is that of a tile in every region that has so many.
                if all(map(partial(_has_room, wanted), plan.regions, values)):
                    name, chosen = f"{region.name} {kind} {wanted}", {**program, tile or "": wanted}
                    cases.append(Case(kind, name, (r, number), {}, chosen, wanted))
                continue
            if threads > MAX_BLOCK_THREADS:
                continue
            machine = machine_for(trees[r], number, positive[r])
            if machine is None or not serves_all(trees, positive, machine):
                continue
            chosen = dict(program) if tile is None else {**program, tile: 0}
            cases.append(Case("leaf", f"{region.name} leaf {number}", (r, number), machine, chosen))
    return cases


def _threads(region: RegionPlan, values: Mapping[str, int]) -> int:
    """The threads of a block of a leaf."""
    return prod(max(1, int(c_value(loop.extent, values))) for loop in region.nest.thread_loops)


def _has_a_case(region: RegionPlan, values: Mapping[str, int]) -> bool:
    """Whether a block of a leaf may have so many threads, or there is room for a tile."""
    tiles = {region.tile_of(n) for n in region.numbers if region.tiling_of(n) is not None}
    few = _threads(region, values) <= MAX_BLOCK_THREADS
    return few or any(_has_room(number, region, values) for number in tiles)


def _has_room(wanted: int, region: RegionPlan, values: Mapping[str, int]) -> bool:
    """Whether a region can run the tile with this number, or has none with it."""
    for number in region.numbers:
        tiling = region.tiling_of(number)
        if tiling is not None and region.tile_of(number) == wanted:
            tiles, sizes = tiling
            machine = {**load_device("sm_90").parameters(), **sizes}
            fits = all(atom.holds(machine) for atom in tiles.system.atoms)
            return fits and not size_obstacle(tiles, sizes, values)
    return True
