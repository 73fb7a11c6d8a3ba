"""What the CUDA source is printed from: launchers of kernels and regions, and the user's host code around them.

In: a :class:`ProgramPlan` and the texts of its kernels.  Out: a :class:`SourceView` for
`templates/cuda/source.cu.j2`.  The body of a host function stays as it is, marked with its lines, except for::

    meta_schedule { ... }   -->   { if (!cf_continues(cf_state, matmul_run(cf_state, n, a, B0))) return; }
    assert(B0 <= n);        -->   { if (!cf_require(cf_state, cf_le(B0, n), "B0 <= n", B0, n)) return; }
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from comprehensive.codegen.axes import axis_extents
from comprehensive.codegen.c_expr import c_comment, c_string, is_wide, mentions, polynomial, wide
from comprehensive.codegen.conversions import storage_headers
from comprehensive.codegen.dispatch import Dispatch, Guard, as_size, dispatch, guard
from comprehensive.codegen.header_view import RegionView, data_sizes, function_view
from comprehensive.codegen.host_calls import HostCalls, using
from comprehensive.codegen.host_returns import without_values
from comprehensive.codegen.interface import Argument, Interface, interface
from comprehensive.codegen.kernel import TOGETHER, Kernel, KernelParameter, Source
from comprehensive.codegen.plan import FunctionPlan, ProgramPlan, RegionPlan, TilePlan
from comprehensive.codegen.source_lines import GENERATED_LINE, HOST_CODE, source_line
from comprehensive.diagnostics import Span
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.types import exact_product, with_prototypes
from comprehensive.metafork.ast import Expr, HostAssert, IntLiteral, MetaSchedule, Parameter, ScalarType
from comprehensive.metafork.file_scope import Kind, Piece, file_scope
from comprehensive.metafork.printer import assert_words, print_expr

_A_LINE = 8
"""Elements of a constant array in one line."""


@dataclass(frozen=True, slots=True)
class Extent:
    """A C expression with the source text that it computes."""

    value: str
    comment: str


@dataclass(frozen=True, slots=True)
class Local:
    """A kernel argument that the host computes: ``value`` must fit into ``type``."""

    type: str
    name: str
    value: Extent


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """The launcher of one kernel; grid and block have three extents, x first."""

    name: str
    kernel: str
    parameters: str
    arguments: str
    """What the launcher of the region passes."""
    locals: tuple[Local, ...]
    addresses: tuple[str, ...]
    grid: tuple[Extent, ...]
    block: tuple[Extent, ...]
    words: Extent


@dataclass(frozen=True, slots=True)
class TileInstance:
    """One instance of a kernel over tiles: its number as callers ask for it, from 1 on, and as leaves are numbered."""

    leaf: int
    number: int
    sizes: str


@dataclass(frozen=True, slots=True)
class TileSource:
    """The launcher of a kernel over tiles, a template over the constants as the kernel is."""

    constants: tuple[str, ...]
    counts: tuple[int, ...]
    """How many elements are accessed together, by the kernels that there are; none where they have no vectors."""
    together: str
    """The expression that says which of them it is for a launch."""
    launch: KernelLaunch
    instances: tuple[TileInstance, ...]
    sweeps_left: Extent | None
    """The sweeps left of the loop around the region, where a launch does several of them."""


@dataclass(frozen=True, slots=True)
class Table:
    """A constant array of the file in the memory of the device: ``symbol`` there, ``name`` in regions that read it."""

    type: str
    name: str
    length: int
    lines: tuple[str, ...]
    """The elements, a few a line, with a comma behind each."""

    @property
    def symbol(self) -> str:
        return f"cf_table_{self.name}"


@dataclass(frozen=True, slots=True)
class RegionSource:
    """The launcher of a region: selection, then the launcher of the leaf."""

    name: str
    params_type: str
    parameters: str
    extents: tuple[Extent, ...]
    """The extents of the grid as written: where one is zero there is nothing to do."""
    params: tuple[str, ...]
    """A value for every member of the parameters; of no register tile."""
    size_arguments: str
    launches: tuple[KernelLaunch, ...]
    leaves: tuple[tuple[tuple[int, ...], KernelLaunch], ...]
    tile: TileSource | None
    time: TileSource | None
    tile_numbers: tuple[str, ...]
    """What the header's choice of a tile depends on, beside the machine."""
    leaf_arguments: str
    """The sizes that the cost of a leaf depends on, each with a comma behind it."""
    numbers: tuple[str, ...]
    """What the choice of a tile or a leaf depends on, beside the machine."""
    tables: tuple[Table, ...]
    """The constant arrays whose addresses kernels are passed."""

    @property
    def tile_arguments(self) -> str:
        return "".join(f", {name}" for name in self.tile_numbers)

    @property
    def together(self) -> str:
        """How many elements an access of a tile takes, as the launcher knows it."""
        return "cf_together" if self.tile is not None and self.tile.together else "1"

    @property
    def left(self) -> str:
        """How many sweeps are left."""
        return "1" if self.time is None else "cf_left"

    @property
    def tiles(self) -> tuple[TileSource, ...]:
        return tuple(tile for tile in (self.tile, self.time) if tile is not None)


