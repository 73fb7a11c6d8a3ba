"""Blocks of a grid on one side of a slanted edge, launched without the blocks on the other side.

In: a grid of rows and columns, and the edge between blocks with work and blocks without.  Out: :class:`Launched`, the
rows and columns of a smaller grid that has a place for every block with work.  The header has the same functions in C
(`templates/runtime/cf_runtime.h`)::

    x . . .      a row and the one which is as short as it is long         x a a a a
    x x . .      -->  share a row of the launch, the one from its          x x b b b
    x x x .           begin, the other one turned round from its end
    x x x x           (here the rows x = 4, 3 with the rows 1, 2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from math import gcd

from msgspec import Struct

from comprehensive.kernel_ir.axes import on_axes
from comprehensive.kernel_ir.c_expr import wide
from comprehensive.loops.fold import fold
from comprehensive.metafork.ast import Expr, IntLiteral, ScalarType
from comprehensive.metafork.rewrite import substitute
from comprehensive.records import replace

MOST_ROWS = 1 << 30
"""Rows up to which pairs are numbered in ``int``."""
MOST_COLUMNS = 1 << 19
"""Columns up to which two rows of blocks side by side, of 1024 threads, are no more than ``int`` counts."""
LARGEST = 1 << 60
"""The numbers with which sums of a few are none that overflow."""
ALONE = -1
"""The mirror of a grid whose rows do not share rows of the launch."""


class Shape(Enum):
    """The shape of the blocks with work."""

    FOLDED = "cf_folded"
    """Rows that begin at one side of the grid and become longer or shorter."""
    BAND = "cf_band"
    """Rows of much the same length, each further along than the one before."""


class Staircase(Struct, frozen=True):
    """The launch of a grid with a slanted edge; ``row`` and ``column`` are iterators of it.

    ``arguments`` are what :data:`LAUNCHED` takes for the shape, over scalars of the nest and, of a kernel over tiles
    whose blocks are all in one row, over its constants.
    """

    shape: Shape
    row: str
    column: str
    arguments: tuple[Expr, ...]

    def call(self, types: Mapping[str, ScalarType]) -> str:
        """The launch as host code, a ``cf_staircase``."""
        return f"{self.shape.value}({', '.join(wide(argument, types) for argument in self.arguments)})"

    def at(self, sizes: Mapping[str, int]) -> Staircase:
        """The launch for these sizes of a tile."""
        constants: dict[str, Expr] = {name: IntLiteral(size) for name, size in sizes.items()}
        return replace(self, arguments=tuple(fold(substitute(a, constants)) for a in self.arguments))

    def axes(self, iterators: Sequence[str]) -> tuple[int, ...]:
        """The axes of rows and columns, 0 for x, in a grid with loops of these iterators, outermost first.

        None where all blocks are in one row, and find their places themselves.
        """
        along = [names[0] for names in on_axes(iterators)]
        return tuple(along.index(name) for name in (self.row, self.column) if name in along)


class Launched(Struct, frozen=True):
    """Rows and columns of a launch.

    Row ``y`` has what lies inside of row ``y`` of the grid, counted from its longest one, and from its end on what
    lies inside of row ``mirror - y``.
    """

    rows: int
    columns: int
    mirror: int = ALONE


def folded(rows: int, columns: int, down: int, right: int, most: int) -> Launched:
    """The launch for the blocks with ``down*row + right*column <= most`` of a grid."""
    if min(rows, columns, down, right) < 1 or max(down, right, abs(most)) >= LARGEST:
        return Launched(rows, columns)
    if most < 0:
        return Launched(0, 0)
    common = gcd(down, right)
    down, right, most = down // common, right // common, most // common
    rows, columns = min(rows, most // down + 1), min(columns, most // right + 1)
    if rows > MOST_ROWS:
        return Launched(rows, columns)
    least = rows - 1
    # Only pairs that are no longer than the longest row: the others stay alone.
    alone = max(least, (2 * most - right * (columns - 1)) // down + 1)
    found = Launched(min(rows, alone // 2 + 1), columns, alone if alone < 2 * rows - 2 else ALONE)
    if columns > MOST_COLUMNS:
        return found
    # Each row with the one that is as far from the other end: the sum of two quotients is no more than that of both.
    width = min(2 * columns, (2 * most - down * least) // right + 2)
    both = Launched(least // 2 + 1, width, least)
    return both if both.rows * both.columns < found.rows * found.columns else found


def band(rows: int, columns: int, apart: int, first: int, last: int) -> Launched:
    """The launch for rows whose ends are ``first/apart`` columns apart in the first row, in the last ``last/apart``."""
    longest = max(first, last)
    if min(rows, columns, apart) < 1 or max(apart, abs(first), abs(last)) >= LARGEST:
        return Launched(rows, columns)
    return Launched(rows, min(columns, longest // apart + 1)) if longest >= 0 else Launched(0, 0)


LAUNCHED: dict[Shape, Callable[[int, int, int, int, int], Launched]] = {
    Shape.FOLDED: folded,
    Shape.BAND: band,
}
