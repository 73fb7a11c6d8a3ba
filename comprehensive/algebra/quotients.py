"""Floors and ceilings: a quotient and what is known of signs in, a polynomial and what defines it out.

    floor_of(RationalFunction(N, s * B), signs)   -->   the symbol "floor(N/(B*s))", called k below, where
        s*B*k <= N,  N < s*B*k + s*B,  0 <= k      (the last where N is known not to be negative)

    N mod (s*B) == 0    is    equal(N - s * B * k, 0)    where the same atoms hold

A definition has one solution for its symbol at every point of the others. So it belongs to the assumptions: decisions
about the value may then be negated. The symbol is named by its quotient, so that equal quotients share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from msgspec import Struct

from comprehensive.algebra.atom import Atom, at_least, at_most, less
from comprehensive.algebra.comparison import DenominatorError
from comprehensive.algebra.polynomial import Polynomial, Scalar
from comprehensive.algebra.rational import RationalFunction
from comprehensive.algebra.sign_sets import AT_LEAST_0, NEGATIVE, POSITIVE, Signs, SignSet
from comprehensive.algebra.symbols import is_integer_symbol

_FLOOR, _CEILING = "floor(", "ceil("

Value = Polynomial | RationalFunction
SignsOf = Callable[[Polynomial], SignSet]
"""The signs that a polynomial may have: `Signs(atoms).of`, with the definitions of its symbols among the atoms."""


class Quotient(Struct, frozen=True):
    """The quotient `above / below`, rounded up or down, for which `symbol` stands.

    `below` is positive, and the value is at least `least`, if that is known.
    """

    symbol: str
    above: Polynomial
    below: Polynomial
    rounds_up: bool
    least: int | None

    @property
    def definition(self) -> tuple[Atom, ...]:
        """The atoms that have one solution for the symbol.

        The lower bound follows from the rest, but not at a glance, and signs of what is divided by the value rest on
        it.
        """
        return _definition(self)

    def value(self, point: Mapping[str, Scalar]) -> int:
        """Return the value of the symbol at a point. KeyError names a symbol that the point does not give."""
        above_scale, above = self.above.scaled_value(point)
        below_scale, below = self.below.scaled_value(point)
        above, below = above * below_scale, below * above_scale
        return -(-above // below) if self.rounds_up else above // below


@lru_cache(maxsize=1 << 12)
def _definition(quotient: Quotient) -> tuple[Atom, ...]:
    """The atoms of a quotient, which are asked for again and again."""
    found, above, below = Polynomial.symbol(quotient.symbol), quotient.above, quotient.below
    bound = () if quotient.least is None else (at_least(found, quotient.least),)
    if quotient.rounds_up:
        return (at_least(below * found, above), less(below * found - below, above), *bound)
    return (at_most(below * found, above), less(above, below * found + below), *bound)


def with_quotients(point: Mapping[str, Scalar], quotients: Iterable[Quotient]) -> dict[str, Scalar]:
    """The point with the values of all quotients that it determines, each after those that it is made of."""
    completed = dict(point)
    for quotient in quotients:
        try:
            completed[quotient.symbol] = quotient.value(completed)
        except KeyError:  # not `suppress`, which takes longer than most values
            continue
    return completed


def parameters_of(symbols: Iterable[str], quotients: Sequence[Quotient]) -> tuple[str, ...]:
    """The symbols, each once, those that quotients are made of in the places of these."""
    made = {quotient.symbol: (*quotient.above.symbols, *quotient.below.symbols) for quotient in quotients}
    expanded = dict.fromkeys(symbols)
    while any(name in made for name in expanded):
        expanded = dict.fromkeys(part for name in expanded for part in made.get(name, (name,)))
    return tuple(expanded)


def monotone(quotients: Sequence[Quotient], atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """Return `q1 <= q2` where dividend and divisor say so, for quotients rounded alike where `atoms` hold.

    ceil(r/U) <= ceil(2*r/U), and so floor(R/(U*ceil(2*r/U))) <= floor(R/(U*ceil(r/U))): a quotient comes after those
    that it is made of. It follows from the definitions, but is hard to find.
    """
    found: list[Atom] = []
    signs = Signs(atoms)
    for at, later in enumerate(quotients):
        for earlier in quotients[:at]:
            for small, large in ((earlier, later), (later, earlier)):
                if (
                    small.rounds_up == large.rounds_up
                    and signs.of(large.above - small.above) <= AT_LEAST_0
                    and signs.of(small.below - large.below) <= AT_LEAST_0
                    and signs.of(small.above) <= AT_LEAST_0
                ):
                    found.append(at_most(Polynomial.symbol(small.symbol), Polynomial.symbol(large.symbol)))
                    signs = Signs((*atoms, *found))
    return tuple(found)


class Defined(Struct, frozen=True):
    """A value and the quotients in it: it is what was asked for at every point where `definition` holds."""

    value: Polynomial
    quotients: tuple[Quotient, ...] = ()
    """The new symbols."""

    @property
    def definition(self) -> tuple[Atom, ...]:
        return tuple(atom for quotient in self.quotients for atom in quotient.definition)


class _Fraction(Struct, frozen=True):
    """The fraction `above / below` with integer coefficients, `below` positive."""

    above: Polynomial
    below: Polynomial

    def settled(self, rounding: Callable[[Fraction], int]) -> Polynomial | None:
        """The rounded value where it needs no symbol: that of a constant, or what is an integer by itself."""
        if self.above.is_constant and self.below.is_constant:
            return Polynomial(rounding(self.above.constant_value() / self.below.constant_value()))
        return self.above if self.below == 1 and all(map(is_integer_symbol, self.above.symbols)) else None

    def named(self, kind: str, least: int | None) -> Defined:
        symbol = f"{kind}{_spelled(self.above, with_products=True)}/{_spelled(self.below)})"
        quotient = Quotient(symbol, self.above, self.below, kind == _CEILING, least)
        return Defined(Polynomial.symbol(symbol), (quotient,))


def floor_of(value: Value, signs: SignsOf) -> Defined:
    """The largest integer that is not above the value. DenominatorError where a denominator may be 0."""
    fraction = _fraction(value, signs)
    settled = fraction.settled(floor)
    if settled is not None:
        return Defined(settled)
    above, below = fraction.above, fraction.below
    least = 1 if signs(above - below) <= AT_LEAST_0 else 0 if signs(above) <= AT_LEAST_0 else None
    return fraction.named(_FLOOR, least)


def ceiling_of(value: Value, signs: SignsOf) -> Defined:
    """The least integer that is not below the value. DenominatorError where a denominator may be 0."""
    fraction = _fraction(value, signs)
    settled = fraction.settled(ceil)
    if settled is not None:
        return Defined(settled)
    least = 1 if signs(fraction.above) <= POSITIVE else 0 if signs(fraction.above) <= AT_LEAST_0 else None
    return fraction.named(_CEILING, least)


def _fraction(value: Value, signs: SignsOf) -> _Fraction:
    quotient = value if isinstance(value, RationalFunction) else RationalFunction(value)
    scale, _ = quotient.numerator.integers()
    above, below = quotient.numerator * scale, quotient.denominator * scale
    found = signs(below)
    if 0 in found:
        raise DenominatorError(quotient.denominator)
    if found == POSITIVE:
        return _Fraction(above, below)
    if found == NEGATIVE:
        return _Fraction(-above, -below)
    # The square of the denominator is positive, whatever its sign.
    return _Fraction(above * below, below**2)


def _spelled(polynomial: Polynomial, *, with_products: bool = False) -> str:
    """The polynomial in a name, sums in parentheses, and products unless they may go without.

    Two that differ are never spelled alike. ValueError for a symbol that is neither an identifier nor made here.
    """
    for name in polynomial.symbols:
        if not name.isidentifier() and not name.startswith((_FLOOR, _CEILING)):
            raise ValueError(f"a quotient of {name!r} has no name of its own")
    terms = polynomial.terms()
    factors = max(len(term.powers) + (term.coefficient != 1) for term in terms)
    is_plain = len(terms) == 1 and (with_products or factors <= 1)
    return str(polynomial) if is_plain else f"({polynomial})"
