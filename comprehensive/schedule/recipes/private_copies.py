"""Points that update elements of small arrays atomically: a histogram, sums by key.

::

    for all points: atomic h[x[y]] += 1;
        a block: a copy of h in shared memory for all of its points; at the end it is added to h

Composed of: split, bind, privatize (`privatize.py`), unroll and jam, peel.  A block does many tiles of points one after
the other (``D``), so that copies are added up seldom.  Arrays of more elements than an instance's longest are left to
others.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import Barrier, Kernel, KernelStmt
from comprehensive.kernel_ir.terms import constant, counting, product
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.loops.ir import Alternative, Nest, RegisterTile
from comprehensive.metafork.ast import Binary, Expr, If, Name
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.batch import with_inner
from comprehensive.schedule.context import TileContext, commented
from comprehensive.schedule.instances import Instance, table
from comprehensive.schedule.legality import point_obstacle
from comprehensive.schedule.privatize import PrivateCopy, begun, private_copies, put_together, with_copies
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.unroll_and_jam import jammed_points

MOST_COORDINATES = 2


class PrivateCopies(Struct, frozen=True):
    name: str = "private copies"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        for body in tile.bodies:
            if (obstacle := point_obstacle(nest, body)) is not None:
                return NotApplicable(obstacle)
        copies = private_copies(nest, tile)
        if isinstance(copies, str):
            return NotApplicable(copies)
        tile = with_inner(tile, MOST_COORDINATES)
        first, *others = tile.coordinates
        fits = (Binary("<=", copy.count, Name(tile.stages)) for copy in copies)
        return replace(
            tile,
            coordinates=(replace(first, turns=tile.depth), *others),
            conditions=tuple(dict.fromkeys((*tile.conditions, *fits))),
        )

    def lower(self, context: TileContext) -> TileKernel:
        copies = _copies(context.nest, context.tile)
        elements, threads = (
            Name(context.tile.stages),
            product([Name(c.threads) for c in context.tile.coordinates]),
        )
        arrays = [copy.array.name for copy in copies]
        words = {
            c.array.name: Polynomial.symbol(context.tile.stages) * words_per_element(c.array.type)
            for c in copies
        }
        tiles = [
            (context.names[f"shared_{c.array.name}"], c.array.type, words[c.array.name], c.array.name)
            for c in copies
        ]
        body: tuple[KernelStmt, ...] = (
            commented(
                context,
                "privatize",
                arrays,
                f"{elements.identifier} elements for each block, added up at its end",
            ),
            *context.shared_tiles(tiles),
            constant(context.names["thread"], _thread(context)),
            begun(context, copies, elements, threads),
            Barrier(),
            _turns(context, copies),
            Barrier(),
            put_together(context, copies, elements, threads),
        )
        return TileKernel(
            body,
            (*context.tile.sizes, context.tile.depth, context.tile.stages),
            sum(words.values(), Polynomial.constant(0)),
        )

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        """Return the instances of the table, whose longest array is in words, shortened for several or wide arrays."""
        words = int(kernel.shared_words.coefficient(tile.stages, 1).constant_value())
        place = kernel.constants.index(tile.stages)
        found = table(f"private_copies_{len(tile.coordinates)}")
        return tuple(
            Instance((*i.sizes[:place], i.sizes[place] // words, *i.sizes[place + 1 :])) for i in found
        )


def _copies(nest: Nest, tile: RegisterTile) -> tuple[PrivateCopy, ...]:
    copies = private_copies(nest, tile)
    assert not isinstance(copies, str)
    return copies


def _thread(context: TileContext) -> Expr:
    """The number of the thread in its block."""
    if len(context.tile.coordinates) == 1:
        return context.name("t0")
    first, second = context.name("t0"), context.name("t1")
    return Binary("+", Binary("*", first, Name(context.tile.coordinates[1].threads)), second)


def _turns(context: TileContext, copies: tuple[PrivateCopy, ...]) -> KernelStmt:
    """The tiles of a block, one after the other along the first coordinate."""
    first, *others = context.tile.coordinates
    once = replace(first, turns=None)
    tile = replace(
        context.tile,
        coordinates=(once, *others),
        alternatives=tuple(
            Alternative(a.condition, with_copies(context, copies, a.body)) for a in context.tile.alternatives
        ),
    )
    inner = replace(context, tile=tile, names={**context.names, "o0": context.names["first"]})
    step = context.name("step")
    origin = constant(context.names["first"], Binary("+", context.name("o0"), Binary("*", step, once.extent)))
    body: tuple[KernelStmt, ...] = ()
    for alternative in reversed(tile.alternatives):
        jam, partial = jammed_points(inner, alternative.body)
        both = (If(inner.is_whole(), jam.all(alternative.body), partial, uniform=True),)
        if alternative.condition is not None:
            both = (If(alternative.condition, both, body, uniform=True),)
        body = both
    return counting(step.identifier, Name(context.tile.depth), (origin, *body), uniform=True)
