"""Local variables that are read before they have a value, and local arrays that are left, by runs of a few threads.

In: a nest.  Out: :class:`WithoutValue` and :class:`OutOfBounds` values, in the order of the text.  Sizes have some
values, as asserts allow; of data and of other arguments nothing is supposed (`path_run.py`)::

    float s; for (int k = 0; k < m; k++) s += a[i][k];    -->    s is read without a value
    float t; if (x[i] > 0) t = 1; o[i] = t;               -->    t is, where x[i] > 0 is false
    float w[4]; for (int k = 0; k <= 4; k++) w[k] = 0;    -->    w[4]

A local array that is left for some sizes alone is a case of its own: callers may have others.  They may know better,
too, where a loop over data or an argument has no turn, where several conditions on data play
together, and where only some of the sizes that were tried lead to a variable without value, nothing is said.  What a
loop that data or an argument bounds assigns is taken to have a value behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice, product
from typing import TypeAlias

from msgspec import Struct, field

from comprehensive.diagnostics import Span
from comprehensive.loops.access import names_read
from comprehensive.loops.definitions import names_behind
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.types import environment_of
from comprehensive.metafork.ast import Declare, Expr, For, Index
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.walk import Statement, all_statements_in, expressions_in
from comprehensive.poly.memo import remembered_in_text
from comprehensive.poly.model import OutOfBounds, WithoutValue
from comprehensive.poly.moments import Moment, moments
from comprehensive.poly.path_run import Thread
from comprehensive.poly.path_values import Values
from comprehensive.poly.paths import Condition, State, free_answer, resolved
from comprehensive.poly.search import NotEvaluableError, Point, TooLongError, arguments, evaluate
from comprehensive.poly.unknowns import Answer, Unknowns, Value
from comprehensive.records import replace

_MOST_POINTS = 12
_MOST_THREADS = 24
_MOST_EVALUATIONS = 16_000
_EVALUATIONS_A_POINT = 4_000
_LARGEST_SIZE = 300
_MOST_CONDITIONS = 40


class LocalFaults(Struct, frozen=True):
    without_value: tuple[WithoutValue, ...] = ()
    out_of_bounds: tuple[OutOfBounds, ...] = ()
    for_some_sizes: tuple[OutOfBounds, ...] = ()
    """Subscripts that leave local arrays for some sizes, which may be others than callers have."""


_Place: TypeAlias = tuple[str, Span]
"""A variable and a place of the text where it is read, or a local array and one where an element of it is named."""


class _Fault(Struct, frozen=True):
    """A fault at a place: one that happens surely, or where one answer is given."""

    found: WithoutValue | OutOfBounds
    answer: tuple[Expr, bool] | None = None


class _Listener(Struct):
    """The memory of what a thread met: for each place the conditions under which something goes wrong there."""

    point: Mapping[str, int]
    serial: frozenset[str]
    evaluations: int
    met: dict[_Place, set[Condition]] = field(default_factory=dict[_Place, set[Condition]])
    found: dict[_Place, WithoutValue | OutOfBounds] = field(
        default_factory=dict[_Place, WithoutValue | OutOfBounds]
    )
    conditions: dict[Answer, Expr] = field(default_factory=dict[Answer, Expr])

    def count(self) -> None:
        self.evaluations -= 1
        if self.evaluations < 0:
            raise TooLongError

    def read(self, name: str, span: Span, state: State, missing: tuple[int, ...] | None) -> None:
        wrong = None if missing is None else WithoutValue(name, missing, self._here(state), span=span)
        self._meet((name, span), wrong, state)

    def subscript(self, index: Index, position: int, value: int, extent: int, state: State) -> None:
        left = OutOfBounds(index.array, position, value, extent, self._here(state), index.span)
        self._meet((f"{index.array}[{position}]", index.span), None if 0 <= value < extent else left, state)

    def asked(self, answer: Answer, condition: Expr) -> None:
        self.conditions.setdefault(answer, condition)

    def _meet(self, place: _Place, wrong: WithoutValue | OutOfBounds | None, state: State) -> None:
        conditions = self.met.setdefault(place, set())
        if wrong is not None and not state.is_doubtful and len(conditions) < _MOST_CONDITIONS:
            conditions.add(state.condition)
            self.found.setdefault(place, wrong)

    def _here(self, state: State) -> Mapping[str, int]:
        turns = {name: v for name, v in state.cells.items() if name in self.serial and isinstance(v, int)}
        return {**self.point, **{str(name): value for name, value in turns.items()}}

    def faults(self) -> Iterator[tuple[_Place, _Fault | None]]:
        for place, conditions in self.met.items():
            following = resolved(frozenset(conditions))
            if frozenset() in following:
                yield place, _Fault(self.found[place])
                continue
            answers = [answer for c in following if (answer := self._said(c)) is not None]
            answers.sort(key=lambda said: (said[0].span.start, said[1]))
            yield place, _Fault(self.found[place], answers[0]) if answers else None

    def _said(self, condition: Condition) -> tuple[Expr, bool] | None:
        """The condition of the text that decides, and whether it is true then."""
        answer = free_answer(condition)
        if answer is None:
            return None
        asked, wanted = answer
        if answer in self.conditions:
            return self.conditions[answer], True
        return (self.conditions[asked, not wanted], False) if (asked, not wanted) in self.conditions else None


@remembered_in_text(64)
def local_faults(nest: Nest) -> LocalFaults:
    """Return what goes wrong with local variables, at most one for each variable and for each place of an array."""
    if not any(isinstance(s, Declare) and s.initial is None for s in all_statements_in(nest.body)):
        return LocalFaults()
    chosen = _chosen(nest)
    by_point: list[dict[_Place, _Fault | None]] = []
    left = _MOST_EVALUATIONS
    for moment in _points(nest, chosen):
        found, spent = _at(nest, moment, chosen)
        by_point.append(found)
        left -= spent
        if left <= 0:
            break
    least = [_at(nest, moment, chosen)[0] for moment in _calls(nest, 1)]
    return _judged(by_point, least, _may_depend_on_callers(nest, chosen))


def _judged(
    by_point: list[dict[_Place, _Fault | None]], least: list[dict[_Place, _Fault | None]], callers: bool
) -> LocalFaults:
    """Return what is wrong for all sizes that were tried, and subscripts that are wrong for some."""
    places = dict.fromkeys(place for found in by_point for place in found)
    unset: dict[str, WithoutValue] = {}
    left: dict[_Place, OutOfBounds] = {}
    perhaps: dict[_Place, OutOfBounds] = {}
    for place in sorted(places, key=lambda place: place[1].start):
        faults = [found[place] for found in by_point if place in found]
        wrong = [fault for fault in faults if fault is not None]
        sure = next((fault for fault in wrong if fault.answer is None), None)
        first = sure or next(iter(wrong), None)
        if first is None:
            continue
        match first.found:
            case OutOfBounds() as found if (
                sure and len(wrong) == len(faults) and all(small.get(place, sure) for small in least)
            ):
                left[place] = found
            case OutOfBounds() as found if sure and not callers:
                perhaps[place] = found
            case WithoutValue() as found if len(wrong) == len(faults):
                if first.answer is not None:
                    found = replace(found, condition=first.answer[0], holds=first.answer[1])
                known = unset.get(found.name)
                if known is None or (known.condition is not None and found.condition is None):
                    unset[found.name] = found
            case _:
                pass
    return LocalFaults(tuple(unset.values()), tuple(left.values()), tuple(perhaps.values()))


# --- sizes -----------------------------------------------------------------------------------------------------


def _chosen(nest: Nest) -> frozenset[str]:
    """The scalars that get numbers: sizes, program parameters and what the ranges of parallel loops follow from."""
    chosen = {s.name for s in nest.scalars if s.role in (Role.DATA, Role.PROGRAM)}
    ranges = (n for loop in (*nest.grid, *nest.thread_loops) for n in names_read(loop.extent))
    return frozenset(chosen | (names_behind(ranges, nest.scalars) & {s.name for s in nest.scalars}))


def _may_depend_on_callers(nest: Nest, chosen: frozenset[str]) -> bool:
    """Whether statements read arguments that are chosen, although nothing says that they are sizes."""
    free = {s.name for s in nest.scalars if s.role in (Role.SCALAR, Role.HOST) and s.name in chosen}
    read = {name for e in expressions_in(_statements(nest)) for name in names_read(e)}
    return bool(free & read)


def _statements(nest: Nest) -> Iterator[Statement]:
    for band in nest.bands:
        yield from band.body


def _points(nest: Nest, chosen: frozenset[str]) -> Iterator[Moment]:
    """Moments of some calls, the first one with sizes beyond all local arrays."""
    lengths = [
        constant_value(d) or 0 for s in all_statements_in(nest.body) if isinstance(s, Declare) for d in s.dims
    ]
    size = max(lengths, default=0) + 1
    beyond = _calls(nest, size) if 1 < size <= _LARGEST_SIZE else iter(())
    yield from islice(chain(beyond, _calls(nest)), _MOST_POINTS)


def _calls(nest: Nest, size: int | None = None) -> Iterator[Moment]:
    """Moments of calls in which threads run: of the first one with all sizes alike, or of many."""
    some = arguments(nest, generous=False)
    if size is not None:
        sizes = {s.name: size for s in nest.scalars if s.role is Role.DATA}
        some = ({**given, **sizes} for given in islice(some, 1))
    found = (moment for given in some for moment in islice(moments(nest, given), 1))
    yield from (moment for moment in found if all(_extents(nest, moment.point)))


def _extents(nest: Nest, point: Point) -> list[int]:
    """The extents of the grid and of the threads, 0 for none."""
    try:
        return [max(evaluate(loop.extent, point), 0) for loop in (*nest.grid, *nest.thread_loops)]
    except (NotEvaluableError, ZeroDivisionError, ValueError, OverflowError):
        return [0]


# --- threads ---------------------------------------------------------------------------------------------------


def _at(nest: Nest, moment: Moment, chosen: frozenset[str]) -> tuple[dict[_Place, _Fault | None], int]:
    """Run some threads of a call, at the ends of its ranges; return what they meet, and the evaluations."""
    loops = (*nest.grid, *nest.thread_loops)
    point = {name: value for name, value in moment.point.items() if name in chosen}
    ranges = [sorted({0, min(1, e - 1), max(0, e - 2), e - 1}) for e in _extents(nest, moment.point)]
    serial = frozenset(s.iterator for s in all_statements_in(nest.body) if isinstance(s, For))
    found: dict[_Place, _Fault | None] = {}
    left = _EVALUATIONS_A_POINT
    for place in islice(product(*ranges), _MOST_THREADS):
        iterators = dict(zip((loop.iterator for loop in loops), place, strict=True))
        listener = _Listener({**dict(sorted(point.items())), **iterators}, serial, left)
        for band in nest.bands:
            iterators |= dict(
                zip((loop.iterator for loop in band.loops), place[len(nest.grid) :], strict=True)
            )
        try:
            _run(nest, point, iterators, listener)
            left = listener.evaluations
        except TooLongError:
            left = 0  # what was met so far is met all the same
        for where, fault in listener.faults():
            known = found.get(where)
            if known is None or (known.answer is not None and fault is not None and fault.answer is None):
                found[where] = fault
        if left <= 0:
            break
    return found, _EVALUATIONS_A_POINT - left


def _run(nest: Nest, point: Mapping[str, int], iterators: dict[str, int], listener: _Listener) -> None:
    unknowns = Unknowns()
    said = {n for c in (*nest.preconditions, *nest.state.conditions) for n in names_read(c)}
    scalars: dict[str, Value] = {
        s.name: point[s.name]
        if s.name in point
        else unknowns.root(s.name, mixed=s.role is Role.HOST or s.name in said)
        for s in nest.scalars
    }
    data = {array.name: array for array in nest.arrays}
    values = Values(unknowns, listener, environment_of(nest), data, scalars)
    state = State({loop.iterator: iterators[loop.iterator] for loop in nest.grid})
    Thread(values, iterators).body(nest.body, [state])
