"""Doubles for tensor cores: the parts of operand tiles that a thread holds for ``mma.m16n8k8``.

In: the pieces of a product of doubles.  Out: as :class:`TensorCoreLayout`; thread (g, q) of a warp has::

    left operand        row 8*i + g, steps q and q + 4 of eight      U0 x 2
    right operand       column 8*j + g, the same steps               U1/2 x 2

Rows are four elements longer than what they hold: what half a warp reads, 4 rows by 4 elements, is then in different
banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from comprehensive.kernel_ir.kernel import CONTRACTS, KernelStmt
from comprehensive.kernel_ir.terms import constant, counting, product
from comprehensive.metafork.ast import Assign, Binary, Expr, Index, IntLiteral, Name, ScalarType, Stmt
from comprehensive.metafork.terms import plus
from comprehensive.schedule.tensor_core_layout import COLUMNS, ROWS, TWO, TensorCoreLayout


@dataclass(frozen=True, slots=True)
class DoublesLayout(TensorCoreLayout):
    """The layout of the pieces of a product of doubles."""

    steps: ClassVar[int] = 8
    condition: ClassVar[str] = CONTRACTS
    padding: ClassVar[int] = 4
    multiples: ClassVar[tuple[int, int]] = (2, 2)
    registers: ClassVar[tuple[ScalarType, int]] = (ScalarType.DOUBLE, 2)

    def thread(self) -> tuple[Stmt, ...]:
        """Its first row and column of the sums, its first column of the right operand, and its first step."""
        context = self.context
        g = Binary("%", context.name("t0"), IntLiteral(ROWS))
        q = Binary("%", context.name("t1"), IntLiteral(COLUMNS))
        return (
            *TensorCoreLayout.thread(self),
            constant(context.names["across"], Binary("+", self.of_warp(1), g)),
            constant(context.names["lane"], q),
        )

    def fragment(self, name: str, which: Expr, z: Expr) -> KernelStmt:
        context, number = self.context, self.coordinate(name)
        assert number is not None
        r, half = context.name(f"r{number}"), context.name("half")
        step = product([IntLiteral(self.steps // 2), half])
        first = context.name("across" if number else "row")
        place = Binary("+", first, Binary("*", IntLiteral(ROWS), r))
        source = self._read(name, plus(z, Binary("+", step, context.name("lane"))), (place, place))
        load = Assign(Index(context.names[f"fragment_{name}"], (which, r, half)), "=", source)
        halves = counting(half.identifier, TWO, (load,), unrolled=True)
        return counting(r.identifier, self._count(number), (halves,), unrolled=True)

    def _count(self, number: int) -> Expr:
        """Return the number of rows, or columns of the right operand, that a thread has."""
        each = Name(self.context.tile.coordinates[number].each)
        return Binary("/", each, TWO) if number else each
