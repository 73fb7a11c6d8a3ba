"""What the header is printed from: frozen views in which every decision is taken.

In: a :class:`ProgramPlan`.  Out: a :class:`HeaderView` for `templates/host/header.h.j2`; every text in it is C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from comprehensive.codegen.c_expr import c_comment, c_string, mentions, wide
from comprehensive.codegen.dispatch import (
    MACHINE_FIELDS,
    Case,
    Dispatch,
    Fact,
    Guard,
    Names,
    Shape,
    dispatch,
    host_values,
    is_size,
    names_beside,
)
from comprehensive.codegen.interface import Argument, Interface, interface
from comprehensive.codegen.plan import FunctionPlan, ProgramPlan, RegionPlan, TunedRow
from comprehensive.codegen.tile_view import TileCosts, tile_costs
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Role
from comprehensive.loops.sizes import sizes
from comprehensive.machine.device import devices
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.machine.speeds import SPEEDS

INTERFACE_VERSION = 2
"""Of the part that generated headers share; raised with every incompatible change of it."""

CANDIDATES = 4096
"""The most parameter choices that one search may try."""

LARGEST_EXPONENT = 10
"""Searches among powers of two end at 2**10: no extent of a block is larger."""

NEIGHBOURS = 39
"""The number of values that `cf_neighbour` knows."""


HostValues: TypeAlias = tuple[tuple[Argument, str], ...] | None
"""Host scalars with their values as C text, in order; None where one is known at the launch only."""


@dataclass(frozen=True, slots=True)
class MachineField:
    name: str
    symbol: str
    meaning: str
    unit: str


@dataclass(frozen=True, slots=True)
class RegionView:
    """A :class:`Dispatch` whose texts are C literals, with the parameter lists of its functions."""

    name: str
    params_type: str
    program: tuple[Argument, ...]
    machine: tuple[tuple[str, str], ...]
    smallest: tuple[Guard, ...]
    preconditions: tuple[Guard, ...]
    facts: tuple[Fact, ...]
    cases: tuple[Case, ...]
    cases_length: int
    dead_ends: tuple[str, ...]
    quotients: tuple[tuple[str, str, str], ...]
    """Name, value and meaning of what is computed before the facts."""
    shapes: tuple[Shape, ...]
    explanations: tuple[tuple[int, str], ...]
    names: Names
    select_parameters: str
    unused: tuple[str, ...]
    size_arguments: str
    nearest_parameters: str
    shape_parameters: str
    shape_program: tuple[Argument, ...]
    shape_unused: tuple[str, ...]
    moves: int
    neighbours: int
    exponents: int
    powers: int
    host_values: HostValues
    value_program: tuple[Argument, ...]
    value_arguments: str
    shape_value_arguments: str
    tiles: TileCosts | None
    points: str
    """How many points there are, as far as defaults can tell; empty where they cannot."""


@dataclass(frozen=True, slots=True)
class TunedView:
    """A row of tuned parameters as C text."""

    device: str
    sizes: str
    parameters: str
    comment: str


@dataclass(frozen=True, slots=True)
class FunctionView:
    name: str
    params_type: str
    program: tuple[Argument, ...]
    tile: str | None
    """The member that chooses register tiles."""
    in_any_order: bool
    """Whether floating-point sums are made of atomic updates."""
    tiles_compute: str
    """How what tiles compute differs from what leaves do."""
    sizes: tuple[Argument, ...]
    """The integer arguments that default parameters depend on."""
    regions: tuple[RegionView, ...]
    names: Names
    launch_parameters: str
    choose_parameters: str
    """Those of a launch without the stream."""
    defaults_parameters: str
    defaults_unused: tuple[str, ...]
    not_considered: str
    """Regions that the choice of defaults leaves out: a size of theirs is known at the launch only."""
    candidates: int
    values: tuple[int, ...]
    """Of each program parameter, among the candidates for defaults."""
    value_type: str
    tuned: tuple[TunedView, ...]
    tuned_sizes: tuple[Argument, ...]
    """The arguments whose values rows of tuned parameters are for."""


@dataclass(frozen=True, slots=True)
class HeaderView:
    version: str
    input_name: str
    stem: str
    guard: str
    functions: tuple[FunctionView, ...]

    @property
    def has_bool(self) -> bool:
        """Whether a function takes what C has from a header."""
        return "bool " in " ".join(
            text
            for f in self.functions
            for text in (f.launch_parameters, *(a.declaration for a in f.program))
        )

    @property
    def has_tuned(self) -> bool:
        return any(function.tuned for function in self.functions)


def header_view(plan: ProgramPlan, version: str) -> HeaderView:
    """The view of a program. CompileError as :func:`comprehensive.codegen.interface.interface` raises it."""
    return HeaderView(
        version=version,
        input_name=c_comment(plan.source_path),
        stem=plan.stem,
        guard=f"CF_GENERATED_{re.sub('[^A-Za-z0-9]', '_', plan.stem).upper()}_H",
        functions=tuple(function_view(function) for function in plan.functions),
    )


def machine_fields() -> tuple[MachineField, ...]:
    """The fields of `cf_machine`, in the order of the machine parameters."""
    return tuple(
        MachineField(MACHINE_FIELDS[p.symbol], p.symbol, p.meaning, p.unit)
        for p in MACHINE_PARAMETERS.values()
    )


def architecture_speeds() -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The speeds of every architecture, in the order of :data:`SPEEDS`, by ten times its compute capability."""
    known = {d.compute_capability: d.machine() for d in devices() if d.name == d.arch}
    return tuple((arch, tuple(machine[name] for name in SPEEDS)) for arch, machine in sorted(known.items()))


