"""Strips of parallel loops: a loop over strips that a directive names, and the loop that was cut.

In: the uncut loops of a region.  Out: the same with one loop in the place of such a pair, wherever the loop over a
strip stands::

    #pragma omp parallel for                                    meta_for i
    for (ii = 0; ii < n; ii += 32)                      -->       for (k...) S(i, k)
      for (kk...) for (i = ii; i < min(ii + 32, n); i++)
        for (k = kk...) S(i, k)

What stands around the loop over a strip comes to stand inside of it: legal where the loop is proved to be parallel, as
for every loop that is moved out (`widen.py`, which sees to that).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from comprehensive.loops.normalize.outward import hoistable, hoisted
from comprehensive.loops.normalize.strips import loop_of_strips, of_strips
from comprehensive.loops.normalize.tests_in_headers import tests_in_headers
from comprehensive.loops.traverse import names_read_in
from comprehensive.metafork.ast import Declare, Expr, For, ScalarType, Stmt
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.rewrite import replace_statements, substitute
from comprehensive.metafork.walk import assigned_scalars, reads_data, statements_in
from comprehensive.pragmas.cutting import Loops
from comprehensive.pragmas.dimension import dimension
from comprehensive.records import replace


def with_whole_loops(loops: Loops) -> Loops:
    """The loops with the headers of those inside as strips are recognised, serial strips as one loop each."""
    return replace(loops, inner=of_strips(tests_in_headers(loops.inner, _types(loops))))


def with_a_joined_strip(loops: Loops, place: int) -> Iterator[tuple[Loops, str]]:
    """Yield the loops with the one over a strip in the place of one over all strips, and its iterator."""
    each, others = loops.dimensions[place], (*loops.dimensions[:place], *loops.dimensions[place + 1 :])
    if any(each.iterator in other.reads for other in others):
        return
    values = _values(loops.inner)
    for strip in hoistable(loops.inner):
        start, bound = strip.start, strip.bound
        for _ in values:
            start, bound = substitute(start, values), substitute(bound, values)
        joined = loop_of_strips(each.loop, replace(strip, start=start, bound=bound))
        moved = None if joined is None else hoisted(loops.inner, strip)
        if joined is None or moved is None:
            continue
        inner = _without_idle_values(moved)
        if each.iterator in names_read_in(inner):
            continue
        name = Namer(loops.text.taken | {other.counted.iterator for other in others})
        found = dimension(joined, _types(loops), name)
        run = (*loops.dimensions[:place], found, *loops.dimensions[place + 1 :])
        yield with_whole_loops(replace(loops, dimensions=run, inner=inner)), joined.iterator


def _types(loops: Loops) -> dict[str, ScalarType]:
    """The types of the scalars around what stands inside of the loops."""
    return loops.text.types | {each.iterator: each.loop.type or ScalarType.INT for each in loops.dimensions}


def _values(body: tuple[Stmt, ...]) -> dict[str, Expr]:
    """The scalars that have one value each, which is no data: ends of strips, say."""
    declared = [s for s in statements_in(body) if isinstance(s, Declare)]
    times = Counter(
        (*(s.name for s in declared), *(s.iterator for s in statements_in(body) if isinstance(s, For)))
    )
    changed = assigned_scalars(body)
    return {
        s.name: s.initial
        for s in declared
        if s.initial is not None
        and times[s.name] == 1
        and s.name not in changed
        and s.type is ScalarType.INT
        and not reads_data(s.initial)
    }


def _without_idle_values(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body without scalars that nothing reads."""
    while True:
        read = names_read_in(body) | assigned_scalars(body)
        kept = replace_statements(
            body,
            lambda s, read=read: () if isinstance(s, Declare) and not s.dims and s.name not in read else (s,),
        )
        if kept == body:
            return body
        body = kept
