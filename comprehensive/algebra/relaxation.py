"""Interval relaxation: what an atom still demands of the first variables while the others range over a box.

    Z - s*B >= 0  with  s in [1, 64] not chosen yet, B chosen   -->   Z - B >= 0

All is exact integer arithmetic.  A relaxed demand is necessary; with all variables chosen it is the demand itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm, prod

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Scalar

Interval = tuple[int, int]
Powers = tuple[tuple[int, int], ...]
"""`(position of a variable, its power)`; positions ascend."""
Form = Mapping[Powers, int]
"""A polynomial with integer coefficients in variables that are known by position."""


class Open(Struct, frozen=True):
    """A product `form * m` for an unknown `m` in an interval, where the form's sign depends on the point."""

    form: Form
    interval: Interval


class Demand(Struct, frozen=True):
    """The demand that `form` plus the largest values of the open products is at least 0."""

    form: Form
    opens: tuple[Open, ...]


def forms_of(
    atoms: Iterable[Atom], names: Sequence[str], given: Mapping[str, Scalar]
) -> tuple[Form, ...] | None:
    """Forms that are all `>= 0` at exactly the integer points of the atoms; None where a constant atom fails.

    KeyError names a symbol that is neither in `names` nor given.
    """
    position = {name: place for place, name in enumerate(names)}
    found: list[Form] = []
    for atom in atoms:
        form = _integral(atom, position, given)
        if atom.relation is Relation.GT:
            form = _plus(form, -1)
        found.append(form)
        if atom.relation is Relation.EQ:
            found.append({powers: -value for powers, value in form.items()})
    if any(value < 0 for form in found if set(form) == {()} for value in form.values()):
        return None
    return tuple(form for form in found if set(form) - {()})


def relaxed(form: Form, known: int, box: Sequence[Interval]) -> Demand:
    """Return what `form >= 0` demands of the first `known` variables, the others anywhere in the box."""
    groups: dict[Powers, dict[Powers, int]] = {}
    for powers, value in form.items():
        split = next((k for k, (place, _) in enumerate(powers) if place >= known), len(powers))
        groups.setdefault(powers[split:], {})[powers[:split]] = value
    closed: dict[Powers, int] = {}
    opens: list[Open] = []
    for rest, part in groups.items():
        low, high = _monomial(rest, box)
        least, most = range_of(part, box)
        if low < high and least < 0 < most:
            opens.append(Open(part, (low, high)))
            continue
        factor = high if least >= 0 else low
        for powers, value in part.items():
            closed[powers] = closed.get(powers, 0) + value * factor
    return Demand(closed, tuple(opens))


def range_of(form: Form, box: Sequence[Interval]) -> Interval:
    """Bounds on the values in the box, exact where no two terms pull in different directions."""
    low = high = 0
    for powers, value in form.items():
        least, most = _times((value, value), _monomial(powers, box))
        low, high = low + least, high + most
    return low, high


def direction(demand: Demand, place: int, box: Sequence[Interval]) -> int:
    """1 where the demand holds from some value of the variable on, -1 up to some value; 0 where it is not known."""
    signs: set[int] = set()
    for opened in demand.opens:
        if any(place == other for powers in opened.form for other, _ in powers):
            return 0
    for power, slope in in_powers(demand.form, place).items():
        if power == 0:
            continue
        if power % 2 == 0 and box[place][0] < 0:
            return 0
        low, high = range_of(slope, box)
        signs.add(1 if low >= 0 else -1 if high <= 0 else 0)
    return signs.pop() if len(signs) == 1 else 0


def in_powers(form: Form, place: int) -> dict[int, Form]:
    """The coefficients of the form as a polynomial in one variable, by its power."""
    parts: dict[int, dict[Powers, int]] = {}
    for powers, value in form.items():
        power = dict(powers).get(place, 0)
        rest = tuple(item for item in powers if item[0] != place)
        parts.setdefault(power, {})[rest] = value
    return dict(sorted(parts.items()))


def magnitude(demand: Demand, box: Sequence[Interval]) -> int:
    """No number that comes up while the demand is evaluated in the box, in any order, is larger in size."""
    total = _magnitude(demand.form, box)
    for opened in demand.opens:
        total += _magnitude(opened.form, box) * max(1, *map(abs, opened.interval))
    return total


def _magnitude(form: Form, box: Sequence[Interval]) -> int:
    # Factors count as at least 1, so that parts of a product are covered as well.
    return sum(
        max(1, abs(value)) * prod(max(1, *map(abs, box[place])) ** power for place, power in powers)
        for powers, value in form.items()
    )


def _integral(atom: Atom, position: Mapping[str, int], given: Mapping[str, Scalar]) -> Form:
    """The polynomial of the atom at the given values, times a positive number that makes it integral."""
    values: dict[Powers, Scalar] = {}
    for term in atom.polynomial.terms():
        value: Scalar = term.coefficient.numerator  # atoms are in normal form
        powers: list[tuple[int, int]] = []
        for name, power in term.powers:
            if name in given:
                value *= given[name] ** power
            else:
                powers.append((position[name], power))
        key = tuple(sorted(powers))
        values[key] = values.get(key, 0) + value
    scale = lcm(*(Fraction(value).denominator for value in values.values()))
    return {powers: int(value * scale) for powers, value in values.items() if value}


def _plus(form: Form, number: int) -> Form:
    return {**form, (): form.get((), 0) + number}


def _monomial(powers: Powers, box: Sequence[Interval]) -> Interval:
    result = (1, 1)
    for place, power in powers:
        result = _times(result, _power(box[place], power))
    return result


def _power(interval: Interval, power: int) -> Interval:
    low, high = interval
    ends = sorted((low**power, high**power))
    return (0, ends[1]) if power % 2 == 0 and low < 0 < high else (ends[0], ends[1])


def _times(left: Interval, right: Interval) -> Interval:
    ends = [a * b for a in left for b in right]
    return min(ends), max(ends)
