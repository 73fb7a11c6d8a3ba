"""The plan from which the host side is generated: functions, their regions, a kernel with its system for every leaf.

In: built by the driver from the tree and :func:`comprehensive.lowering.lower.lower`.  Out: read by the printers of
the header, of the CUDA source and of the manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import Struct

from comprehensive.algebra import Quotient, System
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.kernel_ir.terms import size_of
from comprehensive.loops.access import atomically_updated
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.machine.cost import TileWork
from comprehensive.metafork.ast import Expr, Function, IntLiteral
from comprehensive.metafork.rewrite import substitute
from comprehensive.plan.profile import NOTHING, Profile
from comprehensive.plan.versions import ORIGINAL, Adaptation, KernelKey, Version
from comprehensive.schedule.instances import Instance

T = TypeVar("T")
USUAL_REGISTERS = 32


@dataclass(frozen=True, slots=True)
class LeafPlan:
    """One leaf of the tree: its number, its kernel and when it may run."""

    index: int
    kernel: Kernel
    nest: Nest
    """The optimized nest, printed as the leaf's `.mf`."""
    system: System
    """Conditions on machine parameters and scalars of the nest, simplified; those of a region's leaves
    exclude each other."""
    decisions: tuple[str, ...]
    """One line per strategy taken, and the paper's codes."""
    registers: int = USUAL_REGISTERS
    """The registers of a thread, as they are counted; the usual ones where they depend on parameters."""
    profile: Profile = field(default=NOTHING, compare=False, repr=False)
    """The work of its blocks, for the choice among leaves and blocks."""


class Traffic(Struct, frozen=True):
    """The least that a launch moves of an array: ``bytes`` for each combination of values below some limits."""

    array: str
    bytes: int
    limits: tuple[int, ...]
    """Numbers of limits of the kernel."""

    def of(self, whole: Sequence[T], counted: Sequence[T]) -> tuple[T, ...]:
        """Return its limits out of all: where points have parts of their own, as they are counted on average."""
        return tuple((counted if len(self.limits) > 1 else whole)[number] for number in self.limits)


@dataclass(frozen=True, slots=True)
class TilePlan:
    """A kernel of a region over tiles, for any program parameters; tried before the leaves.

    Its instances are numbered as leaves are, from ``first`` on.
    """

    kernel: Kernel
    nest: Nest
    """The nest over tiles; the constants of the kernel are scalars of it."""
    system: System
    """The conditions on machine parameters and the constants."""
    first: int
    instances: tuple[Instance, ...]
    tile: RegisterTile
    """The cut of the points by its recipe; the limits of a batch are the last ones of the kernel."""
    traffic: tuple[Traffic, ...]
    work: Callable[[Instance, int], TileWork] = field(compare=False, repr=False)
    """The work of the blocks of an instance that accesses so many elements together; 0 where that is no
    choice."""
    mean_steps: Expr | None = None
    """The turns of the serial loop that a point does on average, where some do more of them than others."""

    @property
    def loop_limits(self) -> range:
        """The numbers of the limits that bound serial loops, outermost first; what they bound are steps."""
        return range(len(self.tile.coordinates), len(self.kernel.limits) - len(self.tile.batch))

    @property
    def counted(self) -> tuple[Expr, ...]:
        """The limits of the kernel as costs count them, a loop that is longer at some points by its mean."""
        found = [limit for _, limit in self.kernel.limits]
        if self.mean_steps is not None:
            found[self.loop_limits[-1]] = self.mean_steps
        return tuple(found)

    @property
    def kind(self) -> str:
        return self.tile.kind.shown

    @property
    def recipe(self) -> str:
        return self.tile.recipe

    def turns(self, counted: Sequence[T], sweeps: T) -> tuple[T, ...]:
        """Return what blocks do in steps: turns of the loops that limits bound, outermost first, or sweeps."""
        swept = (sweeps,) if self.kernel.does_sweeps else ()
        return (*(counted[number] for number in self.loop_limits), *swept)

    def most_sweeps(self, instance: Instance) -> int:
        """Return the most sweeps that one launch of an instance does."""
        return size_of(self.tile.sweeps.most, self.sizes(instance))

    def step(self, instance: Instance) -> int:
        """Return how many turns of the serial loop a step of the work of an instance is; 1 for a sweep."""
        return size_of(self.kernel.step, self.sizes(instance))

    def mean_rest(self, instance: Instance) -> int | None:
        """Return the turns of the step that is not whole, on average, where blocks differ: it is half a step."""
        return None if self.mean_steps is None else self.step(instance) // 2

    def sizes(self, instance: Instance) -> dict[str, int]:
        """Return the sizes of an instance by the names of the kernel's constants."""
        return dict(zip(self.kernel.constants, instance.sizes, strict=True))

    def conditions_of(self, sizes: Mapping[str, int]) -> tuple[Expr, ...]:
        """Return the conditions on scalars of the region alone, for the sizes of an instance."""
        constants: dict[str, Expr] = {name: IntLiteral(size) for name, size in sizes.items()}
        return tuple(substitute(condition, constants) for condition in self.tile.conditions)


