"""The view from which the choice of a leaf and its blocks is printed.

In: a region with the profiles of its leaves.  Out: :class:`LeafCosts` for the header, whose texts are C over scalars of
the region: the tables of each kernel, the numbers that they point to, and the points that parameters leave out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from comprehensive.codegen.dispatch import Dispatch
from comprehensive.kernel_ir.axes import axis_extents
from comprehensive.kernel_ir.c_expr import c_comment, mentions, polynomial, wide
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.machine.parameters import WARP_THREADS
from comprehensive.machine.sites import UNKNOWN, Access, Sites
from comprehensive.metafork.ast import Expr, ScalarType
from comprehensive.metafork.printer import print_expr
from comprehensive.plan.interface import Argument
from comprehensive.plan.left_out import leaves_out, shares
from comprehensive.plan.plan import LeafPlan, RegionPlan
from comprehensive.plan.profile import number_name
from comprehensive.plan.sizes_read import cost_sizes
from comprehensive.records import replace

END = -1
"""The number that stands behind the origins of an access."""


class LeafTables(Struct, frozen=True):
    """The sites that kernels have in common as initialisers, and what a launch of one of these kernels is."""

    leaves: tuple[tuple[int, int], ...]
    """The number of each leaf, with the registers that a thread of it takes."""
    numbers: tuple[tuple[str, str], ...]
    """Name and value, from the third number on; the first two are 0 and 1."""
    contexts: tuple[str, ...]
    regions: tuple[str, ...]
    accesses: tuple[tuple[str, str], ...]
    """Each with the array that it accesses."""
    loops: tuple[int, ...]
    origins: tuple[int, ...]
    staircase: str
    """The call that says how many blocks of a grid with a slanted edge are launched; empty where all are."""
    grid: str
    block: str
    words: str

    def registers(self, number: str) -> str:
        """Registers of a thread, as C over the variable that has the number of the leaf."""
        each = dict(self.leaves)
        usual = max(sorted(set(each.values())), key=list(each.values()).count)
        others = (f"{number} == {leaf} ? {count}u : " for leaf, count in each.items() if count != usual)
        return f"{''.join(others)}{usual}u"


class LeafCosts(Struct, frozen=True):
    """The tables and texts from which the header computes the costs of all leaves of a region."""

    parameters: str
    arguments: str
    sizes: tuple[Argument, ...]
    """Integers that the caller passes, in order of definition."""
    program: tuple[Argument, ...]
    unused: tuple[str, ...]
    kernels: tuple[LeafTables, ...]
    most_contexts: int
    shares: tuple[tuple[str, str, str], ...]
    """Iterations of groups of loops: those that are done, all, and what they are; empty where none are left out."""
    left_out_unused: tuple[str, ...]


def leaf_costs(region: RegionPlan, selection: Dispatch) -> LeafCosts:
    """Program parameters are members of the parameters that the caller passes."""
    names = selection.names
    types = {s.name: s.type for s in region.nest.scalars}
    kernels = _alike([_tables(leaf, types) for leaf in region.leaves])
    parts = tuple(
        (
            wide(share.whole if share.is_whole else share.done, types),
            wide(share.whole, types),
            c_comment(print_expr(share.done)),
        )
        for share in (shares(region.nest) if leaves_out(region.nest) else ())
    )
    of_costs = " ".join(
        " ".join((*(value for _, value in k.numbers), k.staircase, k.grid, k.block, k.words)) for k in kernels
    )
    of_shares = " ".join(f"{done} {whole}" for done, whole, _ in parts)
    program = frozenset(a.name for a in selection.program)
    sizes = tuple(Argument(s.name, s.type) for s in cost_sizes(region, program))
    everything = (*(a.name for a in (*sizes, *selection.program)),)
    return LeafCosts(
        parameters=", ".join(
            (
                f"const cf_machine *{names.machine}",
                *(a.declaration for a in sizes),
                f"const {selection.params_type} *{names.params}",
            )
        ),
        arguments="".join(f"{a.name}, " for a in sizes),
        sizes=sizes,
        program=selection.program,
        unused=(
            *(a for a in everything if not mentions(of_costs, a)),
            *(() if selection.program else (names.params,)),
        ),
        kernels=kernels,
        most_contexts=max((len(leaf.profile.sites.contexts) for leaf in region.leaves), default=1),
        shares=parts,
        left_out_unused=(
            names.machine,
            *(a for a in everything if not mentions(of_shares, a)),
            *(() if selection.program else (names.params,)),
        ),
    )


def _alike(tables: Iterable[LeafTables]) -> tuple[LeafTables, ...]:
    """Join tables that differ in their leaves alone: strategies for registers leave accesses as they are."""
    found: dict[LeafTables, tuple[tuple[int, int], ...]] = {}
    for each in tables:
        key = replace(each, leaves=())
        found[key] = (*found.get(key, ()), *each.leaves)
    return tuple(replace(key, leaves=leaves) for key, leaves in found.items())


def _tables(leaf: LeafPlan, types: dict[str, ScalarType]) -> LeafTables:
    kernel, profile = leaf.kernel, leaf.profile
    known = {**types, **{number_name(k): ScalarType.LONG for k in range(len(profile.numbers))}}
    loops, origins = _listed(profile.sites)
    pointers = [p.name for p in kernel.parameters if p.pointer]
    return LeafTables(
        ((leaf.index, leaf.registers),),
        tuple(
            (number_name(position), wide(expr, known))
            for position, expr in enumerate(profile.numbers)
            if position > 1
        ),
        tuple(
            _row((c.parent, c.turns, int(c.is_loop), c.instructions, c.wide)) for c in profile.sites.contexts
        ),
        tuple(_row((r.context, r.round, r.depth, r.barriers)) for r in profile.sites.regions),
        tuple(
            (_access(access, loops, origins), _array(access, pointers)) for access in profile.sites.accesses
        ),
        tuple(number for _, pairs in loops for pair in pairs for number in pair),
        tuple(number for _, found in origins for number in (*found, END)),
        "" if kernel.staircase is None else kernel.staircase.call(types),
        _grid(kernel, types),
        _row(_three(kernel.block, types)),
        f"cf_number_of({polynomial(kernel.shared_words)})" + _slots(kernel, types),
    )


def _slots(kernel: Kernel, types: dict[str, ScalarType]) -> str:
    """The words of shared memory in place of registers, a term of a sum in C; nothing where there are none."""
    if not kernel.slots:
        return ""
    threads = " * ".join(f"(long long)({wide(extent, types)})" for extent in kernel.block)
    return f" + {kernel.slots * WARP_THREADS} * (({threads} + {WARP_THREADS - 1}) / {WARP_THREADS})"


def _array(access: Access, pointers: Sequence[str]) -> str:
    others = "an array of each thread" if access.array == UNKNOWN else "shared memory"
    name = pointers[access.array] if 0 <= access.array < len(pointers) else others
    return c_comment(f"{name}, {'written' if access.stores else 'read'}")


def _listed(
    sites: Sites,
) -> tuple[list[tuple[int, tuple[tuple[int, int], ...]]], list[tuple[int, tuple[int, ...]]]]:
    """Return the loops and the origins of accesses, each with its place in the list of all.

    Accesses with the same ones share an entry.
    """
    loops: dict[tuple[tuple[int, int], ...], int] = {}
    origins: dict[tuple[int, ...], int] = {}
    at_loop = at_origin = 0
    for access in sites.accesses:
        if access.loops not in loops:
            loops[access.loops] = at_loop
            at_loop += 2 * len(access.loops)
        if access.origins not in origins:
            origins[access.origins] = at_origin
            at_origin += len(access.origins) + 1
    return [(at, pairs) for pairs, at in loops.items()], [(at, found) for found, at in origins.items()]


def _access(
    access: Access,
    loops: Sequence[tuple[int, tuple[tuple[int, int], ...]]],
    origins: Sequence[tuple[int, tuple[int, ...]]],
) -> str:
    head = (
        access.context,
        access.region,
        access.array,
        access.bytes,
        int(access.stores),
        int(access.is_shared),
    )
    begin = next(at for at, pairs in loops if pairs == access.loops)
    first = next(at for at, found in origins if found == access.origins)
    threes = ", ".join(_row(three) for three in (access.threads, access.extents, access.grid))
    tail = (begin, len(access.loops), first, len(access.origins))
    return f"{{ {', '.join(map(str, head))}, {threes}, {', '.join(map(str, tail))} }}"


def _grid(kernel: Kernel, types: dict[str, ScalarType]) -> str:
    """Return the extents of the launch along x, y and z as text."""
    extents = [*_three([extent for _, extent in kernel.grid], types)]
    if kernel.staircase is not None:
        rows, columns = kernel.staircase.axes([name for name, _ in kernel.grid])
        extents[rows], extents[columns] = "cf_stairs.rows", "cf_stairs.columns"
    return _row(extents)


def _row(numbers: Iterable[object]) -> str:
    return f"{{ {', '.join(map(str, numbers))} }}"


def _three(extents: Sequence[Expr], types: dict[str, ScalarType]) -> tuple[str, ...]:
    """Return the extents along x, y and z as texts, from extents given outermost first."""
    return tuple(wide(extent, types) for extent in axis_extents(extents, types))
