"""A line of parameters: systems and the range of one symbol in, where on the line which system comes first out.

    >>> B, Z = Polynomial.symbol("B"), Polynomial.symbol("Z_B")
    >>> fits, general = System((), (at_most(2 * B + 2, Z),)), System()
    >>> found = divide_line([fits, general], "B", Fraction(1), Fraction(100), {"Z_B": 98})
    >>> [(str(t.value), t.below, t.at, t.above, str(t.equations[0])) for t in found.thresholds]
    [('48', 0, 0, 1, 'Z_B == 2*B + 2')]

A polynomial keeps its sign between two neighbouring roots, so that one sample there decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.boundaries import Boundary, Specialized, specialize
from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.roots import RealNumber, ascending, between, compare, is_root, real_roots
from comprehensive.algebra.system import System


class Interval(Struct, frozen=True):
    """A part of the line where no atom changes its truth.

    It is open, from `low` to `high`, or the point where both are equal.

    `choice` is the index of the first system that holds there, None where none does. `sample` is rational but at
    an irrational point.
    """

    low: RealNumber
    high: RealNumber
    sample: RealNumber
    choice: int | None

    @property
    def is_point(self) -> bool:
        """Whether there is one number only."""
        return self.low == self.high


class Threshold(Struct, frozen=True):
    """A critical value: the choice right below, at, and right above `value` is not the same.

    `equations` are the atoms, as equations, that change their truth there and belong to one of these choices. At an
    end of the range what lies beyond counts as what lies at it.
    """

    value: RealNumber
    below: int | None
    at: int | None
    above: int | None
    equations: tuple[Atom, ...]


class Piece(Struct, frozen=True):
    """Neighbouring intervals with one choice, joined."""

    low: RealNumber
    high: RealNumber
    has_low: bool
    has_high: bool
    sample: RealNumber
    choice: int | None


class Line(Struct, frozen=True):
    """The range of `symbol`: points and open intervals in turn, and the same without what changes nothing."""

    symbol: str
    intervals: tuple[Interval, ...]
    thresholds: tuple[Threshold, ...]
    pieces: tuple[Piece, ...]


def divide_line(
    systems: Sequence[System], symbol: str, low: Fraction, high: Fraction, values: Mapping[str, Scalar]
) -> Line:
    """The choice everywhere from `low` to `high`, both included; ValueError as of `specialize`, and for no range."""
    if not low < high:
        raise ValueError(f"the range of {symbol} from {low} to {high} is empty")
    given = specialize(systems, (symbol,), values)
    cuts = ascending([low, high, *(root for root in roots_of(given) if _is_within(root, low, high))])
    intervals = _intervals(given, cuts)
    return Line(symbol, intervals, _thresholds(systems, given, intervals), _pieces(intervals))


def roots_of(given: Specialized) -> tuple[RealNumber, ...]:
    """Every number, ascending, where an atom of systems in one free symbol may change its truth."""
    return ascending(root for boundary in given.boundaries for root in real_roots(boundary.polynomial))


def _is_within(number: RealNumber, low: Fraction, high: Fraction) -> bool:
    return compare(low, number) < 0 < compare(high, number)


def _intervals(given: Specialized, cuts: Sequence[RealNumber]) -> tuple[Interval, ...]:
    (symbol,) = given.symbols
    intervals: list[Interval] = []
    for cut, following in pairwise(cuts):
        sample = between(cut, following)
        intervals.append(Interval(cut, cut, cut, _choice_at(given, cut, sample)))
        intervals.append(Interval(cut, following, sample, given.choice({symbol: sample})))
    end = cuts[-1]
    return (*intervals, Interval(end, end, end, _choice_at(given, end, end)))


def _choice_at(given: Specialized, number: RealNumber, near: RealNumber) -> int | None:
    """The choice at a number; `near` lies between an irrational one and the next root of any atom."""
    (symbol,) = given.symbols
    if isinstance(number, Fraction):
        return given.choice({symbol: number})
    assert isinstance(near, Fraction), "the ends of a range are rational"
    for index, atoms in enumerate(given.systems):
        if atoms is not None and all(_holds_at(atom, number, {symbol: near}) for atom in atoms):
            return index
    return None


def _holds_at(atom: Atom, number: RealNumber, near: Mapping[str, Fraction]) -> bool:
    """An atom that is not 0 at the number has the sign there that it has next to it."""
    return atom.relation is not Relation.GT if is_root(atom.polynomial, number) else atom.holds(near)


def _thresholds(
    systems: Sequence[System], given: Specialized, intervals: Sequence[Interval]
) -> tuple[Threshold, ...]:
    found: list[Threshold] = []
    for position in range(0, len(intervals), 2):
        at = intervals[position]
        below = intervals[position - 1] if position else at
        above = intervals[position + 1] if position + 1 < len(intervals) else at
        choices = (below.choice, at.choice, above.choice)
        if len(set(choices)) > 1:
            found.append(Threshold(at.low, *choices, _equations(systems, given.boundaries, at.low, choices)))
    return tuple(found)


def _equations(
    systems: Sequence[System],
    boundaries: Sequence[Boundary],
    number: RealNumber,
    choices: Sequence[int | None],
) -> tuple[Atom, ...]:
    involved = {
        Atom(atom.polynomial, Relation.EQ)
        for choice in choices
        if choice is not None
        for atom in systems[choice].all_atoms
    }
    vanishing = dict.fromkeys(
        equation
        for boundary in boundaries
        if is_root(boundary.polynomial, number)
        for equation in boundary.equations
        if equation in involved
    )
    return tuple(sorted(vanishing, key=lambda atom: atom.sort_key))


def _pieces(intervals: Sequence[Interval]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for each in intervals:
        joined = pieces[-1] if pieces and pieces[-1].choice == each.choice else None
        if joined is None:
            pieces.append(Piece(each.low, each.high, each.is_point, each.is_point, each.sample, each.choice))
        else:
            # The sample of an open interval, the first one there is, says more than that of a point.
            sample = each.sample if joined.low == joined.high else joined.sample
            pieces[-1] = Piece(joined.low, each.high, joined.has_low, each.is_point, sample, each.choice)
    return tuple(pieces)
