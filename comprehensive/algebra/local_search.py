"""Integer points by local search: atoms and points to start from in, a point or None out.

    x*y >= 100,  x*x*y*y <= 11000,  x >= 1,  y >= 1,  from (1, 1)   -->   x doubled, and doubled again, ...

The symbols that `points.plan_for` does not solve for are moved, by one, by an eighth, by doubling and by halving, one
or two at a time; the others follow.  Of all moves the one that leaves the least violation is taken.  Violation is
measured in doublings, by how much the negative terms of an atom outweigh the positive ones, and atoms that stay
violated where no move helps weigh more from then on, so that the search leaves such places.  All of it is elementwise
arithmetic on doubles, the same on every machine, and only a guide: what is returned was checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import Any, TypeAlias

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.points import Plan, Point, complete, is_integral
from comprehensive.algebra.polynomial import Polynomial, Scalar
from comprehensive.algebra.rounding import rounded
from comprehensive.algebra.signs import constant_bound, split_linear
from comprehensive.algebra.symbols import is_integer_symbol

Table: TypeAlias = Any
"""A numpy array of doubles; one row a place that is looked at."""

_LARGEST = float(1 << 44)
_MOST_TERMS = 4000


def search(
    atoms: Sequence[Atom], plan: Plan, starts: Iterable[Mapping[str, Scalar]], most_steps: int
) -> Point | None:
    """A point with integers for all integer symbols, after at most so many moves from each start.

    A start may leave out symbols.  None where nothing was found, or where a share would have to be moved.
    """
    names = plan.free
    whole = [rounded(atom, is_integer_symbol) for atom in atoms]
    if not names or not all(map(is_integer_symbol, names)) or any(atom.truth is False for atom in whole):
        return None
    if sum(len(atom.polynomial.terms()) for atom in whole) > _MOST_TERMS:
        return None
    box = [_range(whole, name) for name in names]
    if any(low > high for low, high in box):
        return None
    landscape = _landscape(whole, plan)
    tried: set[tuple[int, ...]] = set()
    for start in starts:
        place = tuple(
            int(min(max(round(start.get(name, Fraction(1))), low), high))
            for name, (low, high) in zip(names, box, strict=True)
        )
        if place not in tried:
            tried.add(place)
            found = _climb(landscape, plan, place, box, most_steps)
            if found is not None:
                return found
    return None


def _climb(
    landscape: _Landscape,
    plan: Plan,
    start: tuple[int, ...],
    box: Sequence[tuple[float, float]],
    most_steps: int,
) -> Point | None:
    import numpy as np

    weights = np.ones(landscape.count)
    place, seen = start, {start}
    for step in range(most_steps):
        places = [place, *(move for move in _moves(place, box) if move not in seen)]
        table = landscape.violations(np.array(places, np.float64))
        found = _completed(plan, place) if step == 0 and not table[0].any() else None
        if found is not None:
            return found
        if len(places) == 1:
            return None
        totals = _weighed(table, weights)
        best = int(np.argmin(totals[1:])) + 1
        found = _completed(plan, places[best]) if not table[best].any() else None
        if found is not None:
            return found
        if totals[best] >= totals[0]:
            weights = weights + (table[0] > 0)
        place = places[best]
        seen.add(place)
    return None


def _completed(plan: Plan, place: tuple[int, ...]) -> Point | None:
    """The exact point with these values, if there is one."""
    found = complete(plan, {name: Fraction(value) for name, value in zip(plan.free, place, strict=True)})
    return found if found is not None and is_integral(found) else None


def _moves(place: tuple[int, ...], box: Sequence[tuple[float, float]]) -> list[tuple[int, ...]]:
    """Neighbours within the box, each once."""
    found: dict[tuple[int, ...], None] = {}

    def move(changes: Mapping[int, int]) -> None:
        # The place itself is within the box, so that only what changes has to be kept there.
        moved = list(place)
        for i, value in changes.items():
            moved[i] = int(min(max(value, box[i][0]), box[i][1]))
        moved_place = tuple(moved)
        if moved_place != place:
            found[moved_place] = None

    for i, value in enumerate(place):
        low = box[i][0]
        eighth = value // 8
        for changed in (value + 1, value - 1, value + eighth, value - eighth, -value, 0):
            move({i: changed})
        for changed in (2 * value, value // 2, 16 * value, value // 16):
            move({i: changed})
        if low > -_LARGEST:
            move({i: int(low)})
    for i, j in combinations(range(len(place)), 2):
        for first, second in ((i, j), (j, i)):
            move({first: 2 * place[first], second: place[second] // 2})
            move({first: place[first] + 1, second: place[second] - 1})
    return list(found)


def _range(atoms: Iterable[Atom], name: str) -> tuple[float, float]:
    """The integers that constant bounds leave, within what doubles hold exactly."""
    low, high = -_LARGEST, _LARGEST
    for atom in atoms:
        bound = constant_bound(atom)
        if bound is None or atom.symbols[0] != name:
            continue
        if bound[0] > 0 or atom.relation is Relation.EQ:
            low = max(low, float(ceil(bound[1])))
        if bound[0] < 0 or atom.relation is Relation.EQ:
            high = min(high, float(floor(bound[1])))
    return low, high


# --- how much is violated


class _Sums(Struct, frozen=True, eq=False):
    """Polynomials, one a row: coefficients by term, and for each term the columns whose product it is.

    Column 0 is the constant 1; column i + 1 is symbol i.
    """

    coefficients: Table
    factors: Table

    def values(self, columns: Table) -> tuple[Table, Table]:
        """The positive and the negative parts, for each place (row of `columns`) and polynomial."""
        import numpy as np

        positive = np.zeros((len(columns), len(self.coefficients)))
        negative = positive.copy()
        for term in range(self.coefficients.shape[1]):
            value = np.broadcast_to(self.coefficients[:, term], positive.shape)
            for factor in range(self.factors.shape[2]):
                value = value * columns[:, self.factors[:, term, factor]]
            positive = positive + np.maximum(value, 0)
            negative = negative - np.minimum(value, 0)
        return positive, negative


class _Landscape(Struct, frozen=True, eq=False):
    """All demands: `checks >= 0` (`== 0` where `equations` says so), and for each solved symbol its bounds."""

    checks: _Sums
    equations: Table
    solved: tuple[tuple[_Sums, _Sums, Table, bool], ...]
    """Slopes, rests, which of them are equations, and whether the symbol is an integer."""

    @property
    def count(self) -> int:
        return len(self.equations) + sum(len(equations) for _, _, equations, _ in self.solved)

    def violations(self, places: Table) -> Table:
        """Return for each place and atom how far the atom is from holding there; 0 where it holds."""
        import numpy as np

        columns = np.concatenate([np.ones((len(places), 1)), places], axis=1)
        with np.errstate(all="ignore"):
            positive, negative = self.checks.values(columns)
            short = np.where(negative > positive, _doublings(negative, positive), 0)
            over = np.where(positive > negative, _doublings(positive, negative), 0)
            parts = [np.where(self.equations, short + over, short)]
            for slopes, rests, equations, integer in self.solved:
                parts.append(_gaps(slopes.values(columns), rests.values(columns), equations, integer))
        return np.nan_to_num(np.concatenate(parts, axis=1), nan=1e6, posinf=1e6)


def _gaps(slopes: tuple[Table, Table], rests: tuple[Table, Table], equations: Table, integer: bool) -> Table:
    """Return by how much each bound on a symbol passes the tightest one on its other side."""
    import numpy as np

    slope, rest = slopes[0] - slopes[1], rests[0] - rests[1]
    bound = -rest / slope
    below = (slope > 0) | (equations & (slope != 0))
    above = (slope < 0) | (equations & (slope != 0))
    low = np.where(below, np.ceil(bound) if integer else bound, -np.inf)
    high = np.where(above, np.floor(bound) if integer else bound, np.inf)
    most, least = low.max(axis=1, keepdims=True), high.min(axis=1, keepdims=True)
    passed = np.where(low > least, _doublings(low - least + np.abs(least), np.abs(least)), 0)
    passed = passed + np.where(high < most, _doublings(most - high + np.abs(high), np.abs(high)), 0)
    failed: Table = (rest < 0) | (equations & (rest > 0))
    return np.where(slope == 0, np.where(failed, 1 + _doublings(np.abs(rest), 0 * rest), 0), passed)


def _doublings(large: Table, small: Table) -> Table:
    """Return log2 of the quotient, about, from exact operations only; at least 1/4 where it is at least 1."""
    import numpy as np

    mantissa, exponent = np.frexp((large + 1) / (small + 1))
    return exponent + 2 * mantissa - 2 + 0.25


def _weighed(table: Table, weights: Table) -> Table:
    """The total of each row, term after term, so that its rounding is the same everywhere."""
    total = table[:, 0] * weights[0] if table.shape[1] else table.sum(axis=1)
    for column in range(1, table.shape[1]):
        total = total + table[:, column] * weights[column]
    return total


def _landscape(atoms: Sequence[Atom], plan: Plan) -> _Landscape:
    import numpy as np

    names = plan.free
    taken = {name for name, _ in plan.solved}
    checks = [atom for atom in atoms if taken.isdisjoint(atom.symbols) and atom.truth is None]
    solved: list[tuple[_Sums, _Sums, Table, bool]] = []
    for name, _ in plan.solved:
        users = [atom for atom in atoms if name in atom.symbols]
        splits = [split_linear(atom.polynomial, name) for atom in users]
        pairs = [(split.coefficient, split.rest) for split in splits if split is not None]
        solved.append(
            (
                _sums([slope for slope, _ in pairs], names),
                _sums([rest for _, rest in pairs], names),
                np.array([atom.relation is Relation.EQ for atom in users], bool),
                is_integer_symbol(name),
            )
        )
    equations = np.array([atom.relation is Relation.EQ for atom in checks], bool)
    return _Landscape(_sums([atom.polynomial for atom in checks], names), equations, tuple(solved))


def _sums(polynomials: Sequence[Polynomial], names: Sequence[str]) -> _Sums:
    import numpy as np

    column = {name: place + 1 for place, name in enumerate(names)}
    listed = [polynomial.terms() for polynomial in polynomials]
    terms = max((len(found) for found in listed), default=0)
    degree = max((polynomial.total_degree for polynomial in polynomials), default=0)
    coefficients = np.zeros((len(listed), terms))
    factors = np.zeros((len(listed), terms, degree), np.int64)
    for row, found in enumerate(listed):
        for place, term in enumerate(found):
            coefficients[row, place] = float(term.coefficient)
            flat = [column[name] for name, power in term.powers for _ in range(power)]
            factors[row, place, : len(flat)] = flat
    return _Sums(coefficients, factors)
