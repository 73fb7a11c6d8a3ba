"""Stream: points in vectors march down the rows together, and each row comes into registers once.

::

    for each of U0 points above each other:  float sum = 0;  for (s < 5) sum += in[y + s][..] ...;  out[y][..] = sum
        -->
    for (row < U0 + 4)
      window[..] = in[row][..]
      for each step s < 5:                 what the point of row (row - s) does with it, where the thread has one
        for e < 4:  sum[row - s][e] += window[e + ..] ...
      out[row - 4][..] = ...               the last step
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.kernel_ir.kernel import KernelStmt
from comprehensive.kernel_ir.terms import constant, counting
from comprehensive.metafork.ast import Assign, Binary, Declare, Expr, If, Index, IntLiteral, Name, Stmt
from comprehensive.metafork.rewrite import map_expressions, substitute
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import statements_in
from comprehensive.records import replace
from comprehensive.schedule.context import ZERO, TileContext, commented
from comprehensive.schedule.streamed_rows import first_row
from comprehensive.schedule.unroll_and_jam import scalars_of
from comprehensive.schedule.vectorize import Vectored
from comprehensive.schedule.windows import Windows


def streamed(context: TileContext, windows: Windows, point: tuple[Stmt, ...]) -> KernelStmt:
    """Return the work on a tile by threads whose points are whole vectors; ``point`` is a point on its own."""
    return Streamed(context, windows).all_vectors(point)


class Streamed(Vectored, frozen=True):
    """Points in vectors that march down the rows together, their statements in steps."""

    def at_once(self) -> tuple[KernelStmt, ...]:
        """The vector in all rows of the thread."""
        steps = self.windows.steps
        first = first_row(self.windows.windows, self._rows)
        rows = plus(self._each, IntLiteral(len(steps) - 1))
        body = (
            *self.registers(self.windows.windows[:1]),
            *self.accesses(first, {self._rows: self._at(self.context.name("row"))}),
            *(self._step(number, step) for number, step in enumerate(steps)),
        )
        march = counting(self.context.names["row"], rows, body, unrolled=True, uniform=True)
        sums = tuple(
            Declare(s.type, s.name, self.shape())
            for s in statements_in(self.windows.body)
            if isinstance(s, Declare)
        )
        declared = dict.fromkeys((*self.values(), *sums))
        arrays = [self.windows.windows[0].array]
        comment = commented(
            self.context, "stream", arrays, "a window that moves down the rows, each read once"
        )
        rows_of = self.in_rows((march,), unrolled=True, among=self.last - 1)
        return (comment, *declared, *rows_of)

    def in_window(self, number: int, element: Expr) -> Index:
        """Return an element of a window, which is one for all rows."""
        return Index(self.context.names[f"window_{self.windows.windows[number].array}"], (element,))

    def _step(self, number: int, step: Sequence[Stmt]) -> KernelStmt:
        """Return the statements of points that lie so many rows below the first row that they read."""
        row = self.context.name("row")
        point = Binary("-", row, IntLiteral(number)) if number else row
        is_there = Binary("<", point, self._each)
        if number:
            is_there = Binary("&&", Binary("<=", ZERO, point), is_there)
        places = (
            constant(self.context.names[f"r{self.last - 1}"], point),
            constant(self._rows, self.row_at(self.last - 1)),
        )
        body: tuple[KernelStmt, ...] = (*places, self.at_points(self._summed(tuple(step))))
        if number == len(self.windows.steps) - 1:
            body = (*body, *self.stored())
        return If(is_there, body, uniform=True)

    def _summed(self, step: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements with scalars of the point among those of all rows."""
        names = scalars_of(self.windows.body)
        elements = {name: Index(name, self.place(self.context.name("point"))) for name in names}
        result: list[Stmt] = []
        for statement in map_expressions(self.computed(step), lambda expr: substitute(expr, elements)):
            match statement:
                case Assign(target=Name(identifier=name)) if name in names:
                    result.append(replace(statement, target=elements[name]))
                case _:
                    result.append(statement)
        return tuple(result)

    def _at(self, row: Expr) -> Expr:
        """The value of the coordinate in a row from the thread's first one on."""
        places = {self.context.names[f"r{self.last - 1}"]: row}
        return substitute(self.row_at(self.last - 1), places)

    @property
    def _rows(self) -> str:
        """The coordinate that numbers rows."""
        return self.context.tile.coordinates[self.last - 1].name

    @property
    def _each(self) -> Expr:
        return Name(self.context.tile.coordinates[self.last - 1].each)
