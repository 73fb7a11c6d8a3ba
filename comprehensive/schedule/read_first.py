"""Read first: the reads of all points of a thread before the first of them computes, so that many are in flight.

::

    for (r < U) value[r] = x[y(r)] / z[y(r)];   -->   for (r < U) { read_x[r] = again(x[y(r)]);  read_z[r] = .. }
                                                      for (r < U) value[r] = read_x[r] / read_z[r];

That is right since the statement stores nothing that it reads.  The compiler does so itself where it can; beyond the
branch of a division it cannot (`kernel_ir/instructions.py`), and what it has read before that it reads again behind
it, unless it no longer knows where a value comes from (`cf_opaque`).  Only what each point reads in any case is read
first: nothing behind a ``?``, or behind ``&&`` and ``||``.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from msgspec import Struct

from comprehensive.kernel_ir.instructions import has_slow_path
from comprehensive.kernel_ir.kernel import OPAQUE
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Conditional,
    Declare,
    Expr,
    Index,
    IntLiteral,
    Span,
)
from comprehensive.metafork.rewrite import with_operands
from comprehensive.metafork.walk import children
from comprehensive.schedule.context import TileContext


class ReadFirst(Struct, frozen=True):
    """The reads of a point that come first, the arrays that hold what they read, and the value over these."""

    declared: tuple[Declare, ...]
    reads: tuple[Assign, ...]
    value: Expr


def read_first(
    context: TileContext, value: Expr, indices: Sequence[Expr], shape: Sequence[Expr], span: Span
) -> ReadFirst | None:
    """Return how a value is computed after all its reads; None where the compiler moves these by itself.

    ``indices`` are those of a point of the thread in arrays of this ``shape``.
    """
    reads = tuple(dict.fromkeys(_reads(value, context.strides)))
    if not reads or not has_slow_path(value):
        return None
    of_arrays: dict[str, list[Index]] = {}
    for read in reads:
        of_arrays.setdefault(read.array, []).append(read)
    declared: list[Declare] = []
    held: dict[Expr, Index] = {}
    for array, references in of_arrays.items():
        name = context.names[f"read_{array}"]
        several = len(references) > 1
        each = (IntLiteral(len(references)),) if several else ()
        declared.append(Declare(context.element_type(array), name, (*each, *shape)))
        for number, reference in enumerate(references):
            held[reference] = Index(name, (*((IntLiteral(number),) if several else ()), *indices))

    def after(expression: Expr) -> Expr:
        return held[expression] if expression in held else with_operands(expression, after)

    assigned = tuple(Assign(held[read], "=", Call(OPAQUE, (read,)), span) for read in reads)
    return ReadFirst(tuple(declared), assigned, after(value))


def _reads(expression: Expr, arrays: Container[str]) -> Iterator[Index]:
    """The outermost references to data that are read whatever the data is."""
    match expression:
        case Index(array=array) if array in arrays:
            yield expression
        case Conditional():
            yield from _reads(expression.condition, arrays)
        case Binary(operator="&&" | "||"):
            yield from _reads(expression.left, arrays)
        case _:
            for child in children(expression):
                yield from _reads(child, arrays)
