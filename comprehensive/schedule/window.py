"""The elements of a row that four neighbouring points read, and in which accesses they come into registers."""

from __future__ import annotations

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import VECTOR
from comprehensive.metafork.ast import Assign, Declare, Expr, Index, Stmt


class Window(Struct, frozen=True):
    """The elements of a row that neighbouring points read.

    ``offsets`` of the references to a row, from the last coordinate on; ``reference`` is the one at
    ``offset``.

    ``row`` are the subscripts before the last one, and the last one without the last coordinate and a constant.
    """

    row: tuple[Polynomial, ...]
    reference: Index
    offset: int
    offsets: frozenset[int]

    @property
    def array(self) -> str:
        return self.reference.array

    @property
    def first(self) -> int:
        return min(self.offsets)

    @property
    def count(self) -> int:
        """Elements from the first to the last that one of the points reads."""
        return max(self.offsets) - self.first + VECTOR

    def readers(self, element: int) -> tuple[int, ...]:
        """The points that read it."""
        return tuple(point for point in range(VECTOR) if element - point in self.offsets)

    def accesses(self, shift: int) -> tuple[tuple[int, int], ...]:
        """(first element, how many of them), where points begin ``shift`` before a multiple of a vector."""
        read = {offset + point for offset in self.offsets for point in range(VECTOR)}
        found: list[tuple[int, int]] = []
        at = self.first
        while at < self.first + self.count:
            vector = (at - shift) % VECTOR == 0 and all(at + k in read for k in range(VECTOR))
            if at in read:
                found.append((at, VECTOR if vector else 1))
            at += VECTOR if vector else 1
        return tuple(found)


def values_of(statement: Stmt) -> tuple[Expr, ...]:
    """Return the expressions that a statement without others in it computes."""
    match statement:
        case Assign():
            return (statement.value,)
        case Declare(initial=initial) if initial is not None:
            return (initial,)
        case _:
            return ()
