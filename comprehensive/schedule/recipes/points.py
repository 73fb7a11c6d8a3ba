"""Points one beside the other: each thread does several, so that several of their loads are in flight.

::

    if the tile is inside of the limits:  float value[U0][U1];  all points: value = ...;  all points: b[y0][y1] = value
                                          (far from borders without the choices there: `interior.py`)
    else:                                 point by point, where it is inside

Statements that all points do together, serial loops among them, are jammed; what stands under a condition on data, or
in a loop that is longer at some points, each point does for itself, and so all of a body that declares arrays.

Composed of: split, bind, unroll and jam, peel; where neighbours share what they read, vectorize (`vectorize.py`), and
where they add up rows, a window that moves down these (`stream.py`).  Tiles begin where what they store begins a line
of the cache, as far as subscripts tell: with ``b[y + 1] = ...`` the first tile begins at -1.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.kernel_ir.kernel import WIDTH, Kernel, KernelStmt
from comprehensive.kernel_ir.terms import conjunction
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import AXES, Alternative, Nest, RegisterTile
from comprehensive.metafork.ast import Assign, Binary, Block, Expr, If, Index, Name
from comprehensive.metafork.walk import statements_in
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.batch import with_inner
from comprehensive.schedule.context import ONE, TileContext, commented
from comprehensive.schedule.instances import Instance, point_instances
from comprehensive.schedule.interior import Interior, holds_between, interior_of
from comprehensive.schedule.legality import point_obstacle
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.stream import streamed
from comprehensive.schedule.unroll_and_jam import jammed_points, single_point, stored_in
from comprehensive.schedule.vectorize import in_vectors, vectored
from comprehensive.schedule.windows import Windows, alignments_of, windows_of

LINE_BYTES = 128


class Points(Struct, frozen=True):
    name: str = "points"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | NotApplicable | None:
        tile = replace(tile, alternatives=tuple(_with_room(nest, each) for each in tile.alternatives))
        tile = with_inner(tile, len(AXES))
        *others, last = tile.coordinates
        return replace(tile, coordinates=(*others, replace(last, shift=_shift(nest, tile))))

    def lower(self, context: TileContext) -> TileKernel:
        nest, tile = context.nest, context.tile
        interiors = [interior_of(nest, tile, alternative.body) for alternative in tile.alternatives]
        windows = windows_of(nest, tile, interiors)
        return TileKernel(
            _points(context, interiors, windows),
            context.tile.sizes,
            alignments=alignments_of(windows),
            together=(4, 2, 1) if windows else (),
        )

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return point_instances(kernel, tile)


def _with_room(nest: Nest, alternative: Alternative) -> Alternative:
    """An alternative whose points do not hold arrays side by side."""
    if point_obstacle(nest, alternative.body) is None:
        return alternative
    return replace(alternative, body=(Block(alternative.body),))


def _shift(nest: Nest, tile: RegisterTile) -> int:
    """Return the distance of the first stored element, in elements, from the start of its line of the cache.

    It is known only if data and rows begin at such a line; 0 stands for an unknown one, too.
    """
    data = {a.name: a for a in nest.arrays}
    along = tile.coordinates[-1].name
    for statement in statements_in(tuple(s for body in tile.bodies for s in body)):
        match statement:
            case Assign(target=Index(array=array, subscripts=(*_, subscript))) if array in data:
                ring = Ring()
                value = ring.read(subscript)
                if value.degree(along) == 1 and value.coefficient(along, 1) == 1:
                    first = value.evaluate(dict.fromkeys(value.symbols, 0))
                    return int(first) % (LINE_BYTES // data[array].type.size_bytes)
            case _:
                pass
    return 0


def _ends(context: TileContext) -> dict[str, tuple[Expr, Expr]]:
    """Return the first and the last value of each coordinate in the tile of the block."""
    return {
        c.name: (origin, Binary("-", Binary("+", origin, c.extent), ONE))
        for number, c in enumerate(context.tile.coordinates)
        for origin in [context.name(f"o{number}")]
    }


def _points(
    context: TileContext, interiors: Sequence[Interior], windows: Sequence[Windows]
) -> tuple[KernelStmt, ...]:
    result: tuple[KernelStmt, ...] = ()
    each = " x ".join(c.each for c in context.tile.coordinates)
    for number, alternative in reversed(list(enumerate(context.tile.alternatives))):
        jam, partial = jammed_points(context, alternative.body)
        whole = jam.all(alternative.body)
        inside = interiors[number]
        if inside.conditions:
            far, _ = jammed_points(context, inside.body)
            is_far = conjunction([holds_between(value, _ends(context)) for value in inside.conditions])
            whole = (If(is_far, far.all(inside.body), whole, uniform=True),)
        both: tuple[KernelStmt, ...] = (
            commented(
                context, "unroll_and_jam", stored_in(context, alternative.body), f"{each} points a thread"
            ),
            If(context.is_whole(), whole, partial, uniform=True),
        )
        if windows:
            can = Binary("&&", Binary("<", ONE, Name(WIDTH)), in_vectors(context))
            point = single_point(context, alternative.body)
            in_order = streamed if windows[number].steps else vectored
            both = (If(can, (in_order(context, windows[number], point),), both, uniform=True),)
        if alternative.condition is not None:
            both = (If(alternative.condition, both, result, uniform=True),)
        result = both
    return result
