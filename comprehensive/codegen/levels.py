"""Performance levels with numbers put in, for selection: a plan and a level for each `P_...` in, a plan without them
out.

P_occupancy*W_SM <= ceil(B/32)*blocks  at P_occupancy = 1/2   -->   W_SM <= 2*ceil(B/32)*blocks
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from comprehensive.algebra import System
from comprehensive.plan.plan import ProgramPlan, RegionPlan
from comprehensive.records import replace


def with_levels(plan: ProgramPlan, levels: Mapping[str, int | Fraction]) -> ProgramPlan:
    """The plan whose systems speak of the machine and of parameters only."""
    if not levels:
        return plan
    functions = tuple(
        replace(function, regions=tuple(_region(region, levels) for region in function.regions))
        for function in plan.functions
    )
    return replace(plan, functions=functions)


def _region(region: RegionPlan, levels: Mapping[str, int | Fraction]) -> RegionPlan:
    return replace(
        region,
        leaves=tuple(replace(leaf, system=_system(leaf.system, levels)) for leaf in region.leaves),
        dead_ends=tuple(_system(system, levels) for system in region.dead_ends),
    )


def _system(system: System, levels: Mapping[str, int | Fraction]) -> System:
    assumed, atoms = (
        tuple(atom.substitute(levels) for atom in part) for part in (system.assumptions, system.atoms)
    )
    return System(assumed, atoms)