@dataclass(frozen=True, slots=True)
class FunctionSource:
    name: str
    params_type: str
    machine_name: str
    params_name: str
    stream_name: str
    why_name: str
    chosen_name: str
    device_name: str
    launch_parameters: str
    launch_arguments: str
    """The same names, for the wrappers."""
    choose_parameters: str
    choose_arguments: str
    """The arguments of a launch, for a choice without a stream."""
    defaults_arguments: str
    sizes: tuple[Argument, ...]
    """What defaults depend on, besides the machine."""
    observed_sizes: tuple[str, ...]
    observed_parameters: tuple[str, ...]
    """What a line about an observed launch has: integer arguments, and members of the parameters."""
    tuned_arguments: str
    """What tuned parameters are for; empty where there are none."""
    tile: str | None
    smallest: tuple[Guard, ...]
    regions: tuple[RegionSource, ...]
    has_time: bool
    """Whether a region has time tiles."""
    host_declaration: str
    """The parameters of the host code."""
    host_arguments: str


@dataclass(frozen=True, slots=True)
class MachineView:
    """Speeds of devices of a name, which is a C literal."""

    name: str
    speeds: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SourceView:
    version: str
    input_name: str
    stem: str
    headers: tuple[str, ...]
    """Of CUDA, which kernels need beside what nvcc includes by itself."""
    prototypes: tuple[str, ...]
    """Functions of the C library with their prototypes in C, of which C++ has overloads."""
    host_code: str
    settings: tuple[str, ...]
    """Preprocessor lines before the host code: macros are what they were when the program was read."""
    written: tuple[str, ...]
    """The host code of the functions and what it needs of the rest of the file, in the order of the source."""
    kernels: tuple[str, ...]
    tables: tuple[Table, ...]
    """The constant arrays that kernels read, by name."""
    has_vectors: bool
    """Whether a kernel accesses several elements at once."""
    has_feeds: bool
    """Whether a kernel copies to shared memory in stages."""
    has_shuffles: bool
    """Whether threads of a kernel take values from their neighbours."""
    has_memory: bool
    """Whether regions have memory between them that the launcher brings."""
    functions: tuple[FunctionSource, ...]
    machines: tuple[MachineView, ...]

    @property
    def has_tuned(self) -> bool:
        return any(function.tuned_arguments for function in self.functions)


def source_view(plan: ProgramPlan, kernels_text: Mapping[str, str], version: str) -> SourceView:
    """The view of a program. KeyError for a kernel without a text."""
    regions = [region for function in plan.functions for region in function.regions]
    written = [function.function for function in plan.functions]
    pieces = file_scope(written)
    calls = HostCalls.of(pieces)
    tiles = [tile.kernel for region in regions for tile in region.tilings]
    names = dict.fromkeys(leaf.kernel.name for region in regions for leaf in region.leaves)
    names |= dict.fromkeys(kernel.name for kernel in tiles)
    kernels = tuple(kernels_text[name].rstrip("\n") for name in names)
    return SourceView(
        version=version,
        input_name=c_comment(plan.source_path),
        stem=plan.stem,
        headers=storage_headers(kernels),
        prototypes=tuple(prototype.definition for prototype in calls.used(pieces, written)),
        host_code=HOST_CODE,
        settings=_settings(plan.settings),
        written=_written(plan.functions, pieces, calls),
        kernels=kernels,
        tables=tuple(
            {table.name: table for region in regions for table in _tables(region)}[name]
            for name in sorted({table.name for region in regions for table in _tables(region)})
        ),
        has_vectors=any(kernel.together for kernel in tiles),
        has_feeds=any(kernel.has_feeds for kernel in tiles),
        has_shuffles=any(leaf.kernel.shuffled for region in regions for leaf in region.leaves),
        has_memory=any(function.memory for function in written),
        functions=tuple(_function(function) for function in plan.functions),
        machines=tuple(MachineView(c_string(machine.name), machine.speeds) for machine in plan.machines),
    )


