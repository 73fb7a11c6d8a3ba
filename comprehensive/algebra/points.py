"""Exact points of a system by trying candidates: atoms in, a point or None out.

Some symbols occur linearly in all their atoms, at most one of them an atom (machine parameters, in practice).
Once the others have values, each of these is between constant bounds and its value is read off. So only the
others, the program parameters, are tried: points found before, then small grids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor, prod
from random import Random

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Scalar, plain
from comprehensive.algebra.signs import constant_bound, split_linear
from comprehensive.algebra.symbols import is_integer_symbol

Point = dict[str, Scalar]

_LADDER = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096)
_SHARES = tuple(Fraction(numerator, 16) for numerator in (0, 16, 8, 4, 12, 2, 14, 1, 15))
_MOST_CANDIDATES = 240


def is_integral(point: Mapping[str, Scalar]) -> bool:
    """Whether all integer symbols have integer values."""
    return all(value.denominator == 1 for name, value in point.items() if is_integer_symbol(name))


class Plan(Struct, frozen=True):
    """The plan to complete a point: `free` symbols are given, `checks` hold no other, `solved` follow."""

    free: tuple[str, ...]
    checks: tuple[Atom, ...]
    solved: tuple[tuple[str, tuple[Atom, ...]], ...]


def plan_for(atoms: Sequence[Atom]) -> Plan:
    """Chooses the symbols to solve for: greedily, shares first, then those with constant slopes, then by name."""
    at: dict[str, list[Atom]] = {}
    for atom in atoms:
        for name in atom.symbols:
            at.setdefault(name, []).append(atom)
    linear: list[tuple[bool, int, str]] = []
    for name, users in at.items():
        splits = [split_linear(atom.polynomial, name) for atom in users]
        if all(split is not None for split in splits):
            varying = sum(not split.coefficient.is_constant for split in splits if split is not None)
            linear.append((is_integer_symbol(name), varying, name))
    taken: set[Atom] = set()
    solved: list[tuple[str, tuple[Atom, ...]]] = []
    for _, _, name in sorted(linear):
        if not any(atom in taken for atom in at[name]):
            taken.update(at[name])
            solved.append((name, tuple(at[name])))
    names = {name for name, _ in solved}
    return Plan(
        tuple(sorted(name for name in at if name not in names)),
        tuple(atom for atom in atoms if atom not in taken),
        tuple(solved),
    )


def complete(plan: Plan, given: Mapping[str, Scalar]) -> Point | None:
    """The point with given values of the free symbols, small integers preferred; None when there is none."""
    point = {name: given[name] for name in plan.free}
    if not all(atom.holds(point) for atom in plan.checks):
        return None
    for name, users in plan.solved:
        value = _between(name, users, point)
        if value is None:
            return None
        point[name] = plain(value)
    return point


def moved(point: Mapping[str, Scalar], atoms: Sequence[Atom], added: Sequence[Atom]) -> Point | None:
    """The integer point with one value changed, so that the added ones of the atoms hold too; None if none will do.

    Only integers with a constant slope in the first added atom that fails are tried, and each as little as possible.
    """
    failing = next(atom for atom in added if not atom.holds(point))
    for name in failing.symbols:
        split = split_linear(failing.polynomial, name)
        if split is None or not split.coefficient.is_constant or not is_integer_symbol(name):
            continue
        value = _nearest(name, [atom for atom in atoms if name in atom.symbols], point)
        if value is not None:
            changed = {**point, name: value}
            if all(name in atom.symbols or atom.holds(changed) for atom in added):
                return changed
    return None


def _nearest(name: str, users: Iterable[Atom], point: Mapping[str, Scalar]) -> int | None:
    """The integer next to the point's at which the atoms hold, the other symbols being left alone."""
    low: int | None = None
    high: int | None = None
    for atom in users:
        split = split_linear(atom.polynomial, name)
        if split is None:
            return None
        slope, rest = split.coefficient.plain_value(point), split.rest.plain_value(point)
        strict = atom.relation is Relation.GT
        for side in (1, -1) if atom.relation is Relation.EQ else (1,):
            a, r = side * slope, side * rest
            if a > 0:
                bound = -r // a + 1 if strict else -(r // a)
                low = bound if low is None else max(low, bound)
            elif a < 0:
                bound = -(-r // -a) - 1 if strict else r // -a
                high = bound if high is None else min(high, bound)
            elif r < 0 or (strict and r == 0):
                return None
    if low is not None and high is not None and low > high:
        return None
    value = int(point[name])
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


def candidates(atoms: Iterable[Atom], free: Sequence[str]) -> Iterator[Point]:
    """Values for the free symbols within their constant bounds, simple ones first, the same in every run."""
    low: dict[str, Fraction] = {}
    high: dict[str, Fraction] = {}
    for atom in atoms:
        bound = constant_bound(atom)
        if bound is None:
            continue
        name, (side, value) = atom.symbols[0], bound
        if side > 0 or atom.relation is Relation.EQ:
            low[name] = max(value, low.get(name, value))
        if side < 0 or atom.relation is Relation.EQ:
            high[name] = min(value, high.get(name, value))
    choices = [_values(name, low.get(name), high.get(name)) for name in free]
    if not choices:
        yield {}
        return
    if any(not values for values in choices):
        return
    if prod(map(len, choices)) <= _MOST_CANDIDATES:
        for values in product(*choices):
            yield dict[str, Scalar](zip(free, values, strict=True))
        return
    # The diagonal first, then one symbol at a time away from its smallest value, then a fixed random sample.
    for step in range(max(len(values) for values in choices)):
        yield {name: values[min(step, len(values) - 1)] for name, values in zip(free, choices, strict=True)}
    smallest: Point = {name: values[0] for name, values in zip(free, choices, strict=True)}
    for name, values in zip(free, choices, strict=True):
        for value in values[1:]:
            yield smallest | {name: value}
    random = Random(len(free))
    for _ in range(_MOST_CANDIDATES // 2):
        yield {name: random.choice(values) for name, values in zip(free, choices, strict=True)}


def _values(name: str, low: Fraction | None, high: Fraction | None) -> list[Scalar]:
    """Values to try between the bounds, ascending; both signs where nothing bounds from below."""
    if not is_integer_symbol(name):
        tried = list(_SHARES)
    elif low is not None:
        tried = [ceil(low) + Fraction(step) for step in _LADDER]
        tried += [Fraction(step) for step in _LADDER]
    else:
        tried = [Fraction(sign * step) for step in _LADDER for sign in (1, -1)]
    tried += [bound for bound in (low, high) if bound is not None]
    return sorted(
        {plain(value) for value in tried if (low is None or value >= low) and (high is None or value <= high)}
    )


def _between(name: str, users: Sequence[Atom], point: Mapping[str, Scalar]) -> Fraction | None:
    """A value of `name` that satisfies the atoms at the point: an integer if it can be one and should."""
    low: tuple[Fraction, bool] | None = None
    high: tuple[Fraction, bool] | None = None
    for atom in users:
        split = split_linear(atom.polynomial, name)
        assert split is not None, "a plan solves only for symbols that occur linearly"
        slope, rest = split.coefficient.evaluate(point), split.rest.evaluate(point)
        strict = atom.relation is Relation.GT
        if slope == 0:
            if rest < 0 or (rest == 0 and strict) or (rest != 0 and atom.relation is Relation.EQ):
                return None
            continue
        value = (-rest / slope, strict)
        if (slope > 0 or atom.relation is Relation.EQ) and (low is None or value > low):
            low = value
        # Of two equal bounds the strict one is the narrower.
        narrower = high is None or (value[0], not strict) < (high[0], not high[1])
        if (slope < 0 or atom.relation is Relation.EQ) and narrower:
            high = value
    return _pick(low, high, integer=is_integer_symbol(name))


def _pick(
    low: tuple[Fraction, bool] | None, high: tuple[Fraction, bool] | None, *, integer: bool
) -> Fraction | None:
    if low is not None and high is not None:
        empty = low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1]))
        if empty:
            return None
    if integer:
        if low is not None:
            guess = Fraction(floor(low[0]) + 1 if low[1] else ceil(low[0]))
        elif high is not None:
            guess = Fraction(ceil(high[0]) - 1 if high[1] else floor(high[0]))
        else:
            return Fraction(0)
        if high is None or guess < high[0] or (guess == high[0] and not high[1]):
            return guess
    if low is not None and not low[1]:
        return low[0]
    if high is not None and not high[1]:
        return high[0]
    if low is not None and high is not None:
        return (low[0] + high[0]) / 2
    if low is not None:
        return low[0] + 1
    return high[0] - 1 if high is not None else Fraction(0)
