"""What the host side is generated from: functions, their regions, and a kernel with its system for every leaf.

In: built by the driver from the tree and :func:`comprehensive.codegen.lower.lower`.  Out: read by the printers of
the header, of the CUDA source and of the manifest.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.algebra import System
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
class RegionPlan:
    """A region: ``name`` prefixes everything generated for it (``matmul``, or ``heat_1``, ``heat_2``)."""

    name: str
    nest: Nest
    """The nest as written."""
    leaves: tuple[LeafPlan, ...]
    dead_ends: tuple[System, ...]
    """Where no strategy is left: the dispatcher refuses and cites the system."""


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
