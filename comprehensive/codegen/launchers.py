"""The launchers of regions: which kernel with which blocks, threads and arguments, as C expressions.

In: the plan of a region and what it is called with.  Out: a :class:`RegionSource` for
`templates/launcher/functions.h.j2`, which is C as well as C++; only how a kernel is named differs
(:class:`KernelNames`)::

    leaf 0 of matmul  -->  static int matmul_leaf0_run(cf_call *cf_state, int cf_leaf, const float *a, ...)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Protocol

from msgspec import Struct

from comprehensive.codegen.dispatch import Dispatch, dispatch
from comprehensive.codegen.header_view import RegionView
from comprehensive.codegen.tables import Table, tables_of
from comprehensive.kernel_ir.axes import axis_extents
from comprehensive.kernel_ir.c_expr import c_comment, c_string, mentions, polynomial, wide
from comprehensive.kernel_ir.kernel import WIDTH, Kernel, KernelParameter, Source
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.types import exact_product
from comprehensive.metafork.ast import Expr, IntLiteral, ScalarType
from comprehensive.metafork.printer import print_expr
from comprehensive.plan.interface import Argument, Interface
from comprehensive.plan.plan import RegionPlan, TilePlan


class KernelNames(Protocol):
    """The names by which the source that launchers stand in refers to what runs on the device."""

    def kernel(self, name: str, constants: Sequence[int]) -> tuple[str, ...]:
        """The initialisers of the ``cf_kernel`` of a kernel, or of an instance of one over tiles: one a version."""
        ...

    def table(self, symbol: str) -> str:
        """The expression by which the place of a constant array is asked for."""
        ...


class AsFunctions(Struct, frozen=True):
    """Kernels of the same translation unit, by their addresses."""

    def kernel(self, name: str, constants: Sequence[int]) -> tuple[str, ...]:
        arguments = f"<{', '.join(map(str, constants))}>" if constants else ""
        return (f"{{ CF_KERNEL({name}{arguments}), {{}} }}",)

    def table(self, symbol: str) -> str:
        return symbol


class Extent(Struct, frozen=True):
    """A C expression with the source text that it computes."""

    value: str
    comment: str

    @property
    def remark(self) -> str:
        """The source text as the end of a line; nothing where the value says it already."""
        is_said = self.comment == self.value or (
            self.comment.isidentifier() and mentions(self.value, self.comment)
        )
        return "" if not self.comment or is_said else f" // {self.comment}"


class Local(Struct, frozen=True):
    """A kernel argument that the host computes: ``value`` must fit into ``type``."""

    type: str
    name: str
    value: Extent

    @property
    def wide(self) -> str:
        """The variable that holds the value before it is known to fit."""
        return f"{self.name}_wide"

    @property
    def text(self) -> str:
        """A literal that says what does not fit."""
        return c_string(self.value.comment)


class KernelLaunch(Struct, frozen=True):
    """The launcher of one kernel; grid and block have three extents, x first."""

    name: str
    kernels: tuple[tuple[str, ...], ...]
    """The initialisers of all that it launches, of each the versions: a leaf, or instances of a tile and vectors."""
    parameters: str
    sizes: tuple[str, ...]
    """The sizes of a tile that it reads, which it is passed."""
    arguments: tuple[str, ...]
    """The names of what the launcher of the region passes after these sizes."""
    extents: tuple[Extent, ...]
    """Expressions of which each must be at least 1: otherwise nothing is launched."""
    locals: tuple[Local, ...]
    addresses: tuple[str, ...]
    grid: tuple[Extent, ...]
    staircase: str
    """The call that says how many blocks of a grid with a slanted edge are launched; empty where all are."""
    axes: tuple[int, ...]
    """The places of its rows and columns among the extents of the grid; none where all blocks are in one row."""
    block: tuple[Extent, ...]
    words: Extent


class TileInstance(Struct, frozen=True):
    """One instance of a kernel over tiles: its number as callers ask for it, from 1 on, and as leaves are numbered."""

    leaf: int
    number: int
    arguments: str
    """The arguments with which the launcher of the region calls that of the tile."""


class TileSource(Struct, frozen=True):
    """The launcher of a kernel over tiles, which takes the sizes as arguments."""

    kernel_number: str
    """The expression that says which of its kernels it launches."""
    together: str
    """The expression that says how many elements are accessed together; empty where there are no vectors."""
    launch: KernelLaunch
    instances: tuple[TileInstance, ...]
    does_sweeps: bool
    """Whether a launch does several sweeps of the loop around the region."""
    sweeps_left: Extent
    """The sweeps left of this loop; 1 where there is none."""


class RegionSource(Struct, frozen=True):
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
    tiles: tuple[TileSource, ...]
    tile_numbers: tuple[str, ...]
    """The names of the numbers that decide, beside the machine, which tile the header chooses."""
    leaf_arguments: str
    """The sizes that the cost of a leaf depends on, each with a comma behind it."""
    numbers: tuple[str, ...]
    """The numbers that decide, beside the machine, which tile or leaf is chosen, as C expressions."""
    tables: tuple[tuple[Table, str], ...]
    """The constant arrays whose addresses kernels are passed, each with the expression by which that is asked for."""

    @property
    def tile_arguments(self) -> str:
        return "".join(f", {name}" for name in self.tile_numbers)

    @property
    def together(self) -> str:
        """The number of elements that an access of a tile takes (vector width), as the launcher knows it."""
        return "cf_width" if self.widths else "1"

    @property
    def widths(self) -> str:
        """The expression for that: the least that all kernels over tiles may access together; empty without vectors."""
        each = [tile.together for tile in self.tiles if tile.together]
        return (
            each[0] if len(each) == 1 else reduce(lambda a, b: f"cf_lesser({a}, {b})", each) if each else ""
        )

    @property
    def left(self) -> str:
        """The number of sweeps that are left, as a C expression."""
        return "cf_left" if self.several else "1"

    @property
    def several(self) -> TileSource | None:
        """The launcher of several sweeps at once, if there is one."""
        return next((tile for tile in self.tiles if tile.does_sweeps), None)

    @property
    def single(self) -> int:
        """The number of instances that do one sweep."""
        return sum(len(tile.instances) for tile in self.tiles if not tile.does_sweeps)


_INSTANCE = "cf_instance"
_STAIRCASE = "cf_stairs"


def region_source(region: RegionPlan, host: Interface, seen: RegionView, names: KernelNames) -> RegionSource:
    """The launcher of a region; ``seen`` is what the header says of it, ``names`` how kernels are referred to."""
    costs = seen.tiles
    nest = region.nest
    types = {s.name: s.type for s in nest.scalars}
    available = available_to(region, host)
    selection: Dispatch = dispatch(region, host)
    extents = tuple(_extent(loop.extent, types) for loop in nest.grid)
    params = tuple(a.name if a.name in types else "1" for a in host.program)
    params += ("0",) * (len(host.layout) - len(host.program))
    leaves: dict[str, list[int]] = {}
    launches: dict[str, KernelLaunch] = {}
    for leaf in region.leaves:
        leaves.setdefault(leaf.kernel.name, []).append(leaf.index)
        if leaf.kernel.name not in launches:
            kernels = (names.kernel(leaf.kernel.name, ()),)
            launches[leaf.kernel.name] = _launch(leaf.kernel, leaf.nest, available, types, kernels)
    tiles = tuple(_tile(region, plan, available, names) for plan in region.tilings)
    tile_numbers = () if costs is None else tuple(a.name for a in costs.sizes)
    sizes = () if costs is None else costs.sizes
    deciding = {a.name: a for a in (*sizes, *selection.sizes, *seen.leaf_costs.sizes, *selection.program)}
    numbers = tuple(map(_as_number, deciding.values()))
    read = " ".join(
        (
            *(extent.value for extent in extents),
            *params,
            *numbers,
            *(" ".join(launch.arguments) for launch in launches.values()),
            *(" ".join(each.launch.arguments) for each in tiles),
            costs.arguments if costs is not None else "",
            *(each.together for each in tiles),
            *(each.sweeps_left.value for each in tiles),
        )
    )
    return RegionSource(
        name=region.name,
        params_type=f"{host.name}_params",
        parameters=parameter_list("cf_call *cf_state", given(region, available), read),
        extents=extents,
        params=params,
        size_arguments="".join(f"{a.name}, " for a in selection.sizes),
        launches=tuple(launches.values()),
        leaves=tuple((tuple(numbers), launches[name]) for name, numbers in leaves.items()),
        tiles=tiles,
        tile_numbers=tile_numbers,
        leaf_arguments=seen.leaf_costs.arguments,
        numbers=numbers,
        tables=tuple((table, names.table(table.symbol)) for table in tables_of((region,))),
    )


def given(region: RegionPlan, available: Sequence[Argument]) -> tuple[Argument, ...]:
    """Return the arguments that host code passes: all but the constant arrays, which the launcher has itself."""
    own = {a.pointer for nest in region.nests for a in nest.arrays if a.values is not None}
    return tuple(argument for argument in available if argument.name not in own)


def available_to(region: RegionPlan, host: Interface) -> tuple[Argument, ...]:
    """The data and scalars that a kernel of a region may be passed."""
    nests = region.nests
    # Pointers of host code first: one that is no argument of the function is as it was declared there.
    pointers = {a.pointer: Argument(a.pointer, a.type, True, a.const) for each in nests for a in each.arrays}
    pointers |= {a.name: a for a in host.everything if a.pointer}
    scalars = {s.name: s for each in nests for s in each.scalars if s.role is not Role.TILE}
    return tuple(
        [pointers[name] for name in dict.fromkeys(a.pointer for each in nests for a in each.arrays)]
        + [Argument(s.name, s.type_on_host) for s in scalars.values()]
    )


def _tile(
    region: RegionPlan, tile: TilePlan, available: Sequence[Argument], names: KernelNames
) -> TileSource:
    kernel = tile.kernel
    types = {s.name: s.type for s in tile.nest.scalars}
    counts = [(count,) for count in kernel.together] or [()]
    kernels = tuple(
        names.kernel(kernel.name, (*instance.sizes, *count))
        for instance in tile.instances
        for count in counts
    )
    launch = _launch(kernel, tile.nest, available, types, kernels)
    numbers = range(tile.first, tile.first + len(tile.instances))
    instances = tuple(
        TileInstance(leaf, region.tile_of(leaf), _passed(launch, position, kernel.constants, instance.sizes))
        for position, (leaf, instance) in enumerate(zip(numbers, tile.instances, strict=True))
    )
    left = _extent(tile.tile.sweeps.left, types)
    together = _together(kernel, tile.nest, region.widths) if kernel.together else ""
    return TileSource(_kernel_number(kernel), together, launch, instances, kernel.does_sweeps, left)


def _as_number(argument: Argument) -> str:
    """Return a scalar in ``long long``; C++ converts no wider one to it in braces of its own accord."""
    is_wider = argument.type.wraps and argument.type.is_wide
    return f"(long long){argument.name}" if is_wider else argument.name


def _passed(launch: KernelLaunch, position: int, constants: Sequence[str], sizes: Sequence[int]) -> str:
    """Return what the launcher of a tile is passed for an instance: its number, sizes, and the rest."""
    values = dict(zip(constants, map(str, sizes), strict=True))
    return ", ".join((str(position), *(values[name] for name in launch.sizes), *launch.arguments))


def _kernel_number(kernel: Kernel) -> str:
    """Return the C expression for the place of a kernel among those of all instances and vectors."""
    if not kernel.together:
        return _INSTANCE
    tests = [f"{WIDTH} == {count} ? {k} : " for k, count in enumerate(kernel.together[:-1])]
    return f"{len(kernel.together)} * {_INSTANCE} + ({''.join(tests)}{len(kernel.together) - 1})"


def _together(kernel: Kernel, nest: Nest, widths: Sequence[int]) -> str:
    """Return the vector width of a launch, of these, as a C expression over scalars and data that the launcher has."""
    *others, least = widths
    return "".join(f"{_multiples(kernel, nest, count)} ? {count} : " for count in others) + str(least)


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
    kernel: Kernel,
    nest: Nest,
    available: Sequence[Argument],
    types: Mapping[str, ScalarType],
    kernels: tuple[tuple[str, ...], ...],
) -> KernelLaunch:
    computed: list[Local] = []
    addresses: list[str] = []
    own = ("cf_sweeps",) * kernel.does_sweeps + (WIDTH,) * bool(kernel.together)
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
    staircase = "" if kernel.staircase is None else kernel.staircase.call(types)
    axes = () if kernel.staircase is None else kernel.staircase.axes([name for name, _ in kernel.grid])
    if staircase and not axes:
        x, *others = grid
        tiles = f"cf_mul({_STAIRCASE}.rows, {_STAIRCASE}.columns)"
        grid = (
            Extent(f"cf_mul({x.value}, {tiles})", "the tiles inside of the edge, and few others"),
            *others,
        )
    block = _three(kernel.block, types)
    extents = tuple(_extent(extent, types) for extent in kernel.extents)
    words = Extent(polynomial(kernel.shared_words), c_comment(kernel.shared_words_text))
    read = " ".join(
        (
            *addresses,
            staircase,
            *(e.value for e in (*extents, *grid, *block, *(c.value for c in computed), words)),
        )
    )
    # A tile has its own names for its sizes, which host scalars that the nest does not read may have as well.
    used = tuple(a for a in available if a.name not in kernel.constants and mentions(read, a.name))
    sizes = tuple(name for name in kernel.constants if mentions(read, name))
    numbers = (*((_INSTANCE,) if kernel.constants else ()), *sizes, *own)
    return KernelLaunch(
        name=f"{kernel.name}_run",
        kernels=kernels,
        parameters=", ".join(
            (
                "cf_call *cf_state",
                "int cf_leaf",
                *(f"int {name}" for name in numbers),
                *(a.declaration for a in used),
            )
        ),
        sizes=sizes,
        arguments=(*own, *(a.name for a in used)),
        extents=extents,
        locals=tuple(computed),
        addresses=tuple(addresses),
        grid=grid,
        staircase=staircase,
        axes=axes,
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
            if nest.scalar(parameter.of).type_on_host is parameter.type:
                return None
            return Extent(parameter.of, parameter.of)
        case Source.EXTENT:
            return _extent(dict(kernel.grid)[parameter.of], types)
        case Source.STAIRCASE:
            return Extent(f"{_STAIRCASE}.{parameter.of}", f"{parameter.of} of the launch")
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


def parameter_list(first: str, arguments: Iterable[Argument], read: str) -> str:
    """A parameter list of C and C++; what the text ``read`` does not mention is marked, so that no compiler warns."""
    declared = [a.declaration if mentions(read, a.name) else f"CF_UNUSED {a.declaration}" for a in arguments]
    return ", ".join((first, *declared))
