"""Enumeration by pruned descent: a system and a finite domain per variable in, all feasible integer points out.

    >>> B, s = Polynomial.symbol("B"), Polynomial.symbol("s")
    >>> list(feasible(System((), (at_most(s * B, 4),)), {"B": powers_of_two(8), "s": box(3, 9)}))
    [(1, 3), (1, 4)]

The variables get values in the order of the domains, many partial points at a time.  Before a variable is chosen,
atoms that can only get better or worse with it narrow its values by bisection; the rest, and what the intervals of
later variables rule out, is tested.  Numbers are 64 bits wide where a bound on all that comes up says that they fit,
and Python's own otherwise.  numpy is loaded by the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from comprehensive.algebra.domains import Domain
from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.relaxation import (
    Demand,
    Form,
    Interval,
    direction,
    forms_of,
    in_powers,
    magnitude,
    range_of,
    relaxed,
)
from comprehensive.algebra.system import System

Column: TypeAlias = Any
"""A numpy array with one entry a (partial) point: int64, or Python integers where these could overflow."""

# Partial points that are held at once, per variable.
_BLOCK = 1 << 16
# Up to this many candidates it is cheaper to test all than to bisect.
_FEW = 1 << 12
# Positions within a block are counted in 64 bits.
_MOST_VALUES = 1 << 44
_WIDE = 1 << 63


class Points(Struct, frozen=True, eq=False):
    """Points in lexicographic order; `columns[i][j]` is the value of `names[i]` at the j-th of them."""

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    size: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        if not self.names:
            return iter([()] * self.size)
        return zip(*(column.tolist() for column in self.columns), strict=True)

    def where(self, holds: Callable[[Mapping[str, int]], bool]) -> Points:
        """The points, by names, for which something holds."""
        import numpy as np

        kept = np.array([holds(dict(zip(self.names, point, strict=True))) for point in self], dtype=bool)
        return Points(self.names, tuple(column[kept] for column in self.columns), int(kept.sum()))


def feasible(
    system: System, domains: Mapping[str, Domain], given: Mapping[str, Scalar] | None = None
) -> Points:
    """All integer points of the system, in lexicographic order of the domains as they are listed.

    `given` are the values of the other symbols.  ValueError names a symbol that has neither value nor domain.
    """
    import numpy as np

    names = tuple(domains)
    found = list(blocks(system, domains, given))
    columns = tuple(np.concatenate([part.columns[i] for part in found]) for i in range(len(names)) if found)
    if not found:
        columns = tuple(np.zeros(0, np.int64) for _ in names)
    return Points(names, columns, sum(part.size for part in found))


def blocks(
    system: System, domains: Mapping[str, Domain], given: Mapping[str, Scalar] | None = None
) -> Iterator[Points]:
    """The points of `feasible` in parts, for sets that are too large to be held at once."""
    names = tuple(domains)
    values = given or {}
    _complain(system, names, values)
    ascending = [_ascending(name, domain) for name, domain in domains.items()]
    forms = forms_of(system.all_atoms, names, values)
    if forms is None or any(not domain for domain in ascending):
        return iter(())
    intervals = [(domain[0], domain[-1]) for domain in ascending]
    levels = _levels(forms, ascending, intervals)
    return iter(()) if levels is None else _descend(names, levels, (), 1)


def _complain(system: System, names: Sequence[str], values: Mapping[str, Scalar]) -> None:
    twice = [name for name in names if name in values]
    if twice:
        raise ValueError(f"{', '.join(twice)}: both a value and a domain")
    missing = [name for name in system.symbols if name not in names and name not in values]
    if missing:
        raise ValueError(f"{', '.join(missing)}: neither a finite domain nor a value is given")


def _ascending(name: str, domain: Domain) -> Domain:
    if not isinstance(domain, range):
        return tuple(sorted(set(domain)))
    ordered = domain if domain.step > 0 else domain[::-1]
    if ordered and (ordered[-1] - ordered[0]) // ordered.step >= _MOST_VALUES:
        raise ValueError(f"{name}: more than 2^44 values, from {ordered[0]} to {ordered[-1]}")
    return ordered


# --- the plan: for each variable its values, and what is asked when it is chosen


class _Axis(Struct, frozen=True, eq=False):
    """The values of a domain by index."""

    values: Domain
    table: Column | None
    """None for a range, whose values are computed."""
    wide: bool
    """Whether a value may not fit 64 bits."""

    def take(self, index: Column) -> Column:
        if self.table is not None:
            return self.table[index]
        assert isinstance(self.values, range), "all other domains have a table"
        steps = index.astype(object) if self.wide else index
        return steps * self.values.step + self.values.start


class _Test(Struct, frozen=True):
    """A demand, and how it depends on the variable that is chosen when it is asked."""

    demand: Demand
    wide: bool
    """Whether a number that comes up may not fit 64 bits."""
    trend: int
    """The `direction` of the demand in that variable."""


class _Level(Struct, frozen=True):
    axis: _Axis
    tests: tuple[_Test, ...]


def _levels(
    forms: Sequence[Form], domains: Sequence[Domain], box: Sequence[Interval]
) -> tuple[_Level, ...] | None:
    """Return a level for each variable; None where the intervals alone rule out every point."""
    if any(range_of(form, box)[1] < 0 for form in forms):
        return None
    levels: list[_Level] = []
    for place, domain in enumerate(domains):
        tests: list[_Test] = []
        for form in forms:
            # What holds in the whole box is not asked, nor what was asked when an earlier variable was chosen.
            if range_of(form, box)[0] < 0 and any(place == other for powers in form for other, _ in powers):
                demand = relaxed(form, place + 1, box)
                tests.append(_Test(demand, magnitude(demand, box) >= _WIDE, direction(demand, place, box)))
        levels.append(_Level(_axis(domain), tuple(tests)))
    return tuple(levels)


def _axis(domain: Domain) -> _Axis:
    import numpy as np

    # A range is computed as `index * step + start`; the product is at most the difference of its ends.
    step = domain.step if isinstance(domain, range) else 1
    numbers = (domain[0], domain[-1], domain[-1] - domain[0], step)
    wide = any(abs(number) >= _WIDE for number in numbers)
    if isinstance(domain, range):
        return _Axis(domain, None, wide)
    return _Axis(domain, np.array(domain, object if wide else np.int64), wide)


# --- the descent


def _descend(
    names: tuple[str, ...], levels: Sequence[_Level], columns: tuple[Column, ...], size: int
) -> Iterator[Points]:
    """Extends `size` partial points, given by the columns of the variables chosen so far."""
    if size == 0:
        return
    if len(columns) == len(levels):
        yield Points(names, columns, size)
        return
    place = len(columns)
    level = levels[place]
    if size * len(level.axis.values) <= _FEW:
        tests = level.tests
        start, stop = 0, len(level.axis.values)
    else:
        tests = tuple(test for test in level.tests if test.trend == 0)
        stop = _prefix(level, -1, columns, size)
        start = _prefix(level, 1, columns, size)
    for rows, index in _positions(start, stop, size):
        chosen = (*(column[rows] for column in columns), level.axis.take(index))
        kept = _conjunction(_holds(test.demand, chosen, test.wide) for test in tests)
        if not kept.all():
            chosen = tuple(column[kept] for column in chosen)
        yield from _descend(names, levels, chosen, len(chosen[place]))


def _prefix(level: _Level, trend: int, columns: Sequence[Column], size: int) -> Column:
    """Return for each partial point how many first values satisfy the falling tests, or fail a rising one."""
    import numpy as np

    place, last = len(columns), len(level.axis.values) - 1
    lines = [_line(test, place, columns) for test in level.tests if test.trend == trend]
    if not lines:
        return np.full(size, last + 1 if trend < 0 else 0, np.int64)
    count = np.zeros(size, np.int64)
    for step in (1 << power for power in reversed(range((last + 1).bit_length()))):
        trial = count + (step - 1)
        value = level.axis.take(np.minimum(trial, last))
        answer = _conjunction(_line_holds(line, value) for line in lines)
        counted = answer if trend < 0 else ~answer
        count += step * (counted & (trial <= last))
    return count


class _Line(Struct, frozen=True, eq=False):
    """A demand at given partial points, as a polynomial in the next variable."""

    coefficients: tuple[Column, ...]
    """The coefficients by descending power."""
    wide: bool


def _line(test: _Test, place: int, columns: Sequence[Column]) -> _Line:
    parts = in_powers(test.demand.form, place)
    used = _widened(columns) if test.wide else columns
    coefficients = {power: _value(form, used) for power, form in parts.items()}
    coefficients[0] = coefficients.get(0, 0) + _most(test.demand, used)
    return _Line(tuple(coefficients.get(power, 0) for power in range(max(parts), -1, -1)), test.wide)


def _line_holds(line: _Line, value: Column) -> Column:
    value = value.astype(object) if line.wide else value
    total, *others = line.coefficients
    for coefficient in others:
        total = total * value + coefficient
    return (total >= 0).astype(bool)


def _holds(demand: Demand, columns: Sequence[Column], wide: bool) -> Column:
    used = _widened(columns) if wide else columns
    return (_value(demand.form, used) + _most(demand, used) >= 0).astype(bool)


def _most(demand: Demand, columns: Sequence[Column]) -> Column:
    """The largest values of the open products of the demand, in total."""
    import numpy as np

    total: Column = 0
    for opened in demand.opens:
        value = _value(opened.form, columns)
        total = total + np.maximum(value * opened.interval[0], value * opened.interval[1])
    return total


def _value(form: Form, columns: Sequence[Column]) -> Column:
    total: Column = 0
    for powers, factor in form.items():
        product: Column = factor
        for place, power in powers:
            for _ in range(power):
                product = product * columns[place]
        total = total + product
    return total


def _widened(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(column.astype(object) for column in columns)


def _conjunction(answers: Iterator[Column]) -> Column:
    import numpy as np

    result: Column = np.True_
    for answer in answers:
        result = result & answer
    return result


def _positions(start: Column, stop: Column, size: int) -> Iterator[tuple[Column, Column]]:
    """Partial points and indices of values, in order and in blocks: index `start` to `stop` for each point."""
    import numpy as np

    counts = np.broadcast_to(np.maximum(stop - start, 0), size)
    ends = np.cumsum(counts)
    begins = ends - counts
    for first in range(0, int(ends[-1]), _BLOCK):
        last = min(first + _BLOCK, int(ends[-1]))
        low, high = np.searchsorted(ends, (first, last - 1), side="right")
        part = slice(int(low), int(high) + 1)
        taken = np.minimum(ends[part], last) - np.maximum(begins[part], first)
        offsets = (start - begins)[part]
        yield (
            np.repeat(np.arange(part.start, part.stop), taken),
            np.arange(first, last) + np.repeat(offsets, taken),
        )
