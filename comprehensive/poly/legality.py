"""The legality of parallel loops: each ``meta_for`` is checked, not trusted.

In: a nest.  Out: for each loop ``Parallel``, ``Conflict`` with a real witness, or ``Undecided`` with the term that
stands in the way.  A search over small parameters looks for a witness first; what it does not refute is proved.
Example: matrix multiplication may run i, v, j, u in parallel and w, but not k and z, which add into one element.
"""

from __future__ import annotations

from comprehensive.loops.access import Access, Mode
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Index
from comprehensive.poly.conflicts import Obstacle, Question, obstacle_to, obstacles_to
from comprehensive.poly.domains import Place, references, term_text
from comprehensive.poly.memo import remembered_in_text
from comprehensive.poly.model import Conflict, Legality, Parallel, Undecided
from comprehensive.poly.repeats import indices_of, repeats
from comprehensive.poly.still import with_still_elements
from comprehensive.poly.taint import data_dependent
from comprehensive.poly.witnesses import Witnesses, witnesses
from comprehensive.records import replace


def parallel_loops(nest: Nest) -> tuple[tuple[str, Legality], ...]:
    """The verdict on every loop of the grid, then on every loop of every band, outermost first.

    A loop of the grid is parallel if no two iterations conflict that differ in it; a loop of a band if none do at
    equal iterators of the grid and of the serial loops around the band.
    """
    return tuple((loop, verdict) for _, loop, verdict in verdicts(nest))


@remembered_in_text(128)
def verdicts(nest: Nest) -> tuple[tuple[int | None, str, Legality], ...]:
    """Return the verdicts of :func:`parallel_loops`, each with the number of its band, or None for the grid."""
    found = witnesses(nest)
    result: list[tuple[int | None, str, Legality]] = []
    for number, loop in enumerate(nest.grid):
        result.append((None, loop.iterator, _verdict(nest, grid_question(number), found)))
    for band, threads in enumerate(nest.bands):
        for number, loop in enumerate(threads.loops):
            result.append((band, loop.iterator, _verdict(nest, thread_question(band, number), found)))
    return tuple(result)


def grid_question(number: int) -> Question:
    """Conflicts between any iterations that differ in the number-th loop of the grid."""
    return Question(frozenset(), (Place.GRID, number))


def thread_question(band: int, number: int) -> Question:
    """Conflicts within one step of one block between threads that differ in the number-th loop of a band."""
    return Question(frozenset((Place.GRID, Place.STEP)), (Place.THREAD, number), band)


@remembered_in_text(256)
def serial_is_parallel(nest: Nest, band: int, iterator: str) -> Legality:
    """Whether a serial loop inside the threads of a band may become a loop of the grid.

    It may if no two conflicting iterations of the nest, in any threads of any blocks, differ in its iterator.
    """
    question = Question(frozenset(), (Place.SERIAL, iterator), None)
    within = [r for r in references(nest) if r.access.context.band == band]
    if not any(a.place is Place.SERIAL and a.iterator == iterator for r in within for a in r.axes):
        # No reference stands in the loop: nothing can conflict.
        return Parallel("no array is read or written in the loop")
    return _verdict(nest, question, witnesses(nest, iterator))


@remembered_in_text(256)
def parallel_within(nest: Nest, loops: frozenset[str], around: frozenset[str]) -> bool:
    """Whether no two conflicting iterations that agree in the loops over ``around`` differ in one over ``loops``; both
    name loops of the grid and of bands."""
    asked = [grid_question(number) for number, loop in enumerate(nest.grid) if loop.iterator in loops]
    for band, threads in enumerate(nest.bands):
        asked += [thread_question(band, k) for k, loop in enumerate(threads.loops) if loop.iterator in loops]
    within = (replace(question, remainders=True, agreeing=around) for question in asked)
    still = with_still_elements(nest, around)
    return all(obstacle_to(still, question)[0] is None for question in within)


@remembered_in_text(128)
def threads_meet(nest: Nest) -> bool:
    """Whether barriers between bands and between steps of serial loops around them are needed.

    False only if it is proved that no two different threads of a block ever touch one element, one writing.
    """
    if len(nest.bands) < 2 and not any(a.place is Place.STEP for r in references(nest) for a in r.axes):
        return False
    shared = frozenset((Place.GRID,))
    return any(
        obstacle_to(nest, Question(shared, (Place.THREAD, number)))[0] is not None
        for number in range(len(nest.thread_loops))
    )


def _verdict(nest: Nest, question: Question, found: Witnesses) -> Legality:
    witness = found.get(question)
    if witness is not None:
        return Conflict(witness)
    asked = replace(question, remainders=True)
    obstacle, method = obstacle_to(nest, asked)
    if obstacle is None:
        return Parallel(method)
    supposed = repeats(nest).get(question)
    return _undecided(nest, obstacle, asked) if supposed is None else Conflict(supposed)


def _undecided(nest: Nest, obstacle: Obstacle, question: Question) -> Undecided:
    if {obstacle.first.access.ordinal, obstacle.second.access.ordinal} & data_dependent(nest):
        told = (_assumption(nest, o.first.access, o.second.access) for o in obstacles_to(nest, question))
        assumptions = dict.fromkeys(text for text in told if text is not None)
        return Undecided("; ".join(assumptions), obstacle.first.access.span)
    if obstacle.opaque is not None:
        term = term_text(obstacle.opaque.term)
        return Undecided(f"'{term}' {obstacle.opaque.reason}", obstacle.opaque.span)
    first, second = obstacle.first.access, obstacle.second.access
    both = " and ".join(dict.fromkeys(_reference_text(a) for a in (first, second)))
    return Undecided(f"{both} could not be proved to name different elements", first.span)


def _assumption(nest: Nest, first: Access, second: Access) -> str | None:
    """Return what must hold of data that decides whether two references name one element; else None."""
    depending = data_dependent(nest)
    if not {first.ordinal, second.ordinal} & depending:
        return None
    one, other = (_reference_text(a) for a in (first, second))
    if {first.ordinal, second.ordinal} <= depending and first.mode is second.mode is Mode.WRITE:
        stores = [
            r.access for r in references(nest) if r.access.ordinal in depending and r.access.mode.writes
        ]
        indices = dict.fromkeys(
            text for a in stores if a.array == first.array for text in indices_of(nest, a)
        )
        named = " and ".join(f"'{text}'" for text in indices)
        together = "" if len(indices) == 1 else " together"
        return f"{one} depends on data, and it is assumed that no index occurs twice in {named}{together}"
    if one == other:
        return f"{one} depends on data, and it is assumed that it names another element in every iteration"
    if first.ordinal not in depending:
        one, other = other, one
    return f"{one} depends on data, and it is assumed that it names no element that {other} does in another iteration"


def _reference_text(access: Access) -> str:
    return f"'{term_text(Index(access.array, access.subscripts, access.span))}'"
