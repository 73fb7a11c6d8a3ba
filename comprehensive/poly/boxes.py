"""The box of one reference: its least and greatest coordinates over the loops that vary.

In: a coordinate, linear in the counters, and the axes.  Out: bounds over scalars and fixed iterators, taking each
varying counter to the end that its coefficient's sign asks for, innermost first, so that triangular loops get
their hull.  Example: ``i*s*B + k*B + j`` over ``k < s, j < B`` lies in ``[i*s*B, i*s*B + s*B - 1]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import gcd

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.poly.domains import Axis, Facts, Reference
from comprehensive.poly.indices import ONE, ZERO, is_nonnegative
from comprehensive.poly.lifting import implied
from comprehensive.poly.model import Constraint


class NoBoxError(Exception):
    """An error that says why a reference has no box.

    ``remedy`` is what the user may write so that it has one.
    """

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.remedy = remedy


class Member(Struct, frozen=True):
    """A reference in virtual coordinates with its box ``low[k] <= coordinate k <= high[k]``."""

    reference: Reference
    coordinates: tuple[Polynomial, ...]
    """Polynomials over fixed iterators, scalars and varying counters."""
    low: tuple[Polynomial, ...]
    high: tuple[Polynomial, ...]
    varying: tuple[Axis, ...]


def extreme(
    coordinate: Polynomial, axes: Sequence[Axis], lower: Mapping[str, int], *, greatest: bool
) -> Polynomial:
    """The least or greatest value of the coordinate over the axes.  Raises NoBoxError."""
    for axis in reversed(axes):
        coefficient = coordinate.coefficient(axis.counter, 1)
        if not coefficient:
            continue
        rising = is_nonnegative(coefficient, lower)
        if not rising and not is_nonnegative(-coefficient, lower):
            raise NoBoxError(f"the sign of {coefficient}, the step of {axis.iterator}, is not known")
        if not axis.from_zero:
            raise NoBoxError(f"the range of {axis.iterator} is not known")
        if rising != greatest:
            coordinate = coordinate.substitute({axis.counter: 0})
        elif axis.extent is None and axis.limits:
            raise NoBoxError(
                f"is reached in steps of {axis.iterator} whose number needs a division: step by 1 and multiply"
            )
        elif axis.extent is None:
            raise NoBoxError(f"the range of {axis.iterator} is not known")
        else:
            coordinate = coordinate.substitute({axis.counter: axis.extent - 1})
    return coordinate


def stride_of(members: Sequence[Member], k: int) -> Polynomial:
    """The largest common factor of all steps in coordinate k and of all distances between references."""
    parts = [m.coordinates[k].coefficient(a.counter, 1) for m in members for a in m.varying]
    parts += [m.low[k] - members[0].low[k] for m in members[1:]]
    parts = [p for p in parts if p]
    if not parts:
        return ONE
    common = reduce(lambda a, b: a.gcd(b), parts, ZERO)
    content = reduce(gcd, (int(p.content()) for p in parts), 0)
    # `gcd` is primitive, so that the common integer factor is put back.
    result = common * max(1, content // max(1, int(common.content())))
    if any(t.coefficient < 0 for t in result.terms()):
        return ONE
    return (
        result if all((d := p.divide_exactly(result)) is not None and d.is_integral for p in parts) else ONE
    )


def lesser(a: Polynomial, b: Polynomial, facts: Facts) -> Polynomial | None:
    """The one that is proved to be at most the other; None where neither is."""
    # Most pairs differ by a constant or a tile size, which needs no proof by isl either way round.
    above = b - a
    if is_nonnegative(above, facts.lower):
        return a
    if is_nonnegative(-above, facts.lower):
        return b
    if implied(Constraint(above), facts.constraints, facts.lower):
        return a
    return b if implied(Constraint(-above), facts.constraints, facts.lower) else None


def apart(a: Member | Hull, b: Member | Hull, facts: Facts) -> bool:
    """Whether two boxes are proved to have no element in common, at equal fixed iterators."""
    return any(
        implied(Constraint(b.low[k] - a.high[k] - 1), facts.constraints, facts.lower)
        or implied(Constraint(a.low[k] - b.high[k] - 1), facts.constraints, facts.lower)
        for k in range(len(a.low))
    )


class Hull(Struct, frozen=True):
    """The box of a reference group."""

    members: tuple[Member, ...]
    low: tuple[Polynomial, ...]
    high: tuple[Polynomial, ...]

    @property
    def writes(self) -> bool:
        return any(m.reference.access.mode.writes for m in self.members)


def join(a: Hull, b: Hull, facts: Facts, fixed: frozenset[str]) -> Hull | None:
    """The hull of both, where their distance is the same in every tile and their order is known."""
    low: list[Polynomial] = []
    high: list[Polynomial] = []
    for k in range(len(a.low)):
        for distance in (a.low[k] - b.low[k], a.high[k] - b.high[k]):
            if fixed & set(distance.symbols):
                return None
        least = lesser(a.low[k], b.low[k], facts)
        greatest = lesser(-a.high[k], -b.high[k], facts)
        if least is None or greatest is None:
            return None
        low.append(least)
        high.append(-greatest)
    members = sorted((*a.members, *b.members), key=lambda m: m.reference.access.ordinal)
    return Hull(tuple(members), tuple(low), tuple(high))
