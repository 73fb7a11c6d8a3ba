"""Rational functions compared with zero: a quotient and what is known of signs in, an atom without a quotient out.

    a/b >= 0   -->   a >= 0  where b > 0;   -a >= 0  where b < 0;   a*b >= 0  where b is never 0

A denominator that may be 0 makes no atom: where it is 0, there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Callable

from comprehensive.algebra.atom import Atom, Relation
from comprehensive.algebra.polynomial import Polynomial
from comprehensive.algebra.rational import RationalFunction
from comprehensive.algebra.sign_sets import NEGATIVE, POSITIVE, SignSet


class DenominatorError(ValueError):
    """A value is divided by `denominator`, which may be 0."""

    def __init__(self, denominator: Polynomial) -> None:
        super().__init__(f"the denominator {denominator} may be 0")
        self.denominator = denominator


def compared(
    value: Polynomial | RationalFunction, relation: Relation, signs: Callable[[Polynomial], SignSet]
) -> Atom:
    """Return the atom `value relation 0`, where `signs` gives the signs that a denominator may have.

    DenominatorError where it may be 0.
    """
    if isinstance(value, Polynomial):
        return Atom(value, relation)
    if value.denominator.is_constant:
        return Atom(value.numerator, relation)
    found = signs(value.denominator)
    if 0 in found:
        raise DenominatorError(value.denominator)
    if found == POSITIVE:
        return Atom(value.numerator, relation)
    if found == NEGATIVE:
        return Atom(-value.numerator, relation)
    # The square of the denominator is positive, whatever its sign.
    return Atom(value.numerator * value.denominator, relation)
