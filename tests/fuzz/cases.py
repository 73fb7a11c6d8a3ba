"""The runs of a function that a point admits.

In: the plan of a function, its trees and arguments.  Out: a :class:`Case` for each leaf, on a machine that leads to it,
for each tile that fits, and for the launcher's own choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from comprehensive.codegen.interface import interface
from comprehensive.codegen.plan import FunctionPlan
from comprehensive.loops.interpreter import UndefinedBehaviour, c_value
from comprehensive.loops.ir import Variant
from comprehensive.machine.device import load_device
from comprehensive.model.choice import size_obstacle
from comprehensive.optimize.tree import Tree
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
    cases = [] if tile is None else [Case("choice", "free choice", (-1, -1), {}, {**program, tile: -1})]
    try:
        values = [
            {k: v for k, v in all_scalars(n, arguments, 1).items() if isinstance(v, int)} for n in nests
        ]
    except (UndefinedBehaviour, ValueError):
        return cases
    positive = [{k: max(0, v) for k, v in point.items()} for point in values]
    for r, region in enumerate(plan.regions):
        threads = 1
        for loop in region.nest.thread_loops:
            threads *= max(1, int(c_value(loop.extent, values[r])))
        for number in region.numbers:
            tiling = region.tiling_of(number)
            kind = region.kind_of(number)
            if tiling is not None:
                tiles, sizes = tiling
                machine = {**load_device("sm_90").parameters(), **sizes}
                fits = all(atom.holds(machine) for atom in tiles.system.atoms)
                if fits and not size_obstacle(tiles, sizes, values[r]):
                    chosen = {**program, tile or "": region.tile_of(number)}
                    name = f"{region.name} {kind} {region.tile_of(number)}"
                    cases.append(Case(kind, name, (r, number), {}, chosen, region.tile_of(number)))
                continue
            if threads > MAX_BLOCK_THREADS:
                continue
            machine = machine_for(trees[r], number, positive[r])
            if machine is None or not serves_all(trees, positive, machine):
                continue
            chosen = dict(program) if tile is None else {**program, tile: 0}
            cases.append(Case("leaf", f"{region.name} leaf {number}", (r, number), machine, chosen))
    return cases
