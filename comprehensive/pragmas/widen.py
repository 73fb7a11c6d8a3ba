"""More parallel loops than a directive names: those inside of it that are proved to be parallel.

In: a checked program and its uncut loops.  Out: the same with every such loop in the grid.  A loop inside of serial
ones is moved out of them: where no two conflicting iterations differ in it, the order of conflicting ones stays::

    #pragma omp parallel for                         meta_for i
    for (i...) for (k...) for (j...)          -->      meta_for j
      c[i][j] += a[i][k] * b[k][j];                      for (k...) c[i][j] += a[i][k] * b[k][j];

What a directive says of a loop is taken at its word here: another loop is parallel if no two iterations conflict that
differ in it and agree in the loops of the directive.  A loop over strips of one that is proved to be parallel gives its
place to that one (`strips.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from comprehensive.diagnostics import CompileError, DiagnosticSink
from comprehensive.loops.access import accesses
from comprehensive.loops.build import build
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.canonical import obstacle
from comprehensive.loops.normalize.inlined import with_known_headers
from comprehensive.loops.normalize.outward import hoistable, hoisted, widest
from comprehensive.metafork.ast import (
    Declare,
    For,
    Function,
    MetaSchedule,
    Parameter,
    Program,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.structure import check_structure
from comprehensive.metafork.walk import arrays_assigned, declared, elements, statements_in
from comprehensive.poly.conflicts import reads_apart
from comprehensive.poly.legality import parallel_within, verdicts
from comprehensive.poly.model import Conflict, Parallel, Undecided
from comprehensive.poly.user_loops import user_loop
from comprehensive.pragmas.cutting import Loops, cut
from comprehensive.pragmas.dimension import MAXIMUM_LOOPS, dimension
from comprehensive.pragmas.fission import parted
from comprehensive.pragmas.strips import with_a_joined_strip, with_whole_loops
from comprehensive.records import replace


def widened(
    program: Program,
    found: Mapping[int, Loops],
    serial: frozenset[int],
    distributed: Mapping[int, tuple[Widened, ...]],
) -> Program:
    """The program with all loops in its grids that are proved to be parallel; ``serial`` are the offsets of those that
    are said to be serial, and ``distributed`` has the parts of serial regions by their offsets."""
    functions: list[Function] = []
    for function in program.functions:
        others = [p for p in function.regions if p.span.start not in found]
        added = {p.name: p for p in function.parameters if p.added and others}
        parts: list[MetaSchedule | object] = []
        for part in function.parts:
            loops = found.get(part.span.start) if isinstance(part, MetaSchedule) else None
            if isinstance(part, MetaSchedule) and loops is not None:
                parted_loop = distributed.get(part.span.start)
                for each in parted_loop or _widest_parts(program, function, part, loops, serial):
                    parts.append(each.region)
                    added |= {parameter.name: parameter for parameter in each.added}
            else:
                parts.append(part)
        parameters = (*function.written_parameters, *(added[name] for name in sorted(added)))
        functions.append(replace(function, parameters=parameters, parts=tuple(parts)))
    return replace(program, functions=tuple(functions))


def doubt_of(nest: Nest, iterator: str) -> Conflict | Undecided | None:
    """Return why the loop of the program over ``iterator``, in the grid of a nest, is not proved to be parallel."""
    found = [verdict for _, own, verdict in verdicts(nest) if user_loop(nest, own) == iterator]
    return next((verdict for verdict in found if not isinstance(verdict, Parallel)), None)


def is_parallel_inside(
    program: Program, function: Function, region: MetaSchedule, loops: Loops, loop: For
) -> bool:
    """Whether a loop that stands in the loops of a region is proved to be parallel in each iteration of these."""
    wider = _with(loops, loop)
    made = None if wider is None else cut(wider)
    nest = None if made is None else built(program, function, replace(region, body=made[0]), made[1])
    return nest is not None and _is_parallel(nest, loop.iterator, loops)


def _is_parallel(nest: Nest, iterator: str, others: Loops) -> bool:
    """Whether a loop in the grid of a nest is proved to be parallel, or is if those that have been there are."""
    if doubt_of(nest, iterator) is None:
        return True
    around = {each.iterator for each in others.dimensions} - {iterator}
    if any(isinstance(doubt_of(nest, each), Conflict) for each in around):
        return False
    called = {loop: user_loop(nest, loop) for _, loop, _ in verdicts(nest)}
    own = frozenset(loop for loop, name in called.items() if name == iterator)
    return parallel_within(nest, own, frozenset(loop for loop, name in called.items() if name in around))


class Widened(Struct, frozen=True):
    """A region with all loops in its grid that are proved to be parallel, and the parameters of its blocks."""

    region: MetaSchedule
    added: tuple[Parameter, ...]
    loops: Loops


def _widest_parts(
    program: Program, function: Function, region: MetaSchedule, loops: Loops, serial: frozenset[int]
) -> tuple[Widened, ...]:
    """The region, or those of its parts where their loops have parallel loops that it does not have."""
    whole = widest_grid(program, function, region, loops, serial)
    assert whole is not None, "these loops have been cut before"
    parts = parted(loops, partial(_leaves, program, function, region, loops))
    if len(parts) == 1 or len(whole.loops.dimensions) > len(loops.dimensions):
        return (whole,)
    nest = built(program, function, whole.region, whole.added)
    if nest is None or any(doubt_of(nest, each.iterator) is not None for each in loops.dimensions):
        return (whole,)
    found = tuple(widest_grid(program, function, region, part, serial) for part in parts)
    widened = [
        each
        for each, part in zip(found, parts, strict=True)
        if each is not None
        if not any(isinstance(s, For) for s in part.inner)
        or len(each.loops.dimensions) > len(part.dimensions)
    ]
    return tuple(widened) if len(widened) == len(found) else (whole,)


def _leaves(
    program: Program,
    function: Function,
    region: MetaSchedule,
    loops: Loops,
    definitions: Sequence[Declare],
    part: Sequence[Stmt],
) -> bool:
    """Whether no iteration of a part writes what definitions in it read."""
    made = cut(replace(loops, inner=tuple(part)))
    nest = None if made is None else built(program, function, replace(region, body=made[0]), made[1])
    if nest is None:
        return False
    read = {e.span for s in definitions if s.initial is not None for e in elements(s.initial)}
    found = [each for each in accesses(nest) if each.span in read]
    apart, written = reads_apart(nest), arrays_assigned(part)
    return read == {each.span for each in found} and all(
        each.ordinal in apart for each in found if each.array in written
    )


def widest_grid(
    program: Program, function: Function, region: MetaSchedule, loops: Loops, serial: frozenset[int]
) -> Widened | None:
    """The region with all loops in its grid that are proved to be parallel; None where there are none."""

    def wider(loops: Loops) -> Iterator[Loops]:
        for found, iterator in _more_parallel(loops, serial):
            made = cut(found)
            if made is None:
                continue
            nest = built(program, function, replace(region, body=made[0]), made[1])
            if nest is not None and _is_parallel(nest, iterator, loops):
                yield found

    best = widest(loops, wider)
    made = cut(best)
    return None if made is None else Widened(replace(region, body=made[0]), made[1], best)


def _more_parallel(loops: Loops, serial: frozenset[int]) -> Iterator[tuple[Loops, str]]:
    """Yield the loops with another one among the parallel ones, and its iterator: in the place of one over its strips,
    or besides all others."""
    whole = with_whole_loops(loops)
    for place in range(len(whole.dimensions)):
        yield from with_a_joined_strip(whole, place)
    if len(loops.dimensions) >= MAXIMUM_LOOPS:
        return
    for inner in dict.fromkeys((loops.inner, with_known_headers(loops.inner, scalar_types(loops)))):
        for loop in hoistable(inner):
            wider = None if loop.span.start in serial else _with(replace(loops, inner=inner), loop)
            if wider is not None:
                yield wider, loop.iterator
                yield from with_a_joined_strip(with_whole_loops(wider), len(wider.dimensions) - 1)


def built(
    program: Program, function: Function, region: MetaSchedule, added: tuple[Parameter, ...]
) -> Nest | None:
    """The nest of one region; None where it is no grid of blocks."""
    sink = DiagnosticSink()
    check_structure(region, sink)
    if sink.has_errors:
        return None
    alone = replace(function, parameters=(*function.written_parameters, *added), parts=(region,))
    try:
        (nest,) = build(replace(program, functions=(alone,)), sink)
    except CompileError:
        return None
    return nest


def _with(loops: Loops, loop: For) -> Loops | None:
    """The loops and one that stands in them, if it can be moved out of what stands around it."""
    types = scalar_types(loops)
    inner = hoisted(loops.inner, loop) if obstacle(loop, types) is None else None
    if inner is None:
        return None
    name = Namer(loops.text.taken | {each.counted.iterator for each in loops.dimensions})
    found = dimension(loop, types, name)
    return replace(loops, dimensions=(*loops.dimensions, found), inner=inner)


def scalar_types(loops: Loops) -> dict[str, ScalarType]:
    """The types of the scalars around and in the loops."""
    around = {each.iterator: each.loop.type or ScalarType.INT for each in loops.dimensions}
    inside = {name: type for s in statements_in(loops.inner) for name, type in declared(s).items()}
    return inside | loops.text.types | around
