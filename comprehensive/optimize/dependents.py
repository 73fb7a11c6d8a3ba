"""Values that follow from parameters, kept up to date: parameters in, all values and the atoms that fail there out.

    place = dependents.place({"B": 1, "W": 8})      # ceil(B/32) = 1, P as large as the atoms allow; which atoms fail
    moved = dependents.moved(place, "B", 64)        # what B = 64 changes
    dependents.mended(place, moved, below=2)        # the place there, if an atom holds again and fewer than 2 fail

A move of one parameter computes the quotients, the shares and the atoms that depend on it, and those only as long as
what they depend on has changed.  So a move costs what it changes, not the size of the system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from comprehensive.algebra import Atom, Polynomial, Quotient, Relation, with_quotients
from comprehensive.algebra.polynomial import Scalar

Limit = tuple[Scalar, Scalar] | None
"""The number ``first / second`` that a share is at most, as a line says; None where the line says nothing."""

_ENDLESS = 1e75
# What is demanded strictly is a little more than what is allowed.
_A_LITTLE_MORE = 1025 / 1024


@dataclass(frozen=True, slots=True)
class Line:
    """An atom ``slope * share + rest``, which bounds the share from above where the slope is negative."""

    slope: Polynomial
    rest: Polynomial
    symbols: frozenset[str]

    @staticmethod
    def of(polynomial: Polynomial, name: str) -> Line:
        slope, rest = polynomial.coefficient(name, 1), polynomial.coefficient(name, 0)
        return Line(slope, rest, frozenset((*slope.symbols, *rest.symbols)))

    def limit(self, point: Mapping[str, Scalar]) -> Limit:
        slope_scale, falls = self.slope.scaled_value(point)
        if falls >= 0:
            return None
        rest_scale, room = self.rest.scaled_value(point)
        return room * slope_scale, -falls * rest_scale


@dataclass(frozen=True, slots=True)
class Share:
    """A symbol that is as large as the atoms that are linear in it allow, from 0 to 1."""

    name: str
    lines: tuple[Line, ...]

    @staticmethod
    def of(name: str, atoms: Iterable[Atom]) -> Share:
        linear = (atom.polynomial for atom in atoms if atom.polynomial.degree(name) == 1)
        return Share(name, tuple(Line.of(polynomial, name) for polynomial in linear))

    def value(self, limits: Iterable[Limit]) -> Scalar:
        # The least of all bounds so far is `above / below`: integers, where the point has integers only.
        above: Scalar = 1
        below: Scalar = 1
        for limit in limits:
            if limit is not None and limit[0] * below < above * limit[1]:
                above, below = limit
        return plain(Fraction(above) / Fraction(below)) if above > 0 else 0


@dataclass(frozen=True, slots=True)
class LowerLine:
    """An atom ``slope * symbol + rest`` with a constant slope above 0, which bounds an integer from below."""

    slope: int
    rest: Polynomial
    strict: bool
    symbols: frozenset[str]

    def limit(self, point: Mapping[str, Scalar]) -> Limit:
        scale, rest = self.rest.scaled_value(point)
        least = Fraction(-rest, self.slope * scale)
        return (floor(least) + 1 if self.strict else ceil(least)), 1


@dataclass(frozen=True, slots=True)
class Least:
    """An integer that is as small as the atoms that bound it from below allow; 0 without any."""

    name: str
    lines: tuple[LowerLine, ...]

    @staticmethod
    def of(name: str, atoms: Iterable[Atom]) -> Least | None:
        """None where an atom is not linear in the symbol with a constant slope."""
        lines: list[LowerLine] = []
        for atom in atoms:
            if name not in atom.symbols:
                continue
            slope = atom.polynomial.coefficient(name, 1)
            if atom.polynomial.degree(name) != 1 or not slope.is_constant or atom.relation is Relation.EQ:
                return None
            if slope.constant_value() > 0:
                rest = atom.polynomial.coefficient(name, 0)
                strict = atom.relation is Relation.GT
                lines.append(LowerLine(int(slope.constant_value()), rest, strict, frozenset(rest.symbols)))
        return Least(name, tuple(lines))

    def value(self, limits: Iterable[Limit]) -> Scalar:
        return max((limit[0] for limit in limits if limit is not None), default=0)


Follower = Share | Least


@dataclass(frozen=True, slots=True)
class Place:
    """Values of the parameters and what follows from them."""

    parameters: Mapping[str, Scalar]
    point: Mapping[str, Scalar]
    """All values; those of the parameters alone where a quotient divides by 0."""
    limits: Mapping[str, tuple[Limit, ...]]
    """What each line of a share says; empty where a quotient divides by 0."""
    missed: frozenset[int]
    """The numbers of the atoms that do not hold."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A move: all values after it, what the lines of followers say then, and the atoms that it may have changed."""

    name: str
    value: Scalar
    point: dict[str, Scalar]
    limits: Mapping[str, tuple[Limit, ...]]
    touched: Sequence[tuple[int, Atom]]