class RegionPlan(Struct, frozen=True):
    """A region: ``name`` prefixes everything generated for it (``matmul``, or ``heat_1``, ``heat_2``)."""

    name: str
    nest: Nest
    """The nest as written."""
    leaves: tuple[LeafPlan, ...]
    dead_ends: tuple[System, ...]
    """The systems where no strategy is left: the dispatcher refuses and cites the system."""
    tilings: tuple[TilePlan, ...] = ()
    """Its kernels over tiles, in the order of their numbers; one of several sweeps comes last."""
    quotients: tuple[Quotient, ...] = ()
    """The symbols of systems that are no parameters, each after those that it is made of."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The vector widths that some kernel over tiles is compiled for, the widest first."""
        return tuple(sorted({count for plan in self.tilings for count in plan.kernel.together}, reverse=True))

    @property
    def adds_in_any_order(self) -> bool:
        """Whether floating-point sums are made of atomic updates, which come in another order in every launch."""
        return any(not self.nest.array(name).type.is_integer for name in atomically_updated(self.nest))

    @property
    def reassociated(self) -> bool:
        """Whether sums are added up in another order than that of the source, in a tile or everywhere."""
        return self.rounds_everywhere or any(plan.tile.reassociated for plan in self.tilings)

    @property
    def rounds_everywhere(self) -> bool:
        """Whether leaves, too, add up sums in another order than that of the source."""
        return self.adds_in_any_order or self.nest.in_any_order

    @property
    def single(self) -> tuple[TilePlan, ...]:
        """The kernels over tiles that do one sweep."""
        return tuple(plan for plan in self.tilings if not plan.kernel.does_sweeps)

    @property
    def several(self) -> tuple[TilePlan, ...]:
        """The kernel that does several sweeps in one launch, if there is one."""
        return tuple(plan for plan in self.tilings if plan.kernel.does_sweeps)

    @property
    def systems(self) -> tuple[System, ...]:
        """The systems of all leaves, then of all dead ends."""
        return (*(leaf.system for leaf in self.leaves), *self.dead_ends)

    @property
    def nests(self) -> tuple[Nest, ...]:
        """The nest of the region, then those over tiles."""
        return (self.nest, *(tile.nest for tile in self.tilings))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the leaves, and then of the instances of the kernels over tiles."""
        tiles = sum(len(plan.instances) for plan in self.tilings)
        return (*(leaf.index for leaf in self.leaves), *range(len(self.leaves), len(self.leaves) + tiles))

    def tile_of(self, number: int) -> int:
        """Return the tile that a number is, as callers ask for it: from 1 on; 0 for a leaf."""
        return max(0, number + 1 - len(self.leaves))

    @property
    def tiles(self) -> int:
        """The number of tiles that callers can ask for."""
        return len(self.numbers) - len(self.leaves)

    def kind_of(self, number: int) -> str:
        """Return the kind of a number: "leaf", "register tile" or "time tile"."""
        tiling = self.tiling_of(number)
        return "leaf" if tiling is None else tiling[0].kind

    def tiling_of(self, number: int) -> tuple[TilePlan, dict[str, int]] | None:
        """The kernel over tiles and the sizes that a number stands for; None for a leaf."""
        for plan in self.tilings:
            if plan.first <= number < plan.first + len(plan.instances):
                return plan, plan.sizes(plan.instances[number - plan.first])
        return None

    def kernels_of(self, tile: int) -> tuple[KernelKey, ...]:
        """The kernels that stand for a tile; those of leaves for 0, and where there are no tiles."""
        if tile == 0 or not self.tilings:
            names = dict.fromkeys(leaf.kernel.name for leaf in self.leaves if not leaf.kernel.demoted)
            return tuple((name, ()) for name in names)
        return tuple(
            (plan.kernel.name, (*instance.sizes, *together))
            for plan in self.tilings
            for number, instance in enumerate(plan.instances, plan.first)
            if self.tile_of(number) == tile
            for together in ([(count,) for count in plan.kernel.together] or [()])
        )

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of the leaves in order, some of them more than once, then those over tiles."""
        return (*(leaf.kernel for leaf in self.leaves), *(plan.kernel for plan in self.tilings))


