"""From a variant over register tiles to its kernel, a template over the sizes of the tile.

In: a :class:`Variant` with a tile.  Out: a :class:`Kernel`: several sweeps are done one after the other (`overlap.py`),
points with a long serial loop are a reduction (`reduction.py`, or `split_reduction.py` where threads share the loop),
all others a stream::

    if the tile is inside of the limits:  float value[U0][U1];  all points: value = ...;  all points: b[y0][y1] = value
    else:                                 point by point, where it is inside
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.folded import folded
from comprehensive.kernel_ir.kernel import TOGETHER, Alignment, Kernel, KernelStmt, Plain, UniformIf
from comprehensive.kernel_ir.terms import conjunction
from comprehensive.kernel_ir.unused import without_unused
from comprehensive.loops.ir import Nest, RegisterTile, Variant
from comprehensive.loops.reading_order import reading_order
from comprehensive.loops.rewrite import statements_in
from comprehensive.metafork.ast import Assign, Binary, Declare, Expr, For, Name
from comprehensive.schedule.context import ONE, ZERO, BlockOrder, TileContext, is_same_for_all_points
from comprehensive.schedule.operands import reduction_obstacle, serial_loop
from comprehensive.schedule.overlap import sweeps_parameter, swept
from comprehensive.schedule.reduction import Reduction
from comprehensive.schedule.split_reduction import Reassociated
from comprehensive.schedule.stream import streamed
from comprehensive.schedule.transposed_store import transposed_store, transposed_words, turned
from comprehensive.schedule.unroll_and_jam import UnrollAndJam, scalars_of
from comprehensive.schedule.vectorize import in_vectors, vectored
from comprehensive.schedule.windows import Windows, alignments_of, windows_of


def tile_obstacle(nest: Nest, tile: RegisterTile) -> str | None:
    """Return why a nest over tiles has no kernel; None where it has one."""
    for body in tile.bodies:
        for statement in statements_in(body):
            match statement:
                case Declare(dims=()) | Assign():
                    pass
                case For() if is_same_for_all_points(nest, statement):
                    pass
                case For():
                    return (
                        f"the extent of the loop over '{statement.iterator}' is not the same for all points"
                    )
                case _:
                    return "there is a statement that is neither an assignment nor a loop"
        loop = None if tile.sweeps is not None else serial_loop(body)
        if loop is not None:
            if len(tile.alternatives) > 1:
                return "there is a serial loop under a condition"
            return reduction_obstacle(nest, tile, body, loop)
    return None


def lower_tile(variant: Variant, name: str) -> Kernel:
    """The kernel ``name`` of a variant over tiles that has one."""
    nest, tile = variant.nest, variant.tile
    assert tile is not None
    assert tile_obstacle(nest, tile) is None
    loop = None if tile.sweeps is not None else serial_loop(tile.alternatives[0].body)
    context = TileContext.of(nest, tile, loop)
    alignments: tuple[Alignment, ...] = ()
    together: tuple[int, ...] = ()
    extents: tuple[Expr, ...] = ()
    order, lanes = BlockOrder.ROWS, None
    block: tuple[Expr, ...] = tuple(Name(c.threads) for c in tile.coordinates)
    if tile.sweeps is not None:
        body, words, demands = swept(context, tile.sweeps)
        constants = (*tile.sizes, tile.sweeps.most)
    elif loop is None:
        windows = windows_of(nest, tile)
        body, constants, demands = _streams(context, windows), tile.sizes, ()
        alignments, together = alignments_of(windows), (4, 2, 1) if windows else ()
        words = Polynomial.constant(0)
        if transposed_store(nest, tile) is not None:
            order, words = BlockOrder.COLUMNS, transposed_words(context)
    elif tile.reassociated:
        shared = Reassociated.of(context, tile.alternatives[0].body, loop)
        body, words, demands = shared.body(), shared.words(), shared.demands()
        alignments, together = shared.alignments(), (4, 1)
        constants = (*tile.sizes, tile.depth, tile.stages)
        lanes, block = Name(tile.depth), (shared.threads(),)
    else:
        reduction = Reduction.of(context, tile.alternatives[0].body, loop)
        layout = reduction.layout
        body, words, demands = reduction.body(), layout.words(), layout.demands()
        alignments, together = layout.alignments(), (4, 1)
        constants = (*tile.sizes, tile.depth, tile.stages)
        extents = (loop.bound,) if reduction.is_loop_alone else ()
        order = BlockOrder.GROUPS if layout.is_patched else BlockOrder.ROWS
    body = without_unused((context.places(order, lanes), *body))
    parameters = (
        *context.parameters(body),
        *((sweeps_parameter(context),) if tile.sweeps is not None else ()),
    )
    return Kernel(
        name=name,
        parameters=parameters,
        grid=(("blockIdx.x", context.count()),),
        block=block,
        shared_words=words,
        order=(*reading_order(nest), *constants),
        body=folded(body, parameters),
        constants=(*constants, tile.blocks),
        blocks=tile.blocks,
        demands=demands,
        alignments=alignments,
        together=together,
        limits=tuple(context.limits.items()),
        extents=extents,
        origins=tuple(context.names[f"o{number}"] for number in range(len(tile.coordinates))),
    )


def _streams(context: TileContext, windows: Sequence[Windows]) -> tuple[KernelStmt, ...]:
    inside = conjunction(
        [
            condition
            for number, c in enumerate(context.tile.coordinates)
            for origin in [context.name(f"o{number}")]
            for condition in (
                *([Binary("<=", ZERO, origin)] if c.shift else []),
                Binary("<=", Binary("+", origin, c.extent), context.limit(number)),
            )
        ]
    )
    result: tuple[KernelStmt, ...] = ()
    for number, alternative in reversed(list(enumerate(context.tile.alternatives))):
        jam = UnrollAndJam(context, scalars_of(alternative.body), context.rows_side_by_side(), context.flat)
        single = UnrollAndJam(context, frozenset(), jam.places, context.flat)
        partial = jam.at_points(single.at_one(alternative.body), guards=context.inside(), unrolled=False)
        store = transposed_store(context.nest, context.tile)
        whole = (Plain(jam.all(alternative.body)),) if store is None else turned(context, jam, store)
        both: tuple[KernelStmt, ...] = (UniformIf(inside, whole, (Plain(partial),)),)
        if windows:
            can = Binary("&&", Binary("<", ONE, Name(TOGETHER)), in_vectors(context))
            point = single.at_one(alternative.body)
            in_order = streamed if windows[number].steps else vectored
            both = (UniformIf(can, (in_order(context, windows[number], point),), both),)
        result = both if alternative.condition is None else (UniformIf(alternative.condition, both, result),)
    return result