def _settings(macros: Iterable[tuple[str, str | None]]) -> tuple[str, ...]:
    lines: list[str] = []
    for name, text in macros:
        bare = name.partition("(")[0]
        lines += [f"#undef {bare}", *([] if text is None else [f"#define {name} {text}".rstrip()])]
    return tuple(lines)


def _written(functions: Sequence[FunctionPlan], pieces: Sequence[Piece], calls: HostCalls) -> tuple[str, ...]:
    """Return what the user wrote outside regions, so that macros and helpers mean what they did there.

    It comes last in the file: no macro of the program changes kernels and launchers.
    """
    outside = [(piece.span.start, _outside(piece, calls)) for piece in pieces]
    hosts = [(plan.function.span.start, _host_code(plan, calls)) for plan in functions]
    return tuple(text for _, text in sorted([*outside, *hosts], key=lambda placed: placed[0]))


def _outside(piece: Piece, calls: HostCalls) -> str:
    """A piece of the file outside its functions with regions; the linker sees nothing that is defined there."""
    text = f"{source_line(piece.span.position[0])}{calls.declared_in(piece)}\n{GENERATED_LINE}"
    match piece.kind:
        case Kind.DIRECTIVE:
            return text.rstrip("\n")
        case Kind.OWN:
            return f"namespace {{\n{text}}}"
        case Kind.FOREIGN:
            return f'extern "C" {{\n{text}}}'


def _function(plan: FunctionPlan) -> FunctionSource:
    host = interface(plan)
    view = function_view(plan)
    names = view.names
    regions = tuple(
        _region(region, host, seen) for region, seen in zip(plan.regions, view.regions, strict=True)
    )
    chosen = [f"cf_chosen.{a.name}" if a.name in host.program_names else a.name for a in host.everything]
    smallest = [
        Guard(c_string(f"{a.name} >= 1"), f"cf_chosen.{a.name} >= 1", "1", f"cf_chosen.{a.name}")
        for a in host.program
    ]
    smallest += [
        replace(limit, text=c_string(limit.text))
        for limit in (as_size(a.name, a.type) for a in data_sizes(plan, host))
    ]
    if host.tile is not None:
        # Only a number that the caller gives: what was tuned with another version of the tool may have more tiles.
        most = max(sum(len(tiling.instances) for tiling in region.tilings) for region in plan.regions)
        given, text = f"cf_chosen.{host.tile}", c_string(f"{host.tile} <= {most}")
        smallest.append(Guard(text, f"!{names.params} || {given} <= {most}", given, str(most)))
    return FunctionSource(
        name=host.name,
        params_type=view.params_type,
        machine_name=names.machine,
        params_name=names.params,
        stream_name=names.stream,
        why_name=names.why,
        chosen_name=names.chosen,
        device_name=names.device,
        launch_parameters=view.launch_parameters,
        launch_arguments=", ".join((*(a.name for a in host.arguments), names.params, names.stream)),
        choose_parameters=view.choose_parameters,
        choose_arguments=", ".join((*(a.name for a in host.arguments), names.params, "nullptr")),
        defaults_arguments="".join(f"{a.name}, " for a in view.sizes),
        sizes=view.sizes,
        observed_sizes=tuple(a.name for a in host.arguments if not a.pointer and a.type.is_integer),
        observed_parameters=(*(a.name for a in host.program), *(() if host.tile is None else (host.tile,))),
        tuned_arguments="".join(f"{a.name}, " for a in view.tuned_sizes),
        tile=host.tile,
        smallest=tuple(smallest),
        regions=regions,
        has_time=any(region.time is not None for region in regions),
        host_declaration=", ".join(("cf_call &cf_state", *(a.declaration for a in host.everything))),
        host_arguments=", ".join(("cf_state", *chosen)),
    )


# --- host code -----------------------------------------------------------------------------------------------


def _host_code(plan: FunctionPlan, calls: HostCalls) -> str:
    """The definition of the function that runs the host code.

    It returns nothing, whatever the type of the user's function.
    """
    host = interface(plan)
    body = _body(plan, host)
    parameters = _parameter_list("cf_call &cf_state", host.everything, body)
    hidden = using(calls.in_function(plan.function))
    block = f"{{ {hidden} {{{body}}} }}" if hidden else f"{{{body}}}"
    return f"namespace {{\nvoid {host.name}_host({parameters})\n{block}\n}}"