def function_view(plan: FunctionPlan) -> FunctionView:
    """The view of one function with its regions."""
    host = interface(plan)
    names = names_beside(a.name for a in host.everything)
    found = tuple(dispatch(region, host) for region in plan.regions)
    regions = tuple(
        _region_view(region, host, tile_costs(planned, region), *_points(planned, region, host))
        for planned, region in zip(plan.regions, found, strict=True)
    )
    sizes = _function_sizes(plan, found, [region.host_values for region in regions], host)
    values = default_values(len(host.program))
    choose = [*(a.declaration for a in host.arguments), f"const {host.name}_params *{names.params}"]
    launch = [*choose, f"struct CUstream_st *{names.stream}"]
    machine = f"const cf_machine *{names.machine}"
    read = " ".join(
        " ".join((r.value_arguments, *(value for _, value in r.host_values), r.points))
        for r in regions
        if r.host_values is not None
    )
    idle = [] if any(r.host_values is not None for r in regions) else [names.machine]
    return FunctionView(
        name=host.name,
        params_type=f"{host.name}_params",
        program=host.program,
        tile=host.tile,
        in_any_order=any(region.adds_in_any_order for region in plan.regions),
        tiles_compute=_tiles_compute(plan),
        sizes=sizes,
        regions=regions,
        names=names,
        launch_parameters=", ".join(launch),
        choose_parameters=", ".join(choose),
        defaults_parameters=", ".join((machine, *(a.declaration for a in sizes))),
        defaults_unused=(*idle, *(a.name for a in sizes if not mentions(read, a.name))),
        not_considered=", ".join(r.name for r in regions if r.host_values is None),
        candidates=len(values) ** len(host.program),
        values=values,
        value_type="long" if any(a.type.size_bytes > 4 for a in host.program) else "int",
        tuned=tuple(_tuned(row) for row in plan.tuned),
        tuned_sizes=_tuned_sizes(plan, host),
    )


def _tuned(row: TunedRow) -> TunedView:
    return TunedView(
        c_string(row.device),
        ", ".join(str(value) for _, value in row.sizes),
        ", ".join(str(value) for _, value in row.parameters) or "0",
        f"{row.microseconds:.2f} us",
    )


def _tuned_sizes(plan: FunctionPlan, host: Interface) -> tuple[Argument, ...]:
    if not plan.tuned:
        return ()
    arguments = {a.name: a for a in host.arguments}
    return tuple(arguments[name] for name, _ in plan.tuned[0].sizes)


def default_values(parameters: int) -> tuple[int, ...]:
    """What each program parameter is tried with, so that a search takes some microseconds: about a hundred in all."""
    if parameters <= 2:
        return tuple(1 << k for k in range(LARGEST_EXPONENT + 1))
    return {3: (1, 4, 32, 256), 4: (1, 8, 32)}.get(parameters, (1, 16)) if parameters <= 6 else (1,)


def most_values(parameters: int, wanted: int) -> int:
    """How many values each parameter may take so that all combinations are within `CANDIDATES`."""
    values = wanted
    while values > 1 and values**parameters > CANDIDATES:
        values -= 1
    return values


def data_sizes(plan: FunctionPlan, host: Interface) -> tuple[Argument, ...]:
    """The integer arguments that give dimensions of data or shape a grid, and whose types have other values, too."""
    data = {s.name for region in plan.regions for s in region.nest.with_role(Role.DATA)}
    data |= {name for region in plan.regions for name in sizes(region.nest)}
    return tuple(a for a in host.arguments if a.name in data and a.type.is_integer and not is_size(a.type))


def _function_sizes(
    plan: FunctionPlan, found: Sequence[Dispatch], computed: Sequence[HostValues], host: Interface
) -> tuple[Argument, ...]:
    """The arguments that the choice of default parameters reads; ``computed`` is what it computes from them."""
    wanted = {a.name for region in found for a in region.sizes}
    wanted |= {
        name
        for region in plan.regions
        for tiling in region.tilings[:1]
        for _, limit in tiling.kernel.limits
        for name in names_read(limit)
    }
    for region, values in zip(plan.regions, computed, strict=True):
        for argument, _ in values or ():
            value = region.nest.scalar(argument.name).value
            wanted |= names_read(value) if value is not None else frozenset()
    return tuple(a for a in host.arguments if a.name in wanted)


