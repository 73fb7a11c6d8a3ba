"""Points of systems with quotients: a system, a point near by and what defines the quotients in, a point out.

    {P*W <= floor(W/w)*w, w == ceil(B/32), 3*W < 4*P*W, ...} from B = 1, which fails   -->   B = 64, all quotients, P
    = 1

Quotients are no unknowns here: they follow from the parameters. Nor are shares: each is as large as the system allows,
which is best for all that bounds it from below. Parameters are moved, one at a time, as long as less is violated by it.
Finding nothing means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from comprehensive.algebra import Atom, Polynomial, Quotient, System, is_integer_symbol, with_quotients
from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.signs import lower_bounds

_MOST_MOVES = 6
_VALUES = (*range(4), *(base * 2**k for k in range(1, 17) for base in (2, 3)), 31, 33, 63, 65, 95, 97)


def nearby(
    system: System, start: Mapping[str, Scalar], quotients: Sequence[Quotient]
) -> dict[str, Scalar] | None:
    """A point of the system, or None; what `start` does not say begins with the least that it can be."""
    search = _Search.of(system, quotients)
    bounds = lower_bounds(system.all_atoms)
    least = {name: bounds[name][0] if name in bounds else Fraction(0) for name in search.parameters}
    for given in ({**least, **{n: v for n, v in start.items() if n in least}}, least):
        point = search.climbed({name: _plain(value) for name, value in given.items()})
        if point is not None and system.holds(point):
            return point
    return None


@dataclass(frozen=True, slots=True)
class _Search:
    atoms: tuple[Atom, ...]
    """The atoms without those that define quotients, which hold by themselves."""
    parameters: tuple[str, ...]
    quotients: Sequence[Quotient]
    tops: Mapping[str, tuple[tuple[Polynomial, Polynomial], ...]]
    """The slope and the rest, for each share, of the atoms that are linear in it."""

    @staticmethod
    def of(system: System, quotients: Sequence[Quotient]) -> _Search:
        definitions = {atom for quotient in quotients for atom in quotient.definition}
        atoms = tuple(atom for atom in system.all_atoms if atom not in definitions)
        follow = {quotient.symbol for quotient in quotients}
        tops = {
            name: tuple(
                (atom.polynomial.coefficient(name, 1), atom.polynomial.coefficient(name, 0))
                for atom in atoms
                if atom.polynomial.degree(name) == 1
            )
            for name in system.symbols
            if not is_integer_symbol(name)
        }
        parameters = tuple(n for n in system.symbols if n not in follow and n not in tops)
        return _Search(atoms, parameters, quotients, tops)

    def climbed(self, given: Mapping[str, Scalar]) -> dict[str, Scalar] | None:
        """Return a point reached by moves that each leave fewer atoms violated; None where none does."""
        parameters = dict(given)
        point = self._completed(parameters)
        missed = self._missed(self.atoms, point)
        for _ in range(_MOST_MOVES):
            if not missed:
                return point
            found = (
                (len(self._missed(self.atoms, p)), k, m, p) for k, m, p in self._moves(parameters, missed)
            )
            best = min(found, default=None, key=lambda move: move[:2])
            if best is None or best[0] >= len(missed):
                return None
            _, _, parameters, point = best
            missed = self._missed(self.atoms, point)
        return None

    def _moves(
        self, parameters: Mapping[str, Scalar], missed: Sequence[Atom]
    ) -> Iterator[tuple[int, dict[str, Scalar], dict[str, Scalar]]]:
        """Yield the moves of one value after which at least one more of the missed atoms holds.

        Each has its number, its parameters and their point.
        """
        moves = ((name, value) for name in self.parameters for value in _VALUES)
        for number, (name, value) in enumerate(moves):
            moved: dict[str, Scalar] = {**parameters, name: value}
            point = self._completed(moved)
            if len(self._missed(missed, point)) < len(missed):
                yield number, moved, point

    def _completed(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        try:
            point = with_quotients(parameters, self.quotients)
        except ZeroDivisionError:
            return dict(parameters)
        for name, lines in self.tops.items():
            # The least of all bounds so far is `above / below`: integers, where the point has integers only.
            above: Scalar = 1
            below: Scalar = 1
            for slope, rest in lines:
                slope_scale, falls = slope.scaled_value(point)
                if falls < 0:
                    rest_scale, room = rest.scaled_value(point)
                    dividend, divisor = room * slope_scale, -falls * rest_scale
                    if dividend * below < above * divisor:
                        above, below = dividend, divisor
            point[name] = _plain(Fraction(above) / Fraction(below)) if above > 0 else 0
        return point

    def _missed(self, atoms: Sequence[Atom], point: Mapping[str, Scalar]) -> list[Atom]:
        return [atom for atom in atoms if not _holds(atom, point)]


def _plain(value: Scalar) -> Scalar:
    """An int where the value is one: arithmetic on fractions is slow."""
    return int(value) if value.denominator == 1 else value


def _holds(atom: Atom, point: Mapping[str, Scalar]) -> bool:
    """Return whether the atom holds; False also where the point lacks a value for it."""
    try:
        return atom.holds(point)
    except KeyError:
        return False
