"""Witnesses against parallel loops: two iterations of a small run that touch one element, one writing.

In: a nest.  Out: for each :class:`Question` that a small run refutes, the pair of iterations.  Only references that
surely happen take part, evaluated exactly, so that every witness is real.  Where it rests on host scalars of which
nothing is known, it counts only if the conflict is there for every value tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import TypeAlias

from msgspec import Struct

from comprehensive.loops.access import Mode, names_read
from comprehensive.loops.definitions import names_behind
from comprehensive.loops.ir import Nest
from comprehensive.poly.conflicts import Question
from comprehensive.poly.domains import Place
from comprehensive.poly.memo import remembered_in_text
from comprehensive.poly.model import Witness
from comprehensive.poly.moments import moments
from comprehensive.poly.search import (
    NotEvaluableError,
    Point,
    Runner,
    TooLongError,
    arguments,
    evaluate,
    runners,
)

Witnesses = Mapping[Question, Witness]
_MOST_ENTRIES = 10_000
_ENTRIES_A_POINT = 2_000
_LEAST_GUESSES = 3
"""The number of values of what is not known that must show a conflict."""
_Entry = tuple[Runner, tuple[int, ...]]
Conflicting: TypeAlias = Callable[[Runner, Runner], bool]
"""Whether the order counts in which two references touch one element."""


@remembered_in_text(256)
def witnesses(nest: Nest, serial: str | None = None) -> Witnesses:
    """Return the questions on loops that small runs refute, each with its witness.

    They are on all loops of the grid and the bands, or with ``serial`` on that serial loop alone.
    """
    written = {r.access.array for r in runners(nest) if r.access.mode.writes}
    return refuted(nest, [r for r in runners(nest) if r.access.array in written], serial)


def order_counts(one: Runner, other: Runner) -> bool:
    """Whether two iterations that touch one element by these references may not trade places."""
    return one.access.mode.conflicts(other.access.mode)


def refuted(
    nest: Nest,
    active: Sequence[Runner],
    serial: str | None = None,
    *,
    conflict: Conflicting = order_counts,
    least: int = 1,
) -> Witnesses:
    """Return the questions that small runs of these references refute; arguments are at least ``least``."""
    if not active:
        return {}
    written = {r.access.array for r in active}
    read = {a: _names_of(nest, [r for r in active if r.access.array == a]) for a in written}
    found: dict[Question, Witness] = {}
    left = _MOST_ENTRIES
    for given in arguments(nest, generous=False):
        if any(value < least for value in given.values()):
            continue
        suspicion = _Suspicion()
        for moment in moments(nest, given):
            run = _run(nest, active, moment.point)
            left -= max(run.cost, 200)
            certain = {a for a in written if not read[a] & moment.guessed}
            suspicion.moments.update(written - certain - run.outside)
            for question, witness in _conflicts(nest, moment.point, run.elements, serial, conflict):
                if witness.array in certain:
                    found.setdefault(question, witness)
                elif witness.array not in run.outside:
                    suspicion.add(question, witness)
        for question, witness in suspicion.confirmed():
            found.setdefault(question, witness)
        if left <= 0:
            break
    return found


class _Suspicion:
    """Conflicts at guessed values: real if they are there at every guess, whatever the value is in truth."""

    def __init__(self) -> None:
        self.moments: Counter[str] = Counter()
        """The number of times that each array was looked at."""
        self._conflicts: Counter[tuple[Question, str]] = Counter()
        self._first: dict[tuple[Question, str], Witness] = {}

    def add(self, question: Question, witness: Witness) -> None:
        self._conflicts[question, witness.array] += 1
        self._first.setdefault((question, witness.array), witness)

    def confirmed(self) -> Iterator[tuple[Question, Witness]]:
        for (question, array), count in self._conflicts.items():
            if count == self.moments[array] and count >= _LEAST_GUESSES:
                yield question, self._first[question, array]


class _Run(Struct, frozen=True):
    """The touches of a small run.

    ``elements`` are those inside their arrays; ``outside`` the arrays that a subscript leaves.
    """

    elements: Mapping[tuple[str, tuple[int, ...]], list[_Entry]]
    outside: frozenset[str]
    cost: int


def _run(nest: Nest, active: Iterable[Runner], point: Point) -> _Run:
    """All touches at one point; of a run that is too long, nothing."""
    elements: dict[tuple[str, tuple[int, ...]], list[_Entry]] = {}
    outside: set[str] = set()
    extents = {name: _extents(nest, name, point) for name in {r.access.array for r in active}}
    cost = 0
    try:
        for runner in active:
            array = runner.access.array
            limits = [inf if n is None else n for n in extents[array]]
            touched = runner.run(point, _ENTRIES_A_POINT)
            cost += len(touched)
            for iteration, subscripts in touched:
                # Where values are supposed they may be too small for the array; it is the same with larger ones.
                if runner.supposed or _inside(subscripts, limits):
                    elements.setdefault((array, subscripts), []).append((runner, iteration))
                else:
                    outside.add(array)
    except (TooLongError, ZeroDivisionError, ValueError, OverflowError):
        return _Run({}, frozenset(extents), cost + _ENTRIES_A_POINT)
    return _Run(elements, frozenset(outside), cost)


def _inside(subscripts: Sequence[int], limits: Sequence[float]) -> bool:
    # A plain loop, since it is gone through for every touch, and a generator takes longer.
    for subscript, limit in zip(subscripts, limits, strict=True):  # noqa: SIM110
        if not 0 <= subscript < limit:
            return False
    return True


def _extents(nest: Nest, array: str, point: Point) -> tuple[int | None, ...]:
    """The declared extents of an array, where they are known."""
    found: list[int | None] = []
    for dim in nest.array(array).dims or (None,):
        try:
            found.append(None if dim is None else evaluate(dim, point))
        except (NotEvaluableError, ZeroDivisionError):
            found.append(None)
    return tuple(found)


def _names_of(nest: Nest, active: Iterable[Runner]) -> frozenset[str]:
    """The names that decide what these references touch, and how often."""
    bands = [loop for band in nest.bands for loop in band.loops]
    read = frozenset(n for loop in (*nest.grid, *bands) for n in names_read(loop.extent))
    for runner in active:
        context = runner.access.context
        parts = [*runner.access.subscripts, *context.guards]
        parts += [e for loop in context.loops for e in (loop.start, loop.bound, loop.step)]
        read = read.union(*map(names_read, parts))
    return frozenset(names_behind(read, nest.scalars))


def _conflicts(
    nest: Nest,
    point: Point,
    elements: Mapping[tuple[str, tuple[int, ...]], list[_Entry]],
    serial: str | None,
    conflict: Conflicting,
) -> Iterator[tuple[Question, Witness]]:
    grid, loops_of_bands = len(nest.grid), [len(band.loops) for band in nest.bands]
    asked: set[tuple[Question, str]] = set()

    def met(
        question: Question,
        touched: tuple[str, tuple[int, ...]],
        entries: Sequence[_Entry],
        place: Callable[[_Entry], int | None],
    ) -> Iterator[tuple[Question, Witness]]:
        pair = _pair(entries, conflict, place)
        if pair is not None and (question, touched[0]) not in asked:
            asked.add((question, touched[0]))
            yield question, _witness(*touched, point, *pair)

    for touched, entries in elements.items():
        if len(entries) < 2:
            continue
        if not any(e[0].access.mode.writes for e in entries):
            continue
        if serial is not None:
            question = Question(frozenset(), (Place.SERIAL, serial))
            yield from met(question, touched, entries, lambda entry: _value(entry, serial))
            continue
        for number in range(grid):
            question = Question(frozenset(), (Place.GRID, number))
            yield from met(question, touched, entries, lambda entry, number=number: entry[1][number])
        groups: dict[tuple[int, tuple[int, ...]], list[_Entry]] = {}
        for entry in entries:
            fixed = grid + sum(loop.is_block for loop in entry[0].access.context.loops)
            groups.setdefault((entry[0].access.context.band, entry[1][:fixed]), []).append(entry)
        for (band, outer), members in groups.items():
            if band < 0:
                continue
            for number in range(loops_of_bands[band]):
                position = len(outer) + number
                question = Question(frozenset((Place.GRID, Place.STEP)), (Place.THREAD, number), band)
                yield from met(
                    question, touched, members, lambda entry, position=position: entry[1][position]
                )


def _pair(
    entries: Sequence[_Entry], conflict: Conflicting, place: Callable[[_Entry], int | None]
) -> tuple[_Entry, _Entry] | None:
    """Two touches of one element that conflict in different places, the first one writing."""
    if len({place(entry) for entry in entries}) < 2:
        return None
    kinds: dict[tuple[Mode, bool], _Entry] = {}
    for entry in entries:
        kinds.setdefault((entry[0].access.mode, entry[0].supposed), entry)
    # One of each kind is enough: where all others stand in its place, another of its kind is met from the others.
    for one in sorted(kinds.values(), key=lambda entry: not entry[0].access.mode.writes):
        here = place(one)
        for other in entries:
            if place(other) != here and conflict(one[0], other[0]):
                return (one, other) if one[0].access.mode.writes else (other, one)
    return None


def _value(entry: _Entry, iterator: str) -> int | None:
    runner, iteration = entry
    return iteration[runner.iterators.index(iterator)] if iterator in runner.iterators else None


def _witness(array: str, element: tuple[int, ...], point: Point, first: _Entry, second: _Entry) -> Witness:
    return Witness(
        array,
        element,
        dict(sorted(point.items())),
        dict(zip(first[0].iterators, first[1], strict=True)),
        dict(zip(second[0].iterators, second[1], strict=True)),
        first[0].access.span,
        second[0].access.span,
        (first[0].access.ordinal, second[0].access.ordinal),
    )
