"""The view from which the header is printed: frozen values in which every decision is taken.

In: a :class:`ProgramPlan`.  Out: a :class:`HeaderView` for `templates/host/header.h.j2`; every text in it is C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from comprehensive.codegen.dispatch import (
    Dispatch,
    Names,
    dispatch,
    is_size,
    names_beside,
)
from comprehensive.codegen.leaf_view import LeafCosts, leaf_costs
from comprehensive.codegen.tile_view import TileCosts, tile_costs
from comprehensive.kernel_ir.c_expr import c_comment, c_string, mentions, wide
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Role
from comprehensive.loops.sizes import sizes
from comprehensive.plan.default_search import LARGEST_EXPONENT, coarse_exponents, known_early, neighbours
from comprehensive.plan.interface import Argument, Interface, interface
from comprehensive.plan.plan import FunctionPlan, ProgramPlan, RegionPlan, TunedRow
from comprehensive.records import names_of, replace

INTERFACE_VERSION = 4
"""The version of the part that generated headers share; raised with every incompatible change of it."""

CANDIDATES = 4096
"""The most parameter choices that one search may try."""

NEIGHBOURS = 39
"""The number of values that `cf_neighbour` knows."""


HostValues: TypeAlias = tuple[tuple[Argument, str], ...] | None
"""Host scalars with their values as C text, in order; None where one is known at the launch only."""


class RegionView(Dispatch, frozen=True):
    """A :class:`Dispatch` whose texts are C literals, with the parameter lists of its functions."""

    cases_length: int
    select_parameters: str
    unused: tuple[str, ...]
    size_arguments: str
    nearest_parameters: str
    moves: int
    neighbours: int
    exponents: int
    powers: int
    host_values: HostValues
    value_program: tuple[Argument, ...]
    value_arguments: str
    value_idle: tuple[str, ...]
    """Program parameters and host scalars that the choice of defaults has, and may not need."""
    leaf_value_arguments: str
    tile_value_arguments: str
    knows_tile: bool
    """Whether what register tiles cost is known before the host code runs."""
    leaf_costs: LeafCosts
    tiles: TileCosts | None

    @property
    def is_considered(self) -> bool:
        """Whether all that the choice of defaults needs is known before the host code runs."""
        return self.host_values is not None


class TunedView(Struct, frozen=True):
    """A row of tuned parameters as C text."""

    device: str
    sizes: str
    parameters: str
    comment: str


class FunctionView(Struct, frozen=True):
    name: str
    params_type: str
    program: tuple[Argument, ...]
    tile: str | None
    """The member that chooses register tiles."""
    version: str | None
    """The member that chooses a version of the kernels."""
    versions: tuple[str, ...]
    """Their names, as C literals."""
    adapt: str | None
    """The member that asks for the best of them to be found while the function runs."""
    in_any_order: bool
    """Whether floating-point sums are made of atomic updates."""
    tiles_compute: str
    """The difference between what tiles and what leaves compute, in words."""
    sizes: tuple[Argument, ...]
    """The integer arguments that default parameters depend on."""
    regions: tuple[RegionView, ...]
    names: Names
    launch_parameters: str
    of_file: str
    result: str
    """The arguments that are variables of the file."""
    choose_parameters: str
    """The parameters of a launch without the stream."""
    defaults_parameters: str
    defaults_unused: tuple[str, ...]
    not_considered: str
    """Regions that the choice of defaults leaves out: a size of theirs is known at the launch only."""
    defaults_arguments: str
    """The machine and the sizes, each with a comma behind it."""
    left_out_unused: tuple[str, ...]
    value_arguments: str
    """The same, each with a comma before it."""
    exponents: int
    """The number of powers of two that there are for each program parameter."""
    coarse: tuple[int, ...]
    """Exponents of those that are tried first, all with all."""
    candidates: int
    neighbours: int
    """The number of candidates that are tried then, around the best one."""
    tuned: tuple[TunedView, ...]
    tuned_sizes: tuple[Argument, ...]
    """The arguments whose values rows of tuned parameters are for."""


class HeaderView(Struct, frozen=True):
    version: str
    input_name: str
    stem: str
    guard: str
    functions: tuple[FunctionView, ...]

    @property
    def has_bool(self) -> bool:
        """Whether a function takes a ``bool``, which C has from a header."""
        return "bool " in " ".join(
            text
            for f in self.functions
            for text in (f.launch_parameters, *(a.declaration for a in f.program))
        )

    @property
    def has_half(self) -> bool:
        """Whether there is data of type `half`, which the header has to name."""
        return any("cf_half " in f.launch_parameters for f in self.functions)

    @property
    def has_bfloat16(self) -> bool:
        return any("cf_bfloat16 " in f.launch_parameters for f in self.functions)


def header_view(plan: ProgramPlan, version: str) -> HeaderView:
    """The view of a program. CompileError as :func:`comprehensive.plan.interface.interface` raises it."""
    return HeaderView(
        version=version,
        input_name=c_comment(plan.source_path),
        stem=plan.stem,
        guard=f"CF_GENERATED_{re.sub('[^A-Za-z0-9]', '_', plan.stem).upper()}_H",
        functions=tuple(function_view(function) for function in plan.functions),
    )


def function_view(plan: FunctionPlan) -> FunctionView:
    """The view of one function with its regions."""
    host = interface(plan)
    scalars = (s.name for region in plan.regions for s in region.nest.scalars)
    names = names_beside((*(a.name for a in host.everything), *scalars))
    found = tuple(dispatch(region, host) for region in plan.regions)
    regions = tuple(
        _region_view(planned, region, host) for planned, region in zip(plan.regions, found, strict=True)
    )
    sizes = _function_sizes(plan, found, regions, host)
    choose = [*(a.declaration for a in host.arguments), f"const {host.name}_params *{names.params}"]
    launch = [*choose, f"struct CUstream_st *{names.stream}"]
    machine = f"const cf_machine *{names.machine}"
    coarse = coarse_exponents(len(host.program))
    considered = [region for region in regions if region.is_considered]
    losing = [region for region in considered if region.leaf_costs.shares]
    read = " ".join(map(_read_of_values, considered))
    read_losing = " ".join(
        " ".join((r.leaf_value_arguments, *(value for _, value in r.host_values or ()))) for r in losing
    )
    return FunctionView(
        name=host.name,
        params_type=f"{host.name}_params",
        program=host.program,
        tile=host.tile,
        version=host.version,
        versions=tuple(c_string(version.name) for version in plan.versions),
        adapt=host.adapt,
        in_any_order=any(region.adds_in_any_order for region in plan.regions),
        tiles_compute=_tiles_compute(plan),
        sizes=sizes,
        regions=regions,
        names=names,
        launch_parameters=", ".join(launch),
        of_file=", ".join(p.name for p in plan.function.parameters if p.of_file),
        result=", ".join(p.name for p in plan.function.parameters if p.is_result),
        choose_parameters=", ".join(choose),
        defaults_parameters=", ".join((machine, *(a.declaration for a in sizes))),
        defaults_unused=(
            *([] if considered else [names.machine]),
            *(a.name for a in sizes if not mentions(read, a.name)),
        ),
        left_out_unused=(
            *([] if losing else [names.machine, names.params]),
            *(a.name for a in sizes if not mentions(read_losing, a.name)),
        ),
        defaults_arguments="".join(f"{name}, " for name in (names.machine, *(a.name for a in sizes))),
        not_considered=", ".join(r.name for r in regions if r.host_values is None),
        value_arguments="".join(f", {name}" for name in (names.machine, *(a.name for a in sizes))),
        exponents=LARGEST_EXPONENT + 1,
        coarse=coarse,
        candidates=len(coarse) ** len(host.program),
        neighbours=neighbours(len(host.program)),
        tuned=tuple(_tuned(row, host) for row in plan.tuned),
        tuned_sizes=_tuned_sizes(plan, host),
    )


def _tuned(row: TunedRow, host: Interface) -> TunedView:
    values = dict(row.parameters)
    return TunedView(
        c_string(row.device),
        ", ".join(str(value) for _, value in row.sizes),
        ", ".join(str(values.get(member.name, 0)) for member in host.layout) or "0",
        f"{row.microseconds:.2f} us",
    )


def _tuned_sizes(plan: FunctionPlan, host: Interface) -> tuple[Argument, ...]:
    if not plan.tuned:
        return ()
    arguments = {a.name: a for a in host.arguments}
    return tuple(arguments[name] for name, _ in plan.tuned[0].sizes)


def most_values(parameters: int, wanted: int) -> int:
    """Return the number of values that each parameter may take so that all combinations are within `CANDIDATES`."""
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
    plan: FunctionPlan, found: Sequence[Dispatch], regions: Sequence[RegionView], host: Interface
) -> tuple[Argument, ...]:
    """The arguments that the choice of default parameters reads."""
    wanted = {a.name for view in regions for a in view.leaf_costs.sizes}
    wanted |= {a.name for region in found for a in region.sizes}
    wanted |= {a.name for view in regions if view.knows_tile and view.tiles for a in view.tiles.sizes}
    for region, view in zip(plan.regions, regions, strict=True):
        for argument, _ in view.host_values or ():
            value = region.nest.scalar(argument.name).value
            wanted |= names_read(value) if value is not None else frozenset()
    return tuple(a for a in host.arguments if a.name in wanted)


def _read_of_values(region: RegionView) -> str:
    """Return all that the choice of defaults reads for a region, as one text."""
    values = (value for _, value in region.host_values or ())
    arguments = (region.value_arguments, region.leaf_value_arguments, region.tile_value_arguments)
    return " ".join((*arguments, *values))


def _region_view(planned: RegionPlan, region: Dispatch, host: Interface) -> RegionView:
    names = region.names
    leaves, tiles = leaf_costs(planned, region), tile_costs(planned, region)
    known = known_early(planned, host)
    types = {s.name: s.type for s in planned.nest.scalars}
    computed = None
    if known.scalars is not None:
        computed = tuple((Argument(s.name, s.type), wide(value, types)) for s, value in known.scalars)
    machine = f"const cf_machine *{names.machine}"
    sizes = [a.declaration for a in region.sizes]
    params = f"const {region.params_type} *{names.params}"
    count = len(host.program)
    moves, exponents = most_values(count, NEIGHBOURS), most_values(count, LARGEST_EXPONENT + 1)
    own = {a.name for a in host.everything}
    values = " ".join(value for _, value in computed or ())
    arguments = (
        _value_arguments(region.sizes, own),
        _value_arguments(leaves.sizes, own),
        _tile_arguments(tiles, own, {a.name for a, _ in computed or ()}) if tiles and known.tiles else "",
    )
    read = tuple(a for a in host.program if mentions(f"{values} {' '.join(arguments)}", a.name))
    return RegionView(
        **_quoted(region),
        cases_length=sum(2 + len(case.facts) for case in region.cases),
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
        moves=moves,
        neighbours=moves**count,
        exponents=exponents,
        powers=exponents**count if count else 0,
        host_values=computed,
        value_program=read,
        value_arguments=arguments[0],
        value_idle=(*(a.name for a in read), *(argument.name for argument, _ in computed or ())),
        leaf_value_arguments=arguments[1],
        tile_value_arguments=arguments[2],
        knows_tile=known.tiles,
        leaf_costs=leaves,
        tiles=tiles,
    )


def _value_arguments(sizes: Iterable[Argument], own: Iterable[str]) -> str:
    """Sizes as the default search passes them: computed ones are 64 bit wide there."""
    passed = frozenset(own)
    return "".join(f"{a.name}, " if a.name in passed else f"({a.type.value}){a.name}, " for a in sizes)


def _tile_arguments(tiles: TileCosts, own: Iterable[str], computed: Iterable[str]) -> str:
    """Sizes for the choice of a register tile: what only time tiles read need not be known."""
    known = {*own, *computed}
    return "".join(_value_arguments((a,), own) if a.name in known else "0, " for a in tiles.sizes)


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


def _quoted(region: Dispatch) -> dict[str, Any]:
    """The fields of a dispatch, their texts as C literals and comments."""
    return {name: getattr(region, name) for name in names_of(Dispatch)} | {
        "smallest": tuple(replace(guard, text=c_string(guard.text)) for guard in region.smallest),
        "preconditions": tuple(replace(guard, text=c_string(guard.text)) for guard in region.preconditions),
        "facts": tuple(replace(fact, text=c_string(fact.text)) for fact in region.facts),
        "cases": tuple(replace(case, comment=c_comment(case.comment)) for case in region.cases),
        "dead_ends": tuple(map(c_string, region.dead_ends)),
        "quotients": tuple((name, value, c_comment(text)) for name, value, text in region.quotients),
        "explanations": tuple((leaf, c_string(text)) for leaf, text in region.explanations),
    }


def _tiles_compute(plan: FunctionPlan) -> str:
    if any(tiling.tile.reassociated for region in plan.regions for tiling in region.tilings):
        return "Tiles add up sums in another order (--reassociate)."
    tilings = (tiling for region in plan.regions for tiling in region.tilings)
    if any(tiling.kernel.tensor_core_bytes for tiling in tilings):
        return "Tiles compute the same, but for last places of subnormal sums on tensor cores (not with -fmad=false)."
    return "Tiles compute the same."