def _body(plan: FunctionPlan, host: Interface) -> str:
    types = {s.name: s.type for region in plan.regions for s in region.nest.scalars}
    types |= {a.name: a.type for a in host.everything if not a.pointer}
    pending = iter(plan.regions)
    pieces: list[str] = []
    parts = plan.function.parts
    for before, part, after in zip((None, *parts), parts, (*parts[1:], None), strict=False):
        match part:
            case Span():
                # The last line of what stands here instead of a region is no line of the source.
                text = without_values(part, plan.function.rewritten)
                pieces.append("\n" + source_line(part.position[0]) + text)
            case HostAssert():
                pieces.append(f"{{ if (!cf_require(cf_state, {_requirement(part, types)})) return; }}")
            case MetaSchedule():
                # Parts of one nest are one statement.
                first, last = (
                    not (isinstance(p, MetaSchedule) and p.span == part.span) for p in (before, after)
                )
                region = next(pending)
                pieces.append("{ " + _prepared(region, part, host, plan.function.memory) if first else "  ")
                pieces.append(f"if (!cf_continues(cf_state, {_call(region, host)})) return;")
                pieces.append(" }" if last else "")
    return "".join(pieces) + "\n" + GENERATED_LINE


def _requirement(assertion: HostAssert, types: Mapping[str, ScalarType]) -> str:
    """Value, text and the two sides of an assertion; what is no integer expression is left to the compiler."""
    condition = assertion.condition
    if condition is not None and is_wide(condition, types):
        view = guard(with_prototypes(condition, types), types)
        return f"{view.condition}, {c_string(view.text)}, {view.needed}, {view.available}"
    text = assert_words(assertion)
    return f"({text}) ? 1 : 0, {c_string(' '.join(text.split()))}, 0, 0"


# --- regions -------------------------------------------------------------------------------------------------


def _region(region: RegionPlan, host: Interface, seen: RegionView) -> RegionSource:
    costs = seen.tiles
    nest = region.nest
    types = {s.name: s.type for s in nest.scalars}
    available = _available(region, host)
    selection: Dispatch = dispatch(region, host)
    extents = tuple(_extent(loop.extent, types) for loop in nest.grid)
    params = tuple(a.name if a.name in types else "1" for a in host.program)
    params += () if host.tile is None else ("0",)
    leaves: dict[str, list[int]] = {}
    launches: dict[str, KernelLaunch] = {}
    for leaf in region.leaves:
        leaves.setdefault(leaf.kernel.name, []).append(leaf.index)
        if leaf.kernel.name not in launches:
            launches[leaf.kernel.name] = _launch(leaf.kernel, leaf.nest, available, types)
    tile, time = (
        None if plan is None else _tile(region, plan, available) for plan in (region.tile, region.time)
    )
    tiles = [each for each in (tile, time) if each is not None]
    tile_numbers = () if costs is None else tuple(a.name for a in costs.sizes)
    leaf_numbers = [a.name for a in (*selection.sizes, *seen.leaf_costs.sizes, *selection.program)]
    numbers = tuple(dict.fromkeys((*tile_numbers, *leaf_numbers)))
    read = " ".join(
        (
            *(extent.value for extent in extents),
            *params,
            *numbers,
            *(launch.arguments for launch in launches.values()),
            *(each.launch.arguments for each in tiles),
            costs.arguments if costs is not None else "",
            *(each.together for each in tiles),
            *(each.sweeps_left.value for each in tiles if each.sweeps_left is not None),
        )
    )
    return RegionSource(
        name=region.name,
        params_type=f"{host.name}_params",
        parameters=_parameter_list("cf_call &cf_state", _given(region, available), read),
        extents=extents,
        params=params,
        size_arguments="".join(f"{a.name}, " for a in selection.sizes),
        launches=tuple(launches.values()),
        leaves=tuple((tuple(numbers), launches[name]) for name, numbers in leaves.items()),
        tile=tile,
        time=time,
        tile_numbers=tile_numbers,
        leaf_arguments=seen.leaf_costs.arguments,
        numbers=numbers,
        tables=_tables(region),
    )


def _tables(region: RegionPlan) -> tuple[Table, ...]:
    """The constant arrays of a region, of all its nests."""
    nests = (region.nest, *(tile.nest for tile in region.tilings))
    found: dict[str, Table] = {}
    for array in (a for nest in nests for a in nest.arrays):
        if array.values is not None:
            texts = [f"{print_expr(value)}," for value in array.values]
            lines = tuple(" ".join(texts[k : k + _A_LINE]) for k in range(0, len(texts), _A_LINE))
            found[array.pointer] = Table(array.type.value, array.pointer, len(texts), lines)
    return tuple(found[name] for name in sorted(found))


