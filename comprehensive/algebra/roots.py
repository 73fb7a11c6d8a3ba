"""Real algebraic numbers, exact: a polynomial in one symbol in, its real roots in ascending order out.

    >>> x = Polynomial.symbol("x")
    >>> [str(root) for root in real_roots((x * x - 2) * (2 * x - 3))]
    ['root 0 of x^2 - 2', 'root 1 of x^2 - 2', '3/2']

A rational root is a `Fraction`; any other one is named by its minimal polynomial and its place among the real roots
of that, so that equal numbers are equal values. Roots are isolated by Vincent's theorem: an interval with no or one
sign variation (Descartes) has no or one root, any other one is bisected. Irreducible polynomials of degree two or more
have no rational root, so that no bisection ever hits one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from math import ceil, floor
from typing import TypeAlias

from comprehensive.algebra.notation import Term, format_terms
from comprehensive.algebra.polynomial import Polynomial

_Coefficients: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Algebraic:
    """An irrational real root of the irreducible polynomial with the given coefficients, constant term first.

    It is the only root between `low` and `high`, which narrow it down and are no part of its identity.
    """

    coefficients: tuple[int, ...]
    index: int
    """Its place among the real roots of the polynomial, in ascending order from 0."""
    low: Fraction = field(compare=False)
    high: Fraction = field(compare=False)

    def refined(self, width: Fraction) -> Algebraic:
        """The same number between rationals that lie at most `width` apart."""
        number = self
        while number.high - number.low > width:
            number = _halved(number)
        return number

    def format(self, symbol: str = "x") -> str:
        """Return the number as text, such as `root 1 of x^2 - 2`; roots are counted from 0."""
        terms = tuple(
            Term(Fraction(c), ((symbol, power),) if power else ())
            for power, c in enumerate(self.coefficients)
            if c
        )
        return f"root {self.index} of {format_terms(terms)}"

    def __str__(self) -> str:
        return self.format()


RealNumber: TypeAlias = Fraction | Algebraic


def real_roots(polynomial: Polynomial) -> tuple[RealNumber, ...]:
    """The distinct real roots, ascending. ValueError for zero and for more than one symbol."""
    if not polynomial or len(polynomial.symbols) > 1:
        raise ValueError(f"roots are those of a polynomial other than 0 in one symbol, not of {polynomial}")
    return ascending(
        root for factor, _ in polynomial.factor()[1] for root in _roots_of_irreducible(_coefficients(factor))
    )


def is_root(polynomial: Polynomial, number: RealNumber) -> bool:
    """Whether a polynomial in at most one symbol vanishes at the number; zero does everywhere."""
    if polynomial.is_constant:
        return not polynomial
    if isinstance(number, Fraction):
        return polynomial.sign_at({polynomial.symbols[0]: number}) == 0
    return any(_coefficients(factor) == number.coefficients for factor, _ in polynomial.factor()[1])


def compare(left: RealNumber, right: RealNumber) -> int:
    """Return -1, 0 or 1 as the left number is less than, equal to or greater than the right one, exactly."""
    if left == right:
        return 0
    while True:
        if _upper(left) <= _lower(right):
            return -1
        if _upper(right) <= _lower(left):
            return 1
        # Different numbers are apart; a rational one is never the end that an irrational one converges to.
        left, right = _narrowed(left), _narrowed(right)


def ascending(numbers: Iterable[RealNumber]) -> tuple[RealNumber, ...]:
    """The distinct numbers, sorted."""
    return tuple(sorted(dict.fromkeys(numbers), key=cmp_to_key(compare)))


def between(low: RealNumber, high: RealNumber) -> Fraction:
    """A rational strictly between two different numbers, `low` the smaller.

    An integer where there is one, of several the one in the middle; else a fraction with a small denominator.
    """
    least, most = _floor(low) + 1, _ceiling(high) - 1
    if least <= most:
        return Fraction((least + most) // 2)
    while _upper(low) >= _lower(high):
        low, high = _narrowed(low), _narrowed(high)
    return _simplest(_upper(low), _lower(high))


def approximate(number: RealNumber, width: Fraction = Fraction(1, 2**60)) -> Fraction:
    """A rational at most `width` away: the number itself where it is rational."""
    if isinstance(number, Fraction):
        return number
    fine = number.refined(width)
    return (fine.low + fine.high) / 2


def _floor(number: RealNumber) -> int:
    if isinstance(number, Fraction):
        return floor(number)
    while number.high > floor(number.low) + 1:
        number = _halved(number)
    return floor(number.low)


def _ceiling(number: RealNumber) -> int:
    return ceil(number) if isinstance(number, Fraction) else _floor(number) + 1


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator strictly between two different ones (Stern and Brocot)."""
    whole = floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        # 1/n for the least n with whole + 1/n < high.
        return whole + Fraction(1, floor(1 / (high - whole)) + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


def _lower(number: RealNumber) -> Fraction:
    return number if isinstance(number, Fraction) else number.low


def _upper(number: RealNumber) -> Fraction:
    return number if isinstance(number, Fraction) else number.high


def _narrowed(number: RealNumber) -> RealNumber:
    return number if isinstance(number, Fraction) else _halved(number)


def _halved(number: Algebraic) -> Algebraic:
    middle = (number.low + number.high) / 2
    # An irreducible polynomial changes its sign at its only root in the interval, and has none that is rational.
    if _sign(number.coefficients, middle) == _sign(number.coefficients, number.low):
        return Algebraic(number.coefficients, number.index, middle, number.high)
    return Algebraic(number.coefficients, number.index, number.low, middle)


def _coefficients(irreducible: Polynomial) -> _Coefficients:
    """Coprime integers, constant term first, the last one positive."""
    found = [0] * (irreducible.total_degree + 1)
    for term in irreducible.terms():
        found[term.total_degree] = term.coefficient.numerator
    return tuple(found)


@lru_cache(maxsize=4096)
def _roots_of_irreducible(coefficients: _Coefficients) -> tuple[RealNumber, ...]:
    if len(coefficients) == 2:
        return (Fraction(-coefficients[0], coefficients[1]),)
    mirrored = tuple(-c if power % 2 else c for power, c in enumerate(coefficients))
    negative = [(-high, -low) for low, high in reversed(_positive_intervals(mirrored))]
    intervals = negative + _positive_intervals(coefficients)
    return tuple(Algebraic(coefficients, i, low, high) for i, (low, high) in enumerate(intervals))


def _positive_intervals(coefficients: _Coefficients) -> list[tuple[Fraction, Fraction]]:
    """Disjoint open intervals around the positive roots, ascending, one root each."""
    # Cauchy: every root is smaller than 1 + max|c_i| / |c_n|.
    bound = 1
    while bound * abs(coefficients[-1]) < abs(coefficients[-1]) + max(map(abs, coefficients[:-1])):
        bound *= 2
    scaled = [c * bound**power for power, c in enumerate(coefficients)]
    found: list[tuple[Fraction, Fraction]] = []
    # Each entry: the polynomial moved so that the interval is (0, 1); the right half waits below the left one.
    waiting: list[tuple[list[int], Fraction, Fraction]] = [(scaled, Fraction(0), Fraction(bound))]
    while waiting:
        moved, low, high = waiting.pop()
        variations = _variations(_shifted(list(reversed(moved))))
        if variations == 1:
            found.append((low, high))
        elif variations > 1:
            middle = (low + high) / 2
            degree = len(moved) - 1
            left = [c << (degree - power) for power, c in enumerate(moved)]
            waiting.append((_shifted(left), middle, high))
            waiting.append((left, low, middle))
    return found


def _shifted(coefficients: list[int]) -> list[int]:
    """The polynomial at x + 1."""
    shifted = list(coefficients)
    for start in range(len(shifted) - 1):
        for power in range(len(shifted) - 2, start - 1, -1):
            shifted[power] += shifted[power + 1]
    return shifted


def _variations(coefficients: Sequence[int]) -> int:
    signs = [c > 0 for c in coefficients if c]
    return sum(a != b for a, b in itertools.pairwise(signs))


def _sign(coefficients: _Coefficients, at: Fraction) -> int:
    value, power = 0, 1
    for coefficient in reversed(coefficients):
        value = value * at.numerator + coefficient * power
        power *= at.denominator
    return (value > 0) - (value < 0)
