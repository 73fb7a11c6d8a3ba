"""Loops of a point that a block's threads share, however long they are: batch norm, softmax over a vocabulary.

::

    for (i < b) for (p < h) s += x[i][c][p];   m = s / (b*h);   for (i < b) for (p < h) y[i][c][p] = x[i][c][p] - m
        a block: T0 points, D threads a point;  S steps of a loop at a time: D threads read, one adds up in order
        what has no order: D threads, each a share of the steps, straight from memory and to it

Composed of: split, bind, flatten (loops in each other are one), distribute (what has no order to all threads of a
point, what has one to one of them), expand (values that the ordered part needs: pieces of S in shared memory)
(`flatten.py`, `distribute.py`, `row_phases.py`). Sums keep their order but where the caller wants no such thing: then
all threads add up, and a tree puts their sums together.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from comprehensive.kernel_ir.instructions import has_slow_path
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Index
from comprehensive.metafork.walk import expressions_in, subexpressions_in
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.accumulate import accumulated
from comprehensive.schedule.batch import with_inner
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.distribute import Distribution, distribution_of, row_loops
from comprehensive.schedule.even_loops import with_even_loops
from comprehensive.schedule.flatten import flattened
from comprehensive.schedule.instances import Instance, for_wide_elements, table, words_of_step
from comprehensive.schedule.operands import loop_of, loops_of
from comprehensive.schedule.phases import Parallel, Phase, Pieces
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.recipes.resident_rows import is_reduction
from comprehensive.schedule.row_layout import ResidentRows
from comprehensive.schedule.row_phases import RowPhases

FEW_WORDS = 2
"""The words of shared memory for a step of a row, for which blocks of the table fit beside each other."""


class LongRows(Struct, frozen=True):
    in_another_order: bool = False

    @property
    def name(self) -> str:
        return "split long rows" if self.in_another_order else "long rows"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        even = with_even_loops(nest, tile, stores=True)
        if loop_of(tile) is None or not loops_of(nest, even):
            return None
        if len(tile.alternatives) > 1:
            return NotApplicable("there is a serial loop under a condition")
        if _is_product(nest, tile) or (is_reduction(nest, tile) and not _has_slow_steps(tile)):
            return None
        tile = accumulated(nest, flattened(nest, with_inner(even, 1)))
        tile = replace(tile, reassociated=self.in_another_order)
        distribution = _distribution(nest, tile)
        if isinstance(distribution, str):
            return NotApplicable(distribution)
        if self.in_another_order and not distribution.rounds:
            return None
        if not any(_is_shared(phase) for phase in distribution.phases):
            return NotApplicable("all that the loops do has to be done in order")
        return replace(tile, lanes=tile.depth)

    def lower(self, context: TileContext) -> TileKernel:
        tile = context.tile
        distribution = _distribution(context.nest, tile)
        assert not isinstance(distribution, str)
        return RowPhases(context, ResidentRows(context.nest, tile, distribution)).kernel()

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        """Return the instances of the table, whose pieces are shorter where more values are left for each step."""
        pieces, lanes = kernel.constants.index(tile.stages), kernel.constants.index(tile.depth)

        def shortened(sizes: tuple[int, ...]) -> tuple[int, ...]:
            more = max(Fraction(1), words_of_step(kernel, tile, sizes) / FEW_WORDS)
            length = int(sizes[pieces] / more) // sizes[lanes] * sizes[lanes]
            return (*sizes[:pieces], length, *sizes[pieces + 1 :])

        found = for_wide_elements(kernel, table("long_rows"))
        return tuple(Instance(shortened(i.sizes)) for i in found)


def _has_slow_steps(tile: RegisterTile) -> bool:
    """Whether steps wait for themselves, and not for memory: what lanes do of them is worth to be put down."""
    return any(map(has_slow_path, expressions_in(row_loops(tile.alternatives[0].body))))


def _is_product(nest: Nest, tile: RegisterTile) -> bool:
    """Whether points of several coordinates have loops in one, and share what these read: a product, a convolution."""
    loops = row_loops(tile.alternatives[0].body)
    arrays, points = {a.name for a in nest.arrays}, {c.name for c in tile.coordinates}
    read = (e for e in subexpressions_in(loops) if isinstance(e, Index) and e.array in arrays)
    return len(loops) == 1 and len(points) > 1 and any(points - names_read(e) for e in read)


def _distribution(nest: Nest, tile: RegisterTile) -> Distribution | str:
    return distribution_of(nest, tile, tile.alternatives[0].body, in_pieces=True)


def _is_shared(phase: Phase) -> bool:
    """Whether lanes have something to do in a phase."""
    lanes = phase.lanes if isinstance(phase, Pieces) else phase
    return isinstance(lanes, Parallel) and bool(lanes.loop.body)