def _given(region: RegionPlan, available: Sequence[Argument]) -> tuple[Argument, ...]:
    """What host code passes: all but the constant arrays, which the launcher has itself."""
    own = {table.name for table in _tables(region)}
    return tuple(argument for argument in available if argument.name not in own)


def _available(region: RegionPlan, host: Interface) -> tuple[Argument, ...]:
    """The data and scalars that a kernel of a region may be passed."""
    nests = (region.nest, *(tile.nest for tile in region.tilings))
    # Pointers of host code first: one that is no argument of the function is as it was declared there.
    pointers = {a.pointer: Argument(a.pointer, a.type, True, a.const) for each in nests for a in each.arrays}
    pointers |= {a.name: a for a in host.everything if a.pointer}
    scalars = {s.name: s for each in nests for s in each.scalars if s.role is not Role.TILE}
    return tuple(
        [pointers[name] for name in dict.fromkeys(a.pointer for each in nests for a in each.arrays)]
        + [Argument(s.name, s.type) for s in scalars.values()]
    )


def _memory(nest: Nest, memory: Sequence[Parameter]) -> tuple[Argument, ...]:
    """Return the data of a region that nobody passes: memory that the launcher has for it."""
    names = {p.name for p in memory}
    return tuple(Argument(a.name, a.type, pointer=True) for a in nest.arrays if a.pointer in names)


def _prepared(region: RegionPlan, part: MetaSchedule, host: Interface, memory: Sequence[Parameter]) -> str:
    """What the launcher computes and allocates for regions with one of them between them."""
    types = {s.name: s.type for s in region.nest.scalars}
    types |= {a.name: a.type for a in host.everything if not a.pointer}
    pieces: list[str] = []
    for scalar in part.scalars:
        if scalar.added and scalar.value is not None:
            types[scalar.name] = scalar.type
            value = wide(with_prototypes(scalar.value, types), types)
            pieces.append(
                f"{scalar.type.value} {scalar.name}; if (!cf_computes(cf_state, {value}, {scalar.name}, "
                f"{c_string(print_expr(scalar.value))})) return;\n  "
            )
    for each in _memory(region.nest, memory):
        (elements,) = region.nest.array(each.name).dims or (None,)
        assert elements is not None
        pieces.append(
            f"cf_memory<{each.type.value}> cf_of_{each.name}(cf_state, {wide(elements, types)}); "
            f"if (cf_state.status != CF_OK) return; {each.declaration} = cf_of_{each.name}.data;\n  "
        )
    return "".join(pieces)


def _call(region: RegionPlan, host: Interface) -> str:
    """Return the call that stands in host code where the region stood."""
    passed = _given(region, _available(region, host))
    arguments = ", ".join(("cf_state", *(a.name for a in passed)))
    return f"{region.name}_run({arguments})"


def _tile(region: RegionPlan, tile: TilePlan, available: Sequence[Argument]) -> TileSource:
    kernel = tile.kernel
    types = {s.name: s.type for s in tile.nest.scalars}
    numbers = range(tile.first, tile.first + len(tile.instances))
    instances = tuple(
        TileInstance(leaf, region.tile_of(leaf), ", ".join(map(str, instance.sizes)))
        for leaf, instance in zip(numbers, tile.instances, strict=True)
    )
    launch = _launch(kernel, tile.nest, available, types)
    left = None if tile.sweeps is None else _extent(tile.sweeps.left, types)
    together = _together(kernel, tile.nest) if kernel.together else ""
    return TileSource(kernel.constants, kernel.together, together, launch, instances, left)


def _together(kernel: Kernel, nest: Nest) -> str:
    """How many elements a launch may access together, over scalars and data that the launcher has."""
    counts = [str(count) for count in kernel.together]
    tests = [_multiples(kernel, nest, count) for count in kernel.together[:-1]]
    return "".join(f"{test} ? {count} : " for test, count in zip(tests, counts, strict=False)) + counts[-1]


