"""The manifest: what was generated, for programs that read it.

In: a :class:`ProgramPlan` and the trees.  Out: one JSON document, independent of any device, of this shape::

    {"schema": 2, "tool": "comprehensive 1.0.0", "source": {...}, "functions": [
      {"name": "matmul", "parameters": ["B0", "ub1", "s"], "regions": [
        {"name": "matmul", "scalars": [...], "arrays": [...], "leaves": [
          {"index": 0, "system": ["B0^2 + s*B0*ub1 <= Z_B", ...], "kernel": {...}, "counters": [...]}]}]}]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from comprehensive.algebra import System
from comprehensive.codegen.header_view import INTERFACE_VERSION
from comprehensive.codegen.needs import as_document, needs
from comprehensive.codegen.resources import Resources
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.ir import Role, Variant
from comprehensive.machine.cost import TileWork
from comprehensive.machine.work import WORK_FIELDS
from comprehensive.metafork.printer import print_expr
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.optimize.tree import Leaf, Tree
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan, LeafPlan, ProgramPlan, RegionPlan, TilePlan

SCHEMA = 3


def manifest(
    plan: ProgramPlan,
    trees: Sequence[Tree[Variant]],
    resources: Resources | None,
    sources: Mapping[str, str],
    embedded: Mapping[str, Any] | None,
    version: str,
) -> dict[str, Any]:
    """The document; ``trees`` are those of the regions in program order.

    Without ``resources`` what kernels take on a device is left open.  ``sources`` are the header and the kernels by
    name, which the document names by what is in them; ``embedded`` says what compiled kernels are among them.
    """
    remaining = iter(trees)
    return {
        "schema": SCHEMA,
        "interface": INTERFACE_VERSION,
        "tool": f"comprehensive {version}",
        "source": {"name": plan.source_path, "sha256": plan.source_digest},
        "header": f"{plan.stem}.h",
        "kernels": f"{plan.stem}.cu",
        "embedded": embedded,
        "sha256": {name: sha256(text.encode()).hexdigest() for name, text in sorted(sources.items())},
        "resources": None if resources is None else {"from": resources.source, "arch": resources.arch},
        "functions": [
            {
                "name": function.function.name,
                "arguments": _arguments(function),
                "tile": interface(function).tile,
                "parameters": _program_parameters(function.regions),
                **_versions(function),
                **_adaptation(function),
                "tuned": [
                    {
                        "device": row.device,
                        "sizes": dict(row.sizes),
                        "parameters": dict(row.parameters),
                        "microseconds": row.microseconds,
                    }
                    for row in function.tuned
                ],
                "regions": [_region(region, next(remaining), resources) for region in function.regions],
            }
            for function in plan.functions
        ],
    }


def _adaptation(function: FunctionPlan) -> dict[str, Any]:
    """Return the candidates that are tried while the function runs, if it is asked to; empty where there are none."""
    found = function.adaptation
    if found is None:
        return {}
    tried = [{"version": each.version, "threads": each.threads} for each in found.candidates]
    parts = {"parts": found.parts} if found.parts else {}
    return {"adapt": interface(function).adapt, "candidates": tried, "along": found.along, **parts}


def _versions(function: FunctionPlan) -> dict[str, Any]:
    """The member that chooses a version of the kernels, and what versions have of their own; nothing without some."""
    member = interface(function).version
    if member is None:
        return {}
    return {
        "version": member,
        "versions": [
            {
                "number": number,
                "name": version.name,
                "kernels": [
                    {"name": name, "constants": list(constants), "passes": pipeline}
                    for (name, constants), pipeline in version.pipelines
                ],
            }
            for number, version in enumerate(function.versions)
        ],
    }


def _arguments(function: FunctionPlan) -> list[dict[str, Any]]:
    """The parameter list of the user, in its order."""
    host = interface(function)
    needed = needs(function.function, [region.nest for region in function.regions])
    dims = {p.name: p.dims for p in function.function.parameters}
    return [
        {
            "name": a.name,
            "type": a.type.value,
            "pointer": a.pointer,
            "const": a.const,
            "may_be_null": a.may_be_null,
            "program": a.name in host.program_names,
            "dims": [None if d is None else print_expr(d) for d in dims[a.name] or (None,)]
            if a.pointer
            else None,
            "needs": as_document(needed.get(a.name)),
        }
        for a in host.everything
    ]


def _program_parameters(regions: tuple[RegionPlan, ...]) -> list[str]:
    names = [s.name for region in regions for s in region.nest.with_role(Role.PROGRAM)]
    return list(dict.fromkeys(names))


def _region(
    region: RegionPlan,
    tree: Tree[Variant],
    resources: Resources | None,
) -> dict[str, Any]:
    nest = region.nest
    return {
        "name": region.name,
        "line": nest.span.position[0],
        "scalars": [
            {
                "name": s.name,
                "type": s.type.value,
                "role": s.role.value,
                "value": None if s.value is None else print_expr(s.value),
            }
            for s in nest.scalars
        ],
        "arrays": [
            {
                "name": a.name,
                "type": a.type.value,
                "dims": None if a.dims is None else [None if d is None else print_expr(d) for d in a.dims],
                "const": a.const,
            }
            for a in nest.arrays
        ],
        "preconditions": [print_expr(p) for p in nest.preconditions],
        "assumptions": [str(atom) for atom in tree.assumptions],
        "machine_parameters": list(tree.limits),
        "leaves": [
            _leaf(planned, leaf, tree, resources)
            for planned, leaf in zip(region.leaves, tree.leaves, strict=True)
        ],
        "dead_ends": [_system(d, tree) for d in region.dead_ends],
        "tiles": _alternatives(region, tree, resources),
        "reassociated": region.reassociated,
    }


def _alternatives(
    region: RegionPlan, tree: Tree[Variant], resources: Resources | None
) -> list[dict[str, Any]]:
    """Return the tile that each recipe makes of the region, or why it does not fit."""
    plans = iter(region.tilings)
    return [
        {"recipe": each.recipe, "because": each.tree.reason}
        if isinstance(each.tree, NotApplicable)
        else _tile(region, next(plans), each.tree, resources)
        for each in tree.alternatives
    ]


def _tile(
    region: RegionPlan, planned: TilePlan, tree: Tree[Variant], resources: Resources | None
) -> dict[str, Any]:
    (leaf,) = tree.leaves
    return {
        "recipe": planned.recipe,
        "because": None,
        "constants": list(planned.kernel.constants),
        "system": _system(planned.system, tree),
        "counters": _counters(leaf, tree),
        "kernel": _kernel(planned.kernel),
        "reassociated": planned.tile.reassociated,
        "tensor_cores": planned.kernel.tensor_core_bytes > 0,
        "limits": [print_expr(limit) for _, limit in planned.kernel.limits],
        "traffic": [{"array": t.array, "bytes": t.bytes, "limits": list(t.limits)} for t in planned.traffic],
        "together": list(planned.kernel.together),
        "instances": [
            {
                "number": region.tile_of(planned.first + number),
                "leaf": planned.first + number,
                "sizes": planned.sizes(instance),
                "works": [_work(planned.work(instance, n)) for n in planned.kernel.together or (0,)],
                "step": planned.step(instance),
                "resources": None if resources is None else resources.of_instance(planned, instance),
            }
            for number, instance in enumerate(planned.instances)
        ],
    }


def _work(work: TileWork) -> dict[str, Any]:
    """Return the work of a block, as the header has it."""
    parts = {"once": work.once, "step": work.step, "cut_once": work.cut_once, "cut_step": work.cut_step}
    return {
        **{name: dict(zip(WORK_FIELDS, part.rounded, strict=True)) for name, part in parts.items()},
        "threads": work.threads,
        "registers": work.registers,
        "shared_words": work.shared_words,
        "ahead": work.ahead,
    }


def _leaf(
    planned: LeafPlan, leaf: Leaf[Variant], tree: Tree[Variant], resources: Resources | None
) -> dict[str, Any]:
    return {
        "index": planned.index,
        "system": _system(planned.system, tree),
        "sample": None if leaf.sample is None else {k: str(v) for k, v in sorted(leaf.sample.items())},
        "undecided": leaf.undecided,
        "decisions": [
            {"strategy": d.strategy, "taken": d.taken, "text": d.text, "note": d.note} for d in leaf.decisions
        ],
        "counters": _counters(leaf, tree),
        "cached": list(planned.nest.cached),
        "kernel": _kernel(planned.kernel),
        "resources": None if resources is None else resources.of_leaf(planned.kernel.name),
    }


def _counters(leaf: Leaf[Variant], tree: Tree[Variant]) -> list[dict[str, str]]:
    return [
        {
            "name": c.name,
            "limit": c.limit,
            "value": evaluation.value.format(tree.order),
            "source": evaluation.source,
        }
        for c in tree.counters
        for evaluation in (c.evaluate(leaf.fragment),)
    ]


def _kernel(kernel: Kernel) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "parameters": [
            {
                "name": p.name,
                "type": p.type.value,
                "pointer": p.pointer,
                "const": p.const,
                "source": p.source.value,
                "of": p.of,
                "dimension": p.dimension,
            }
            for p in kernel.parameters
        ],
        "grid": [{"iterator": iterator, "extent": print_expr(extent)} for iterator, extent in kernel.grid],
        "block": [print_expr(extent) for extent in kernel.block],
        "shared_words": kernel.shared_words_text,
        "register_cap": kernel.register_cap,
        **({"slots": kernel.slots} if kernel.demoted else {}),
    }


def _system(system: System, tree: Tree[Variant]) -> list[str]:
    return list(system.format(tree.order, tree.limits))
