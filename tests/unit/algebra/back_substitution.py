"""Back-substitution: a triangular description and boxes in, its integer points one after the other out.

    1 <= B, B^2 <= Z;  1 <= s, s <= Z/B   with Z = 4   -->   (1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2)

Each variable runs from its largest lower to its smallest upper limit; nothing is tried in between but the checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from math import prod

from comprehensive.algebra.polynomial import Scalar
from comprehensive.algebra.relaxation import Form, Interval, forms_of, in_powers
from comprehensive.algebra.symbols import is_integer_symbol
from comprehensive.algebra.triangular import Piece, Triangular

Box = Mapping[str, Interval]
"""The least and the largest value of variables, both included."""


def back_substitute(
    description: Triangular, box: Box | None = None, given: Mapping[str, Scalar] | None = None
) -> Iterator[tuple[int, ...]]:
    """The integer points in the box, in lexicographic order of the description's variables.

    `given` are the values of the parameters.  ValueError names variables that neither the description nor the box
    bounds, variables that are no integers, and parameters without a value.
    """
    limits, values = box or {}, given or {}
    _refuse([name for name in description.parameters if name not in values], "no value is given")
    _refuse([name for name in description.order if not is_integer_symbol(name)], "not an integer variable")
    pieces = [piece for piece in description.pieces if all(atom.holds(values) for atom in piece.guard)]
    for side, missing in (
        ("below", [x.name for piece in pieces for x in piece.levels if not x.lower and x.name not in limits]),
        ("above", [x.name for piece in pieces for x in piece.levels if not x.upper and x.name not in limits]),
    ):
        _refuse(sorted(set(missing), key=description.order.index), f"not bounded from {side}, and in no box")
    # The pieces are disjoint, so that no point comes twice.
    return merge(*(_points(steps, ()) for piece in pieces for steps in _steps(piece, limits, values)))


def _refuse(names: Sequence[str], reason: str) -> None:
    if names:
        raise ValueError(f"{', '.join(names)}: {reason}")


@dataclass(frozen=True, slots=True)
class _Step:
    """A level with integer forms: each is at least 0, as a polynomial in the variable, by power."""

    name: str
    lower: tuple[Mapping[int, Form], ...]
    upper: tuple[Mapping[int, Form], ...]
    checks: tuple[Mapping[int, Form], ...]
    box: tuple[int | None, int | None]


def _steps(piece: Piece, box: Box, given: Mapping[str, Scalar]) -> Iterator[tuple[_Step, ...]]:
    """One sequence of steps, or none where a limit fails for the given values alone."""
    names = [level.name for level in piece.levels]
    steps: list[_Step] = []
    for place, level in enumerate(piece.levels):
        lower = forms_of([limit.atom for limit in level.lower], names, given)
        upper = forms_of([limit.atom for limit in level.upper], names, given)
        checks = forms_of(level.checks, names, given)
        if lower is None or upper is None or checks is None:
            return
        groups = [tuple(in_powers(form, place) for form in forms) for forms in (lower, upper, checks)]
        steps.append(_Step(level.name, groups[0], groups[1], groups[2], box.get(level.name, (None, None))))
    yield tuple(steps)


def _points(steps: Sequence[_Step], earlier: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if len(earlier) == len(steps):
        yield earlier
        return
    step = steps[len(earlier)]
    checks = [_at(form, earlier) for form in step.checks]
    for value in _interval(step, earlier):
        if all(_value(check, value) >= 0 for check in checks):
            yield from _points(steps, (*earlier, value))


def _interval(step: _Step, earlier: tuple[int, ...]) -> range:
    """Return the integers from the largest lower to the smallest upper limit.

    `earlier` are the values of the variables before. ValueError where a side has no limit.
    """
    low, high = step.box
    lower = [_at(form, earlier) for form in step.lower]
    upper = [_at(form, earlier) for form in step.upper]
    if any(len(polynomial) == 1 and polynomial[0] < 0 for polynomial in (*lower, *upper)):
        return range(0)
    for polynomial in lower:
        if len(polynomial) == 2:
            bound = -(polynomial[0] // polynomial[1])
            low = bound if low is None else max(low, bound)
    for polynomial in upper:
        if len(polynomial) == 2:
            bound = polynomial[0] // -polynomial[1]
            high = bound if high is None else min(high, bound)
    if low is None:
        raise ValueError(f"{step.name}: not bounded from below where the earlier variables are {earlier}")
    # Above the least value, polynomials of higher degree hold up to a root, or from one on.
    for polynomial in upper:
        if len(polynomial) > 2:
            high = _change(polynomial, low, high, holds=True) - 1
    for polynomial in lower:
        if len(polynomial) > 2:
            low = _change(polynomial, low, high, holds=False)
    if high is None:
        raise ValueError(f"{step.name}: not bounded from above where the earlier variables are {earlier}")
    return range(low, high + 1)


def _change(polynomial: Sequence[int], low: int, high: int | None, *, holds: bool) -> int:
    """The first value from `low` on, `high + 1` at most, where `polynomial >= 0` is no longer as `holds` says."""
    step = 1
    top = low
    while high is None or top <= high:
        if (_value(polynomial, top) >= 0) is not holds:
            break
        low, top, step = top + 1, top + step, 2 * step
    else:
        top = max(low, high + 1)
    while low < top:
        middle = (low + top) // 2
        if (_value(polynomial, middle) >= 0) is holds:
            low = middle + 1
        else:
            top = middle
    return low


def _at(form: Mapping[int, Form], earlier: tuple[int, ...]) -> tuple[int, ...]:
    """The coefficients, by ascending power, where the earlier variables have these values."""
    values = [0] * (max(form) + 1)
    for power, coefficient in form.items():
        for powers, factor in coefficient.items():
            values[power] += factor * prod(earlier[place] ** exponent for place, exponent in powers)
    while len(values) > 1 and values[-1] == 0:
        values.pop()
    return tuple(values)


def _value(polynomial: Sequence[int], value: int) -> int:
    total = 0
    for coefficient in reversed(polynomial):
        total = total * value + coefficient
    return total