def _multiples(kernel: Kernel, nest: Nest, count: int) -> str:
    """Return the condition that vectors of so many elements begin at multiples of them."""
    types = {s.name: s.type for s in nest.scalars}
    conditions: dict[str, None] = {}
    for alignment in kernel.alignments:
        name = alignment.array
        # Copies of four elements are copies of 16 bytes, of however many elements.
        elements = count if count < 4 else max(4, 16 // nest.array(name).type.size_bytes)
        strides = [
            _computed(p, kernel, nest, types)
            for p in kernel.parameters
            if p.source is Source.STRIDE and p.of == name
        ]
        numbers = [stride.value for stride in strides if stride is not None]
        numbers += [wide(number, types) for number in alignment.multiples]
        conditions |= dict.fromkeys(
            [f"cf_begins({nest.array(name).pointer})", *(f"{number} % {elements} == 0" for number in numbers)]
        )
    return " && ".join(conditions)


def _launch(
    kernel: Kernel, nest: Nest, available: Sequence[Argument], types: Mapping[str, ScalarType]
) -> KernelLaunch:
    computed: list[Local] = []
    addresses: list[str] = []
    does_sweeps = any(p.source is Source.SWEEPS for p in kernel.parameters)
    given = [*(["int cf_sweeps"] if does_sweeps else []), *([f"int {TOGETHER}"] if kernel.together else [])]
    for parameter in kernel.parameters:
        value = _computed(parameter, kernel, nest, types)
        if value is None:
            is_data = parameter.source is Source.ARRAY
            of = nest.array(parameter.of).pointer if is_data else parameter.of
            addresses.append("cf_sweeps" if parameter.source is Source.SWEEPS else of)
        else:
            local = Local(parameter.type.value, f"cf_given_{parameter.name}", value)
            computed.append(local)
            addresses.append(local.name)
    grid = _three([extent for _, extent in kernel.grid], types)
    block = _three(kernel.block, types)
    words = Extent(polynomial(kernel.shared_words), c_comment(kernel.shared_words_text))
    read = " ".join((*addresses, *(e.value for e in (*grid, *block, *(c.value for c in computed), words))))
    # A tile has its own names for its sizes, which host scalars that the nest does not read may have as well.
    used = tuple(a for a in available if a.name not in kernel.constants and mentions(read, a.name))
    return KernelLaunch(
        name=f"{kernel.name}_run",
        kernel=kernel.name,
        parameters=", ".join(("cf_call &cf_state", "int cf_leaf", *given, *(a.declaration for a in used))),
        arguments=", ".join(
            ("cf_state", "cf_chosen.leaf", *(g.split()[1] for g in given), *(a.name for a in used))
        ),
        locals=tuple(computed),
        addresses=tuple(addresses),
        grid=grid,
        block=block,
        words=words,
    )


def _computed(
    parameter: KernelParameter, kernel: Kernel, nest: Nest, types: Mapping[str, ScalarType]
) -> Extent | None:
    """Return what the host computes for a parameter; None for data and for a scalar passed as it is."""
    match parameter.source:
        case Source.ARRAY | Source.SWEEPS:
            return None
        case Source.SCALAR:
            if types[parameter.of] is parameter.type:
                return None
            return Extent(parameter.of, parameter.of)
        case Source.EXTENT:
            return _extent(dict(kernel.grid)[parameter.of], types)
        case Source.LIMIT:
            limit = _extent(dict(kernel.limits)[parameter.of], types)
            return Extent(f"cf_limit({limit.value})", limit.comment)
        case Source.STRIDE:
            dims = nest.array(parameter.of).dims or ()
            stride: Expr = IntLiteral(1)
            for position, dim in enumerate(dims[parameter.dimension + 1 :]):
                if dim is None:
                    raise ValueError(f"array {parameter.of} has no known stride along {parameter.dimension}")
                stride = dim if position == 0 else exact_product(stride, dim, types)
            return _extent(stride, types)


def _three(extents: Sequence[Expr], types: Mapping[str, ScalarType]) -> tuple[Extent, ...]:
    """Return the extents along x, y and z from those of loops, outermost first."""
    return tuple(
        Extent("1", "") if extent == IntLiteral(1) else _extent(extent, types)
        for extent in axis_extents(extents, types)
    )


def _extent(expr: Expr, types: Mapping[str, ScalarType]) -> Extent:
    return Extent(wide(expr, types), c_comment(print_expr(expr)))


def _parameter_list(first: str, arguments: Iterable[Argument], read: str) -> str:
    """A C++ parameter list; what the text ``read`` does not mention is marked, so that no compiler warns."""
    declared = [
        a.declaration if mentions(read, a.name) else f"[[maybe_unused]] {a.declaration}" for a in arguments
    ]
    return ", ".join((first, *declared))
