"""The shared-memory layout of a product's operand tiles for tensor cores, and the sums that a thread holds.

In: a context, the loop and its pieces.  Out: as :class:`OperandLayout`, for instructions ``mma.m16n8k..`` of any type
of elements.  A warp is 8 x 4 threads, and thread (g, q) of it has ``U0 x U1`` sums::

    row 8*i + g,  column 8*(j/2) + 2*q + j%2

Which parts of the operands it has depends on their type: `tensor_core_doubles.py`, `tensor_core_halves.py`,
`tensor_core_bytes.py`.

Pieces lie as they do in global memory, so that copies are asynchronous whichever of their subscripts counts steps.
Rows are longer than what they hold, so that what is read of several rows at a time is in different banks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import KernelStmt
from comprehensive.kernel_ir.terms import constant
from comprehensive.metafork.ast import Binary, Declare, Expr, IntLiteral, Name, ScalarType, Stmt
from comprehensive.schedule.context import ZERO
from comprehensive.schedule.operand_layout import OperandLayout

ROWS, COLUMNS = 8, 4
"""Threads of a warp along both coordinates."""
TWO = IntLiteral(2)


@dataclass(frozen=True, slots=True)
class TensorCoreLayout(OperandLayout, ABC):
    """The layout of the pieces of a product on tensor cores; one lies along each of the two coordinates."""

    # --- what a type of elements decides

    steps: ClassVar[int]
    """Steps of the loop that a tensor core does at a time."""
    condition: ClassVar[str]
    """The function of kernels that says whether steps are done on tensor cores."""
    padding: ClassVar[int]
    """Elements between rows."""
    multiples: ClassVar[tuple[int, int]]
    """The rows and columns of a thread's sums whose numbers are multiples of these."""
    registers: ClassVar[tuple[ScalarType, int]]
    """The type of registers for operands, and their number for each count of a thread."""

    @abstractmethod
    def _count(self, number: int) -> Expr:
        """Return how many times along a coordinate a thread loads its part of an operand."""

    @abstractmethod
    def fragment(self, name: str, which: Expr, z: Expr) -> KernelStmt:
        """Return the statement that loads what a thread has of an operand in the steps from ``z`` on.

        The values go into the registers ``which``.
        """

    # --- what is the same for all

    def fragments(self) -> tuple[Stmt, ...]:
        """Declare the registers for what some steps read, and for what the next ones do."""
        type, each = self.registers
        names = [self.context.names[f"fragment_{self.operand(number)}"] for number in range(2)]
        return tuple(Declare(type, f, (TWO, self._count(n), IntLiteral(each))) for n, f in enumerate(names))

    @property
    def multiplied(self) -> ScalarType:
        """The type of the elements of both operands."""
        return self.context.nest.array(self.operand(0)).type

    @property
    def patch(self) -> tuple[int, int]:
        return (ROWS, COLUMNS)

    def constraints(self) -> tuple[Expr, ...]:
        tile = self.context.tile
        counts = [
            (tile.depth, 2 * self.steps)
        ]  # of the two sets of registers each has its turn in every piece
        counts += [(c.threads, patch) for c, patch in zip(tile.coordinates, self.patch, strict=True)]
        counts += [(c.each, count) for c, count in zip(tile.coordinates, self.multiples, strict=True)]
        multiples = [Binary("==", Binary("%", Name(name), IntLiteral(count)), ZERO) for name, count in counts]
        return (*multiples, Binary(">=", Name(tile.stages), TWO))

    def is_transposed(self, name: str) -> bool:
        return False

    def is_swizzled(self, name: str) -> bool:
        return False

    def _pitch(self, name: str) -> Polynomial:
        return self._extent(self.pieces[name].columns) + self.padding

    def thread(self) -> tuple[Stmt, ...]:
        """Its first row and column of the sums."""
        context = self.context
        g = Binary("%", context.name("t0"), IntLiteral(ROWS))
        q = Binary("%", context.name("t1"), IntLiteral(COLUMNS))
        return (
            constant(context.names["row"], Binary("+", self.of_warp(0), g)),
            constant(context.names["column"], Binary("+", self.of_warp(1), Binary("*", TWO, q))),
        )

    def of_warp(self, number: int) -> Expr:
        """The first row, or column, of a warp's sums in the tile."""
        threads, each = IntLiteral(self.patch[number]), Name(self.context.tile.coordinates[number].each)
        warp = Binary("/", self.context.name(f"t{number}"), threads)
        return Binary("*", warp, Binary("*", threads if number == 0 else IntLiteral(COLUMNS), each))

    def places(self) -> tuple[Expr, ...]:
        """Return the places of a thread's sums in the tile."""
        r0, r1 = self.context.name("r0"), self.context.name("r1")
        pairs = Binary("*", IntLiteral(ROWS), Binary("/", r1, TWO))
        return (
            Binary("+", self.context.name("row"), Binary("*", IntLiteral(ROWS), r0)),
            Binary("+", Binary("+", self.context.name("column"), pairs), Binary("%", r1, TWO)),
        )

    def operand(self, number: int) -> str:
        """The array whose piece lies along a coordinate."""
        return next(name for name in self.pieces if self.coordinate(name) == number)
