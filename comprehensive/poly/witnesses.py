"""Witnesses against parallel loops: two iterations of a small run that touch one element, one writing.

In: a nest.  Out: for each :class:`Question` that a small run refutes, the pair of iterations.  Only references that
surely happen take part, evaluated exactly, so that every witness is real.  Where it rests on host scalars of which
nothing is known, it counts only if the conflict is there for every value tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest
from comprehensive.poly.conflicts import Question
from comprehensive.poly.domains import Place
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
"""So many values of what is not known must show a conflict."""
_Entry = tuple[Runner, tuple[int, ...]]


@lru_cache(maxsize=256)
def witnesses(nest: Nest, serial: str | None = None) -> Witnesses:
    """What small runs refute: all loops of the grid and the bands, or with ``serial`` that serial loop alone."""
    written = {r.access.array for r in runners(nest) if r.access.mode.writes}
    active = [r for r in runners(nest) if r.access.array in written]
    if not active:
        return {}
    read = {a: _names_of(nest, [r for r in active if r.access.array == a]) for a in written}
    found: dict[Question, Witness] = {}
    left = _MOST_ENTRIES
    for given in arguments(nest, generous=False):
        suspicion = _Suspicion()
        for moment in moments(nest, given):
            run = _run(nest, active, moment.point)
            left -= max(run.cost, 200)
            certain = {a for a in written if not read[a] & moment.guessed}
            suspicion.moments.update(written - certain - run.outside)
            for question, witness in _conflicts(nest, moment.point, run.elements, serial):
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
        """How often each array was looked at."""
        self._conflicts: Counter[tuple[Question, str]] = Counter()
        self._first: dict[tuple[Question, str], Witness] = {}

    def add(self, question: Question, witness: Witness) -> None:
        self._conflicts[question, witness.array] += 1
        self._first.setdefault((question, witness.array), witness)

    def confirmed(self) -> Iterator[tuple[Question, Witness]]:
        for (question, array), count in self._conflicts.items():
            if count == self.moments[array] and count >= _LEAST_GUESSES:
                yield question, self._first[question, array]


@dataclass(frozen=True, slots=True)
class _Run:
    """``elements`` are those inside their arrays; ``outside`` the arrays that a subscript leaves."""

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
            limits = extents[array]
            touched = runner.run(point, _ENTRIES_A_POINT)
            cost += len(touched)
            for iteration, subscripts in touched:
                if all(k >= 0 and (n is None or k < n) for k, n in zip(subscripts, limits, strict=True)):
                    elements.setdefault((array, subscripts), []).append((runner, iteration))
                else:
                    outside.add(array)
    except (TooLongError, ZeroDivisionError, ValueError, OverflowError):
        return _Run({}, frozenset(extents), cost + _ENTRIES_A_POINT)
    return _Run(elements, frozenset(outside), cost)


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
    for scalar in reversed(nest.scalars):
        if scalar.name in read and scalar.value is not None:
            read |= names_read(scalar.value)
    return read


def _conflicts(
    nest: Nest, point: Point, elements: Mapping[tuple[str, tuple[int, ...]], list[_Entry]], serial: str | None
) -> Iterator[tuple[Question, Witness]]:
    grid = len(nest.grid)
    asked: set[tuple[Question, str]] = set()
    for (array, element), entries in elements.items():
        if len(entries) < 2:
            continue
        writer = next((e for e in entries if e[0].access.mode.writes), None)
        if writer is None:
            continue
        if serial is not None:
            question = Question(frozenset(), (Place.SERIAL, serial))
            for pair in _serial_pairs(entries, serial):
                if (question, array) not in asked:
                    asked.add((question, array))
                    yield question, _witness(array, element, point, *pair)
                break
            continue
        for number in range(grid):
            for other in entries:
                if other[1][number] != writer[1][number]:
                    question = Question(frozenset(), (Place.GRID, number))
                    if (question, array) not in asked:
                        asked.add((question, array))
                        yield question, _witness(array, element, point, writer, other)
                    break
        groups: dict[tuple[int, tuple[int, ...]], list[_Entry]] = {}
        for entry in entries:
            fixed = grid + sum(loop.is_block for loop in entry[0].access.context.loops)
            groups.setdefault((entry[0].access.context.band, entry[1][:fixed]), []).append(entry)
        for (band, outer), members in groups.items():
            author = next((e for e in members if e[0].access.mode.writes), None)
            if author is None or band < 0:
                continue
            for number in range(len(nest.bands[band].loops)):
                position = len(outer) + number
                for other in members:
                    if other[1][position] != author[1][position]:
                        question = Question(frozenset((Place.GRID, Place.STEP)), (Place.THREAD, number), band)
                        if (question, array) not in asked:
                            asked.add((question, array))
                            yield question, _witness(array, element, point, author, other)
                        break


def _serial_pairs(entries: list[_Entry], serial: str) -> Iterator[tuple[_Entry, _Entry]]:
    """Conflicting iterations of which at least one is in the loop, at different values of its iterator."""
    for writer in entries:
        if not writer[0].access.mode.writes:
            continue
        mine = _value(writer, serial)
        for other in entries:
            theirs = _value(other, serial)
            if mine != theirs:
                yield writer, other
        return


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
    )
