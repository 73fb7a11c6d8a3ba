"""One loop whose iterations are independent, counted up in steps of 1, as a grid counts.

In: a loop of any canonical form.  Out: a :class:`Dimension`::

    for (int i = n; i > 0; i--)   -->   for (int i_number = 0; i_number < n; i_number++), i = n - i_number
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.loops.ir import AXES
from comprehensive.loops.normalize.counting import counted_from_zero
from comprehensive.metafork.ast import Expr, For, IntLiteral, MetaFor, Name, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rectangle import rectangular
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.walk import names
from comprehensive.records import replace

MAXIMUM_LOOPS = len(AXES)
"""Parallel loops of a region; further ones around them are serial."""
_ZERO, _ONE = IntLiteral(0), IntLiteral(1)


class Dimension(Struct, frozen=True):
    """A loop whose iterations are independent: as the program has it, and counted up in steps of 1 from its start.

    ``value`` is the iterator of the program in terms of the one that counts; None where that is the same.
    """

    loop: For
    counted: MetaFor
    value: Expr | None

    @property
    def iterator(self) -> str:
        return self.loop.iterator

    @property
    def reads(self) -> frozenset[str]:
        """Return the names that its range depends on."""
        return frozenset((*names(self.counted.start), *names(self.counted.bound)))


def dimension(loop: For, types: Mapping[str, ScalarType], name: Namer) -> Dimension:
    """The loop as a parallel one; its header declares its iterator and runs to its bound.

    ``types`` are those of the scalars around it.
    """
    assert loop.type is not None
    type = loop.type
    header = MetaFor(type, loop.iterator, loop.start, loop.relation, loop.bound, loop.step, (), loop.span)
    if loop.type is ScalarType.INT and loop.relation in ("<", "<=") and loop.step == _ONE:
        return Dimension(loop, header, None)
    iterator = name(f"{loop.iterator}_number")
    found = counted_from_zero(header, type, iterator, types)
    assert found is not None, "the loop runs to its bound"
    counted = replace(
        header,
        type=ScalarType.INT,
        iterator=iterator,
        start=_ZERO,
        relation="<",
        bound=found.extent,
        step=_ONE,
    )
    return Dimension(loop, counted, found.value or Name(iterator))


def grid_of(run: Sequence[Dimension]) -> tuple[MetaFor, ...] | None:
    """The loops as they count, with ranges over each other's counters; None where the ranges are no rectangle and have
    none around them that is seen."""
    values: dict[str, Expr] = {}
    loops: list[MetaFor] = []
    for each in run:
        start, bound = (substitute(side, values) for side in (each.counted.start, each.counted.bound))
        loops.append(replace(each.counted, start=start, bound=bound))
        if each.value is not None:
            values[each.iterator] = substitute(each.value, values)
    iterators = {loop.iterator for loop in loops}
    ranges = (part for loop in rectangular(loops).loops for part in (loop.start, loop.bound))
    return None if any(iterators & set(names(part)) for part in ranges) else tuple(loops)


def serial_inside(outer: Sequence[Dimension], inner: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Loops around statements as they were: serial ones."""
    for each in reversed(outer):
        inner = (replace(each.loop, body=inner),)
    return inner
