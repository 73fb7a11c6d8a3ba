"""Vector steps: the loop of one thread along rows, four steps at a time, whose elements it reads together.

::

    for (e < n) sum += q[y*q_stride0 + e] * k[t*k_stride0 + e]
        -->  for (e < n / 4 * 4; e += 4)   vector_q[0..3] = q[y*q_stride0 + e];  vector_k[0..3] = k[t*k_stride0 + e]
                                           for z in 0..3:  sum += vector_q[z] * vector_k[z]
             for (e = n / 4 * 4; e < n; e++)   sum += q[y*q_stride0 + e] * k[t*k_stride0 + e]

Threads beside each other that walk along rows of their own read from as many lines of the cache at once, and each line
is an access of its own; vectors make a quarter as many.  Steps keep their order.  A step of decoding (128 heads, 2048
keys of 128) takes 143 us on an H200 so, and 232 element by element.
Legal for what each step reads of arrays that the loop does not assign.  A launch looks whether rows are aligned.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.kernel import VECTOR, WIDTH, Alignment, Vectors
from comprehensive.kernel_ir.terms import constant, counting
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.traverse import always_evaluated
from comprehensive.metafork.ast import (
    Binary,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import map_expressions, with_operands
from comprehensive.metafork.walk import arrays_assigned, assigned_scalars, leaves_loop, own_expressions
from comprehensive.records import replace
from comprehensive.schedule.context import ZERO, TileContext

FOUR = IntLiteral(VECTOR)
ELEMENT_BYTES = 4
"""Four elements of so many bytes are the widest access."""


class VectorSteps(Struct, frozen=True):
    """Rewrites loops over flat references; ``arrays`` are those that it reads in vectors."""

    context: TileContext
    name: Namer
    arrays: dict[str, None] = field(default_factory=dict[str, None])

    def alignments(self) -> tuple[Alignment, ...]:
        """Return what vectors ask of data and rows."""
        return tuple(Alignment(array, ()) for array in self.arrays)

    def of(self, loop: For) -> tuple[Stmt, ...]:
        """Return the loop in vectors and what is left of it; the loop itself where it has no elements for them."""
        found = list(dict.fromkeys(self._elements(loop)))
        if not found:
            return (loop,)
        self.arrays.update(dict.fromkeys(e.array for e in found))
        z, whole = self.context.name("z"), Name(self.name("whole"))
        vectors = {e: self.name(f"vector_{e.array}") for e in found}

        def of_step(e: Expr) -> Expr:
            if isinstance(e, Index) and e in vectors:
                return Index(vectors[e], (z,))
            return Binary("+", e, z) if e == Name(loop.iterator) else with_operands(e, of_step)

        declared = (Declare(self._type(e), name, (FOUR,)) for e, name in vectors.items())
        reads = (Vectors(Index(name, (ZERO,)), e, FOUR, FOUR, Name(WIDTH)) for e, name in vectors.items())
        steps = counting(z.identifier, FOUR, map_expressions(loop.body, of_step), unrolled=True)
        wide = Binary("==", Name(WIDTH), FOUR)
        end = Conditional(wide, Binary("*", Binary("/", loop.bound, FOUR), FOUR), ZERO)
        return (
            constant(whole.identifier, end),
            replace(loop, bound=whole, step=FOUR, body=(*declared, *reads, steps)),
            replace(loop, start=whole),
        )

    def _type(self, element: Index) -> ScalarType:
        return self.context.nest.array(element.array).type

    def _elements(self, loop: For) -> Iterator[Index]:
        """Yield the references whose elements each step reads, one after the other in memory."""
        changed = assigned_scalars(loop.body) | {s.name for s in loop.body if isinstance(s, Declare)}
        if not _is_plain(loop) or loop.iterator in changed:
            return
        arrays = {a.name: a.pointer for a in self.context.nest.arrays}
        assigned = {arrays.get(array, array) for array in arrays_assigned(loop.body)}
        read = (e for s in loop.body for whole in own_expressions(s) for e in always_evaluated(whole))
        for e in (e for e in read if isinstance(e, Index)):
            is_apart = e.array in self.context.strides and arrays.get(e.array) not in assigned
            if is_apart and self._is_in_vectors(e, loop.iterator) and changed.isdisjoint(names_read(e)):
                yield e

    def _is_in_vectors(self, element: Index, iterator: str) -> bool:
        """Whether elements of four steps are a vector, if rows of the array are aligned."""
        if self._type(element).size_bytes != ELEMENT_BYTES:
            return False
        (subscript,) = element.subscripts
        ring = Ring()
        value = ring.read(subscript)
        strides = {p.name for p in self.context.strides[element.array]}
        rest = value - Polynomial.symbol(iterator)
        return iterator not in ring.names_in(rest) and all(
            term.coefficient % VECTOR == 0 or not strides.isdisjoint(symbol for symbol, _ in term.powers)
            for term in rest.terms()
        )


def _is_plain(loop: For) -> bool:
    """Whether a loop counts up from 0 by one and does all of its steps."""
    return loop.counts_up and loop.type is ScalarType.INT and not leaves_loop(loop.body)
