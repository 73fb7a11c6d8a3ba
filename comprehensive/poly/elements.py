"""The elements of a box that a group touches in a block, partial tiles included, as constraints on ``@k``.

In: the references of a group.  Out: a :class:`Condition`: the exact union of their images, reduced to what the box
and the facts do not say already; None where a quantifier would be needed or the image is only known from outside.
Example: with a ceiling grid and the guard ``i*B + u < n`` the box ``[i*B, i*B + B)`` keeps ``n - 1 - @0 >= 0``;
with a floor grid nothing.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.poly.boxes import Member
from comprehensive.poly.collapse import collapse
from comprehensive.poly.domains import Facts
from comprehensive.poly.isl_sets import IslSet, Row
from comprehensive.poly.lifting import (
    Form,
    Monomial,
    form_of,
    implied,
    monomials,
    name_of,
    polynomial_of,
    rows_of,
    with_facts,
)
from comprehensive.poly.model import TRUE, Condition, Constraint


class Box(Struct, frozen=True):
    """A tile: ``origin[k] + stride[k]*x``, ``0 <= x < extent[k]``."""

    origin: tuple[Polynomial, ...]
    extent: tuple[Polynomial, ...]
    stride: tuple[Polynomial, ...]

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        found: list[Constraint] = []
        for k, origin in enumerate(self.origin):
            element = element_symbol(k)
            found.append(Constraint(element - origin))
            found.append(Constraint(origin + self.stride[k] * (self.extent[k] - 1) - element))
        return tuple(found)


def element_symbol(k: int) -> Polynomial:
    return Polynomial.symbol(f"@{k}")


def between(member: Member, sure: Sequence[Member], box: Box, facts: Facts) -> bool:
    """Whether every element that ``member`` may touch lies in a row between two that the others touch, or is one.

    Between two elements of an array all others are elements of it, too, whatever its size.
    """
    of_member, of_sure = _images((member,), box), _images(sure, box)
    if of_member is None or of_sure is None:
        return False
    inside = with_facts((*box.constraints, *facts.constraints), facts.lower)
    last, other = element_symbol(len(box.origin) - 1), Polynomial.symbol("@")
    renamed = [
        (tuple(Constraint(c.polynomial.substitute({str(last): other}), c.equality) for c in image), hidden)
        for image, hidden in of_sure
    ]
    below, above = (
        [((*image, Constraint(distance)), hidden | {"@"}) for image, hidden in renamed]
        for distance in (last - other, other - last)
    )
    forms = [
        [(tuple(map(form_of, image)), hidden) for image, hidden in part] for part in (of_member, below, above)
    ]
    everything = monomials(inside).union(*(monomials(f) for part in forms for f, _ in part))
    counters = frozenset[str]().union(*(hidden for part in forms for _, hidden in part))
    known = {name_of(m) for m in everything}
    hidden = {name_of(m) for m in everything if counters & set(m)}
    shown = sorted(known - hidden)
    touched_by, at_or_above, at_or_below = (_union(part, shown, hidden) for part in forms)
    if touched_by is None or at_or_above is None or at_or_below is None:
        return touched_by is None
    here = touched_by.intersect(IslSet.of(shown, rows_of(inside)))
    return here.is_subset(at_or_above.intersect(at_or_below))


Image = tuple[tuple[Constraint, ...], frozenset[str]]
"""Constraints on ``@k`` and counters, and which of these are to be projected out."""


def _images(members: Sequence[Member], box: Box) -> list[Image] | None:
    """One for each member and piece of its guard; None where one of them has no description."""
    images: list[Image] = []
    for member in members:
        for piece in member.reference.guard.pieces:
            image = _image(member, piece, box)
            if image is None:
                return None
            images.append(image)
    return images


def _union(
    images: Sequence[tuple[tuple[Form, ...], frozenset[str]]], shown: Sequence[str], hidden: Set[str]
) -> IslSet | None:
    """All images on the dimensions ``shown``; None where there are none."""
    union: IslSet | None = None
    for forms, _ in images:
        own = sorted({name_of(m) for m in monomials(forms)} & hidden)
        image = IslSet.of([*shown, *own], rows_of(forms)).project(shown)
        union = image if union is None else union.union(image)
    return union


def touched(members: Sequence[Member], box: Box, facts: Facts) -> Condition | None:
    """The elements that the members touch, exactly; None if there is no such description."""
    images = _images(members, box)
    if images is None:
        return None
    inside = with_facts((*box.constraints, *facts.constraints), facts.lower)
    forms = [(tuple(map(form_of, constraints)), counters) for constraints, counters in images]
    everything = monomials(inside).union(*(monomials(f) for f, _ in forms))
    counters = frozenset[str]().union(*(c for _, c in forms))
    known = {name_of(m): m for m in everything}
    hidden = {name for name, m in known.items() if counters & set(m)}
    shown = sorted(known.keys() - hidden)
    union = _union(forms, shown, hidden)
    if union is None:
        return Condition(())
    if IslSet.of(shown, rows_of(inside)).is_subset(union):
        return TRUE
    best: Condition | None = None
    # Coalescing makes one long condition of a cross, and one short condition of overlapping intervals.
    for candidate in (union.coalesced(), union.grown()):
        pieces = candidate.pieces()
        if pieces is None:
            continue
        condition = simplified([_constraints(p, known) for p in pieces], box.constraints, facts)
        if best is None or size(condition) < size(best):
            best = condition
    return best


def size(condition: Condition) -> int:
    """Return how much there is to test in a condition."""
    return sum(len(piece) + 1 for piece in condition.pieces)


def simplified(pieces: Sequence[Sequence[Constraint]], box: Sequence[Constraint], facts: Facts) -> Condition:
    """The pieces without what the box, the facts and their other constraints imply."""
    kept: list[tuple[Constraint, ...]] = []
    for piece in pieces:
        left = list(piece)
        for constraint in sorted(piece, key=_interest):
            others = [c for c in left if c != constraint]
            if implied(constraint, (*box, *facts.constraints, *others), facts.lower):
                left = others
        if not left:
            return TRUE
        if tuple(left) not in kept:
            kept.append(tuple(left))
    return Condition(tuple(kept))


def _interest(constraint: Constraint) -> tuple[int, int, str]:
    """Return the key by which constraints are dropped: long ones first, then those that speak of tiles."""
    polynomial = constraint.polynomial
    return -len(polynomial.terms()), -polynomial.total_degree, str(polynomial)


def _constraints(piece: Sequence[Row], known: dict[str, Monomial]) -> list[Constraint]:
    result: list[Constraint] = []
    for coefficients, constant, equality in piece:
        polynomial = Polynomial.constant(constant)
        for name, coefficient in sorted(coefficients.items()):
            polynomial = polynomial + polynomial_of(known[name]) * coefficient
        result.append(Constraint(polynomial, equality))
    return result


def _image(member: Member, piece: tuple[Constraint, ...], box: Box) -> Image | None:
    """The image of a reference under one conjunction of its guard, with the counters to be projected out."""
    extents: dict[str, Polynomial] = {}
    forms = list(member.coordinates) + [c.polynomial for c in piece]
    loose: list[Constraint] = []
    for axis in member.varying:
        if axis.extent is not None and axis.from_zero:
            extents[axis.counter] = axis.extent
        elif axis.from_zero:
            loose.append(Constraint(Polynomial.symbol(axis.counter)))
        loose += axis.limits
    forms += [c.polynomial for c in loose]
    merged = collapse(forms, extents)
    hidden = set(merged.extents) | {a.counter for a in member.varying}
    polynomials = list(merged.polynomials)
    bounds: list[Constraint] = []
    lattice: set[str] = set()
    for name, extent in merged.extents.items():
        symbol = Polynomial.symbol(name)
        steps = [c for p in polynomials if (c := p.coefficient(name, 1))]
        strided = any(
            polynomials[k].coefficient(name, 1) and box.stride[k] != 1 for k in range(len(box.origin))
        )
        if all(c.is_constant for c in steps) and not strided:
            bounds += [Constraint(symbol), Constraint(extent - 1 - symbol)]
            continue
        # c*x becomes one counter: exact on the lattice of the tile, whose stride is c.
        unit = min(steps, key=lambda c: (sum(abs(t.coefficient) for t in c.terms()), c.sort_key))
        if any(t.coefficient < 0 for t in unit.terms()):
            unit = -unit
        for position, polynomial in enumerate(polynomials):
            multiple = polynomial.coefficient(name, 1).divide_exactly(unit)
            if multiple is None or not multiple.is_constant or not multiple.is_integral:
                return None
            polynomials[position] = polynomial.substitute({name: 0}) + symbol * multiple
        lattice.add(name)
        bounds += [Constraint(symbol), Constraint(unit * (extent - 1) - symbol)]
        for k in range(len(box.origin)):
            here = hidden & set(polynomials[k].symbols)
            if name in here and (len(here) > 1 or box.stride[k] != unit):
                return None
    rank = len(member.coordinates)
    for polynomial in (*polynomials, *(b.polynomial for b in bounds)):
        for term in polynomial.terms():
            names = [n for n, p in term.powers for _ in range(p)]
            if hidden & set(names) and len(names) > 1:
                return None
    constraints = [Constraint(element_symbol(k) - polynomials[k], equality=True) for k in range(rank)]
    guards = polynomials[rank : rank + len(piece)]
    constraints += [Constraint(p, c.equality) for p, c in zip(guards, piece, strict=True)]
    constraints += [Constraint(p) for p in polynomials[rank + len(piece) :]]
    return (*constraints, *bounds), frozenset(hidden)
