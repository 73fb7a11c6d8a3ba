"""The explanation of ``explain``: the leaf that runs on a device at given parameters, and why each other one does not.

In: a compilation, a device, values of some parameters.  Out: for every region the verdict on each leaf and dead
end, condition by condition with the numbers put in::

    leaf 1 does not run: Z_B < 2*s*B + 2: 58112 < 514 is false

A condition that still depends on parameters without a value is reported as open, with those values put in that are
known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from comprehensive.algebra import Atom, Quotient, System, parameters_of, with_quotients
from comprehensive.algebra.polynomial import Scalar
from comprehensive.asserts import Assert, Asserts, not_checked, regions_of
from comprehensive.codegen.levels import with_levels
from comprehensive.driver import Compilation
from comprehensive.loops.interpreter import scalar_values
from comprehensive.loops.ir import Role, TileKind, Variant
from comprehensive.machine.device import Device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.model.choice import sweeps_left
from comprehensive.model.defaults import Defaults, Tried, left_out, left_to_launcher
from comprehensive.model.ranking import Ranking, rank
from comprehensive.model.turns import TURNS_OF_DATA
from comprehensive.nearest import nearest
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.optimize.tree import Branch, Tree, walk
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan, RegionPlan, TilePlan
from comprehensive.plan.versions import KernelKey
from comprehensive.records import replace
from comprehensive.schedule.instances import measured_on
from comprehensive.values import Rational, demand_values, limits_to_give, value_error

NEXT_BEST = 4
"""Parameters that are shown beside those that the launcher takes."""


class Condition(Struct, frozen=True):
    """An atom at the given values: ``holds`` is None while it depends on ``missing``."""

    text: str
    numbers: str
    holds: bool | None
    missing: tuple[str, ...]


class Case(Struct, frozen=True):
    """A leaf (``kind`` "leaf"), a dead end or a register tile (with numbers from 1 on, as callers ask for it).

    ``applies`` is None while a condition is open and none is false.
    """

    kind: str
    index: int
    applies: bool | None
    conditions: tuple[Condition, ...]
    notes: tuple[str, ...]
    change: Mapping[str, int] | None = None
    """The nearest program parameters at which a leaf runs that does not; empty where none was found."""


class RegionExplanation(Struct, frozen=True):
    """The explanation of which leaf of a region runs.

    ``registers`` says where the register counts come from: ``estimate``, ``ptxas sm_90``.
    """

    name: str
    device: str
    registers: str
    values: Mapping[str, Rational]
    cases: tuple[Case, ...]
    ranking: Ranking | None
    """None where a scalar or a level of performance has no value."""
    missing: tuple[str, ...]
    """The scalars and levels without a value."""
    left_out: int = 0
    """Points that the parameters of the ranking leave out."""
    defaults: Defaults | None = None
    """How the launcher chooses program parameters, where none has a value and all else has; the ranking is at these."""
    unchecked: tuple[str, ...] = ()
    """The asserts of the program, quoted, that only the generated code can test."""
    assumed: tuple[int, ...] = ()
    """The lines of loops of which data decides the turns; expected cycles are for ``TURNS_OF_DATA`` of them."""
    measured_on: str = ""
    """The architecture on which the sizes of tiles were measured, where the device has another one."""


def explain(
    compilation: Compilation, device: Device, values: Mapping[str, Rational], leaf: int | None = None
) -> tuple[RegionExplanation, ...]:
    """One explanation a region.

    Raises CommandLineError for a name that no region knows (CF0701), a program parameter below 1 or a negative size
    (CF0702), a leaf that no region has (CF0703), a value that its type does not hold (CF0704), and one that host code
    computes otherwise from the other values (CF0705).
    """
    unstated = [name for name in MACHINE_PARAMETERS if name not in device.parameters()]
    demand_values(compilation, values, unstated)
    levels = limits_to_give(compilation.trees)
    plan = with_levels(compilation.plan, {name: values[name] for name in levels if name in values})
    compilation = replace(compilation, plan=plan)
    open_levels = tuple(name for name in levels if name not in values)
    explained: list[RegionExplanation] = []
    regions = [(n, region) for n, f in enumerate(compilation.plan.functions) for region in f.regions]
    of_functions: list[Defaults | None] = [
        left_to_launcher(f, device.machine(), values) if leaf is None and not open_levels else None
        for f in compilation.plan.functions
    ]
    for (nest, tree, asserts), (function, region) in zip(regions_of(compilation), regions, strict=True):
        demanded = tuple(_asserted(each, values) for each in asserts.checked)
        point = with_quotients({**device.parameters(), **values}, tree.quotients)
        program = tuple(s.name for s in nest.with_role(Role.PROGRAM) if s.name in values)
        cases = [
            _with_change(
                _case("leaf", found.index, found.simplified, tree, point, _notes(found.decisions), demanded),
                asserts.restricted(found.simplified),
                point,
                program,
                tree.quotients,
                asserts,
            )
            for found in tree.leaves
        ] + [
            _case(
                "dead end",
                dead.index,
                dead.simplified,
                tree,
                point,
                tuple(r.note for r in dead.reasons),
                demanded,
            )
            for dead in tree.dead_ends
        ]
        grown = [each.tree for each in tree.alternatives if not isinstance(each.tree, NotApplicable)]
        for plan, tiles in zip(region.tilings, grown, strict=True):
            cases += _tiles(region, plan, tiles, point, demanded)
        if leaf is not None:
            wanted = (region.kind_of(leaf), region.tile_of(leaf) or leaf)
            cases = [c for c in cases if (c.kind, c.index) == wanted]
        used = {*(s.name for each in region.nests for s in each.scalars), *tree.limits, *MACHINE_PARAMETERS}
        chosen: Defaults | None = None if asserts.violated(values) else of_functions[function]
        at = {**values, **({} if chosen is None else chosen.parameters)}
        ranking, missing, left = (
            ranking_at(region, device, at, open_levels)
            if leaf is None and not asserts.violated(at)
            else (None, (), 0)
        )
        explained.append(
            RegionExplanation(
                nest.name,
                device.name,
                _register_source(tree),
                {k: v for k, v in values.items() if k in used},
                tuple(cases),
                ranking,
                _to_give(missing, compilation.plan.functions[function], values),
                left,
                unchecked=asserts.unchecked,
                defaults=chosen,
                assumed=_assumed(region),
                measured_on=measured_on() if region.tilings and device.arch != measured_on() else "",
            )
        )
    if leaf is not None and not any(region.cases for region in explained):
        raise value_error(
            "CF0703",
            f"there is no leaf {leaf}",
            "`comprehensive tree` lists the leaves; numbers of tiles follow, as the manifest says",
        )
    return tuple(explained)


def kernels_that_run(
    compilation: Compilation, explained: Sequence[RegionExplanation]
) -> tuple[tuple[str, KernelKey], ...]:
    """Return the kernels that the launcher takes, each with the name of its leaf or tile for people.

    Those of regions without a ranking are left out: there nothing says what runs.
    """
    regions = [region for function in compilation.plan.functions for region in function.regions]
    found: list[tuple[str, KernelKey]] = []
    for region, told in zip(regions, explained, strict=True):
        ranked = next((r for r in told.ranking.fitting if r.is_chosen), None) if told.ranking else None
        if ranked is None:
            continue
        if ranked.kind == "leaf":
            name = next(leaf.kernel.name for leaf in region.leaves if leaf.index == ranked.number)
            found.append((ranked.name, (name, ())))
            continue
        of_tile = region.kernels_of(ranked.number)
        last = (ranked.together,) if ranked.together else ()
        key = next((key for key in of_tile if not last or key[1][-1:] == last), None)
        if key is not None:
            found.append((ranked.name, key))
    return tuple(found)


def ranking_at(
    region: RegionPlan, device: Device, values: Mapping[str, Rational], open_levels: tuple[str, ...] = ()
) -> tuple[Ranking | None, tuple[str, ...], int]:
    """Return the ranking of tiles and of the leaf that runs, or the names that have no value; and points left out."""
    nests = (region.nest, *(plan.nest for plan in region.tilings))
    scalars = {
        s.name: s for nest in nests for s in nest.scalars if s.type.is_integer and s.role is not Role.TILE
    }
    there = {s.name: 1 for s in scalars.values() if s.pointer is not None}
    missing = tuple(s.name for s in scalars.values() if s.value is None and s.name not in {**there, **values})
    if missing or open_levels:
        return None, (*missing, *open_levels), 0
    given = there | {name: int(values[name]) for name in scalars if name in values}
    others = {s.name: 1.0 for s in region.nest.scalars if not s.type.is_integer}
    computed = scalar_values(region.nest, {**others, **given})
    # Loops around the region have scalars of their own, on which several sweeps at once depend.
    known = {**given, **{name: int(value) for name, value in computed.items() if name in scalars}}
    left = sweeps_left(region, known)
    return rank(region, device.machine(), known, sweeps_left=left), (), left_out(region.nest, known)


def _to_give(
    missing: tuple[str, ...], function: FunctionPlan, values: Mapping[str, Rational]
) -> tuple[str, ...]:
    """Return what has no value and needs one: the launcher chooses program parameters where none is given."""
    chosen = {argument.name for argument in interface(function).program}
    return missing if chosen & values.keys() else tuple(name for name in missing if name not in chosen)


def _assumed(region: RegionPlan) -> tuple[int, ...]:
    return tuple(sorted({span.position[0] for leaf in region.leaves for span in leaf.profile.assumed}))


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
    demanded: tuple[Condition, ...],
) -> Case:
    """Return the verdict on a leaf or dead end.

    ``demanded`` are the asserts, which come first: where one fails, the call is refused, whatever else holds.
    """
    atoms = sorted(system.atoms, key=lambda atom: atom.format(tree.order, tree.limits))
    conditions = (*demanded, *(_condition(atom, tree, point) for atom in atoms))
    if any(c.holds is False for c in conditions):
        applies = False
    else:
        applies = None if any(c.holds is None for c in conditions) else True
    return Case(kind, index, applies, conditions, notes)


def _with_change(
    case: Case,
    system: System,
    point: Mapping[str, Scalar],
    program: tuple[str, ...],
    quotients: tuple[Quotient, ...],
    asserts: Asserts,
) -> Case:
    """The case of a leaf with what would bring it about, where it is known not to run."""
    if case.applies is not False or any(c.missing for c in case.conditions) or not program:
        return case
    found = nearest(system, point, program, quotients, admitted=lambda moved: not asserts.violated(moved))
    return replace(case, change=found or {})


def _tiles(
    region: RegionPlan,
    tile: TilePlan,
    tree: Tree[Variant],
    point: Mapping[str, Scalar],
    demanded: tuple[Condition, ...],
) -> list[Case]:
    cases: list[Case] = []
    for number, instance in enumerate(tile.instances):
        sizes = tile.sizes(instance)
        note = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        index = region.tile_of(tile.first + number)
        cases.append(_case(tile.kind, index, tile.system, tree, {**point, **sizes}, (note,), demanded))
    return cases


def _asserted(demanded: Assert, values: Mapping[str, Rational]) -> Condition:
    missing = tuple(name for name in demanded.names if name not in values)
    return Condition(demanded.quoted, demanded.with_numbers(values), demanded.holds(values), missing)


def _condition(atom: Atom, tree: Tree[Variant], point: Mapping[str, Scalar]) -> Condition:
    left, right = atom.positive_sides()
    known = {name: value for name, value in point.items() if name in atom.symbols}
    numbers = f"{left.substitute(known).format(tree.order)} {atom.sign} {right.substitute(known).format(tree.order)}"
    missing = tuple(name for name in parameters_of(atom.symbols, tree.quotients) if name not in point)
    holds = None if missing else atom.holds(point)
    return Condition(atom.format(tree.order, tree.limits), numbers, holds, missing)


def to_text(regions: tuple[RegionExplanation, ...]) -> str:
    """Return text for a terminal: the case that runs first, then why the others do not."""
    lines: list[str] = []
    for region in regions:
        values = ", ".join(f"{k} = {v}" for k, v in region.values.items()) or "no parameter given"
        lines.append(f"{region.name} on {region.device}, {values}; register counts: {region.registers}")
        for case in sorted(region.cases, key=lambda c: (c.applies is not True, c.applies is False)):
            lines += _case_lines(case)
        if region.defaults is not None:
            lines += _defaults_lines(region.defaults)
        if region.left_out:
            lines.append(
                f"  the parameters leave out {region.left_out} points: extents of loops are rounded down"
            )
        if region.ranking is not None:
            lines += _ranking_lines(region.ranking, region.assumed)
            if region.measured_on:
                lines.append(
                    f"  sizes of tiles were measured on {region.measured_on}: here others may be faster"
                )
        elif region.missing:
            lines.append(f"  for a ranking give a value to {', '.join(region.missing)}")
        lines += [f"  {line}" for line in not_checked(region.unchecked)]
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def _defaults_lines(found: Defaults) -> list[str]:
    """Return lines on what the launcher takes without parameters, the next best, and the best with other leaves."""
    if found.chosen is None:
        return ["  without parameters the launcher finds none that can be launched"]
    ranked = sorted((t for t in found.tried if t is not found.chosen), key=lambda tried: tried.order)
    shown = ranked[:NEXT_BEST] if found.chosen.leaves else []
    for tried in ranked:
        if tried.leaves not in {t.leaves for t in (found.chosen, *shown)}:
            shown.append(tried)
    taken = f"  without parameters the launcher takes {_tried(found.chosen)}"
    others = [f"      {_tried(tried)}" for tried in shown]
    return [f"{taken}; the next ones that it looked at:", *others] if shown else [taken]


def _tried(tried: Tried) -> str:
    parameters = ", ".join(f"{name} = {value}" for name, value in tried.parameters.items())
    if not tried.leaves:
        return f"{parameters}, of which it knows no more: host code computes sizes of regions in a loop"
    leaves = " and ".join(f"leaf {number}" for number in dict.fromkeys(tried.leaves))
    left = f", {tried.left_out} points left out" if tried.left_out else ""
    return f"{parameters} ({leaves}, {tried.leaf_cycles} cycles{left})"


def _ranking_lines(ranking: Ranking, assumed: Sequence[int]) -> list[str]:
    """Return lines on what is expected of everything that fits, and for the first how that comes about."""
    lines = ["  expected cycles of a launch, the least first (a model, good for comparing)"]
    lines += [
        f"      as if the loop of line {line}, which data ends, had {TURNS_OF_DATA} turns" for line in assumed
    ]
    for place, ranked in enumerate(ranking.fitting):
        assert ranked.cost is not None
        cost = ranked.cost
        sweeps = f" for {ranked.sweeps} sweeps" if ranked.sweeps > 1 else ""
        launched = ", which the launcher takes" if ranked.is_chosen else ""
        lines.append(f"      {ranked.name}: {cost.cycles}{sweeps}, bound by {cost.bound.name}{launched}")
        if place == 0:
            held = f"{cost.blocks} blocks on the busiest multiprocessor, {cost.resident} at a time"
            lines.append(f"          {held}; the largest of these, and the launch itself:")
            lines += [f"          {t.name}: {t.cycles} = {t.numbers}" for t in cost.terms if t.cycles]
    lines += [f"      {ranked.name} does not fit: {ranked.because}" for ranked in ranking.others]
    return lines


def _case_lines(case: Case) -> list[str]:
    name = f"{case.kind} {case.index}"
    of_tiles = {kind.shown: kind.fits for kind in TileKind}
    runs = {"leaf": "runs", "dead end": "applies: no variant, the dispatcher refuses", **of_tiles}[case.kind]
    match case.applies:
        case True:
            lines = [f"  {name} {runs}"]
            lines += [f"      {c.text}: {c.numbers}" for c in case.conditions]
        case False:
            lines = [f"  {name} does not"]
            lines += [f"      {c.text}: {c.numbers} is false" for c in case.conditions if c.holds is False]
            if case.change is not None:
                changed = ", ".join(f"{name} = {value}" for name, value in case.change.items())
                lines.append(
                    f"      it would with {changed}"
                    if changed
                    else "      no other parameters that were tried help"
                )
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
                "ranking": None if region.ranking is None else _ranking_json(region.ranking),
                "defaults": None if region.defaults is None else _defaults_json(region.defaults),
                "left_out": region.left_out,
                "assumed_turns": [{"line": line, "turns": TURNS_OF_DATA} for line in region.assumed],
                "unchecked": list(region.unchecked),
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
                        "change": None if case.change is None else dict(case.change),
                    }
                    for case in region.cases
                ],
            }
            for region in regions
        ],
    }


def _defaults_json(found: Defaults) -> dict[str, Any]:
    return {
        "parameters": dict(found.parameters),
        "tried": [
            {
                "parameters": dict(tried.parameters),
                "leaves": list(tried.leaves),
                "cycles": tried.cycles,
                "leaf_cycles": tried.leaf_cycles,
                "left_out": tried.left_out,
                "chosen": tried is found.chosen,
            }
            for tried in sorted(found.tried, key=lambda tried: tried.order)
        ],
    }


def _ranking_json(ranking: Ranking) -> list[dict[str, Any]]:
    return [
        {
            "kind": ranked.kind,
            "number": ranked.number,
            "chosen": ranked.is_chosen,
            "sweeps": ranked.sweeps,
            "cycles": None if ranked.cost is None else ranked.cost.cycles,
            "bound": None if ranked.cost is None else ranked.cost.bound.name,
            "terms": []
            if ranked.cost is None
            else [{"name": t.name, "cycles": t.cycles, "numbers": t.numbers} for t in ranked.cost.terms],
            "because": ranked.because or None,
        }
        for ranked in (*ranking.fitting, *ranking.others)
    ]
