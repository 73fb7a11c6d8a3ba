"""Witnesses against parallel loops: two iterations of a small run that touch one element, one writing.

In: a nest.  Out: for each :class:`Question` that a small run refutes, the pair of iterations.  Only references that
surely happen take part, evaluated exactly, so that every witness is real.  A host variable whose values are not
known (a time loop's) counts only if the conflict is there for every value tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Nest, Role
from comprehensive.poly.conflicts import Question
from comprehensive.poly.domains import Place
from comprehensive.poly.model import Witness
from comprehensive.poly.search import Point, Runner, TooLongError, points, runners

Witnesses = Mapping[Question, Witness]
_MOST_ENTRIES = 10_000
_ENTRIES_A_POINT = 2_000
_Entry = tuple[Runner, tuple[int, ...]]


@lru_cache(maxsize=256)
def witnesses(nest: Nest, serial: str | None = None) -> Witnesses:
    """What small runs refute: all loops of the grid and the bands, or with ``serial`` that serial loop alone."""
    written = {r.access.array for r in runners(nest) if r.access.mode.writes}
    active = [r for r in runners(nest) if r.access.array in written]
    if not active:
        return {}
    unknown = {s.name for s in nest.scalars if s.role is Role.HOST and s.value is None}
    doubtful = {a: any(_speaks_of(r, unknown) for r in active if r.access.array == a) for a in written}
    found: dict[Question, Witness] = {}
    suspected: dict[Question, tuple[Witness, set[int]]] = {}
    left = _MOST_ENTRIES
    for point in points(nest, generous=False):
        elements: dict[tuple[str, tuple[int, ...]], list[_Entry]] = {}
        size = 0
        try:
            for runner in active:
                touched = runner.run(point, _ENTRIES_A_POINT)
                size += len(touched)
                for iteration, subscripts in touched:
                    elements.setdefault((runner.access.array, subscripts), []).append((runner, iteration))
        except (TooLongError, ZeroDivisionError, ValueError, OverflowError):
            left -= _ENTRIES_A_POINT
            size = 0
        left -= max(size, 200)
        for question, witness in _conflicts(nest, point, elements, serial):
            if question in found:
                continue
            if not doubtful[witness.array]:
                found[question] = witness
                continue
            value = min(point[name] for name in unknown if name in point)
            suspected.setdefault(question, (witness, set()))[1].add(value)
        if left <= 0:
            break
    for question, (witness, values) in suspected.items():
        if len(values) >= 3:
            found.setdefault(question, witness)
    return found


def _speaks_of(runner: Runner, names: set[str]) -> bool:
    context = runner.access.context
    parts = [*runner.access.subscripts, *context.guards]
    parts += [e for loop in context.loops for e in (loop.start, loop.bound, loop.step)]
    return any(names & names_read(e) for e in parts)


def _conflicts(
    nest: Nest, point: Point, elements: Mapping[tuple[str, tuple[int, ...]], list[_Entry]], serial: str | None
) -> Iterator[tuple[Question, Witness]]:
    grid = len(nest.grid)
    asked: set[Question] = set()
    for (array, element), entries in elements.items():
        if len(entries) < 2:
            continue
        writer = next((e for e in entries if e[0].access.mode.writes), None)
        if writer is None:
            continue
        if serial is not None:
            question = Question(frozenset(), (Place.SERIAL, serial))
            for pair in _serial_pairs(entries, serial):
                yield question, _witness(array, element, point, *pair)
                return
            continue
        for number in range(grid):
            for other in entries:
                if other[1][number] != writer[1][number]:
                    question = Question(frozenset(), (Place.GRID, number))
                    if question not in asked:
                        asked.add(question)
                        yield question, _witness(array, element, point, writer, other)
                    break
        groups: dict[tuple[object, ...], list[_Entry]] = {}
        for entry in entries:
            fixed = grid + sum(loop.is_block for loop in entry[0].access.context.loops)
            groups.setdefault((entry[0].access.context.band, entry[1][:fixed]), []).append(entry)
        for (band, outer), members in groups.items():
            author = next((e for e in members if e[0].access.mode.writes), None)
            if author is None or not isinstance(band, int) or band < 0 or not isinstance(outer, tuple):
                continue
            for number in range(len(nest.bands[band].loops)):
                position = len(outer) + number  # pyright: ignore[reportUnknownArgumentType]
                for other in members:
                    if other[1][position] != author[1][position]:
                        question = Question(frozenset((Place.GRID, Place.STEP)), (Place.THREAD, number), band)
                        if question not in asked:
                            asked.add(question)
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
