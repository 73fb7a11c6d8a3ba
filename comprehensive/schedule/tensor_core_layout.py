"""Where the pieces of a product lie in shared memory for tensor cores, and which parts of them a thread holds.

In: a context, the loop and its pieces.  Out: as :class:`OperandLayout`, with the fragments of ``mma.m16n8k8`` for
doubles.  A warp is 8 x 4 threads, and thread (g, q) of it has::

    sums                row 8*i + g, column 8*(j/2) + 2*q + j%2      U0 x U1
    left operand        row 8*i + g, steps q and q + 4 of eight      U0 x 2
    right operand       column 8*j + g, the same steps               U1/2 x 2

Pieces lie as they do in global memory, so that copies are asynchronous whichever of their subscripts counts steps.
Rows are four elements longer than what they hold: what half a warp reads, 4 rows by 4 elements, is then in different
banks.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.terms import constant, counting, plus, product
from comprehensive.metafork.ast import Assign, Binary, Declare, Expr, Index, IntLiteral, Name, Stmt
from comprehensive.schedule.context import ZERO
from comprehensive.schedule.operand_layout import OperandLayout

ROWS, COLUMNS = 8, 4
"""Threads of a warp along both coordinates."""
STEPS = 8
"""Steps of the loop that a tensor core does at a time."""
PADDING = 4
"""Elements between rows."""
TWO = IntLiteral(2)


@dataclass(frozen=True, slots=True)
class TensorCoreLayout(OperandLayout):
    """The layout of the pieces of a product of doubles; one lies along each of the two coordinates."""

    @property
    def patch(self) -> tuple[int, int]:
        return (ROWS, COLUMNS)

    def demands(self) -> tuple[Expr, ...]:
        tile = self.context.tile
        counts = [(tile.depth, 2 * STEPS)]  # of the two sets of registers each has its turn in every piece
        counts += [(c.threads, patch) for c, patch in zip(tile.coordinates, self.patch, strict=True)]
        counts += [(c.each, 2) for c in tile.coordinates]
        multiples = [Binary("==", Binary("%", Name(name), IntLiteral(count)), ZERO) for name, count in counts]
        return (*multiples, Binary(">=", Name(tile.stages), TWO))

    def is_transposed(self, name: str) -> bool:
        return False

    def is_swizzled(self, name: str) -> bool:
        return False

    def _pitch(self, name: str) -> Polynomial:
        return self._extent(self.pieces[name].columns) + PADDING

    # --- what a thread has

    def thread(self) -> tuple[Stmt, ...]:
        """Its first row and column of the sums, its first column of the right operand, and its first step."""
        context = self.context
        first, second = context.tile.coordinates
        t0, t1 = context.name("t0"), context.name("t1")
        rows, columns = IntLiteral(ROWS), IntLiteral(COLUMNS)
        of_rows = Binary("*", Binary("/", t0, rows), Binary("*", rows, Name(first.each)))
        of_columns = Binary("*", Binary("/", t1, columns), Binary("*", columns, Name(second.each)))
        g, q = Binary("%", t0, rows), Binary("%", t1, columns)
        return (
            constant(context.names["row"], Binary("+", of_rows, g)),
            constant(context.names["column"], Binary("+", of_columns, Binary("*", TWO, q))),
            constant(context.names["across"], Binary("+", of_columns, g)),
            constant(context.names["lane"], q),
        )

    def places(self) -> tuple[Expr, ...]:
        """Where the sums of a thread are in the tile."""
        r0, r1 = self.context.name("r0"), self.context.name("r1")
        pairs = Binary("*", IntLiteral(ROWS), Binary("/", r1, TWO))
        return (
            Binary("+", self.context.name("row"), Binary("*", IntLiteral(ROWS), r0)),
            Binary("+", Binary("+", self.context.name("column"), pairs), Binary("%", r1, TWO)),
        )

    def operand(self, number: int) -> str:
        """The array whose piece lies along a coordinate."""
        return next(name for name in self.pieces if self.coordinate(name) == number)

    def fragments(self) -> tuple[Stmt, ...]:
        """The registers for what eight steps read, and for what the next ones do."""
        context = self.context
        return tuple(
            Declare(
                context.nest.array(name).type,
                context.names[f"fragment_{name}"],
                (TWO, self._count(number), TWO),
            )
            for number, name in ((number, self.operand(number)) for number in range(2))
        )

    def fragment(self, name: str, which: Expr, z: Expr) -> Stmt:
        """Return the statement that loads what a thread has of an operand in the eight steps from ``z`` on.

        The values go into the registers ``which``.
        """
        context, number = self.context, self.coordinate(name)
        assert number is not None
        r, half = context.name(f"r{number}"), context.name("half")
        step = product([IntLiteral(STEPS // 2), half])
        first = context.name("across" if number else "row")
        place = Binary("+", first, Binary("*", IntLiteral(ROWS), r))
        source = self._read(name, plus(z, Binary("+", step, context.name("lane"))), (place, place))
        load = Assign(Index(context.names[f"fragment_{name}"], (which, r, half)), "=", source)
        halves = counting(half.identifier, TWO, (load,), unrolled=True)
        return counting(r.identifier, self._count(number), (halves,), unrolled=True)

    def _count(self, number: int) -> Expr:
        """How many rows, or columns of the right operand, a thread has."""
        each = Name(self.context.tile.coordinates[number].each)
        return Binary("/", each, TWO) if number else each
