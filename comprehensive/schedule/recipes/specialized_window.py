"""Windows of a size that callers choose, for the sizes that most of them choose: loops over these are constant.

::

    for (c < p) for (y < k) for (x < k) sum += in[c][y1 + y][y2 + x] * f[y0][c][y][x]
        where k == 3:  for (c < p) for (y < 3) for (x < 3) ...

so that a piece has several channels, and a thread keeps in registers what the steps of a row share
(`window_product.py`).  Loops around the window remain; the launcher tests the size.  On one H200 64 channels of 112^2
with 5 x 5 windows take 0.090 ms, 0.152 with a size that is not known.
"""

from __future__ import annotations

from msgspec import Struct

from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, RegisterTile
from comprehensive.metafork.ast import Binary, For, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.rewrite import replace_statements
from comprehensive.metafork.walk import expressions_in, subexpressions
from comprehensive.records import replace
from comprehensive.schedule.context import TileContext
from comprehensive.schedule.instances import Instance
from comprehensive.schedule.operands import loops_of
from comprehensive.schedule.recipe import TileKernel
from comprehensive.schedule.recipes.window_product import WindowProduct


class SpecializedWindow(Struct, frozen=True):
    size: int

    @property
    def name(self) -> str:
        return f"window product of {self.size}"

    def fit(self, nest: Nest, tile: RegisterTile) -> RegisterTile | None:
        known = _specialized(nest, tile, self.size)
        found = None if known is None else WindowProduct().fit(nest, known)
        return found if isinstance(found, RegisterTile) else None

    def lower(self, context: TileContext) -> TileKernel:
        return WindowProduct().lower(context)

    def instances(self, kernel: Kernel, tile: RegisterTile) -> tuple[Instance, ...]:
        return WindowProduct().instances(kernel, tile)


def _specialized(nest: Nest, tile: RegisterTile, size: int) -> RegisterTile | None:
    """Return the tile whose innermost loops, up to one scalar, go over a window of this size; None without a window."""
    alternative, *others = tile.alternatives
    if others:
        return None
    path = loops_of(nest, tile)
    match path[-1:]:
        case (For(bound=Name(extent)),) if extent in {s.name for s in nest.scalars}:
            own = {loop.iterator for loop in path if loop.bound == Name(extent)}
        case _:
            return None
    points = {c.name for c in tile.coordinates}
    references = (e for x in expressions_in(path[-1].body) for e in subexpressions(x) if isinstance(e, Index))
    together = (names_read(s) for reference in references for s in reference.subscripts)
    if len(own) == len(path) or not any(read & own and read & points for read in together):
        return None

    def sized(statement: Stmt) -> tuple[Stmt, ...]:
        is_own = isinstance(statement, For) and statement.iterator in own
        return (replace(statement, bound=IntLiteral(size)) if is_own else statement,)

    body = replace_statements(alternative.body, sized)
    condition = Binary("==", Name(extent), IntLiteral(size))
    return replace(
        tile,
        alternatives=(replace(alternative, body=body),),
        conditions=(*tile.conditions, condition),
    )
