"""Moments at which a region runs: values of all its scalars, also of those that host code changes.

In: a nest and values of its arguments.  Out: :class:`Moment` values.  What host code says is followed: the turns of
loops around the region, definitions such as ``src = t % 2``, asserts.  What it leaves open is guessed, equal and
different; a guess may be a value that no run has, and ``guessed`` tells which ones are.
Example: ``for (int t = 0; t < 5; t++) { int src = t % 2; meta_schedule ...`` gives t = 0, src = 0; t = 1, src = 1...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.exactness import is_exact
from comprehensive.loops.ir import Nest, Role, Scalar
from comprehensive.loops.sizes import sizes
from comprehensive.metafork.ast import Binary, Cast, Expr, HostLoop, Name, ScalarType
from comprehensive.poly.search import NotEvaluableError, Point, evaluate, trips

_GUESSES = (5, 2, 1, 0, 101, -7)
_MOST_TURNS = 3


class Moment(Struct, frozen=True):
    """A moment; ``guessed`` are the scalars whose values no known definition determines."""

    point: Point
    guessed: frozenset[str]


def moments(nest: Nest, arguments: Point) -> Iterator[Moment]:
    """Some moments of a call with these arguments; none where the region does not run or an assert fails."""
    history = _History(nest)
    for turn in history.turns(history.settled(arguments), nest.state.loops):
        unknown = [s for s in history.scalars if s.name not in turn]
        for guess in _guesses(history.roots(turn)):
            point = history.settled({**turn, **guess})
            uncertain = history.judged(point)
            if uncertain is not None and all(s.name in point for s in nest.scalars if s.type.is_integer):
                yield Moment(point, uncertain | {s.name for s in unknown})


class _History:
    """The account that host code gives of the scalars of a nest."""

    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        everything = (*nest.scalars, *nest.state.scalars)
        self.scalars = tuple(s for s in everything if s.type.is_integer)
        self._types = {s.name: s.type for s in everything}
        roles = (Role.PROGRAM, Role.DATA)
        self._positive = sizes(nest) | {s.name for s in everything if s.role in roles}
        self._definitions: dict[str, list[Expr]] = {}
        for scalar in self.scalars:
            if scalar.role is not Role.HOST:
                continue
            stated = [] if scalar.value is None else [scalar.value]
            for fact in nest.state.facts:
                match fact:
                    case Binary(operator="==", left=Name(scalar.name), right=Cast(operand=value)):
                        stated.append(value)
                    case _:
                        pass
            self._definitions[scalar.name] = [value for value in stated if self._is_exact(value)]

    def _is_exact(self, value: Expr) -> bool:
        """Whether :func:`evaluate` computes what C does."""
        return names_read(value) <= self._types.keys() and is_exact(value, self._types, self._positive)

    def settled(self, point: Point) -> dict[str, int]:
        """The point with every scalar of which a definition can be evaluated."""
        values = dict(point)
        size = -1
        while size != len(values):
            size = len(values)
            for scalar in self.scalars:
                if scalar.name in values:
                    continue
                for definition in self._definitions.get(scalar.name, ()):
                    try:
                        value = evaluate(definition, values)
                    except (NotEvaluableError, ZeroDivisionError, ValueError, OverflowError):
                        continue
                    if _fits(value, scalar.type):
                        values[scalar.name] = value
                        break
        return values

    def turns(self, values: dict[str, int], loops: tuple[HostLoop, ...]) -> Iterator[dict[str, int]]:
        """The values in the first turns and the last one of the loops, as far as their ranges are known."""
        if not loops:
            yield values
            return
        first = loops[0]
        try:
            start, bound = evaluate(first.start, values), evaluate(first.bound, values)
        except (NotEvaluableError, ZeroDivisionError):
            yield values
            return
        turns = trips(start, first.relation, bound, first.step)
        for turn in dict.fromkeys((*turns[:_MOST_TURNS], *turns[-1:])):
            yield from self.turns(self.settled({**values, first.iterator: turn}), loops[1:])

    def roots(self, values: Mapping[str, int]) -> tuple[Scalar, ...]:
        """Scalars that must be guessed so that all others follow."""
        known = set(values)
        roots: list[Scalar] = []
        while True:
            missing = [s for s in self.scalars if s.name not in known]
            if not missing:
                return tuple(roots)
            follow = {
                s.name
                for s in missing
                if any(names_read(d) <= known for d in self._definitions.get(s.name, ()))
            }
            if not follow:
                roots.append(missing[0])
                follow = {missing[0].name}
            known |= follow

    def judged(self, point: Point) -> frozenset[str] | None:
        """Return the names of which an assert says what cannot be evaluated; None where an assert fails."""
        uncertain: frozenset[str] = frozenset()
        for condition in (*self._nest.preconditions, *self._nest.state.conditions):
            try:
                if not self._is_exact(condition):
                    raise NotEvaluableError
                if not evaluate(condition, point):
                    return None
            except (NotEvaluableError, ValueError, OverflowError):
                uncertain |= names_read(condition)
            except ZeroDivisionError:
                return None
        return uncertain & {s.name for s in self.scalars if s.role is Role.HOST and s.value is None}


def _guesses(roots: tuple[Scalar, ...]) -> Iterator[dict[str, int]]:
    """Values of the roots: all equal, rising and falling."""
    count = len(roots)
    if not count:
        yield {}
        return
    patterns = [[0] * count, list(range(count)), list(range(count - 1, -1, -1))]
    for base in _GUESSES:
        for pattern in dict.fromkeys(map(tuple, patterns)):
            values = [base + k for k in pattern]
            if all(_fits(v, s.type) for v, s in zip(values, roots, strict=True)):
                yield {s.name: v for s, v in zip(roots, values, strict=True)}


def _fits(value: int, type: ScalarType) -> bool:
    return type.lowest <= value <= type.highest
