"""A walk along rows in order, of which a thread has the next elements in registers before it comes to them.

::

    for (j < n) sum += row[j]
        -->  ahead[0..15] = row[0..15]
             for (first < n - 15; first += 16)   for z in 0..15:
                 sum += ahead[z];   ahead[z] = row[first + 16 + z]
             for (j = n / 16 * 16; j < n; j++) sum += row[j]

An addition waits 4 cycles for the one before it, and a load from shared memory about 30: loads are far ahead of their
use, and nvcc makes one access of four of them.  By hand on one H200: 4.6 cycles an element, 6 without.
Legal where the loop does not assign the rows: elements are then the same earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from comprehensive.kernel_ir.terms import constant, counting, product
from comprehensive.kernel_ir.words import words_per_element
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.records import replace
from comprehensive.schedule.context import ZERO, TileContext

MOST_AHEAD = 16
"""Elements of a row in registers, several vectors of 16 bytes."""
LEAST_AHEAD = 4
WORDS_AHEAD = 32
"""Words of all rows in registers: with 64 of them a walk along four rows took 17 times the time on an H200, since the
thread waited for what had been spilled."""


class ReadAhead(Struct, frozen=True):
    """A row that a walk reads, ``element`` of the number of a step, and the array in registers for it."""

    registers: str
    type: ScalarType
    element: Callable[[Expr], Index]


def walk_ahead(
    context: TileContext,
    loop: For,
    limit: Expr,
    rows: Sequence[ReadAhead],
    body: Callable[[Sequence[Index]], tuple[Stmt, ...]],
) -> list[Stmt]:
    """The loop up to ``limit``; ``body`` gives its statements, when told where the elements of the rows are."""
    iterator = Name(loop.iterator)
    first, following, z = (context.name(name) for name in ("first", "next", "z"))
    ahead = _ahead(rows)
    all_ = IntLiteral(ahead)
    held = [Index(row.registers, (z,)) for row in rows]
    begun = tuple(Assign(element, "=", row.element(z)) for element, row in zip(held, rows, strict=True))
    place = Binary("+", following, z)
    loads = tuple(Assign(element, "=", row.element(place)) for element, row in zip(held, rows, strict=True))
    step = (constant(loop.iterator, Binary("+", first, z)), *body(held), *loads)
    turn = counting(z.identifier, all_, step, unrolled=True)
    # What would be read behind the last whole turn is not there: any other elements do, which nobody uses.
    is_more = Binary("<", first, Binary("-", limit, IntLiteral(2 * ahead - 1)))
    last = Binary("-", limit, IntLiteral(ahead - 1))
    next_turn = constant(following.identifier, Conditional(is_more, Binary("+", first, all_), ZERO))
    whole = For(ScalarType.INT, first.identifier, ZERO, "<", last, all_, (next_turn, turn), loop.span)
    rest = product([Binary("/", limit, all_), all_])
    return [
        *(Declare(row.type, row.registers, (all_,)) for row in rows),
        If(Binary("<=", all_, limit), (counting(z.identifier, all_, begun, unrolled=True), whole)),
        replace(loop, start=rest, bound=limit, body=body([row.element(iterator) for row in rows])),
    ]


def _ahead(rows: Sequence[ReadAhead]) -> int:
    """The elements of each row in registers, a power of two."""
    words, ahead = sum(words_per_element(row.type) for row in rows), MOST_AHEAD
    while ahead > LEAST_AHEAD and ahead * words > WORDS_AHEAD:
        ahead //= 2
    return ahead
