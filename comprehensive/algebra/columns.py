"""A system judged at all points of a pool: atoms in, the points that extend to a solution out, atom after atom.

Some symbols occur linearly in all their atoms, at most one of them in an atom (machine parameters, in practice).  They
have no column; at every point of the others each of them lies between the bounds that the atoms put on it::

    Z_B >= 2*s*B + 2,  Z_B < 100    -->   low["Z_B"] = 2*s*B + 2,  high["Z_B"] = 99   in columns

Shares `P_*` are sought among the multiples of 1/1024.  All is exact, so that a point read off needs no other proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np
from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.points import Point, plan_for
from comprehensive.algebra.pool import SIZE, Column, Pool, Range
from comprehensive.algebra.signs import Split, constant_bound, split_linear
from comprehensive.algebra.symbols import is_integer_symbol

_SHARES = 1024
_FITS = 1 << 50
_MOST = 1 << 62


class Columns(Struct, frozen=True):
    """A system as it is known at the points of the pool.

    `low` and `high` are the bounds of the solved symbols; `inside` is where the atoms without them hold and
    where each of them has a value.
    """

    pool: Pool
    solved: tuple[str, ...]
    low: Mapping[str, Column]
    high: Mapping[str, Column]
    inside: Column

    def extended(self, atoms: Iterable[Atom]) -> Columns | None:
        """The same with more atoms; None where one is not linear in a solved symbol, or has two of them."""
        low, high, inside = dict(self.low), dict(self.high), self.inside
        for atom in atoms:
            names = [name for name in atom.symbols if name in self.solved]
            if not all(name in self.solved or name in self.pool.columns for name in atom.symbols):
                return None
            if not names:
                inside = inside & holds(self.pool.values(atom.polynomial), atom.relation)
                continue
            split = split_linear(atom.polynomial, names[0]) if len(names) == 1 else None
            if split is None:
                return None
            name = names[0]
            for below, bound, valid in _bounds(self.pool, split, atom.relation, is_integer_symbol(name)):
                if valid is not None:
                    inside = inside & valid
                if below:
                    low[name] = np.maximum(low[name], bound) if name in low else bound
                else:
                    high[name] = np.minimum(high[name], bound) if name in high else bound
            if name in low and name in high:
                inside = inside & (low[name] <= high[name])
        return Columns(self.pool, self.solved, low, high, inside)

    def first_point(self) -> Point | None:
        """The first point that is inside."""
        index = int(self.inside.argmax())
        return self.point(index) if self.inside[index] else None

    def point(self, index: int) -> Point:
        """A point of the pool, with the smallest values of the solved symbols."""
        point: Point = dict(self.pool.point(index, self.pool.columns))
        for name in self.solved:
            side = self.low.get(name, self.high.get(name))
            value = 0 if side is None else int(side[index])
            point[name] = value if is_integer_symbol(name) else Fraction(value, _SHARES)
        return point

    def nearest(self, atoms: Iterable[Atom]) -> int:
        """The point that misses these atoms, the ones of this system, by the least."""
        missed = np.zeros(SIZE)
        for atom in atoms:
            if not any(name in self.solved for name in atom.symbols):
                values = self.pool.values(atom.polynomial)
                missed += _amount(-abs(values) if atom.relation is Relation.EQ else values)
        for name in self.solved:
            if name in self.low and name in self.high:
                missed += _amount(self.high[name] - self.low[name])
        return int(missed.argmin())


def columns_of(atoms: Sequence[Atom], pool: Callable[[Mapping[str, Range]], Pool]) -> Columns | None:
    """The atoms at the points of the pool made for the symbols that are not solved for; None for shares there."""
    plan = plan_for(atoms)
    if not all(is_integer_symbol(name) for name in plan.free):
        return None
    ranges = ranges_of(atoms)
    made = pool({name: ranges.get(name, (None, None)) for name in plan.free})
    solved = tuple(name for name, _ in plan.solved)
    return Columns(made, solved, {}, {}, np.ones(SIZE, dtype=bool)).extended(atoms)


def ranges_of(atoms: Iterable[Atom]) -> dict[str, Range]:
    """The integers between the constant bounds of each symbol that has any."""
    found: dict[str, Range] = {}
    for atom in atoms:
        bound = constant_bound(atom)
        if bound is None:
            continue
        name, (side, value) = atom.symbols[0], bound
        strict = atom.relation is Relation.GT
        low, high = found.get(name, (None, None))
        if side > 0 or atom.relation is Relation.EQ:
            least = floor(value) + 1 if strict else ceil(value)
            low = least if low is None else max(low, least)
        if side < 0 or atom.relation is Relation.EQ:
            most = ceil(value) - 1 if strict else floor(value)
            high = most if high is None else min(high, most)
        found[name] = low, high
    return found


def holds(values: Column, relation: Relation) -> Column:
    """Whether values of a polynomial hold an atom with this relation, point by point."""
    match relation:
        case Relation.GE:
            return values >= 0
        case Relation.GT:
            return values > 0
        case Relation.EQ:
            return values == 0


def _bounds(
    pool: Pool, split: Split, relation: Relation, integer: bool
) -> Iterator[tuple[bool, Column, Column | None]]:
    """Yield bounds from `slope*x + rest REL 0`: from below or above, where, and the points where it is right.

    Values are integers, so that `> 0` is `>= 1`.  Where the slope changes its sign, the points of one sign are kept.
    """
    rest = _scaled(pool.values(split.rest), 1 if integer else _SHARES)
    if relation is Relation.GT:
        rest = rest - 1
    signs = (1, -1) if relation is Relation.EQ else (1,)
    for sign in signs:
        if split.coefficient.is_constant:
            slope = sign * int(split.coefficient.constant_value())
            yield (True, -(sign * rest // slope), None) if slope > 0 else (False, sign * rest // -slope, None)
            continue
        slopes = sign * pool.values(split.coefficient)
        below = bool((slopes > 0).any())
        slopes = slopes if below else -slopes
        valid = slopes > 0
        quotient = sign * rest // np.where(valid, slopes, 1)
        yield below, -quotient if below else quotient, valid


def _scaled(values: Column, scale: int) -> Column:
    if scale == 1 or values.dtype == object:
        return values * scale
    return (values if int(abs(values).max()) < _FITS else values.astype(object)) * scale


def _amount(values: Column) -> Column:
    """Return how much the values lack to be 0 or more, on a logarithmic scale."""
    return np.log1p(np.minimum(np.maximum(-values, 0), _MOST).astype(float))
