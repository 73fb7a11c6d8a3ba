"""What the host side is generated from: functions, their regions, and a kernel with its system for every leaf.

In: built by the driver from the tree and :func:`comprehensive.codegen.lower.lower`.  Out: read by the printers of
the header, of the CUDA source and of the manifest.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.algebra import System
from comprehensive.codegen.instances import Instance
from comprehensive.codegen.kernel import Kernel
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Function


@dataclass(frozen=True, slots=True)
class LeafPlan:
    """One leaf of the tree: its number, its kernel and when it may run."""

    index: int
    kernel: Kernel
    nest: Nest
    """The optimized nest, printed as the leaf's `.mf`."""
    system: System
    """Over machine parameters and scalars of the nest, simplified; the systems of a region exclude each other."""
    decisions: tuple[str, ...]
    """One line per strategy taken, and the paper's codes."""


@dataclass(frozen=True, slots=True)
class TilePlan:
    """The kernel of a region over register tiles, for any program parameters; tried before the leaves.

    Its instances are numbered as leaves are, from ``first`` on.
    """

    kernel: Kernel
    nest: Nest
    """Over tiles; the constants of the kernel are scalars of it."""
    system: System
    """Over machine parameters and the constants."""
    first: int
    instances: tuple[Instance, ...]

    def sizes(self, instance: Instance) -> dict[str, int]:
        """By the names of the constants."""
        return dict(zip(self.kernel.constants, instance.sizes, strict=True))


@dataclass(frozen=True, slots=True)
class RegionPlan:
    """A region: ``name`` prefixes everything generated for it (``matmul``, or ``heat_1``, ``heat_2``)."""

    name: str
    nest: Nest
    """The nest as written."""
    leaves: tuple[LeafPlan, ...]
    dead_ends: tuple[System, ...]
    """Where no strategy is left: the dispatcher refuses and cites the system."""
    tile: TilePlan | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of the leaves, and of the instances of the kernel over register tiles."""
        tiles = (
            () if self.tile is None else range(self.tile.first, self.tile.first + len(self.tile.instances))
        )
        return (*(leaf.index for leaf in self.leaves), *tiles)

    def instance_of(self, number: int) -> int:
        """Which register tile a number is, from 1 on; 0 for a leaf."""
        return 0 if self.tile is None or number < self.tile.first else number - self.tile.first + 1

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Of the leaves in order, some more than once, then the one over register tiles."""
        return (*(leaf.kernel for leaf in self.leaves), *(() if self.tile is None else (self.tile.kernel,)))


@dataclass(frozen=True, slots=True)
class FunctionPlan:
    """A host function with its regions in program order."""

    function: Function
    regions: tuple[RegionPlan, ...]


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """Everything generated from one `.mf` file; ``stem`` names the outputs (``matmul`` gives ``matmul.h``)."""

    stem: str
    source_path: str
    source_digest: str
    """SHA-256 of the input, hexadecimal."""
    functions: tuple[FunctionPlan, ...]
