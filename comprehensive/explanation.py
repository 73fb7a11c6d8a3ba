"""Behind ``explain``: which leaf runs on a device at given parameters, and why each other one does not.

In: a compilation, a device, values of some parameters.  Out: for every region the verdict on each leaf and dead
end, condition by condition with the numbers put in::

    leaf 1 does not run: Z_B < 2*s*B + 2: 58112 < 514 is false

A condition that still depends on parameters without a value is reported as open, with those values put in that are
known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from comprehensive.algebra import Atom, Quotient, System, with_quotients
from comprehensive.algebra.polynomial import Scalar
from comprehensive.codegen.plan import RegionPlan, TilePlan
from comprehensive.driver import Compilation
from comprehensive.loops.ir import Variant
from comprehensive.machine.device import Device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.optimize.tree import Branch, Tree, walk
from comprehensive.values import Rational, demand_computed, demand_known, value_error


@dataclass(frozen=True, slots=True)
class Condition:
    """An atom at the given values: ``holds`` is None while it depends on ``missing``."""

    text: str
    numbers: str
    holds: bool | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A leaf (``kind`` "leaf"), a dead end or a register tile (with numbers from 1 on, as callers ask for it).

    ``applies`` is None while a condition is open and none is false.
    """

    kind: str
    index: int
    applies: bool | None
    conditions: tuple[Condition, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RegionExplanation:
    """``registers`` says where the register counts come from: ``estimate``, ``ptxas sm_90``."""

    name: str
    device: str
    registers: str
    values: Mapping[str, Rational]
    cases: tuple[Case, ...]


def explain(
    compilation: Compilation, device: Device, values: Mapping[str, Rational], leaf: int | None = None
) -> tuple[RegionExplanation, ...]:
    """One explanation a region.

    Raises CommandLineError for a name that no region knows (CF0701), a program parameter below 1 or a negative size
    (CF0702), a leaf that no region has (CF0703), a value that its type does not hold (CF0704), and one that host code
    computes otherwise from the other values (CF0705).
    """
    # Speeds that the device does not state.
    demand_known(
        compilation, values, [name for name in MACHINE_PARAMETERS if name not in device.parameters()]
    )
    for nest in compilation.nests:
        demand_computed(nest, values)
    explained: list[RegionExplanation] = []
    regions = [region for function in compilation.plan.functions for region in function.regions]
    for nest, tree, tile, time, region in zip(
        compilation.nests, compilation.trees, compilation.tiles, compilation.time_tiles, regions, strict=True
    ):
        point = with_quotients({**device.parameters(), **values}, tree.quotients)
        cases = [
            _case("leaf", found.index, found.simplified, tree, point, _notes(found.decisions))
            for found in tree.leaves
        ] + [
            _case("dead end", dead.index, dead.simplified, tree, point, tuple(r.note for r in dead.reasons))
            for dead in tree.dead_ends
        ]
        grown = [tiles for tiles in (tile, time) if not isinstance(tiles, NotApplicable)]
        for plan, tiles in zip(region.tilings, grown, strict=True):
            cases += _tiles(region, plan, tiles, point)
        if leaf is not None:
            wanted = (region.kind_of(leaf), region.tile_of(leaf) or leaf)
            cases = [c for c in cases if (c.kind, c.index) == wanted]
        used = {*(s.name for s in nest.scalars), *tree.limits, *MACHINE_PARAMETERS}
        explained.append(
            RegionExplanation(
                nest.name,
                device.name,
                _register_source(tree),
                {k: v for k, v in values.items() if k in used},
                tuple(cases),
            )
        )
    if leaf is not None and not any(region.cases for region in explained):
        raise value_error(
            "CF0703",
            f"there is no leaf {leaf}",
            "`comprehensive tree` lists the leaves; numbers of tiles follow, as the manifest says",
        )
    return tuple(explained)


def _register_source(tree: Tree[Variant]) -> str:
    sources = (
        node.evaluation.source
        for node, _ in walk(tree.root)
        if isinstance(node, Branch) and node.limit == "R_B"
    )
    return ", ".join(dict.fromkeys(sources)) or "not counted"


def _notes(decisions: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(f"{d.strategy}: {d.note}" for d in decisions if d.taken)


def _case(
    kind: str,
    index: int,
    system: System,
    tree: Tree[Variant],
    point: Mapping[str, Scalar],
    notes: tuple[str, ...],
) -> Case:
    atoms = sorted(system.atoms, key=lambda atom: atom.format(tree.order, tree.limits))
    conditions = tuple(_condition(atom, tree, point) for atom in atoms)
    if any(c.holds is False for c in conditions):
        applies = False
    else:
        applies = None if any(c.holds is None for c in conditions) else True
    return Case(kind, index, applies, conditions, notes)


def _tiles(
    region: RegionPlan, tile: TilePlan, tree: Tree[Variant], point: Mapping[str, Scalar]
) -> list[Case]:
    cases: list[Case] = []
    for number, instance in enumerate(tile.instances):
        sizes = tile.sizes(instance)
        note = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        index = region.tile_of(tile.first + number)
        cases.append(_case(tile.kind, index, tile.system, tree, {**point, **sizes}, (note,)))
    return cases


def _condition(atom: Atom, tree: Tree[Variant], point: Mapping[str, Scalar]) -> Condition:
    left, right = atom.positive_sides()
    known = {name: value for name, value in point.items() if name in atom.symbols}
    numbers = f"{left.substitute(known).format(tree.order)} {atom.sign} {right.substitute(known).format(tree.order)}"
    missing = tuple(name for name in _parameters(atom.symbols, tree.quotients) if name not in point)
    holds = None if missing else atom.holds(point)
    return Condition(atom.format(tree.order, tree.limits), numbers, holds, missing)


def _parameters(symbols: Sequence[str], quotients: Sequence[Quotient]) -> tuple[str, ...]:
    """The symbols, those that quotients are made of in their places."""
    made = {quotient.symbol: (*quotient.above.symbols, *quotient.below.symbols) for quotient in quotients}
    expanded = dict.fromkeys(symbols)
    while any(name in made for name in expanded):
        expanded = dict.fromkeys(part for name in expanded for part in made.get(name, (name,)))
    return tuple(expanded)


def to_text(regions: tuple[RegionExplanation, ...]) -> str:
    """For a terminal: the case that runs first, then why the others do not."""
    lines: list[str] = []
    for region in regions:
        values = ", ".join(f"{k} = {v}" for k, v in region.values.items()) or "no parameter given"
        lines.append(f"{region.name} on {region.device}, {values}; register counts: {region.registers}")
        for case in sorted(region.cases, key=lambda c: (c.applies is not True, c.applies is False)):
            lines += _case_lines(case)
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def _case_lines(case: Case) -> list[str]:
    name = f"{case.kind} {case.index}"
    runs = {
        "leaf": "runs",
        "dead end": "applies: no variant, the dispatcher refuses",
        "register tile": "fits, and comes before the leaves where the launcher chooses",
        "time tile": "fits, and comes before all else where it chooses, and four sweeps of the loop or more are left",
    }[case.kind]
    match case.applies:
        case True:
            lines = [f"  {name} {runs}"]
            lines += [f"      {c.text}: {c.numbers}" for c in case.conditions]
        case False:
            lines = [f"  {name} does not"]
            lines += [f"      {c.text}: {c.numbers} is false" for c in case.conditions if c.holds is False]
        case None:
            lines = [f"  {name} if"]
            lines += [f"      {c.text}: {c.numbers}" for c in case.conditions if c.holds is None]
    return lines if case.applies is False else [*lines, *(f"      {note}" for note in case.notes)]


def to_json(regions: tuple[RegionExplanation, ...]) -> dict[str, Any]:
    """The same as one JSON document."""
    return {
        "schema": 1,
        "regions": [
            {
                "name": region.name,
                "device": region.device,
                "registers": region.registers,
                "values": {k: v if isinstance(v, int) else str(v) for k, v in region.values.items()},
                "cases": [
                    {
                        "kind": case.kind,
                        "index": case.index,
                        "applies": case.applies,
                        "conditions": [
                            {
                                "text": c.text,
                                "numbers": c.numbers,
                                "holds": c.holds,
                                "missing": list(c.missing),
                            }
                            for c in case.conditions
                        ],
                        "notes": list(case.notes),
                    }
                    for case in region.cases
                ],
            }
            for region in regions
        ],
    }
