"""The loops of a point and the boxes of arrays that they read, as `reference_groups.py` finds them: data alone.

::

    for (c) for (y < 3) for (x < 3) sum += in[c][y1 + y][y2 + x] * k[y0][c][y][x]
        -->  path: c;  inner: y, x of 3 steps each;  groups: in (c | y1 + y | y2 + x), k (y0 | c | y | x)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from comprehensive.metafork.ast import Expr, For, Index, Stmt

MOST_AXES = 4
"""The axes of a box along which there is more than one element."""


class BoxAxis(Struct, frozen=True):
    """A direction of a box: the subscript is the sum of the variables times their ``factors``, of ``rest`` and of 0 up
    to ``span``, or a function of it.  Along a variable with a negative factor it runs down."""

    factors: Mapping[str, int]
    rest: Expr
    span: int
    low: Expr | None = None
    """The first value of the sum at which the program reads, if it says which."""
    high: Expr | None = None
    """The value behind the last one at which it reads."""
    of_place: Expr | None = None
    """The function of that sum, over ``PLACE``, that is the subscript in truth (`mapped_subscripts.py`); None for the
    sum itself."""

    @property
    def is_cut(self) -> bool:
        """Whether the box may begin behind its first place: at a bound, or with the last step that there is."""
        return self.low is not None or self.high is not None or min(self.factors.values(), default=0) < 0


class ReferenceGroup(Struct, frozen=True):
    """The references to an array that differ in constants alone: ``offsets`` by axis, from 0 to the axis' span."""

    array: str
    axes: tuple[BoxAxis, ...]
    offsets: Mapping[Index, tuple[int, ...]]

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(name for axis in self.axes for name in axis.factors)


class LoopNest(Struct, frozen=True):
    """The serial loops of a point: ``path`` from the outermost to the one that is done in pieces.

    ``inner`` are loops of a few constant steps in that one, with the number of these.
    """

    before: tuple[Stmt, ...]
    path: tuple[For, ...]
    after: tuple[Stmt, ...]
    inner: Mapping[str, int]
    held: Mapping[str, Index]
    groups: tuple[ReferenceGroup, ...]
    bounding: frozenset[Expr] = frozenset()
    """The comparisons that are bounds of some axis: they hold at all points whose boxes no bound cuts."""
    conditions: tuple[Expr, ...] = ()
    """The conditions on scalars under which the program reads the first and the last elements of its arrays."""
    uncached: Mapping[Index, str] = field(default_factory=dict[Index, str])
    """The references that change from step to step and are in no box, each with the reason: points read them from
    global memory."""
    rows: str | None = None
    """The iterator of the loop around the one that is done in pieces, where it is done in pieces, too: several of its
    turns at a time, if each of them has one piece."""

    @property
    def split(self) -> For:
        """The loop that is done in pieces."""
        return self.path[-1]

    @property
    def in_pieces(self) -> tuple[str, ...]:
        """The iterators of the loops of which a piece has several turns, outermost first."""
        return (*((self.rows,) if self.rows else ()), self.split.iterator)


def long_axes(axes: Sequence[BoxAxis]) -> int:
    """Return along how many axes a box has, or counts as having, more than one element: the last one always does."""
    return 1 + sum(bool(axis.factors) or axis.span > 0 for axis in axes[:-1])
