"""Grids with an edge that is slanted: which of their blocks are launched, and where each of these is.

In: a nest whose body is under a condition on two loops of its grid.  Out: a :class:`Slanted`, which says what a launch
is (`staircase.py`), and the statements that give a block its row and column::

    if (j <= i) S
        -->  const int i_turned = j_place < dim && j_place <= dim - 1 - i_place ? i_place : mirror - i_place;
             const int j_turned = i_turned == i_place ? j_place : width - 1 - j_place;
             if (i_place <= i_turned && i_turned < dim && j_turned < dim) {
               const int i = dim - 1 - i_turned;
               const int j = j_turned;
               if (j <= i) S
             }

The condition stays where it is and decides: which blocks are launched is of no consequence for what is computed, as
long as each block with work is among them once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.axes import on_axes
from comprehensive.kernel_ir.kernel import KernelParameter, KernelStmt, Source
from comprehensive.kernel_ir.staircase import Shape, Staircase
from comprehensive.kernel_ir.terms import conjunction, constant, expression
from comprehensive.loops.access import names_read
from comprehensive.loops.fold import fold
from comprehensive.loops.integers import ONE, ZERO
from comprehensive.loops.ir import Nest
from comprehensive.loops.reading_order import reading_order
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Binary, Cast, Conditional, Declare, Expr, If, Name, ScalarType
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import conjuncts
from comprehensive.poly.indices import scope_of

PLAIN = frozenset((ScalarType.INT, ScalarType.LONG))
"""Types of scalars whose values host and device compute alike."""


class _Edge(Struct, frozen=True):
    """The condition ``down*row + right*column + rest >= 0``, as it is written in ``text``.

    Neither coefficient is 0, and each has one sign whatever the sizes are.
    """

    row: str
    column: str
    down: Polynomial
    right: Polynomial
    rest: Polynomial
    text: Expr

    @property
    def grows(self) -> bool:
        """Whether rows further down have more blocks inside."""
        return _is_positive(self.down)

    @property
    def is_upper(self) -> bool:
        """Whether it is columns up to the edge that are inside, not columns from it on."""
        return not _is_positive(self.right)


def _staircase(nest: Nest) -> tuple[Staircase, tuple[_Edge, ...]] | None:
    """The launch of a nest with an edge, and the edges behind it.

    A pair of edges that go the same way is a band, the lower one first; of all others the first one counts.
    """
    edges = tuple(_edges(nest))
    for upper in edges:
        for lower in edges:
            same = (upper.row, upper.column) == (lower.row, lower.column) and upper.grows != lower.grows
            opposite = same and upper.is_upper and not lower.is_upper
            if opposite and _is_of_int(nest, lower) and _is_at_least_one(nest, lower.right):
                return _band(nest, lower, upper), (lower, upper)
    return (_folded(nest, edges[0]), edges[:1]) if edges else None


def _folded(nest: Nest, edge: _Edge) -> Staircase:
    rows, columns = _extent(nest, edge.row), _extent(nest, edge.column)
    order = reading_order(nest)
    most = expression(edge.rest, order)
    for extent, each, turned in ((rows, edge.down, edge.grows), (columns, edge.right, not edge.is_upper)):
        if turned:
            last = Binary("-", extent, ONE)
            most = fold(Binary("+", most, Binary("*", expression(each, order), last)))
    down, right = (expression(p if _is_positive(p) else -p, order) for p in (edge.down, edge.right))
    return Staircase(Shape.FOLDED, edge.row, edge.column, (rows, columns, down, right, most))


def _band(nest: Nest, lower: _Edge, upper: _Edge) -> Staircase:
    """Return the staircase of a band: its rows go from ``right*column >= ...`` to ``right*column <= ...``."""
    rows, columns = _extent(nest, upper.row), _extent(nest, upper.column)
    order = reading_order(nest)
    high, low = lower.right, -upper.right
    if high == low:
        high = low = Polynomial.constant(1)
    apart = lower.right * low
    first = upper.rest * high + lower.rest * low
    each = expression(upper.down * high + lower.down * low, order)
    last = fold(Binary("+", expression(first, order), Binary("*", each, Binary("-", rows, ONE))))
    arguments = (rows, columns, expression(apart, order), expression(first, order), last)
    return Staircase(Shape.BAND, upper.row, upper.column, arguments)


def _extent(nest: Nest, iterator: str) -> Expr:
    return next(loop.extent for loop in nest.grid if loop.iterator == iterator)


def _is_of_int(nest: Nest, edge: _Edge) -> bool:
    types = {s.name: s.type for s in nest.scalars}
    symbols = {*edge.down.symbols, *edge.right.symbols, *edge.rest.symbols}
    return all(types[name] is ScalarType.INT for name in symbols)


def _is_at_least_one(nest: Nest, coefficient: Polynomial) -> bool:
    """Whether a coefficient is one in every launch: made of numbers, and of extents of blocks that have threads."""
    threads = {loop.extent.identifier for loop in nest.thread_loops if isinstance(loop.extent, Name)}
    return threads.issuperset(coefficient.symbols)


def _is_positive(polynomial: Polynomial) -> bool:
    return all(term.coefficient > 0 for term in polynomial.terms())


def _wide(expr: Expr) -> Expr:
    """The expression, computed in 64 bits."""
    return substitute(expr, {name: Cast(ScalarType.LONG, Name(name)) for name in names_read(expr)})


# --- the edges of a nest


def _edges(nest: Nest) -> Iterator[_Edge]:
    """The edges among the conditions that everything in a block is under, in their order."""
    types = {s.name: s.type for s in nest.scalars}
    iterators = frozenset(loop.iterator for loop in nest.grid)
    alone = [
        loop.iterator
        for (loop, *others) in on_axes(nest.grid)
        if not others and type_of(loop.extent, types) in PLAIN
    ]
    scope = scope_of(nest)
    for text in _conditions(nest):
        if not names_read(text) <= types.keys() | iterators:
            continue
        guard = scope.condition(text, iterators)
        if guard.opaque or len(guard.pieces) != 1 or len(guard.pieces[0]) != 1:
            continue
        (constraint,) = guard.pieces[0]
        polynomial = constraint.polynomial
        # The column is the one nearer to x.
        places = [name for name in alone if name in polynomial.symbols]
        if constraint.equality or len(places) != 2 or len(iterators & {*polynomial.symbols}) != 2:
            continue
        column, row = places
        down, right = polynomial.coefficient(row, 1), polynomial.coefficient(column, 1)
        rest = polynomial - down * Polynomial.symbol(row) - right * Polynomial.symbol(column)
        parts = (down, right, rest)
        scalars = {symbol for part in parts for symbol in part.symbols}
        if not all(types.get(name) in PLAIN for name in scalars) or not all(p.is_integral for p in parts):
            continue
        if all(part and (_is_positive(part) or _is_positive(-part)) for part in (down, right)):
            yield _Edge(row, column, down, right, rest, text)


def _conditions(nest: Nest) -> tuple[Expr, ...]:
    """The conditions that must hold for a block to have any work, but for those inside of them."""
    match nest.body:
        case (*before, If(otherwise=()) as last) if all(isinstance(s, Declare) for s in before):
            return tuple(conjuncts(last.condition))
        case _:
            return ()


# --- in a kernel


class Slanted(Struct, frozen=True):
    """A launch in terms of a kernel: what it calls places, sizes and extents."""

    staircase: Staircase
    edge: Expr
    """The condition that a block is inside; of a band, that it does not lie before its row."""
    places: Mapping[str, str]
    """The names of a block's place along the axes of row and column, by iterator."""
    turned: Mapping[str, str]
    sizes: Mapping[str, str]
    """The names of the launch's rows and columns, and of its mirror, which are parameters."""
    extents: Mapping[str, Expr]
    """The extents of the grid, by iterator."""
    backwards: Mapping[str, bool]
    """The iterators that count from the other end, so that the longest row is the first one."""
    lowest: Expr
    """The first column of a row of a band, times ``apart``."""
    apart: Expr

    @staticmethod
    def of(nest: Nest, extents: Mapping[str, Expr], fresh: Callable[[str], str]) -> Slanted | None:
        """The launch of a nest with an edge; ``extents`` are what a kernel calls the extents of its grid."""
        found = _staircase(nest)
        if found is None:
            return None
        staircase, (edge, *_) = found
        order = reading_order(nest)
        both = (staircase.row, staircase.column)
        return Slanted(
            staircase,
            edge.text,
            {name: fresh(f"{name}_place") for name in both},
            {name: fresh(f"{name}_turned") for name in both},
            {
                "rows": fresh(f"{staircase.row}_places"),
                "columns": fresh(f"{staircase.column}_places"),
                "mirror": fresh(f"{staircase.row}_mirror"),
            },
            extents,
            {staircase.row: edge.grows, staircase.column: not edge.is_upper},
            expression(-(edge.rest + edge.down * Polynomial.symbol(edge.row)), (*order, edge.row)),
            expression(edge.right, order) if not edge.is_upper else ONE,
        )

    @property
    def parameters(self) -> tuple[KernelParameter, ...]:
        return tuple(
            KernelParameter(name, ScalarType.INT, Source.STAIRCASE, of) for of, name in self.sizes.items()
        )

    def place(self, iterator: str) -> str:
        """The name of what runs along the axis of a loop of the grid."""
        return self.places[iterator] if iterator in self._moved else iterator

    def bound(self, iterator: str) -> Expr:
        """Return the number of places along an axis."""
        return Name(self.sizes[self._moved[iterator]]) if iterator in self._moved else self.extents[iterator]

    @property
    def _moved(self) -> dict[str, str]:
        """The iterators that are not along their axes as they are, with the size of the launch along these."""
        columns = {self.staircase.column: "columns"}
        return columns if self.staircase.shape is Shape.BAND else {**columns, self.staircase.row: "rows"}

    def placed(self, body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
        """The body of a block, for its row and column, where its place has some."""
        if self.staircase.shape is Shape.BAND:
            return self._in_band(body)
        row, column = self.staircase.row, self.staircase.column
        places = {name: Name(place) for name, place in self.places.items()}
        turned = {name: Name(place) for name, place in self.turned.items()}
        columns, mirror = Name(self.sizes["columns"]), Name(self.sizes["mirror"])
        inside = substitute(self.edge, {name: self._counted(name, places[name]) for name in places})
        from_begin = Binary("&&", Binary("<", places[column], self.extents[column]), inside)
        from_end = Binary("-", mirror, places[row])
        across = Binary("-", Binary("-", columns, ONE), places[column])
        stays = Binary("==", turned[row], places[row])
        declared = (
            constant(self.turned[row], Conditional(from_begin, places[row], from_end)),
            constant(self.turned[column], Conditional(stays, places[column], across)),
        )
        has_block = conjunction(
            [
                Binary("<=", places[row], turned[row]),
                Binary("<", turned[row], self.extents[row]),
                Binary("<", turned[column], self.extents[column]),
            ]
        )
        here = (constant(name, self._counted(name, turned[name])) for name in (row, column))
        return (*declared, If(has_block, (*here, *body), uniform=True))

    def _in_band(self, body: tuple[KernelStmt, ...]) -> tuple[KernelStmt, ...]:
        column = self.staircase.column
        first, place = Name(self.turned[column]), Name(self.places[column])
        # Wide, since what stands on one side here need not fit where the program compares two sides.
        lowest, apart, end = _wide(self.lowest), _wide(self.apart), self.extents[column]
        found = lowest
        if self.apart != ONE:
            found = Binary("+", Binary("/", Binary("-", lowest, ONE), apart), ONE)
        clamped = Conditional(Binary("<", found, _wide(end)), Cast(ScalarType.INT, found), end)
        begin = constant(self.turned[column], Conditional(Binary("<=", lowest, ZERO), ZERO, clamped))
        has_block = Binary("<", place, Binary("-", self.extents[column], first))
        here = constant(column, Binary("+", first, place))
        return (begin, If(has_block, (here, *body), uniform=True))

    def _counted(self, iterator: str, place: Expr) -> Expr:
        """The value of an iterator, counted from the end at which rows are longest, or the begin of all rows."""
        if not self.backwards[iterator]:
            return place
        return Binary("-", Binary("-", self.extents[iterator], ONE), place)
