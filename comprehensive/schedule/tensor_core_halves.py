"""Elements of 16 bits for tensor cores: the parts of operand tiles that a thread holds for ``mma.m16n8k16``.

In: the pieces of a product of ``half`` or ``bfloat16``.  Out: as :class:`TensorCoreLayout`.  A fragment has four
matrices of 8 x 8 elements of either operand, of 16 rows or columns and 16 steps, which a warp loads at a time
(``ldmatrix``)::

    matrix m of the left operand:   rows from 8*(m%2), steps from 8*(m/2) on
    matrix m of the right operand:  columns from 8*(m/2), steps from 8*(m%2) on

Thread ``l`` says where row ``l%8`` of matrix ``l/8`` begins.  What an instruction reads, four matrices of the left
operand and two of the right one, is in registers beside each other, as it has to be: otherwise more instructions move
values from register to register than multiply (measured: 238 beside 128).

Rows of a matrix lie along rows of the piece.  Where those count steps the matrix is turned as it is loaded, since a
thread has two steps of a row or column in a register, whichever way the piece lies.

Rows are eight elements longer than what they hold: 8 rows by 16 bytes are then in different banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from comprehensive.kernel_ir.kernel import MULTIPLIES_HALVES, KernelStmt, LoadMatrices
from comprehensive.kernel_ir.terms import constant, counting
from comprehensive.metafork.ast import Binary, Expr, Index, IntLiteral, Name, ScalarType, Stmt
from comprehensive.metafork.terms import plus, times
from comprehensive.schedule.shared_epilogue import epilogue_words
from comprehensive.schedule.tensor_core_layout import COLUMNS, ROWS, TWO, TensorCoreLayout

SIDE, MATRICES = 8, 4
"""Rows and columns of a matrix, and the matrices that are loaded at a time."""


@dataclass(frozen=True, slots=True)
class HalvesLayout(TensorCoreLayout):
    """The layout of the pieces of a product of elements of 16 bits."""

    steps: ClassVar[int] = 16
    condition: ClassVar[str] = MULTIPLIES_HALVES
    padding: ClassVar[int] = 8
    multiples: ClassVar[tuple[int, int]] = (2, 4)
    registers: ClassVar[tuple[ScalarType, int]] = (ScalarType.UNSIGNED, MATRICES)
    of_register_half: ClassVar[int] = 1
    """Elements in 16 bits."""

    def constraints(self) -> tuple[Expr, ...]:
        """Return those of all tensor cores, and room for the sums where the pieces have been."""
        return (
            *TensorCoreLayout.constraints(self),
            Binary("<=", self._text(epilogue_words(self)), self._text(self.words())),
        )

    def thread(self) -> tuple[Stmt, ...]:
        """Its first row and column of the sums; and of the row of a matrix that it says the place of, three numbers.

        These are its number in the matrix, how many rows a matrix of the left operand is from the first, and how many
        steps.  Of the right operand the last two are for steps and columns.
        """
        context = self.context
        t0, t1 = context.name("t0"), context.name("t1")
        q, side = Binary("%", t1, IntLiteral(COLUMNS)), IntLiteral(SIDE)
        line = Binary("+", Binary("*", IntLiteral(COLUMNS), Binary("%", t0, TWO)), q)
        low = Binary("%", Binary("/", t0, TWO), TWO)
        high = Binary("/", Binary("%", t0, IntLiteral(ROWS)), IntLiteral(4))
        return (
            *TensorCoreLayout.thread(self),
            constant(context.names["line"], line),
            constant(context.names["low"], Binary("*", side, low)),
            constant(context.names["high"], Binary("*", side, high)),
        )

    def fragment(self, name: str, which: Expr, z: Expr) -> KernelStmt:
        context, number = self.context, self.coordinate(name)
        assert number is not None
        turned = self.pieces[name].rows.variable == self.loop.iterator
        r, line = context.name(f"r{number}"), context.name("line")
        place = Binary("+", self.of_warp(number), Binary("*", IntLiteral(2 * SIDE), r))
        beside, later = (context.name(base) for base in (("high", "low") if number else ("low", "high")))
        place, step = plus(place, beside), plus(z, times(IntLiteral(self.of_register_half), later))
        place, step = (place, plus(step, line)) if turned else (plus(place, line), step)
        registers = Index(context.names[f"fragment_{name}"], (which, r))
        load = LoadMatrices(registers, self._read(name, step, (place, place)), turned)
        return counting(r.identifier, self._count(number), (load,), unrolled=True)

    def _count(self, number: int) -> Expr:
        """Return how many times 16 rows, or columns, a thread takes part in."""
        each = Name(self.context.tile.coordinates[number].each)
        return Binary("/", each, IntLiteral(4) if number else TWO)
