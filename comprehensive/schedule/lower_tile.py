"""The lowering of a variant over tiles to its kernel, a template over the sizes of the tile.

In: a :class:`Variant` with a tile.  Out: a :class:`Kernel`: blocks and threads are placed, and the recipe by which the
nest was cut says what they do.
"""

from __future__ import annotations

from comprehensive.kernel_ir.idle import folded, spliced, without_aliases, without_unused
from comprehensive.kernel_ir.kernel import Alignment, Comment, Kernel
from comprehensive.kernel_ir.verify import verify
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, Variant
from comprehensive.loops.reading_order import reading_order
from comprehensive.metafork.ast import IntLiteral, Name
from comprehensive.records import replace
from comprehensive.schedule.context import GROUP, BlockOrder, TileContext
from comprehensive.schedule.limiting_loops import limiting_loops
from comprehensive.schedule.operands import loops_beside
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.recipes.registry import recipe_of
from comprehensive.schedule.triangle import triangle_of


def lower_tile(variant: Variant, name: str) -> Kernel:
    """The kernel ``name`` of a variant over tiles."""
    nest, tile = variant.nest, variant.tile
    assert tile is not None
    loops = limiting_loops(nest, tile)
    context = TileContext.of(nest, tile, loops)
    made = recipe_of(tile).lower(context)
    triangle = triangle_of(context)
    places = context.places(
        made.order,
        made.lanes,
        made.patch,
        interleaved=made.interleaved,
        placed=() if triangle is None else triangle.placed(),
    )
    origins = tuple(context.names[f"o{number}"] for number in range(len(tile.coordinates)))
    cut = _cut(context, made, in_triangle=triangle is not None)
    body = without_aliases(without_unused((cut, *places, *made.body)), frozenset(origins))
    of_launch = () if triangle is None else triangle.parameters
    parameters = (*context.parameters(body), *of_launch, *made.parameters)
    verify(body)
    return Kernel(
        name=name,
        parameters=parameters,
        grid=(("blockIdx.x", context.count(of_triangle=triangle is not None)),),
        block=made.block or tuple(Name(c.threads) for c in tile.coordinates),
        shared_words=made.words,
        order=(*reading_order(nest), *made.constants),
        body=spliced(folded(body, parameters), parameters),
        constants=(*made.constants, tile.blocks),
        blocks=tile.blocks,
        constraints=made.constraints,
        alignments=tuple(_known_to_launches(alignment, nest) for alignment in made.alignments),
        together=made.together,
        limits=tuple(context.limits.items()),
        extents=made.extents,
        origins=origins,
        step=made.step,
        in_rows=made.in_rows,
        shares_outermost=made.shares_outermost and len(loops) > 1,
        beside=bool(loops_beside(nest, tile)),
        staircase=None if triangle is None else triangle.staircase,
    )


def _cut(context: TileContext, made: TileKernel, *, in_triangle: bool) -> Comment:
    """The comment on the places of blocks and threads."""
    coordinates = context.tile.coordinates
    sizes = " x ".join(f"{c.threads}*{c.each}" for c in coordinates)
    text = f"cut({', '.join(c.name for c in coordinates)}): tiles of {sizes} points"
    if made.order is BlockOrder.GROUPS:
        text += " by warps of {} x {} threads".format(*made.patch)
    if made.order is BlockOrder.GROUPS or in_triangle:
        text += f", {GROUP} rows of tiles at a time"
    return Comment(text)


def _known_to_launches(alignment: Alignment, nest: Nest) -> Alignment:
    """The alignment with 1, which no vector divides, for a number that is not the same for all blocks."""
    scalars = {s.name for s in nest.scalars}
    known = (e if names_read(e) <= scalars else IntLiteral(1) for e in alignment.multiples)
    return replace(alignment, multiples=tuple(known))
