"""Contradictions of single atoms and of pairs of bounds, each looked for once: atoms in, a false fact or bounds out.

    known = compared(parent.all_atoms)      # Pairs, or a Fact that is false
    known.extended([atom])                  # compares the new atom alone, with the bounds on its symbols

    Z_B >= 2*s*B + 2,  Z_B < 2*B + 2,  s >= 1,  B >= 1    -->   contradiction: 2*B - 2*s*B > 0 is never true

All facts are rounded to what they say of integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.fourier import (
    Bound,
    Bounds,
    Fact,
    Shift,
    bracket,
    combine,
    joined,
    least,
    restricted,
    rounded_fact,
    sources_of,
)
from comprehensive.algebra.polynomial import Polynomial
from comprehensive.algebra.rounding import rounded
from comprehensive.algebra.signs import constant_bound, refutes
from comprehensive.algebra.symbols import is_integer_symbol

FALSE = Atom(Polynomial(-1), Relation.GE)


class Pairs(Struct, frozen=True):
    """Facts of which no one alone, and no two bounds with constant slopes on one symbol, are a contradiction."""

    facts: tuple[Fact, ...]
    bounds: Bounds
    below: Mapping[str, tuple[Bound, ...]]
    above: Mapping[str, tuple[Bound, ...]]

    def extended(self, atoms: Iterable[Atom]) -> Pairs | Fact:
        """The same with more atoms, or the contradiction that they bring."""
        added = tuple(whole_fact(atom) for atom in atoms)
        facts = self.facts + added
        if any(constant_bound(fact.atom) is not None for fact in added):
            bounds = least(facts)
            if bounds.keys() != self.bounds.keys() or any(
                value > self.bounds[name][0] for name, (value, _) in bounds.items()
            ):
                return _compared(facts, bounds)
        below, above = dict(self.below), dict(self.above)
        found = _add(added, self.bounds, below, above)
        return Pairs(facts, self.bounds, below, above) if found is None else found


def compared(atoms: Iterable[Atom]) -> Pairs | Fact:
    """The atoms, compared, or a contradiction of one of them or of two bounds on a symbol."""
    facts = tuple(whole_fact(atom) for atom in atoms)
    return _compared(facts, least(facts))


@lru_cache(maxsize=1 << 16)
def whole_fact(atom: Atom) -> Fact:
    """The atom as a fact, at its integer points."""
    return rounded_fact(Fact(atom, (atom,)), is_integer_symbol)


def contradiction(fact: Fact, bounds: Bounds) -> Fact | None:
    """Return the false fact that follows from one where every symbol is at least its bound; None without one."""
    if fact.atom.truth is False:
        return fact
    if not refutes(fact.atom, bounds):
        return None
    supports = restricted(bounds, fact.atom.symbols)
    return Fact(FALSE, joined(fact.sources, sources_of(supports)), Shift(fact, supports))


def crossing(low: Bound, high: Bound, bounds: Bounds) -> Fact | None:
    """The contradiction of two bounds that leave no room between them."""
    gap = _gap(low.slope, low.rest, high.slope, high.rest, low.strict or high.strict)
    if gap.truth is not False and not refutes(gap, bounds):
        return None
    return contradiction(rounded_fact(combine(low, high), is_integer_symbol), bounds)


def _compared(facts: tuple[Fact, ...], bounds: Bounds) -> Pairs | Fact:
    below: dict[str, tuple[Bound, ...]] = {}
    above: dict[str, tuple[Bound, ...]] = {}
    found = _add(facts, bounds, below, above)
    return Pairs(facts, bounds, below, above) if found is None else found


def _add(
    facts: Iterable[Fact],
    bounds: Bounds,
    below: dict[str, tuple[Bound, ...]],
    above: dict[str, tuple[Bound, ...]],
) -> Fact | None:
    """Compares the facts, one after the other, with the bounds so far and enters their own."""
    for fact in facts:
        found = contradiction(fact, bounds)
        if found is not None:
            return found
        for name, lows, highs in _sides(fact):
            for new, others in ((lows, above), (highs, below)):
                for bound in new:
                    for other in others.get(name, ()):
                        low, high = (bound, other) if others is above else (other, bound)
                        found = crossing(low, high, bounds)
                        if found is not None:
                            return found
            below[name] = below.get(name, ()) + lows
            above[name] = above.get(name, ()) + highs
    return None


@lru_cache(maxsize=1 << 16)
def _sides(fact: Fact) -> tuple[tuple[str, tuple[Bound, ...], tuple[Bound, ...]], ...]:
    """Return for each symbol the bounds from below and from above that the fact gives it."""
    found = ((name, bracket([fact], name, {})) for name in fact.atom.symbols)
    return tuple((name, seen.below, seen.above) for name, seen in found if seen.below or seen.above)


@lru_cache(maxsize=1 << 16)
def _gap(a: Polynomial, r: Polynomial, b: Polynomial, t: Polynomial, strict: bool) -> Atom:
    """The two bounds with constant slopes together, at integers."""
    return rounded(Atom(b * r + a * t, Relation.GT if strict else Relation.GE), is_integer_symbol)
