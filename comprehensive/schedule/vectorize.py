"""Vectorize: windows of four neighbouring points come into registers, and their results leave as vectors.

::

    for each point y of a thread:  b[y] = ... a[y + ..] ...
        -->
    for each vector v of a thread:  first = the first of four points
        for each row r0:  window_a[..] = what they read (`windows.py`)
                          for e < 4: value_b[r0][e] = ... window_a[e + ..] ...
        for each row r0:  b[first] .. b[first + 3] = value_b[r0][..]

Nothing is stored before everything is read, so that the loads of all rows are in flight together.  Where rows begin at
multiples of four elements, and nothing can go wrong in points that are not there, a vector that the limits cut is read
whole if it lies in its array (`windows.py`), and only its points inside of the limits are stored: borders are at either
end of every row.  Everything else that limits cut is done point by point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import VECTOR, WIDTH, KernelStmt, Vectors, VectorStore
from comprehensive.kernel_ir.terms import conjunction, constant, counting, disjunction
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Conditional,
    Declare,
    Expr,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.rewrite import map_expression, map_expressions, substitute
from comprehensive.metafork.terms import plus, value_left
from comprehensive.metafork.walk import elements_assigned
from comprehensive.schedule.context import ONE, ZERO, TileContext, commented
from comprehensive.schedule.interior import holds_between
from comprehensive.schedule.window import Window
from comprehensive.schedule.windows import Cut, Windows

FOUR = IntLiteral(VECTOR)


def vectored(context: TileContext, windows: Windows, point: tuple[Stmt, ...]) -> KernelStmt:
    """Return the work on a tile by threads whose points are whole vectors; ``point`` is a point on its own."""
    return Vectored(context, windows).all_vectors(point)


def in_vectors(context: TileContext) -> Expr:
    """Whether the points of a thread are whole vectors."""
    each = Name(context.tile.coordinates[-1].each)
    return Binary("==", Binary("%", each, FOUR), ZERO)


class Vectored(Struct, frozen=True):
    context: TileContext
    windows: Windows

    def all_vectors(self, point: tuple[Stmt, ...]) -> KernelStmt:
        last = self.context.tile.coordinates[-1]
        vector = self.context.name("vector")
        turn = Binary("+", Binary("*", vector, Name(last.threads)), self.context.name(f"t{self.last}"))
        first = Binary("+", self.context.name(f"o{self.last}"), Binary("*", FOUR, turn))
        rows = [
            Binary("<=", Binary("+", self.context.name(f"o{n}"), self._end_of_rows(n)), self.context.limit(n))
            for n in range(self.last)
        ]
        vector_inside = self._is_whole()
        if self.windows.cut is not None:
            may_be_cut = conjunction(
                [Binary("==", Name(WIDTH), FOUR), *self._has_neighbours(self.windows.cut)]
            )
            vector_inside = Conditional(may_be_cut, self._is_some(), vector_inside)
        inside = conjunction([*rows, vector_inside, *map(self._is_at_least_zero, self.windows.interior)])
        body = (
            constant(self._first.identifier, first),
            If(inside, self.at_once(), self._one_by_one(point)),
        )
        count = Binary("/", Name(last.each), FOUR)
        return counting(vector.identifier, count, body, unrolled=True, uniform=True)

    def at_once(self) -> tuple[KernelStmt, ...]:
        """The vector in all rows of the thread."""
        computed = (
            *self.registers(self.windows.windows),
            *(access for number in range(len(self.windows.windows)) for access in self.accesses(number, {})),
            self.at_points(self.computed(self.windows.body)),
        )
        arrays = [window.array for window in self.windows.windows]
        return (
            commented(self.context, "vectorize", arrays, "windows of rows in registers, 4 points at a time"),
            *self.values(),
            *self.in_rows(computed, unrolled=True),
            *self.in_rows(self.stored(), unrolled=True),
        )

    def at_points(self, body: tuple[Stmt, ...]) -> Stmt:
        """The statements for each point of the vector."""
        point = self.context.names["point"]
        return counting(point, FOUR, (self._coordinate(), *body), unrolled=True)

    def _one_by_one(self, point: tuple[Stmt, ...]) -> tuple[KernelStmt, ...]:
        guarded = point
        for condition in reversed(self.context.inside()):
            guarded = (If(condition, guarded),)
        points = counting(self.context.names["point"], FOUR, (self._coordinate(), *guarded))
        arrays = [e.array for e in self.stores()]
        said = commented(self.context, "predicate", arrays, "points inside of the limits, one by one")
        return (said, *self.in_rows((points,), unrolled=False))

    # --- where points are

    @property
    def last(self) -> int:
        """The number of the coordinate along rows."""
        return len(self.context.tile.coordinates) - 1

    @property
    def _first(self) -> Name:
        """The first point of the vector."""
        return self.context.name("first")

    def in_rows(
        self, body: tuple[KernelStmt, ...], *, unrolled: bool, among: int | None = None
    ) -> tuple[KernelStmt, ...]:
        """The body for each row of the thread, or along the first coordinates only."""
        for number in reversed(range(self.last if among is None else among)):
            each = Name(self.context.tile.coordinates[number].each)
            value = constant(self.context.tile.coordinates[number].name, self.row_at(number))
            row = (value, *body)
            body = (counting(self.context.names[f"r{number}"], each, row, unrolled=unrolled, uniform=True),)
        return body

    def row_at(self, number: int) -> Expr:
        """The value of a coordinate, but the last one, in a row."""
        return Binary("+", self.context.name(f"o{number}"), self.context.rows_side_by_side()[number])

    def _is_at_least_zero(self, value: Polynomial) -> Expr:
        """The condition that a sum is at least 0 at all points of the vector, in all rows of the thread."""
        *others, last = self.context.tile.coordinates
        ends: dict[str, tuple[Expr, Expr]] = {
            last.name: (self._first, plus(self._first, IntLiteral(VECTOR - 1)))
        }
        for number, c in enumerate(others):
            origin = self.context.name(f"o{number}")
            begin = Binary("*", self.context.name(f"t{number}"), Name(c.each))
            end = Binary("-", self._end_of_rows(number), ONE)
            ends[c.name] = Binary("+", origin, begin), Binary("+", origin, end)
        return holds_between(value, ends)

    def _end_of_rows(self, number: int) -> Expr:
        """Return where the thread's rows end, counted from where the tile begins."""
        each = Name(self.context.tile.coordinates[number].each)
        return Binary("+", Binary("*", self.context.name(f"t{number}"), each), each)

    def _coordinate(self) -> Stmt:
        """Return the statement which says where a point of the vector is."""
        return constant(self.context.tile.coordinates[-1].name, plus(self._first, self.context.name("point")))

    def _is_inside(self, point: int) -> Expr:
        at = plus(self._first, IntLiteral(point))
        return self.context.tile.coordinates[-1].inside(at, self.context.limit(self.last))

    def _is_whole(self) -> Expr:
        """Return the condition that all points of the vector are inside."""
        end = Binary("<=", Binary("+", self._first, FOUR), self.context.limit(self.last))
        return conjunction([*self._is_behind(self._first), end])

    def _is_some(self) -> Expr:
        """Return the condition that some point of the vector is inside."""
        begin = Binary("<", self._first, self.context.limit(self.last))
        return conjunction([*self._is_behind(Binary("+", self._first, IntLiteral(VECTOR - 1))), begin])

    def _has_neighbours(self, cut: Cut) -> list[Expr]:
        """Return the condition that there are rows on both sides of those of the thread, where it has to be so."""
        if cut.beside is None:
            return []
        number = cut.beside
        each = Name(self.context.tile.coordinates[number].each)
        begin = Binary(
            "+", self.context.name(f"o{number}"), Binary("*", self.context.name(f"t{number}"), each)
        )
        end = Binary("+", self.context.name(f"o{number}"), self._end_of_rows(number))
        apart = [Name(self.context.strides[array][n].name) for array, n in cut.strides]
        return [
            *(Binary("!=", stride, ZERO) for stride in apart),
            Binary("<", ZERO, begin),
            Binary("<", end, self.context.limit(number)),
        ]

    def _is_behind(self, point: Expr) -> list[Expr]:
        """Return the condition that a point does not come before the first one, if it could."""
        return [Binary("<=", ZERO, point)] if self.context.tile.coordinates[-1].shift else []

    # --- statements

    def stores(self) -> tuple[Index, ...]:
        """The elements that a point writes."""
        return tuple(elements_assigned(self.windows.body))

    def computed(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements of a point, from windows, with what it stores in registers."""
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case Block():
                    result.append(Block(self.computed(statement.body)))
                case Assign(target=Index() as target):
                    kept = Index(self._value(target.array), self.place(self.context.name("point")))
                    result.append(Assign(kept, "=", self._read(value_left(statement)), statement.span))
                case _:
                    result += map_expressions((statement,), self._read)
        return tuple(result)

    def _read(self, expr: Expr) -> Expr:
        """The expression with its references in windows."""

        def replaced(e: Expr) -> Expr:
            if not isinstance(e, Index) or e not in self.windows.places:
                return e
            number, at = self.windows.places[e]
            return self.in_window(number, plus(self.context.name("point"), IntLiteral(at)))

        return self.context.flat(map_expression(expr, replaced))

    # --- registers

    def values(self) -> tuple[Stmt, ...]:
        """Return declarations of the values that are stored later."""
        return tuple(Declare(self._type(s.array), self._value(s.array), self.shape()) for s in self.stores())

    def shape(self) -> tuple[Expr, ...]:
        """Return the extents of the array that holds the values of all rows."""
        return (*(Name(c.each) for c in self.context.tile.coordinates[:-1]), FOUR)

    def registers(self, windows: Sequence[Window]) -> tuple[Stmt, ...]:
        """One array for all windows on an array."""
        counts: dict[str, int] = {}
        for window in windows:
            counts[window.array] = counts.get(window.array, 0) + window.count
        return tuple(
            Declare(self._type(array), self.context.names[f"window_{array}"], (IntLiteral(count),))
            for array, count in counts.items()
        )

    def in_window(self, number: int, element: Expr) -> Index:
        """An element of a window."""
        window = self.windows.windows[number]
        before = sum(w.count for w in self.windows.windows[:number] if w.array == window.array)
        return Index(self.context.names[f"window_{window.array}"], (plus(IntLiteral(before), element),))

    def accesses(self, number: int, row: Mapping[str, Expr]) -> tuple[KernelStmt, ...]:
        """Return statements that fill a window; ``row`` has the coordinates that are not declared."""
        window = self.windows.windows[number]
        found: list[KernelStmt] = []
        for at, count in window.accesses(self.context.tile.coordinates[-1].shift):
            register = self.in_window(number, IntLiteral(at - window.first))
            source = self._element(window.reference, at - window.offset, row)
            if count == VECTOR:
                found.append(Vectors(register, source, FOUR, FOUR, Name(WIDTH)))
                continue
            read: Expr = source
            if self.windows.cut is not None:
                readers = [self._is_inside(point) for point in window.readers(at)]
                read = Conditional(disjunction(readers), source, ZERO)
            found.append(Assign(register, "=", read))
        return tuple(found)

    def stored(self) -> tuple[KernelStmt, ...]:
        """The values of a row leave their registers."""
        return tuple(statement for target in self.stores() for statement in self._stored(target))

    def _stored(self, target: Index) -> tuple[KernelStmt, ...]:
        values = [Index(self._value(target.array), self.place(IntLiteral(p))) for p in range(VECTOR)]
        whole = VectorStore(self._element(target, 0, {}), values[0])
        if self.windows.cut is None:
            return (whole,)
        single = tuple(
            If(self._is_inside(p), (Assign(self._element(target, p, {}), "=", value),))
            for p, value in enumerate(values)
        )
        return (If(self._is_whole(), (whole,), single),)

    def _element(self, reference: Index, behind: int, row: Mapping[str, Expr]) -> Index:
        """Return the element so many behind the one that the first point of the vector refers to."""
        at: Expr = self._first
        if behind:
            at = Binary("+" if behind > 0 else "-", at, IntLiteral(abs(behind)))
        moved = self.context.flat(substitute(reference, {**row, self.context.tile.coordinates[-1].name: at}))
        assert isinstance(moved, Index)
        return moved

    def place(self, point: Expr) -> tuple[Expr, ...]:
        """Return the subscripts under which the value of a point of the vector is kept."""
        return (*(self.context.name(f"r{number}") for number in range(self.last)), point)

    def _value(self, array: str) -> str:
        return self.context.names[f"value_{array}"]

    def _type(self, array: str) -> ScalarType:
        return self.context.nest.array(array).type
