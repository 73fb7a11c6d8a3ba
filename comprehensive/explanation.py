"""Behind ``explain``: which leaf runs on a device at given parameters, and why each other one does not.

In: a compilation, a device, values of some parameters.  Out: for every region the verdict on each leaf and dead
end, condition by condition with the numbers put in::

    leaf 1 does not run: Z_B < 2*s*B + 2: 58112 < 514 is false

A condition that still depends on parameters without a value is reported as open, with those values put in that are
known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from comprehensive.algebra import Atom, Relation, System
from comprehensive.diagnostics import CompileError, Diagnostic, Severity
from comprehensive.driver import Compilation
from comprehensive.loops.access import names_read
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.compile_python import RANGES
from comprehensive.loops.interpreter import c_value
from comprehensive.loops.ir import Nest, Scalar, Variant
from comprehensive.machine.device import Device
from comprehensive.metafork.ast import Cast
from comprehensive.optimize.tree import Branch, Tree, walk


@dataclass(frozen=True, slots=True)
class Condition:
    """An atom at the given values: ``holds`` is None while it depends on ``missing``."""

    text: str
    numbers: str
    holds: bool | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A leaf (``kind`` "leaf") or a dead end; ``applies`` is None while a condition is open and none is false."""

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
    values: Mapping[str, int]
    cases: tuple[Case, ...]


def explain(
    compilation: Compilation, device: Device, values: Mapping[str, int], leaf: int | None = None
) -> tuple[RegionExplanation, ...]:
    """One explanation a region.

    Raises CompileError for a name that no region knows (CF0701), a program parameter below 1 or a negative size
    (CF0702), a leaf that no region has (CF0703), a value that its type does not hold (CF0704), and one that host code
    computes otherwise from the other values (CF0705).
    """
    _demand_known(compilation, values)
    for nest in compilation.nests:
        _demand_computed(nest, values)
    explained: list[RegionExplanation] = []
    for nest, tree in zip(compilation.nests, compilation.trees, strict=True):
        point = {**device.parameters(), **values}
        cases = [
            _case("leaf", found.index, found.simplified, tree, point, _notes(found.decisions))
            for found in tree.leaves
        ] + [
            _case("dead end", dead.index, dead.simplified, tree, point, tuple(r.note for r in dead.reasons))
            for dead in tree.dead_ends
        ]
        if leaf is not None:
            cases = [c for c in cases if c.kind == "leaf" and c.index == leaf]
        used = {s.name for s in nest.scalars}
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
        raise _error("CF0703", f"there is no leaf {leaf}", "`comprehensive tree` lists the leaves")
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
    point: Mapping[str, int],
    notes: tuple[str, ...],
) -> Case:
    atoms = sorted(system.atoms, key=lambda atom: atom.format(tree.order, tree.limits))
    conditions = tuple(_condition(atom, tree, point) for atom in atoms)
    if any(c.holds is False for c in conditions):
        applies = False
    else:
        applies = None if any(c.holds is None for c in conditions) else True
    return Case(kind, index, applies, conditions, notes)


def _condition(atom: Atom, tree: Tree[Variant], point: Mapping[str, int]) -> Condition:
    left, right = atom.positive_sides()
    sign = {Relation.GE: "<=", Relation.GT: "<", Relation.EQ: "=="}[atom.relation]
    known = {name: value for name, value in point.items() if name in atom.symbols}
    numbers = (
        f"{left.substitute(known).format(tree.order)} {sign} {right.substitute(known).format(tree.order)}"
    )
    missing = tuple(name for name in atom.symbols if name not in point)
    holds = None if missing else atom.holds(point)
    return Condition(atom.format(tree.order, tree.limits), numbers, holds, missing)


def _demand_known(compilation: Compilation, values: Mapping[str, int]) -> None:
    scalars = {s.name: s for nest in compilation.nests for s in nest.scalars}
    for name, value in values.items():
        if name not in scalars:
            known = ", ".join(sorted(scalars))
            raise _error("CF0701", f"no region has a parameter {name}", f"the parameters are {known}")
        lower = _lower_bound(compilation.nests, name)
        if value < lower:
            raise _error(
                "CF0702", f"{name} = {value} is below {lower}", f"give {name} a value of at least {lower}"
            )

        _demand_representable(scalars[name], value)


def _demand_representable(scalar: Scalar, value: int) -> None:
    if scalar.type.is_integer:
        low, high = RANGES[scalar.type]
        if not low <= value <= high:
            raise _error(
                "CF0704",
                f"{scalar.name} = {value} is no value of type {scalar.type.value}",
                f"give {scalar.name} a value from {low} to {high}",
            )


def _demand_computed(nest: Nest, values: Mapping[str, int]) -> None:
    """Compares the given values of host scalars with what the definitions in host code make of the others."""
    known: dict[str, int | float] = {}
    types = {s.name: s.type for s in nest.scalars}
    for scalar in nest.scalars:
        given = values.get(scalar.name)
        if scalar.value is None or not names_read(scalar.value) <= known.keys():
            if given is not None:
                known[scalar.name] = given
            continue
        try:
            computed = c_value(Cast(scalar.type, scalar.value), known, types)
        except UndefinedBehaviour as error:
            message = f"host code cannot compute {scalar.name} from the values given: {error}"
            raise _error("CF0705", message, "give other values") from None
        if given not in (None, computed):
            raise _error(
                "CF0705",
                f"{scalar.name} = {given}, but host code computes {computed} from the other values",
                f"leave out -D {scalar.name}={given}, or give other values",
            )
        known[scalar.name] = computed


def _lower_bound(nests: tuple[Nest, ...], name: str) -> int:
    return max(
        1 if s.role.value == "program" else 0 for nest in nests for s in nest.scalars if s.name == name
    )


def _error(code: str, message: str, help: str) -> CompileError:
    return CompileError((Diagnostic(Severity.ERROR, code, message, None, help=help),))


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
    runs = "runs" if case.kind == "leaf" else "applies: no variant, the dispatcher refuses"
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
                "values": dict(region.values),
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
