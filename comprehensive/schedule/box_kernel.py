"""The kernel of points whose serial loops read boxes: loops in each other, or several one after the other.

In: a context.  Out: the statements of the kernel::

    all points inside of the limits: sum = 0
    the loops over boxes (`box_loop.py`); for each further loop: what stands before it, and its boxes in their place
    all points inside of the limits: out[y0][y1][y2] = sum
"""

from __future__ import annotations

from comprehensive.kernel_ir.kernel import Await, Barrier
from comprehensive.kernel_ir.terms import conjunction
from comprehensive.kernel_ir.words import most_words
from comprehensive.metafork.ast import Declare, Expr, For, Name
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.walk import statements_in
from comprehensive.schedule.around_loop import AroundLoop
from comprehensive.schedule.box_loop import BoxLoop
from comprehensive.schedule.box_nest import LoopNest
from comprehensive.schedule.boxes import contiguous_axes
from comprehensive.schedule.context import OF_ARRAYS, ZERO, TileContext
from comprehensive.schedule.operands import has_steps
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.reference_groups import loop_nests


def box_kernel(context: TileContext) -> TileKernel:
    """The kernel of points whose loops read boxes, those beside each other one after the other."""
    tile = context.tile
    nests = loop_nests(context.nest, tile)
    limits = [_limits(context, loops, are_several=len(nests) > 1) for loops in nests]
    runs = (conjunction([has_steps(limit) for limit in of_loops]) for of_loops in limits)
    loops = [(each.path[0], each.held, run) for each, run in zip(nests, runs, strict=True)]
    around, between = AroundLoop.of(context, loops)
    name, rows = Namer(_taken(context)), contiguous_axes(tile, nests)
    made = [
        BoxLoop.of(context.of_loop(number), loops, of_loops, rows, around, name)
        for number, (loops, of_loops) in enumerate(zip(nests, limits, strict=True))
    ]
    (first, *others), (before, *befores) = made, between
    jam = made[-1].jam_around()
    body = (
        *first.boxes.tiles(),
        first.thread(),
        *first.feeds(),
        *around.comments(),
        *around.loaded(jam),
        *first.done(before),
        *(
            statement
            for each, statements in zip(others, befores, strict=True)
            for statement in (
                Await(ZERO),
                Barrier(),
                *each.boxes.tiles(),
                *each.feeds(),
                *each.done(statements),
            )
        ),
        *made[-1].epilogue.stored(jam),
    )
    alignments = tuple(dict.fromkeys(a for each in made for a in each.epilogue.alignments()))
    return TileKernel(
        body,
        (*tile.sizes, tile.depth, tile.stages),
        most_words([each.boxes.words() for each in made]),
        tuple(dict.fromkeys(one for each in made for one in each.boxes.constraints())),
        alignments,
        (4, 2, 1) if alignments else (),
        extents=tuple(loop.bound for loop in nests[0].path) if around.is_loop_alone else (),
        step=Name(tile.depth),
        in_rows=any(loops.rows is not None for loops in nests),
    )


def _limits(context: TileContext, loops: LoopNest, *, are_several: bool) -> tuple[Expr, ...]:
    """The bounds of loops in each other, or of one of several, as the kernel calls them."""
    first = len(context.tile.coordinates)
    if are_several:
        return tuple(map(context.bound, loops.path))
    return tuple(context.limit(first + n) for n in range(len(loops.path)))


def _taken(context: TileContext) -> set[str]:
    """The names of a kernel that its boxes may not have."""
    names = (
        {a.name for a in context.nest.arrays} | {s.name for s in context.nest.scalars} | set(context.limits)
    )
    names |= context.tile.limits.keys() | set(context.tile.sizes)
    names |= {context.tile.depth, context.tile.stages, context.tile.blocks}
    statements = list(statements_in(context.tile.alternatives[0].body))
    names |= {s.name for s in statements if isinstance(s, Declare)}
    names |= {s.iterator for s in statements if isinstance(s, For)}
    names |= {p.name for a in context.nest.arrays for p in context.strides[a.name]}
    of_arrays = {f"{base}_{a.name}" for base in OF_ARRAYS if base != "private" for a in context.nest.arrays}
    return names | {name for base, name in context.names.items() if base not in of_arrays}
