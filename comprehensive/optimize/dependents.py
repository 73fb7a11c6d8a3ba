"""The values that follow from parameters, at many places at once: columns in, all values and what fails there out.

    judged = dependents.judged({"B": [1, 64], "W": [8, 8]})    # ceil(B/32) = [1, 2], P as large as the atoms allow
    judged.missed                                              # how many atoms fail at each place
    dependents.point({"B": 64, "W": 8})                        # all values at one place, exactly

Columns are of 64-bit floats: exact as long as numbers have fewer than 53 bits, and a guide where they have more.  A
place where nothing fails is made a point exactly, and judged exactly by who asks.  Only operations that all machines do
alike are used, so that the same places are chosen everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from comprehensive.algebra import Atom, Polynomial, Quotient, Relation, with_quotients
from comprehensive.algebra.columns import holds
from comprehensive.algebra.polynomial import Scalar, plain

Column = NDArray[Any]
"""A value for each place."""
_Powers = tuple[tuple[str, int], ...]

_ENDLESS = 1e75
# What is demanded strictly is a little more than what is allowed.
_A_LITTLE_MORE = 1025 / 1024
_MOST_LINES = 1 << 14


class Line(Struct, frozen=True):
    """An atom ``slope * symbol + rest`` with relation 0."""

    slope: Polynomial
    rest: Polynomial
    strict: bool

    @staticmethod
    @lru_cache(maxsize=_MOST_LINES)
    def of(atom: Atom, name: str) -> Line:
        polynomial = atom.polynomial
        strict = atom.relation is Relation.GT
        return Line(polynomial.coefficient(name, 1), polynomial.coefficient(name, 0), strict)

    def crossing(self, point: Mapping[str, Scalar]) -> Fraction:
        """The value of the symbol at which the two sides of the atom are equal."""
        return -self.rest.evaluate(point) / self.slope.evaluate(point)


class Share(Struct, frozen=True):
    """A symbol that is as large as the atoms that are linear in it allow, from 0 to 1."""

    name: str
    lines: tuple[Line, ...]

    @staticmethod
    def of(name: str, atoms: Iterable[Atom]) -> Share:
        return Share(name, tuple(Line.of(atom, name) for atom in atoms if atom.polynomial.degree(name) == 1))

    def value(self, point: Mapping[str, Scalar]) -> Scalar:
        """The exact value where the symbols in the lines have these."""
        falling = (line for line in self.lines if line.slope.sign_at(point) < 0)
        return plain(max(Fraction(0), min((line.crossing(point) for line in falling), default=Fraction(1))))

    def column(self, values: Values) -> Column:
        limits = [limit for line in self.lines for limit in (values.limit(line),) if limit is not None]
        least = values.constant(1.0)
        for limit in limits:
            least = np.minimum(least, limit)
        return np.maximum(least, 0.0)


class Least(Struct, frozen=True):
    """An integer that is as small as the atoms that bound it from below allow; 0 without any."""

    name: str
    lines: tuple[Line, ...]
    """Their slopes are constants above 0."""

    @staticmethod
    def of(name: str, atoms: Iterable[Atom]) -> Least | None:
        """None where an atom is not linear in the symbol with a constant slope."""
        lines: list[Line] = []
        for atom in atoms:
            if name not in atom.symbols:
                continue
            if atom.polynomial.degree(name) != 1 or atom.relation is Relation.EQ:
                return None
            line = Line.of(atom, name)
            if not line.slope.is_constant:
                return None
            if line.slope.constant_value() > 0:
                lines.append(line)
        return Least(name, tuple(lines))

    def value(self, point: Mapping[str, Scalar]) -> Scalar:
        """The exact value where the symbols in the lines have these."""
        crossings = ((line.crossing(point), line.strict) for line in self.lines)
        return max((floor(least) + 1 if strict else ceil(least) for least, strict in crossings), default=0)

    def column(self, values: Values) -> Column:
        bounds: list[Column] = []
        for line in self.lines:
            least = -values.of(line.rest) / float(line.slope.constant_value())
            bounds.append(np.floor(least) + 1.0 if line.strict else np.ceil(least))
        found = bounds[0] if bounds else values.constant(0.0)
        for bound in bounds[1:]:
            found = np.maximum(found, bound)
        return found


Follower = Share | Least


class Values(Struct, frozen=True):
    """Columns of symbols, and of the products and polynomials of them that were asked for."""

    columns: dict[str, Column]
    monomials: dict[_Powers, Column]
    polynomials: dict[Polynomial, Column]
    limits: dict[Line, Column | None]

    def constant(self, value: float) -> Column:
        return np.full(next(iter(self.columns.values())).shape, value)

    def of(self, polynomial: Polynomial) -> Column:
        found = self.polynomials.get(polynomial)
        if found is None:
            scale, terms = polynomial.integers()
            found = self.constant(0.0)
            for coefficient, powers in terms:
                found = (
                    found + float(coefficient) * self._monomial(powers)
                    if powers
                    else found + float(coefficient)
                )
            found = self.polynomials[polynomial] = found if scale == 1 else found / float(scale)
        return found

    def _monomial(self, powers: _Powers) -> Column:
        found = self.monomials.get(powers)
        if found is None:
            *first, (name, power) = powers
            found = self._monomial(tuple(first)) if first else self.columns[name]
            for _ in range(power if first else power - 1):
                found = found * self.columns[name]
            self.monomials[powers] = found
        return found

    def limit(self, line: Line) -> Column | None:
        """Return the line's upper bound on its symbol, endless where there is none; None if there is none anywhere."""
        if line not in self.limits:
            slope = self.of(line.slope)
            falls = slope < 0
            self.limits[line] = (
                np.where(falls, -self.of(line.rest) / slope, _ENDLESS) if falls.any() else None
            )
        return self.limits[line]


