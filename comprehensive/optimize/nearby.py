"""Points of systems with quotients: a system, a point near by and what defines the quotients in, a point out.

    {P*W <= floor(W/w)*w, w == ceil(B/32), 3*W < 4*P*W, ...} from B = 1, which fails   -->   B = 64, all quotients, P
    = 1

Quotients are no unknowns here: they follow from the parameters. Nor are shares: each is as large as the system allows,
which is best for all that bounds it from below. Parameters are moved, one at a time, as long as less is violated by it.
Only what depends on a parameter is computed anew where it moves (`dependents.py`). Finding nothing means nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from comprehensive.algebra import Atom, Quotient, System, is_integer_symbol
from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.signs import lower_bounds
from comprehensive.optimize.dependents import Dependents, Least, Moved, Place, Share, plain

_MOST_MOVES = 6
_MUCH = 1 << 16
_VALUES = (*range(4), *(base * 2**k for k in range(1, 17) for base in (2, 3)), 31, 33, 63, 65, 95, 97)


def nearby(
    system: System,
    start: Mapping[str, Scalar],
    quotients: Sequence[Quotient],
    others: Iterable[Mapping[str, Scalar]] = (),
) -> dict[str, Scalar] | None:
    """A point of the system, or None; what `start` does not say begins with the least that it can be.

    Of `others`, points of other systems, the one that violates the fewest atoms is a start, too.
    """
    search = _Search.of(system, quotients)
    least = _least_values(system, search.parameters)
    near = _given(start, least)
    starts = [near] if near == least else [near, least]
    known = min((_given(point, least) for point in others), default=None, key=search.violated)
    return _climbed(system, search, starts if known is None else [*starts, known])


def farther(
    system: System, start: Mapping[str, Scalar], quotients: Sequence[Quotient]
) -> dict[str, Scalar] | None:
    """A point of the system with plenty of what is divided, or None; takes longer than :func:`nearby`.

    What atoms alone bound is as small as they allow, and moves with the rest.
    """
    search = _Search.of(system, quotients, with_least=True)
    least = _least_values(system, search.parameters)
    plenty = _plenty(quotients, least)
    return _climbed(system, search, [{**least, **plenty}, {**_given(start, least), **plenty}])


def _least_values(system: System, names: Iterable[str]) -> dict[str, Scalar]:
    bounds = lower_bounds(system.all_atoms)
    return {name: plain(bounds[name][0] if name in bounds else Fraction(0)) for name in names}


def _given(point: Mapping[str, Scalar], least: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {**least, **{name: plain(value) for name, value in point.items() if name in least}}


def _climbed(
    system: System, search: _Search, starts: Iterable[Mapping[str, Scalar]]
) -> dict[str, Scalar] | None:
    points = (search.climbed(start) for start in starts)
    return next((point for point in points if point is not None and system.holds(point)), None)


def _plenty(quotients: Sequence[Quotient], names: Container[str]) -> dict[str, Scalar]:
    """Much of what is divided with the remainder left, and no more than one of what divides it."""
    floors = [quotient for quotient in quotients if not quotient.rounds_up]
    divided = {name: _MUCH for quotient in floors for name in quotient.above.symbols}
    dividing = {name: 1 for quotient in floors for name in quotient.below.symbols}
    granules = {name: 1 for quotient in quotients if quotient.rounds_up for name in quotient.below.symbols}
    return {name: value for name, value in {**divided, **dividing, **granules}.items() if name in names}


@dataclass(frozen=True, slots=True)
class _Search:
    parameters: tuple[str, ...]
    dependents: Dependents

    @staticmethod
    def of(system: System, quotients: Sequence[Quotient], *, with_least: bool = False) -> _Search:
        """The search that moves all parameters; with `with_least`, but for those that are as small as they may be."""
        definitions = {atom for quotient in quotients for atom in quotient.definition}
        # Those that define quotients hold by themselves.
        atoms = tuple(atom for atom in system.all_atoms if atom not in definitions)
        shares = tuple(Share.of(name, atoms) for name in system.symbols if not is_integer_symbol(name))
        follow = {quotient.symbol for quotient in quotients} | {share.name for share in shares}
        parameters = tuple(name for name in system.symbols if name not in follow)
        least = _least(parameters, quotients, atoms) if with_least else ()
        parameters = tuple(name for name in parameters if name not in {each.name for each in least})
        return _Search(parameters, Dependents.of(parameters, quotients, (*shares, *least), atoms))

    def violated(self, given: Mapping[str, Scalar]) -> int:
        """How many atoms do not hold at these values."""
        return len(self.dependents.place(given).missed)

    def climbed(self, given: Mapping[str, Scalar]) -> dict[str, Scalar] | None:
        """Return a point reached by moves that each leave fewer atoms violated, or these by less; None without."""
        place = self.dependents.place(given)
        for _ in range(_MOST_MOVES):
            if not place.missed:
                return dict(place.point)
            moved = self._moved(place)
            if moved is None:
                return None
            place = moved
        return None

    def _moved(self, place: Place) -> Place | None:
        """The place after the best move of one value, the first of several; None where none helps.

        The best one leaves the fewest atoms violated. Where none leaves fewer, it is the one after which those that are
        violated are so by the least factor.
        """
        best: Place | None = None
        fewest = len(place.missed)
        others: list[Moved] = []
        for name in self.parameters:
            for value in _VALUES if self.dependents.can_help(place, name) else ():
                moved = self.dependents.moved(place, name, value)
                mended = None if moved is None else self.dependents.mended(place, moved, fewest)
                if mended is not None:
                    best, fewest = mended, len(mended.missed)
                    if fewest == 0:
                        return best
                elif moved is not None and best is None:
                    others.append(moved)
        return best or self._nearest(place, others)

    def _nearest(self, place: Place, moves: Iterable[Moved]) -> Place | None:
        best: Place | None = None
        least = self.dependents.excess(place)
        for moved in moves:
            reached = self.dependents.approached(place, moved)
            excess = least if reached is None else self.dependents.excess(reached)
            if excess < least:
                best, least = reached, excess
        return best


def _least(names: Sequence[str], quotients: Sequence[Quotient], atoms: Sequence[Atom]) -> tuple[Least, ...]:
    """The parameters that atoms alone bound, at most one in an atom."""
    counted = {name for q in quotients for name in (*q.above.symbols, *q.below.symbols)}
    found: list[Least] = []
    for name in names:
        least = None if name in counted else Least.of(name, atoms)
        if least is not None and not any(
            other.name in line.symbols for line in least.lines for other in found
        ):
            found.append(least)
    return tuple(found)
