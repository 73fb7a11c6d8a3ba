"""The recipe: one way to cut points into tiles and to do them, from legality to instances.

A recipe is a composition of primitives (unroll and jam, stage, stream, vectorize, ...).  It says of a nest over points
whether it fits, in the names of the user where it does not; it lowers a tile to the statements of a kernel; and it
knows for which sizes that kernel is compiled.  No other code asks which recipe a kernel came from::

    match recipe.fit(nest, tile):
        case RegisterTile() as fitted: kernel = lower_tile(Variant(cut(nest, fitted), tile=fitted), name)
        case NotApplicable(reason):    ...   # why not
        case None:                     ...   # it is for another kind of points

Most recipes are for one region; one for a loop of the host is given all regions of a program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import Alignment, Kernel, KernelParameter, KernelStmt
from comprehensive.loops.ir import Nest, Points, RegisterTile
from comprehensive.metafork.ast import Expr, IntLiteral
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.schedule.context import PATCH, BlockOrder, TileContext
from comprehensive.schedule.instances import Instance


class TileKernel(Struct, frozen=True):
    """The kernel that a recipe makes of a tile: its body, and what launches have to know of it."""

    body: tuple[KernelStmt, ...]
    """The statements behind those that place blocks and threads."""
    constants: tuple[str, ...]
    """The names of the sizes that the kernel is a template over, without the number of blocks."""
    words: Polynomial = Polynomial.constant(0)
    """4-byte words of shared memory of a block, over the constants."""
    constraints: tuple[Expr, ...] = ()
    """Conditions that the constants must meet."""
    alignments: tuple[Alignment, ...] = ()
    together: tuple[int, ...] = ()
    """The vector widths that the kernel is compiled for, in elements, the widest first; none where it has no choice."""
    order: BlockOrder = BlockOrder.ROWS
    patch: tuple[int, int] = PATCH
    """The threads of a warp along each coordinate, where blocks are in groups."""
    block: tuple[Expr, ...] | None = None
    """The extents of a block; None where each coordinate has its threads."""
    lanes: Expr | None = None
    """The number of threads that share a point; None for one."""
    interleaved: bool = False
    """Whether neighbouring threads have neighbouring points; else the threads that share a point are neighbours."""
    extents: tuple[Expr, ...] = ()
    """Numbers over scalars of the nest that are at least 1 where there is something to do."""
    parameters: tuple[KernelParameter, ...] = ()
    """The parameters that are no data, scalars, strides or limits."""
    step: Expr = IntLiteral(1)
    """How many turns of the serial loop, or sweeps, the kernel does at a time, over the constants."""
    in_rows: bool = False
    """Whether it may do as many turns of the loop around that one, too (`box_loop.py`)."""
    shares_outermost: bool = False
    """Whether threads share the turns of the outermost loop, and each does all of those inside of its turns."""


class Recipe(Protocol):
    """One way to cut points into tiles.  ``name`` is how trees and remarks call it."""

    @property
    def name(self) -> str: ...

    def lower(self, context: TileContext) -> TileKernel:
        """Return the kernel of a tile that fits."""
        ...

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        """Return the sizes to compile the kernel for, those for large data first; some may not meet its constraints."""
        ...


class RegionRecipe(Recipe, Protocol):
    """A recipe for the points of one region."""

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        """Return the tile as the recipe cuts it; why it cannot; or None where points of that kind are others' work.

        The ``tile`` that is given has all coordinates of the points, and no batch.
        """
        ...


class LoopRecipe(Recipe, Protocol):
    """A recipe for the regions that a loop of the host repeats, several of them in one launch."""

    def fit(
        self, nests: Sequence[Nest], points: Sequence[Points | NotApplicable]
    ) -> tuple[tuple[Nest, RegisterTile] | NotApplicable | None, ...]:
        """Return how each region of a program, in order, is cut together with those that follow it; or why it cannot.

        None stands for a region that nothing repeats.
        The nests are the same with the scalars and arrays of all that a launch does.
        """
        ...