class Judged(Struct, frozen=True):
    """The number of atoms that do not hold at each place, and by about what factor they fail in total."""

    missed: Column
    excess: Column


class Dependents(Struct, frozen=True):
    """The values that follow from parameters, and the atoms that are judged."""

    quotients: tuple[Quotient, ...]
    """The quotients that the parameters determine."""
    followers: tuple[Follower, ...]
    """No follower depends on another."""
    atoms: tuple[Atom, ...]

    @staticmethod
    def of(
        parameters: Iterable[str],
        quotients: Iterable[Quotient],
        followers: tuple[Follower, ...],
        atoms: tuple[Atom, ...],
    ) -> Dependents:
        known = set(parameters)
        determined: list[Quotient] = []
        for quotient in quotients:
            if known.issuperset((*quotient.above.symbols, *quotient.below.symbols)):
                known.add(quotient.symbol)
                determined.append(quotient)
        return Dependents(tuple(determined), followers, atoms)

    def point(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """All values at one place, exactly. ZeroDivisionError where a quotient divides by 0."""
        point = with_quotients(parameters, self.quotients)
        for follower in self.followers:
            point[follower.name] = follower.value(point)
        return point

    def judged(self, parameters: Mapping[str, Column]) -> Judged:
        """Return the number of atoms that fail at each place, and the factor; no atom holds of a value divided by 0."""
        with np.errstate(all="ignore"):
            values = Values(dict(parameters), {}, {}, {})
            for quotient in self.quotients:
                exact = values.of(quotient.above) / values.of(quotient.below)
                values.columns[quotient.symbol] = np.ceil(exact) if quotient.rounds_up else np.floor(exact)
            for follower in self.followers:
                values.columns[follower.name] = follower.column(values)
            missed = values.constant(0.0)
            excess = values.constant(1.0)
            for atom in self.atoms:
                held = holds(values.of(atom.polynomial), atom.relation)
                if not held.all():
                    missed = missed + ~held
                    factor = np.where(held, 1.0, self._excess_of(atom, values))
                    excess = np.minimum(excess * factor, _ENDLESS)
        return Judged(missed, np.where(np.isnan(excess), _ENDLESS, excess))

    def _excess_of(self, atom: Atom, values: Values) -> Column:
        """Return the factor by which the atom fails, roughly.

        An atom that demands much of a share fails by what it demands over what each line of the share allows, so that
        one of two lines that allow too little can be helped; another one by its negative terms over its positive ones.
        """
        product = values.constant(1.0)
        for share in self.followers:
            if isinstance(share, Share) and atom.polynomial.degree(share.name) == 1:
                demanding = Line.of(atom, share.name)
                slope = values.of(demanding.slope)
                demanded = np.where(slope > 0, -values.of(demanding.rest) / slope * _A_LITTLE_MORE, 0.0)
                for line in share.lines:
                    allowed = values.limit(line)
                    if allowed is not None:
                        lacking = np.where(allowed > 0, demanded / allowed, _ENDLESS)
                        product = np.minimum(product * np.where(allowed < demanded, lacking, 1.0), _ENDLESS)
        above, below = _sides(atom)
        factor = (values.of(above) + 1.0) / (values.of(below) + 1.0)
        return np.where(product > 1.0, product, np.maximum(factor, 1.0 / factor))


@lru_cache(maxsize=_MOST_LINES)
def _sides(atom: Atom) -> tuple[Polynomial, Polynomial]:
    return atom.positive_sides()