class TunedRow(Struct, frozen=True):
    """The fastest parameters that were measured on a device at given sizes, in microseconds a launch."""

    device: str
    sizes: tuple[tuple[str, int], ...]
    """The values of all integer arguments."""
    parameters: tuple[tuple[str, int], ...]
    """The members of ``<function>_params``, in order."""
    microseconds: float


class FunctionPlan(Struct, frozen=True):
    """A host function with its regions in program order."""

    function: Function
    regions: tuple[RegionPlan, ...]
    tuned: tuple[TunedRow, ...] = ()
    """Measured parameters for callers without any; every row is for the same arguments."""
    versions: tuple[Version, ...] = (ORIGINAL,)
    """The versions of these regions in an image of compiled kernels, by number; other sources have the first one."""
    adaptation: Adaptation | None = None
    """The candidates that a launcher tries among them if it is asked to; None where there is nothing to try."""

    @property
    def reassociated(self) -> bool:
        """Whether a tile or an atomic update adds up sums in another order than that of the source."""
        return any(region.reassociated for region in self.regions)

    @property
    def tiles(self) -> int:
        """The number of tiles that callers can ask for, in the region that has most of them."""
        return max((region.tiles for region in self.regions), default=0)

    def kernels_of(self, tile: int) -> tuple[KernelKey, ...]:
        """The kernels that a call which asks for a tile is meant for: in each region its instance, or the leaves (0).

        A leaf that is compiled through passes of its own is not among them.
        """
        return tuple(key for region in self.regions for key in region.kernels_of(tile))


class MeasuredMachine(Struct, frozen=True):
    """Speeds of devices of that name, by which launchers choose there."""

    name: str
    speeds: tuple[tuple[str, int], ...]


class ProgramPlan(Struct, frozen=True):
    """Everything generated from one `.mf` file; ``stem`` names the outputs (``matmul`` gives ``matmul.h``)."""

    stem: str
    source_path: str
    source_digest: str
    """SHA-256 of the input, hexadecimal."""
    functions: tuple[FunctionPlan, ...]
    machines: tuple[MeasuredMachine, ...] = ()
    """Their speeds take the place of those of their architectures, and of what such a device tells of its memory."""
    settings: tuple[tuple[str, str | None], ...] = ()
    """The macros that host code finds defined, with their texts, or not defined (None): they decided on the regions."""
    single_file: bool = False
    """Whether header and sources stand alone: what all programs share is inside of each, not in files beside them."""