@dataclass(frozen=True, slots=True)
class Dependents:
    """What follows from parameters; the lists of each parameter have what a move of it can change, in order."""

    quotients: Sequence[Quotient]
    followers: tuple[Follower, ...]
    """Each after those that it depends on."""
    atoms: tuple[Atom, ...]
    quotients_of: Mapping[str, tuple[tuple[Quotient, frozenset[str]], ...]]
    followers_of: Mapping[str, tuple[Follower, ...]]
    atoms_of: Mapping[str, tuple[tuple[int, Atom, frozenset[str]], ...]]
    demands: tuple[tuple[tuple[str, Line], ...], ...]
    """Of each atom the shares in it, and the atom as a line of each."""
    sides: tuple[tuple[Polynomial, Polynomial], ...]
    """Of each atom the sides whose coefficients are not negative; the first is the smaller one where the atom holds."""

    @staticmethod
    def of(
        parameters: Sequence[str],
        quotients: Sequence[Quotient],
        followers: tuple[Follower, ...],
        atoms: tuple[Atom, ...],
    ) -> Dependents:
        symbols = [frozenset((*quotient.above.symbols, *quotient.below.symbols)) for quotient in quotients]
        known = set(parameters)
        determined: list[tuple[Quotient, frozenset[str]]] = []
        for quotient, names in zip(quotients, symbols, strict=True):
            if names <= known:
                known.add(quotient.symbol)
                determined.append((quotient, names))
        listed = [(number, atom, frozenset(atom.symbols)) for number, atom in enumerate(atoms)]
        quotients_of: dict[str, tuple[tuple[Quotient, frozenset[str]], ...]] = {}
        followers_of: dict[str, tuple[Follower, ...]] = {}
        atoms_of: dict[str, tuple[tuple[int, Atom, frozenset[str]], ...]] = {}
        for name in parameters:
            moving = {name}
            quotients_of[name] = tuple(_reached(determined, moving))
            followers_of[name] = tuple(each for each in followers if _moves(each, moving))
            atoms_of[name] = tuple(each for each in listed if not moving.isdisjoint(each[2]))
        return Dependents(
            tuple(quotient for quotient, _ in determined),
            followers,
            atoms,
            quotients_of,
            followers_of,
            atoms_of,
            tuple(tuple(_demands(atom, followers)) for atom in atoms),
            tuple(atom.positive_sides() for atom in atoms),
        )

    def place(self, parameters: Mapping[str, Scalar]) -> Place:
        """All that follows from the parameters."""
        limits: dict[str, tuple[Limit, ...]] = {}
        try:
            point = with_quotients(parameters, self.quotients)
        except ZeroDivisionError:
            point = dict(parameters)
        else:
            for share in self.followers:
                limits[share.name] = tuple(line.limit(point) for line in share.lines)
                point[share.name] = share.value(limits[share.name])
        missed = frozenset(number for number, atom in enumerate(self.atoms) if not _holds(atom, point))
        return Place(parameters, point, limits, missed)

    def can_help(self, place: Place, name: str) -> bool:
        """Whether an atom that fails depends on the parameter."""
        return any(number in place.missed for number, _, _ in self.atoms_of[name])

    def moved(self, place: Place, name: str, value: Scalar) -> Moved | None:
        """What a move changes; None where that are no atoms that fail, or not all values are known."""
        if len(place.limits) < len(self.followers) or any(
            q.symbol not in place.point for q in self.quotients[:1]
        ):
            return None
        try:
            found = self._followed(place, name, value)
        except ZeroDivisionError:
            return None
        return found if any(number in place.missed for number, _ in found.touched) else None

    def mended(self, place: Place, moved: Moved, below: int) -> Place | None:
        """The place after a move, if one of the atoms that failed holds there and fewer than `below` fail."""
        met = {n for n, atom in moved.touched if n in place.missed and atom.holds(moved.point)}
        return self._arrived(place, moved, place.missed - met, below) if met else None

    def approached(self, place: Place, moved: Moved) -> Place | None:
        """The place after a move, if no more atoms fail there than those that failed before."""
        return self._arrived(place, moved, place.missed, len(place.missed) + 1)

    def _arrived(self, place: Place, moved: Moved, missed: frozenset[int], below: int) -> Place | None:
        failing = set(missed)
        for number, atom in moved.touched:
            if len(failing) >= below:
                return None
            if number not in place.missed and not atom.holds(moved.point):
                failing.add(number)
        if len(failing) >= below:
            return None
        parameters = {**place.parameters, moved.name: moved.value}
        return Place(parameters, moved.point, moved.limits, frozenset(failing))

    def excess(self, place: Place) -> float:
        """By about what factor the atoms that fail do, in total: a guide, from operations that all machines do alike.

        An atom that demands much of a share fails by what it demands over what each line of the share allows, so that
        one of two lines that allow too little can be helped; another one by its negative terms over its positive ones.
        """
        product = 1.0
        try:
            for number in sorted(place.missed):
                product *= min(self._excess_of(number, place), _ENDLESS)
        except KeyError:
            return _ENDLESS
        return min(product, _ENDLESS)

    def _excess_of(self, number: int, place: Place) -> float:
        product = 1.0
        for share, line in self.demands[number]:
            slope_scale, rises = line.slope.scaled_value(place.point)
            if rises > 0:
                rest_scale, rest = line.rest.scaled_value(place.point)
                demanded = float(-rest * slope_scale / (rises * rest_scale)) * _A_LITTLE_MORE
                for limit in place.limits[share]:
                    allowed = None if limit is None else float(limit[0] / limit[1])
                    if allowed is not None and allowed < demanded:
                        product = min(product * demanded / allowed if allowed > 0 else _ENDLESS, _ENDLESS)
        if product > 1:
            return product
        above, below = self.sides[number]
        scales, values = zip(above.scaled_value(place.point), below.scaled_value(place.point), strict=True)
        factor = float((values[0] / scales[0] + 1) / (values[1] / scales[1] + 1))
        return max(factor, 1 / factor)

    def _followed(self, place: Place, name: str, value: Scalar) -> Moved:
        """All values after a move. ZeroDivisionError where a quotient divides by 0 then."""
        point, limits, changed = dict(place.point), place.limits, {name}
        point[name] = value
        for quotient, symbols in self.quotients_of[name]:
            if not changed.isdisjoint(symbols):
                rounded = quotient.value(point)
                if rounded != point[quotient.symbol]:
                    point[quotient.symbol] = rounded
                    changed.add(quotient.symbol)
        for follower in self.followers_of[name]:
            before = limits[follower.name]
            after = tuple(
                line.limit(point) if not changed.isdisjoint(line.symbols) else limit
                for line, limit in zip(follower.lines, before, strict=True)
            )
            if after != before:
                # Also where the value is the same: one of two lines may allow more now (`excess`).
                limits = {**limits, follower.name: after}
                point[follower.name] = follower.value(after)
                changed.add(follower.name)
        touched = [(n, atom) for n, atom, names in self.atoms_of[name] if not changed.isdisjoint(names)]
        return Moved(name, value, point, limits, touched)


def _reached(
    determined: Iterable[tuple[Quotient, frozenset[str]]], moving: set[str]
) -> Iterator[tuple[Quotient, frozenset[str]]]:
    """The quotients that depend on what is moving, which then move as well."""
    for quotient, names in determined:
        if not moving.isdisjoint(names):
            moving.add(quotient.symbol)
            yield quotient, names


def _demands(atom: Atom, followers: Iterable[Follower]) -> Iterator[tuple[str, Line]]:
    for share in followers:
        if isinstance(share, Share) and atom.polynomial.degree(share.name) == 1:
            yield share.name, Line.of(atom.polynomial, share.name)


def _moves(share: Follower, moving: set[str]) -> bool:
    if all(moving.isdisjoint(line.symbols) for line in share.lines):
        return False
    moving.add(share.name)
    return True


def plain(value: Scalar) -> Scalar:
    """An int where the value is one: arithmetic on fractions is slow."""
    return int(value) if value.denominator == 1 else value


def _holds(atom: Atom, point: Mapping[str, Scalar]) -> bool:
    """Return whether the atom holds; False also where the point lacks a value for it."""
    try:
        return atom.holds(point)
    except KeyError:
        return False
