"""The stores of points behind their loops over boxes.

::

    out[y0][y1] = sum       -->  four neighbours of a thread in one vector, where the limits do not cut them
    all others              -->  as the points have them (`around_loop.py`)
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from comprehensive.kernel_ir.kernel import VECTOR, Alignment, KernelStmt, VectorStore
from comprehensive.kernel_ir.parameters import flat
from comprehensive.kernel_ir.terms import constant, counting, onward
from comprehensive.loops.integers import Ring
from comprehensive.metafork.ast import Assign, Binary, Declare, Expr, If, Index, IntLiteral, Name
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.terms import plus
from comprehensive.metafork.walk import elements, expressions_in
from comprehensive.schedule.around_loop import AroundLoop
from comprehensive.schedule.boxes import FOUR, Boxes
from comprehensive.schedule.context import ZERO, TileContext
from comprehensive.schedule.reference_groups import stored_by
from comprehensive.schedule.unroll_and_jam import UnrollAndJam


class BoxEpilogue(Struct, frozen=True):
    """The stores of a kernel behind its loops over boxes, and the alignments that its copies and stores ask for."""

    context: TileContext
    boxes: Boxes
    around: AroundLoop

    def alignments(self) -> tuple[Alignment, ...]:
        """Return the alignments that copies and stores of several elements ask for."""
        found = {a.array: a for a in self.boxes.alignments()}
        for target in self._values() or {}:
            found.setdefault(target.array, Alignment(target.array, ()))
        return tuple(found.values())

    def _values(self) -> dict[Index, Expr] | None:
        """Return the values that a point stores behind its loops, by element, each once and from scalars.

        None where four neighbouring points do not store neighbours.
        """
        last = len(self.context.tile.coordinates) - 1
        if not self.boxes.is_contiguous(last) or (self.around.held and not self.around.is_loop_alone):
            return None
        found: dict[Index, Expr] = {}
        arrays = {a.name for a in self.context.nest.arrays}
        for e in expressions_in(self.around.after):
            if any(part.array in arrays for part in elements(e)):
                return None
        for statement in self.around.after:
            if isinstance(statement, Assign) and isinstance(statement.target, Index):
                if statement.operator != "=" or statement.target in found:
                    return None
                found[statement.target] = statement.value
        found |= {target: self.around.private(array) for array, target in self.around.held.items()}
        is_once = len({target.array for target in found}) == len(found)
        return found if found and is_once and all(map(self._is_along_row, found)) else None

    def _is_along_row(self, target: Index) -> bool:
        """Whether an element lies along the last coordinate, on a row that begins where rows of the array do."""
        ring, name = Ring(), self.context.tile.coordinates[-1].name
        *outer, last = (ring.read(s) for s in target.subscripts)
        return last == ring.read(Name(name)) and not any(name in ring.names_in(value) for value in outer)

    def stored(self, jam: UnrollAndJam) -> tuple[KernelStmt, ...]:
        values = self._values()
        if values is None:
            return self.around.stored(jam)
        *rows, last = range(len(self.context.tile.coordinates))
        again, ends = self.around.behind(jam)
        body = self._vectors_of_row(ends, last, values)
        for n in reversed(rows):
            c = self.context.tile.coordinates[n]
            place = constant(c.name, onward(self.context.name(f"e{n}"), self.boxes.place_of(n)))
            row = (place, If(self.context.inside()[n], body))
            body = (counting(self.context.names[f"r{n}"], Name(c.each), row, unrolled=True, uniform=True),)
        return (*again, *body)

    def _vectors_of_row(
        self, ends: UnrollAndJam, last: int, values: Mapping[Index, Expr]
    ) -> tuple[KernelStmt, ...]:
        """Return the stores along the last coordinate, four points at a time."""
        context, c = self.context, self.context.tile.coordinates[last]
        vector, point, first = (context.name(base) for base in ("vector", "point", "first"))
        number = Binary("*", FOUR, vector)
        held = {t: Index(context.names[f"value_{t.array}"], (point,)) for t in values}
        declared = [
            Declare(context.nest.array(t.array).type, kept.array, (FOUR,)) for t, kept in held.items()
        ]
        at_point = (
            constant(context.names[f"r{last}"], plus(number, point)),
            constant(c.name, Binary("+", first, point)),
            *(ends.one(s) for s in self.around.after if stored_by(s) is None),
            *(Assign(kept, "=", ends.value(values[target])) for target, kept in held.items()),
        )
        whole = Binary("<=", Binary("+", first, FOUR), context.limit(last))
        vectors = tuple(
            VectorStore(self._element(t, 0), Index(kept.array, (ZERO,))) for t, kept in held.items()
        )
        single = tuple(
            If(
                Binary("<", plus(first, IntLiteral(n)), context.limit(last)),
                tuple(
                    Assign(self._element(t, n), "=", Index(k.array, (IntLiteral(n),)))
                    for t, k in held.items()
                ),
            )
            for n in range(VECTOR)
        )
        begin = constant(first.identifier, onward(context.name(f"e{last}"), self.boxes.place(last, number)))
        body = (
            begin,
            *declared,
            counting(point.identifier, FOUR, at_point, unrolled=True),
            If(whole, vectors, single),
        )
        count = Binary("/", Name(c.each), FOUR)
        return (counting(vector.identifier, count, body, unrolled=True, uniform=True),)

    def _element(self, target: Index, behind: int) -> Index:
        """The element of the point so many behind the first one of a vector."""
        at = {self.context.tile.coordinates[-1].name: plus(self.context.name("first"), IntLiteral(behind))}
        moved = tuple(substitute(subscript, at) for subscript in target.subscripts)
        return flat(Index(target.array, moved), self.context.strides)
