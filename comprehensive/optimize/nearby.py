"""Points of systems with quotients: a system, points near by and what defines the quotients in, a point out.

    {P*W <= floor(W/w)*w, w == ceil(B/32), 3*W < 4*P*W, ...} from B = 1, which fails   -->   B = 64, all quotients, P
    = 1

Quotients are no unknowns here: they follow from the parameters.  Nor are shares, each as large as the system allows,
which is best for all that bounds it from below, nor integers that atoms alone bound, each as small as they allow.
Parameters are moved, one at a time: all moves of a few places are judged at once (`dependents.py`), and the search goes
on from those after which the least is violated.  Finding nothing means nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from msgspec import Struct

from comprehensive.algebra import Atom, Quotient, System, is_integer_symbol
from comprehensive.algebra.polynomial import Scalar, plain
from comprehensive.algebra.signs import lower_bounds
from comprehensive.optimize.dependents import Column, Dependents, Judged, Least, Share

_MUCH = 1 << 16
_VALUES = np.array(
    (*range(4), *(base * 2**k for k in range(1, 17) for base in (2, 3)), 31, 33, 63, 65, 95, 97), float
)
# So many places have no atom that fails and are no points exactly, before others are looked for.
_MOST_TRIED = 4


class Effort(Struct, frozen=True):
    """The length of the search: so many moves, from so many places each."""

    moves: int
    places: int


LITTLE = Effort(moves=2, places=3)
MUCH = Effort(moves=8, places=12)


def nearby(
    system: System,
    starts: Iterable[Mapping[str, Scalar]],
    quotients: Sequence[Quotient],
    effort: Effort = MUCH,
) -> dict[str, Scalar] | None:
    """A point of the system, or None; what a start does not say begins with the least that it can be.

    The least values alone, and these with plenty of what is divided, are starts, too.
    """
    return _Search.of(system, quotients).found(starts, effort)


class _Search(Struct, frozen=True):
    system: System
    parameters: tuple[str, ...]
    dependents: Dependents
    least: Mapping[str, Scalar]
    plenty: Mapping[str, Scalar]

    @staticmethod
    def of(system: System, quotients: Sequence[Quotient]) -> _Search:
        definitions = {atom for quotient in quotients for atom in quotient.definition}
        # Those that define quotients hold by themselves.
        atoms = tuple(atom for atom in system.all_atoms if atom not in definitions)
        symbols = system.symbols
        shares = tuple(Share.of(name, atoms) for name in symbols if not is_integer_symbol(name))
        follow = {quotient.symbol for quotient in quotients} | {share.name for share in shares}
        least = _least([name for name in symbols if name not in follow], quotients, atoms)
        follow.update(each.name for each in least)
        parameters = tuple(name for name in symbols if name not in follow)
        bounds = lower_bounds(system.all_atoms)
        return _Search(
            system,
            parameters,
            Dependents.of(parameters, quotients, (*shares, *least), atoms),
            {name: plain(bounds[name][0] if name in bounds else Fraction(0)) for name in parameters},
            _plenty(quotients, parameters),
        )

    def found(self, given: Iterable[Mapping[str, Scalar]], effort: Effort) -> dict[str, Scalar] | None:
        near = [
            {**self.least, **{name: ceil(value) for name, value in point.items() if name in self.least}}
            for point in given
        ]
        starts = [*near, self.least, {**self.least, **self.plenty}, *({**p, **self.plenty} for p in near[:1])]
        places = np.array([[float(start[name]) for start in starts] for name in self.parameters])
        if not self.parameters:
            return self._point(places, np.zeros(1)) if given else None
        for turn in range(effort.moves + 1):
            judged = self.dependents.judged(dict(zip(self.parameters, places, strict=True)))
            point = self._point(places, judged.missed)
            if point is not None or turn == effort.moves:
                return point
            places = _moves(places[:, list(_best(places, judged, effort.places))])
        return None

    def _point(self, places: Column, missed: Column) -> dict[str, Scalar] | None:
        """The first place that is a point of the system."""
        for index in np.flatnonzero(missed == 0)[:_MOST_TRIED]:
            at = {name: int(values[index]) for name, values in zip(self.parameters, places, strict=True)}
            point = self.dependents.point(at)
            if self.system.holds(point):
                return point
        return None


def _best(places: Column, judged: Judged, most: int) -> Iterator[int]:
    """The places where the fewest atoms fail, or by the least; each once."""
    seen: set[tuple[float, ...]] = set()
    orders = np.lexsort((judged.excess, judged.missed)), np.argsort(judged.excess, kind="stable")
    for index in np.stack(orders, axis=1).ravel():
        place = tuple(places[:, index])
        if place not in seen:
            seen.add(place)
            yield int(index)
        if len(seen) == most:
            return


def _moves(places: Column) -> Column:
    """All places that differ from one of these in one parameter."""
    parameters, count = places.shape
    values = np.concatenate(
        (
            np.repeat(_VALUES[:, None], count, 1).reshape(1, -1, count).repeat(parameters, 0),
            places[:, None] + 1,
            np.maximum(places[:, None] - 1, 0),
            places[:, None] * 2,
        ),
        axis=1,
    )
    moved = np.broadcast_to(places[:, None, None, :], (parameters, parameters, values.shape[1], count)).copy()
    for number in range(parameters):
        moved[number, number] = values[number]
    return moved.reshape(parameters, -1)


def _plenty(quotients: Sequence[Quotient], names: Container[str]) -> dict[str, Scalar]:
    """Much of what is divided with the remainder left, and no more than one of what divides it."""
    floors = [quotient for quotient in quotients if not quotient.rounds_up]
    divided = {name: _MUCH for quotient in floors for name in quotient.above.symbols}
    dividing = {name: 1 for quotient in floors for name in quotient.below.symbols}
    granules = {name: 1 for quotient in quotients if quotient.rounds_up for name in quotient.below.symbols}
    return {name: value for name, value in {**divided, **dividing, **granules}.items() if name in names}


def _least(names: Sequence[str], quotients: Sequence[Quotient], atoms: Sequence[Atom]) -> tuple[Least, ...]:
    """The parameters that atoms alone bound, at most one in an atom and none beside a share."""
    counted = {name for q in quotients for name in (*q.above.symbols, *q.below.symbols)}
    shared = {
        name for atom in atoms if not all(map(is_integer_symbol, atom.symbols)) for name in atom.symbols
    }
    found: list[Least] = []
    for name in names:
        least = None if name in counted or name in shared else Least.of(name, atoms)
        if least is not None and not any(
            other.name in line.rest.symbols for line in least.lines for other in found
        ):
            found.append(least)
    return tuple(found)