def _points(planned: RegionPlan, region: Dispatch, host: Interface) -> tuple[HostValues, str]:
    """What host code computes before defaults are chosen, and a count of the turns of all loops.

    The kernels over tiles know the bounds; the count is empty where one is known at the launch only.
    """
    passed = [a.name for a in host.everything]
    if region.host_values is None or not planned.tilings:
        return region.host_values, ""
    plan = planned.tilings[0]
    read = {name for _, limit in plan.kernel.limits for name in names_read(limit)}
    values = host_values(planned.nest, (*read, *(a.name for a, _ in region.host_values)), passed)
    known = {*passed, *(a.name for a, _ in values or ())}
    if values is None or not read <= known:
        return region.host_values, ""
    types = {s.name: s.type for s in plan.nest.scalars}
    counts = [f"cf_number_of({wide(limit, types)})" for _, limit in plan.kernel.limits]
    return values, reduce(lambda text, count: f"cf_times({text}, {count})", counts)


def _region_view(
    region: Dispatch, host: Interface, tiles: TileCosts | None, computed: HostValues, points: str
) -> RegionView:
    names = region.names
    machine = f"const cf_machine *{names.machine}"
    sizes = [a.declaration for a in region.sizes]
    params = f"const {region.params_type} *{names.params}"
    count = len(host.program)
    moves, exponents = most_values(count, NEIGHBOURS), most_values(count, LARGEST_EXPONENT + 1)
    in_shape = {a.name for a in region.shape_names}
    shape_sizes = [a for a in region.sizes if a.name in in_shape]
    shape_program = tuple(a for a in region.program if a.name in in_shape)
    own = {a.name for a in host.everything}
    values = " ".join(value for _, value in computed or ())
    return RegionView(
        name=region.name,
        params_type=region.params_type,
        program=region.program,
        machine=region.machine,
        smallest=_quoted(region.smallest),
        preconditions=_quoted(region.preconditions),
        facts=tuple(replace(fact, text=c_string(fact.text)) for fact in region.facts),
        cases=tuple(replace(case, comment=c_comment(case.comment)) for case in region.cases),
        cases_length=sum(2 + len(case.facts) for case in region.cases),
        dead_ends=tuple(c_string(text) for text in region.dead_ends),
        quotients=tuple((name, value, c_comment(text)) for name, value, text in region.quotients),
        shapes=region.shapes,
        explanations=tuple((leaf, c_string(text)) for leaf, text in region.explanations),
        names=names,
        select_parameters=", ".join((machine, *sizes, params)),
        unused=_unused(region),
        size_arguments="".join(f"{a.name}, " for a in region.sizes),
        nearest_parameters=", ".join(
            (
                machine,
                *sizes,
                f"const {region.params_type} *{names.wanted}",
                f"{region.params_type} *{names.feasible}",
            )
        ),
        shape_parameters=", ".join((*(a.declaration for a in shape_sizes), params)),
        shape_program=shape_program,
        shape_unused=() if shape_program else (names.params,),
        moves=moves,
        neighbours=moves**count,
        exponents=exponents,
        powers=exponents**count if count else 0,
        host_values=computed,
        value_program=tuple(a for a in host.program if mentions(f"{values} {points}", a.name)),
        value_arguments=_value_arguments(region.sizes, own),
        shape_value_arguments=_value_arguments(shape_sizes, own),
        tiles=tiles,
        points=points,
    )


def _value_arguments(sizes: Iterable[Argument], own: Iterable[str]) -> str:
    """Sizes as the default search passes them: computed ones are 64 bit wide there."""
    passed = frozenset(own)
    return "".join(f"{a.name}, " if a.name in passed else f"({a.type.value}){a.name}, " for a in sizes)


def _unused(region: Dispatch) -> tuple[str, ...]:
    """The parameters and local names of the selection that nothing in it reads."""
    read = " ".join(
        f"{g.condition} {g.needed} {g.available}" for g in (*region.smallest, *region.preconditions)
    )
    read += " ".join(f" {fact.needed} {fact.available}" for fact in region.facts)
    read += " ".join(f" {value}" for _, value, _ in region.quotients)
    names = [a.name for a in region.sizes if not mentions(read, a.name)]
    if not region.program:
        names.append(region.names.params)
    if not region.machine:
        names.append(region.names.machine)
    return tuple(names)


def _quoted(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    return tuple(replace(guard, text=c_string(guard.text)) for guard in guards)


def _tiles_compute(plan: FunctionPlan) -> str:
    if any(region.tile is not None and region.tile.reassociated for region in plan.regions):
        return "Tiles add up sums in another order (--reassociate)."
    return "Tiles compute the same."
