"""Signs of polynomials where atoms hold: the atoms and a polynomial in, the signs it may have out.

    s >= 1, B - u > 0:   (s - 1)*(B - u)  may be 0 or positive

Products follow from their factors, which are looked up among the atoms; the rest is left to `signs.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial
from comprehensive.algebra.signs import Sign, lower_bounds, sign_on

SignSet = frozenset[int]
"""The signs that a polynomial may have."""

POSITIVE, ZERO, NEGATIVE = frozenset({1}), frozenset({0}), frozenset({-1})
AT_LEAST_0, AT_MOST_0, EITHER = frozenset({0, 1}), frozenset({-1, 0}), frozenset({-1, 1})
ANY = AT_LEAST_0 | NEGATIVE

_ALLOWED = {Relation.GE: AT_LEAST_0, Relation.GT: POSITIVE, Relation.EQ: ZERO}
_SIGNS = {
    Sign.POSITIVE: POSITIVE,
    Sign.NON_NEGATIVE: AT_LEAST_0,
    Sign.ZERO: ZERO,
    Sign.NON_POSITIVE: AT_MOST_0,
    Sign.NEGATIVE: NEGATIVE,
    Sign.UNKNOWN: ANY,
}


class Signs:
    """Signs of polynomials where all of some atoms hold."""

    def __init__(self, atoms: Sequence[Atom]) -> None:
        self.bounds = lower_bounds(atoms)
        self._atoms = frozenset(atoms)

    def of(self, polynomial: Polynomial) -> SignSet:
        """The signs that the polynomial may have, by its factors and by the bounds of its symbols."""
        scale, factors = factors_of(polynomial)
        signs: SignSet = frozenset({(scale > 0) - (scale < 0)})
        for factor, power in factors:
            # An odd power has the sign of its base, an even one that of the square.
            signs = frozenset(a * b ** (2 - power % 2) for a in signs for b in self._of_factor(factor))
        return signs & self.of_shifted(polynomial)

    def of_shifted(self, polynomial: Polynomial) -> SignSet:
        """The signs that the bounds of the symbols alone leave."""
        return _SIGNS[sign_on(polynomial, self.bounds)]

    def of_sum(self, left: Polynomial, right: Polynomial) -> SignSet:
        """The signs that the sum may have; what is known of the two counts as well."""
        parts, total = self.of(left) | self.of(right), self.of(left + right)
        for side in (AT_LEAST_0, AT_MOST_0):
            if parts <= side:
                strictly = ZERO.isdisjoint(self.of(left)) or ZERO.isdisjoint(self.of(right))
                total &= side - ZERO if strictly else side
        return total

    def first(self, polynomial: Polynomial, signs: SignSet) -> Polynomial | None:
        """The first irreducible factor that may have all of these signs."""
        _, factors = factors_of(polynomial)
        return next((factor for factor, _ in factors if self._of_factor(factor) >= signs), None)

    def _of_factor(self, factor: Polynomial) -> SignSet:
        signs = self.of_shifted(factor)
        for relation, possible in _ALLOWED.items():
            if Atom(factor, relation) in self._atoms:
                signs &= possible
            if Atom(-factor, relation) in self._atoms:
                signs &= frozenset(-sign for sign in possible)
        return signs


@lru_cache(maxsize=1 << 12)
def factors_of(polynomial: Polynomial) -> tuple[Fraction, tuple[tuple[Polynomial, int], ...]]:
    """The memoised `polynomial.factor()`."""
    return polynomial.factor()
