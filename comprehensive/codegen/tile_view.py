"""The view from which the choice of a tile is printed.

In: a region with such kernels.  Out: :class:`TileCosts` for the header, whose texts are C over scalars of the region:
what the blocks of every instance do, and how many there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Atom, System
from comprehensive.codegen.dispatch import MACHINE_FIELDS, Dispatch, guard
from comprehensive.kernel_ir.c_expr import c_comment, count, mentions, wide
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.kernel_ir.terms import size_of
from comprehensive.loops.ir import Role
from comprehensive.machine.cost import TileWork
from comprehensive.metafork.ast import Expr, ScalarType
from comprehensive.metafork.printer import print_expr
from comprehensive.plan.interface import Argument
from comprehensive.plan.plan import RegionPlan, TilePlan
from comprehensive.schedule.instances import Instance


class WorkRow(Struct, frozen=True):
    """A ``cf_tile_work`` of the header."""

    rows: str
    takes: str
    comment: str


class InstanceCost(Struct, frozen=True):
    """An instance with how large a launch of it is; the texts are C."""

    number: int
    """The number as callers ask for it, from 1 on."""
    comment: str
    fits: str
    row: str
    """The row of the works, by how many elements are accessed together."""
    blocks: str
    steps: str
    parts: str
    turns: str
    """The steps that are not whole, and their turns; empty where all are whole."""
    more: str
    """The steps of the longest block beyond those; empty where all blocks do the same."""
    bytes: str
    is_cut: str
    tensor_cores: int
    """The bytes of the elements that tensor cores multiply; 0 where there are none."""


class TileCosts(Struct, frozen=True):
    """The data from which the header computes the costs of all tiles of a region, register tiles first."""

    parameters: str
    arguments: str
    sizes: tuple[Argument, ...]
    """Integers that the caller passes, in order of definition."""
    limits: tuple[tuple[str, str, str], ...]
    """Bounds of coordinates and of serial loops: name, value, and the text that it computes."""
    unused: tuple[str, ...]
    works: tuple[WorkRow, ...]
    instances: tuple[InstanceCost, ...]
    single: int
    """The number of those that do one sweep."""
    most_sweeps: tuple[int, ...]
    """The most sweeps of a launch, for each of the other instances."""
    elements: str
    """The text of the argument of that name."""


def tile_costs(region: RegionPlan, selection: Dispatch) -> TileCosts | None:
    """Return the costs of the tiles of a region; None for a region without tiles."""
    if not region.tilings:
        return None
    machine = selection.names.machine
    works: list[WorkRow] = []
    instances: list[InstanceCost] = []
    limits: dict[Expr, str] = {}
    for plan in region.tilings:
        for limit in (*(limit for _, limit in plan.kernel.limits), *plan.counted):
            limits.setdefault(limit, f"cf_limit{len(limits)}")
        for instance in plan.instances:
            number = region.tile_of(plan.first + plan.instances.index(instance))
            instances.append(_instance(plan, instance, number, len(works), machine, limits))
            works += [_row(plan, instance, together) for together in plan.kernel.together or (0,)]
    scalars = {s.name: s for plan in region.tilings for s in plan.nest.scalars if s.role is not Role.TILE}
    types = {s.name: s.type for s in scalars.values()}
    bounds = tuple((name, wide(limit, types), c_comment(print_expr(limit))) for limit, name in limits.items())
    read = " ".join((*(value for _, value, _ in bounds), *(f"{i.fits} {i.blocks}" for i in instances)))
    sizes = tuple(
        Argument(s.name, s.type_on_host)
        for s in scalars.values()
        if s.type.is_integer and mentions(read, s.name)
    )
    is_vectored = any(plan.kernel.together for plan in region.tilings)
    return TileCosts(
        parameters=", ".join((f"const cf_machine *{machine}", *(a.declaration for a in sizes))),
        arguments=", ".join((machine, *(a.name for a in sizes))),
        sizes=sizes,
        limits=bounds,
        unused=(
            *(() if region.several else ("cf_sweeps",)),
            *(() if is_vectored else ("cf_width",)),
        ),
        works=tuple(works),
        instances=tuple(instances),
        single=sum(len(plan.instances) for plan in region.single),
        most_sweeps=tuple(plan.most_sweeps(i) for plan in region.several for i in plan.instances),
        elements=_ELEMENTS if is_vectored else "",
    )


_ELEMENTS = """cf_width: how many elements an access takes, 4 where data and rows begin at multiples of 16 bytes,
   perhaps 2, else 1."""


def _instance(
    plan: TilePlan, instance: Instance, number: int, row: int, machine: str, limits: Mapping[Expr, str]
) -> InstanceCost:
    kernel, sizes = plan.kernel, plan.sizes(instance)
    types = {s.name: s.type for s in plan.nest.scalars}
    names = [limits[limit] for _, limit in kernel.limits]
    counted = [limits[limit] for limit in plan.counted]
    # A condition over what cannot be computed is CF_UNDEFINED.
    conditions = (f"{guard(c, types).condition} == 1" for c in plan.conditions_of(sizes))
    countable = (f"cf_limit({name}) != CF_UNDEFINED" for name in dict.fromkeys(names))
    return InstanceCost(
        number,
        c_comment(", ".join(f"{name} = {size}" for name, size in sizes.items())),
        " && ".join((_fits(plan.system, sizes, machine), *countable, *conditions)),
        _row_of(kernel, row),
        _product(
            [
                *_tiles(plan, sizes, names, types),
                *(f"cf_number_of({name})" for name in names[len(names) - len(plan.tile.batch) :]),
            ]
        ),
        *_steps(plan, instance, counted),
        _more(plan, instance, names, counted),
        _sum(
            [
                _product([str(t.bytes), *(f"cf_number_of({n})" for n in t.of(names, counted))])
                for t in plan.traffic
            ]
        ),
        _cut(plan, sizes, names),
        kernel.tensor_core_bytes,
    )


def _tiles(
    plan: TilePlan, sizes: Mapping[str, int], limits: Sequence[str], types: Mapping[str, ScalarType]
) -> list[str]:
    """Return factors of the number of tiles: along each coordinate what `Coordinate.tiles` says, in counts."""
    if plan.kernel.staircase is not None:
        return [f"cf_stairs_of({plan.kernel.staircase.at(sizes).call(types)})"]
    return [
        f"cf_tiles({limit}, {c.shift}, {size_of(c.step, sizes)})"
        for c, limit in zip(plan.tile.coordinates, limits, strict=False)
    ]


def _product(factors: Sequence[str]) -> str:
    return factors[0] if len(factors) == 1 else f"cf_times({factors[0]}, {_product(factors[1:])})"


def _sum(terms: Sequence[str]) -> str:
    if not terms:
        return "0"  # a region that touches no data moves nothing
    return terms[0] if len(terms) == 1 else f"cf_plus({terms[0]}, {_sum(terms[1:])})"


def _row(plan: TilePlan, instance: Instance, together: int) -> WorkRow:
    work: TileWork = plan.work(instance, together)
    parts = (work.once, work.step, work.part, work.kiloturn, work.cut_once, work.cut_step)
    takes = (work.warps, work.registers, work.shared_words, work.ahead)
    sizes = ", ".join(f"{name} = {size}" for name, size in plan.sizes(instance).items())
    return WorkRow(
        ", ".join(f"{{ {', '.join(map(str, part.rounded))} }}" for part in parts),
        ", ".join(map(str, takes)),
        c_comment(sizes + (f", {together} together" if together else "")),
    )


def _row_of(kernel: Kernel, first: int) -> str:
    *others, last = range(first, first + max(1, len(kernel.together)))
    cases = [f"cf_width == {n} ? {row} : " for n, row in zip(kernel.together, others, strict=False)]
    return f"{''.join(cases)}{last}"


def _steps(plan: TilePlan, instance: Instance, limits: Sequence[str]) -> tuple[str, str, str]:
    """Return the whole steps of a block, those that are not whole, and their turns."""
    of_loops = [f"cf_number_of({name})" for name in plan.turns(limits, "cf_sweeps")]
    length = plan.step(instance)
    if plan.kernel.shares_outermost:
        shared, *inside = of_loops
        whole, part = f"{shared} / {length}", f"(cf_count)({shared} % {length} != 0)"
        return whole, part, _product([_sum([whole, part]), *inside])
    outer, done = ([], of_loops) if plan.kernel.beside else (of_loops[:-1], of_loops[-1:])
    if length == 1:
        return _product([*outer, _sum(done)]), "", ""
    mean_rest = plan.mean_rest(instance)
    if mean_rest is None:
        rests = [f"{n} % {length}" for n in done]
        parts = [f"(cf_count)({rest} != 0)" for rest in rests]
    else:
        rests, parts = [str(mean_rest)] * len(done), ["1"] * len(done)
    return (
        _product([*outer, _sum([f"{n} / {length}" for n in done])]),
        _product([*outer, _sum(parts)]),
        _product([*outer, _sum(rests)]),
    )


def _more(plan: TilePlan, instance: Instance, names: Sequence[str], counted: Sequence[str]) -> str:
    """Return the whole steps that the longest block does beyond those of the mean one."""
    if plan.mean_steps is None:
        return ""
    last, length = plan.loop_limits[-1], plan.step(instance)
    most, mean = (f"cf_number_of({of[last]}) / {length}" for of in (names, counted))
    return f"cf_minus({most}, {mean})"


def _cut(plan: TilePlan, sizes: Mapping[str, int], limits: Sequence[str]) -> str:
    """Return the condition that a tile along some coordinate is not whole; empty where its block does what all do.

    Of tiles that overlap or begin before 0 some never are.
    """
    if plan.kernel.has_copies:
        return ""
    if any(c.shift or c.lead is not None for c in plan.tile.coordinates):
        return "1"
    extents = [
        (size_of(c.extent, sizes), name) for c, name in zip(plan.tile.coordinates, limits, strict=False)
    ]
    return " || ".join(f"{name} % {extent} != 0" for extent, name in extents if extent > 1) or "0"


def _fits(system: System, sizes: Mapping[str, int], machine: str) -> str:
    """The conditions on the machine, those that hold for these sizes anyway left out."""
    atoms = [atom.substitute(sizes) for atom in system.atoms]
    return " && ".join(_on_machine(atom, machine) for atom in atoms if atom.truth is not True) or "1"


def _on_machine(atom: Atom, machine: str) -> str:
    left, right = map(count, atom.positive_sides())
    text = f"{left} {atom.sign} {right}"
    for symbol in atom.symbols:
        text = re.sub(rf"\b{symbol}\b", f"cf_amount({machine}->{MACHINE_FIELDS[symbol]})", text)
    return text
