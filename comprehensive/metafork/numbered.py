"""Loops in larger steps whose ranges have to do with others, counted by the numbers of their turns.

In: a run of ``meta_for``.  Out: the same with such loops in steps of 1, and their iterators in terms of these::

    meta_for (i...) meta_for (j = 1 + (i & 1); j < n; j += 2) S
        -->  meta_for (i...) meta_for (j_number = 0; j_number < (n - (1 + (i & 1)) + 1) / 2; j_number++) S

with ``j = 1 + (i & 1) + j_number * 2``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.metafork.ast import Binary, Expr, IntLiteral, MetaFor, Name, ScalarType
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rectangle import ONE, ZERO, plus
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.walk import names
from comprehensive.records import replace


class Numbered(Struct, frozen=True):
    """The loops, and by the iterators that count the loops of the program with the values of theirs."""

    loops: tuple[MetaFor, ...]
    values: Mapping[str, tuple[MetaFor, Expr]]


def numbered(run: Sequence[MetaFor], name: Namer) -> Numbered:
    """Return the run with its loops in larger steps counted, where their ranges or those of others depend on others."""
    iterators = {loop.iterator for loop in run}
    spoken_of = {name for loop in run for side in (loop.start, loop.bound) for name in names(side)}
    loops: list[MetaFor] = []
    found: dict[str, tuple[MetaFor, Expr]] = {}
    known: dict[str, Expr] = {}
    for loop in run:
        here = replace(loop, start=substitute(loop.start, known), bound=substitute(loop.bound, known))
        depends = loop.iterator in spoken_of or bool(iterators & {*names(loop.start), *names(loop.bound)})
        step = loop.step.value if isinstance(loop.step, IntLiteral) else 0
        goes_there = loop.relation in (("<", "<=") if step > 0 else (">", ">="))
        if loop.type is not ScalarType.INT or not depends or abs(step) < 2 or not goes_there:
            loops.append(here)
            continue
        counter = name(f"{loop.iterator}_number")
        first, last = (here.start, here.bound) if step > 0 else (here.bound, here.start)
        more = abs(step) - (1 if loop.relation in ("<", ">") else 0)
        turns = Binary("/", plus(plus(last, first, "-"), IntLiteral(more)), IntLiteral(abs(step)), loop.span)
        loops.append(replace(here, iterator=counter, start=ZERO, relation="<", bound=turns, step=ONE))
        distance = Binary("*", Name(counter), IntLiteral(abs(step)), loop.span)
        value = Binary("+" if step > 0 else "-", here.start, distance, loop.span)
        found[counter] = loop, value
        known[loop.iterator] = value
    return Numbered(tuple(loops), found)
