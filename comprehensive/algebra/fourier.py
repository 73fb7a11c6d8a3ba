"""Fourier-Motzkin elimination with sources: facts in, facts without a symbol out.

    a*x + r >= 0  and  t - b*x > 0   with a, b > 0   -->   b*r + a*t > 0

A `Fact` remembers which atoms of the original system it was derived from, and how, so that a contradiction found
among facts is one of known atoms and can be written down as a proof (`proof.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial
from comprehensive.algebra.rounding import rounded
from comprehensive.algebra.signs import Sign, lower_bounds, sign_on, split_linear
from comprehensive.algebra.symbols import is_integer_symbol


class Fact(Struct, frozen=True, eq=False):
    """An atom that follows from `sources`, which are atoms of the original system; `reason` says how."""

    atom: Atom
    sources: tuple[Atom, ...]
    reason: Crossing | Rounding | Shift | Combination | Square | Branching | None = None
    """None for an atom of the original system."""


Bounds = Mapping[str, tuple[Fraction, Fact]]
"""The largest known lower bound of symbols, and the fact that says so."""


class Bound(Struct, frozen=True):
    """A bound: `slope * x + rest REL 0` from below or `rest - slope * x REL 0` from above, with slope > 0.

    This is `sign` (1 or -1) times the polynomial of `fact`; `supports` say that the slope is positive.
    """

    slope: Polynomial
    rest: Polynomial
    strict: bool
    fact: Fact
    sign: int
    supports: Bounds


class Crossing(Struct, frozen=True):
    """A symbol lies between two bounds."""

    below: Bound
    above: Bound


class Rounding(Struct, frozen=True):
    """The reason of a fact which is another one rounded to integers."""

    fact: Fact


class Shift(Struct, frozen=True):
    """The fact is false where every symbol is at least its bound."""

    fact: Fact
    supports: Bounds


class Combination(Struct, frozen=True):
    """A sum of products of facts, each with a coefficient."""

    parts: tuple[tuple[Fraction, tuple[Fact, ...]], ...]


class Square(Struct, frozen=True):
    """The fact is that the square of this polynomial is not negative."""

    root: Polynomial


class Branching(Struct, frozen=True):
    """False facts for two cases, of which one holds everywhere; the atom of its case is given to each."""

    first: Atom
    second: Atom
    left: Fact
    right: Fact


class Bracket(Struct, frozen=True):
    """The facts about one symbol, sorted by what they say of it.

    Bounds from below, from above, the facts without it, and those that are no bound: not linear in it, or with
    a slope of unknown sign.
    """

    below: tuple[Bound, ...]
    above: tuple[Bound, ...]
    others: tuple[Fact, ...]
    unclear: tuple[Fact, ...]


def originals(atoms: Iterable[Atom]) -> tuple[Fact, ...]:
    """The atoms of a system as facts, each its own source."""
    return tuple(Fact(atom, (atom,)) for atom in atoms)


def least(facts: Iterable[Fact]) -> Bounds:
    """Return for each symbol the largest constant that a fact in it alone puts below it, with that fact."""
    facts = tuple(facts)
    known = {fact.atom: fact for fact in reversed(facts)}
    return {name: (value, known[atom]) for name, (value, atom) in lower_bounds(known).items()}


def restricted(bounds: Bounds, names: Iterable[str]) -> Bounds:
    """The bounds of these symbols."""
    return {name: bounds[name] for name in names}


def sources_of(bounds: Bounds) -> Iterable[Atom]:
    """The atoms behind the bounds."""
    return (atom for _, fact in bounds.values() for atom in fact.sources)


def joined(*groups: Iterable[Atom]) -> tuple[Atom, ...]:
    """All the atoms once, in order of first appearance."""
    return tuple(dict.fromkeys(atom for group in groups for atom in group))


def bracket(facts: Iterable[Fact], name: str, bounds: Bounds) -> Bracket:
    """Sorts the facts by what they say about `name`; an equation bounds from both sides.

    `bounds` are the known lower bounds of the symbols in slopes; with none, only constant slopes have a sign.
    """
    below: list[Bound] = []
    above: list[Bound] = []
    others: list[Fact] = []
    unclear: list[Fact] = []
    for fact in facts:
        if name not in fact.atom.symbols:
            others.append(fact)
            continue
        split = split_linear(fact.atom.polynomial, name)
        sign = Sign.UNKNOWN if split is None else sign_on(split.coefficient, bounds)
        if split is None or sign not in (Sign.POSITIVE, Sign.NEGATIVE):
            unclear.append(fact)
            continue
        slope, rest = split.coefficient, split.rest
        positive = sign is Sign.POSITIVE
        if not positive:
            slope = -slope
        strict = fact.atom.relation is Relation.GT
        # The sign of the slope rests on the bounds of its symbols.
        supports = restricted(bounds, slope.symbols)
        if positive or fact.atom.relation is Relation.EQ:
            turned = 1 if positive else -1
            below.append(Bound(slope, turned * rest, strict, fact, turned, supports))
        if not positive or fact.atom.relation is Relation.EQ:
            turned = -1 if positive else 1
            above.append(Bound(slope, turned * rest, strict, fact, turned, supports))
    return Bracket(tuple(below), tuple(above), tuple(others), tuple(unclear))


def combine(below: Bound, above: Bound) -> Fact:
    """Return what a bound from below and one from above say together: the symbol lies between them."""
    atom = _crossed(below.slope, below.rest, above.slope, above.rest, below.strict or above.strict)
    parts = (below.fact.sources, above.fact.sources, sources_of(below.supports), sources_of(above.supports))
    return Fact(atom, joined(*parts), Crossing(below, above))


def rounded_fact(fact: Fact, is_integer: Callable[[str], bool]) -> Fact:
    """The fact at its integer points."""
    atom = rounded(fact.atom, is_integer)
    return fact if atom is fact.atom else Fact(atom, fact.sources, Rounding(fact))


def rounded_facts(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts at their integer points."""
    return tuple(rounded_fact(fact, is_integer_symbol) for fact in facts)


def eliminate(found: Bracket) -> tuple[Fact, ...]:
    """The facts without the symbol: exact, a point of the result extends to a real value of the symbol.

    Meant for a bracket in which nothing is unclear; unclear facts are left out.
    """
    facts = [*found.others, *(combine(low, high) for low in found.below for high in found.above)]
    return strongest(facts)


def strongest(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts without repetition; the one with the fewest sources stays. True constants are dropped."""
    best: dict[Atom, Fact] = {}
    for fact in facts:
        if fact.atom.truth is True:
            continue
        known = best.get(fact.atom)
        if known is None or len(fact.sources) < len(known.sources):
            best[fact.atom] = fact
    return tuple(best.values())


@lru_cache(maxsize=1 << 16)
def _crossed(a: Polynomial, r: Polynomial, b: Polynomial, t: Polynomial, strict: bool) -> Atom:
    return Atom(b * r + a * t, Relation.GT if strict else Relation.GE)
