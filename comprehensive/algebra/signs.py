"""Signs of polynomials where every symbol is at least its known bound: polynomial and bounds in, sign out.

Shift every symbol by its lower bound; when all coefficients then have one sign, so has the polynomial:

    B >= 1, s >= 1:   2*s*B - 2  -->  2*s'*B' + 2*s' + 2*B'  >= 0   where s', B' >= 0

Sufficient, not necessary, and it decides nearly every prune of a real decision tree.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from math import prod

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial

# Of an expanded polynomial; a hundred times what any counter has.
MOST_TERMS = 20_000


class Sign(Enum):
    """The knowledge of how the values of a polynomial on a set compare with 0."""

    POSITIVE = "> 0"
    NON_NEGATIVE = ">= 0"
    ZERO = "== 0"
    NON_POSITIVE = "<= 0"
    NEGATIVE = "< 0"
    UNKNOWN = "?"


_REFUTING = {
    Relation.GE: {Sign.NEGATIVE},
    Relation.GT: {Sign.NEGATIVE, Sign.NON_POSITIVE, Sign.ZERO},
    Relation.EQ: {Sign.NEGATIVE, Sign.POSITIVE},
}
_PROVING = {
    Relation.GE: {Sign.POSITIVE, Sign.NON_NEGATIVE, Sign.ZERO},
    Relation.GT: {Sign.POSITIVE},
    Relation.EQ: {Sign.ZERO},
}


class Split(Struct, frozen=True):
    """The polynomial of an atom seen as linear in one symbol: `coefficient * name + rest`."""

    coefficient: Polynomial
    rest: Polynomial


@lru_cache(maxsize=1 << 16)
def split_linear(polynomial: Polynomial, name: str) -> Split | None:
    """The polynomial as linear in `name`; None when its degree in it is not 1."""
    if polynomial.degree(name) != 1:
        return None
    return Split(polynomial.coefficient(name, 1), polynomial.coefficient(name, 0))


def lower_bounds(atoms: Iterable[Atom]) -> dict[str, tuple[Fraction, Atom]]:
    """Return for each symbol the largest constant that an atom in it alone puts below it, with that atom."""
    bounds: dict[str, tuple[Fraction, Atom]] = {}
    for atom in atoms:
        value = constant_bound(atom)
        if value is None or (value[0] < 0 and atom.relation is not Relation.EQ):
            continue  # no bound, or one from above
        name = atom.symbols[0]
        if name not in bounds or value[1] > bounds[name][0]:
            bounds[name] = (value[1], atom)
    return bounds


@lru_cache(maxsize=1 << 16)
def constant_bound(atom: Atom) -> tuple[int, Fraction] | None:
    """Return `(side, value)` of an atom `c*x + d REL 0`; None for others.

    Side 1 bounds x from below, -1 from above.
    """
    if len(atom.symbols) != 1:
        return None
    split = split_linear(atom.polynomial, atom.symbols[0])
    if split is None:
        return None
    slope = split.coefficient.constant_value()
    return (1 if slope > 0 else -1), -split.rest.constant_value() / slope


def sign_on(polynomial: Polynomial, bounds: Mapping[str, tuple[Fraction, object]]) -> Sign:
    """The sign of the polynomial where every symbol is at least its bound."""
    if polynomial.is_constant:
        return _shifted_sign(polynomial, ())
    if any(name not in bounds for name in polynomial.symbols):
        return Sign.UNKNOWN
    return _shifted_sign(polynomial, tuple(bounds[name][0] for name in polynomial.symbols))


def refutes(atom: Atom, bounds: Mapping[str, tuple[Fraction, object]]) -> bool:
    """Whether the atom is false wherever every symbol is at least its bound."""
    return sign_on(atom.polynomial, bounds) in _REFUTING[atom.relation]


def proves(atom: Atom, bounds: Mapping[str, tuple[Fraction, object]]) -> bool:
    """Whether the atom is true wherever every symbol is at least its bound."""
    return sign_on(atom.polynomial, bounds) in _PROVING[atom.relation]


def expanded_terms(polynomial: Polynomial, shifted: Container[str]) -> int:
    """Return a bound on the number of terms that the polynomial has once these symbols are shifted."""
    return sum(
        prod(power + 1 for name, power in term.powers if name in shifted) for term in polynomial.terms()
    )


@lru_cache(maxsize=1 << 16)
def _shifted_sign(polynomial: Polynomial, shifts: tuple[Fraction, ...]) -> Sign:
    moving = {name for name, shift in zip(polynomial.symbols, shifts, strict=True) if shift}
    if expanded_terms(polynomial, moving) > MOST_TERMS:
        return Sign.UNKNOWN
    moved = polynomial.substitute(
        {
            name: Polynomial.symbol(name) + shift
            for name, shift in zip(polynomial.symbols, shifts, strict=True)
            if shift
        }
    )
    if not moved:
        return Sign.ZERO
    terms = moved.terms()
    constant = not terms[-1].powers
    if all(term.coefficient > 0 for term in terms):
        return Sign.POSITIVE if constant else Sign.NON_NEGATIVE
    if all(term.coefficient < 0 for term in terms):
        return Sign.NEGATIVE if constant else Sign.NON_POSITIVE
    return Sign.UNKNOWN
