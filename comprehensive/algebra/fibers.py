"""The line over one x: curves and an algebraic number in, the heights of their branches there out.

    >>> x, y = Polynomial.symbol("x"), Polynomial.symbol("y")
    >>> (low, root) = real_roots(x * x - 2)
    >>> [str(height) for height in heights(x * x - y, ("x", "y"), root)]
    ['2']
    >>> [str(height) for height in heights(y * y - x, ("x", "y"), root)]
    ['root 0 of x^4 - 2', 'root 1 of x^4 - 2']

Over an irrational x with minimal polynomial m, all heights are among the real roots of the resultant of m and the
curve in x, which also has those over the conjugates of x. Which are which, a bound decides: the curve's values at
pairs of conjugates are the roots of one more polynomial, and so are 0 or not smaller than a known number.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from comprehensive.algebra.polynomial import Polynomial, sum_of
from comprehensive.algebra.roots import Algebraic, RealNumber, between, compare, is_root, real_roots


@lru_cache(maxsize=4096)
def heights(curve: Polynomial, symbols: tuple[str, str], x: RealNumber) -> tuple[RealNumber, ...]:
    """The distinct real y with `curve(x, y) == 0`, ascending; none where the curve does not depend on y there.

    `curve` is irreducible and has y.
    """
    if isinstance(x, Fraction):
        above = curve.substitute({symbols[0]: x})
        return () if above.is_constant else real_roots(above)
    if symbols[0] not in curve.symbols:
        return real_roots(curve)
    projected = _minimal(x, symbols[0]).resultant(curve, symbols[0])
    return tuple(y for y in real_roots(projected) if _vanishes(curve, symbols, x, y))


def sign_at(polynomial: Polynomial, number: RealNumber) -> int:
    """-1, 0 or 1: the sign of a polynomial in at most one symbol."""
    if polynomial.is_constant:
        return polynomial.sign_at({})
    (symbol,) = polynomial.symbols
    if isinstance(number, Fraction):
        return polynomial.sign_at({symbol: number})
    if is_root(polynomial, number):
        return 0
    # Between the number and the next smaller root the sign is that at the number.
    below = [root for root in real_roots(polynomial) if compare(root, number) < 0]
    near = between(below[-1] if below else number.low - 1, number)
    return polynomial.sign_at({symbol: near})


def _vanishes(curve: Polynomial, symbols: tuple[str, str], x: Algebraic, y: RealNumber) -> bool:
    """Whether the curve goes through a point."""
    if isinstance(y, Fraction):
        return sign_at(curve.substitute({symbols[1]: y}), x) == 0
    least = _least_value(curve, symbols, x, y)
    while True:
        low, high = _range(curve, {symbols[0]: (x.low, x.high), symbols[1]: (y.low, y.high)})
        if low > 0 or high < 0:
            return False
        if -least < low and high < least:
            return True
        x, y = x.refined((x.high - x.low) / 2), y.refined((y.high - y.low) / 2)


def _least_value(curve: Polynomial, symbols: tuple[str, str], x: Algebraic, y: Algebraic) -> Fraction:
    """A positive number such that the curve's value at the point, or its absolute value, is 0 or larger."""
    value = "".join(symbols)
    over_x = _minimal(x, symbols[0]).resultant(Polynomial.symbol(value) - curve, symbols[0])
    values = _minimal(y, symbols[1]).resultant(over_x, symbols[1])
    sizes = [abs(term.coefficient) for term in sorted(values.terms(), key=lambda term: term.total_degree)]
    # Cauchy, for the reciprocals of the roots that are not 0.
    return sizes[0] / (sizes[0] + max(sizes))


def _minimal(number: Algebraic, symbol: str) -> Polynomial:
    x = Polynomial.symbol(symbol)
    return sum_of(c * x**power for power, c in enumerate(number.coefficients))


def _range(curve: Polynomial, box: dict[str, tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """Bounds on the values in a box."""
    low = high = Fraction(0)
    for term in curve.terms():
        ends = (term.coefficient, term.coefficient)
        for name, power in term.powers:
            for _ in range(power):
                ends = _extremes(a * b for a in ends for b in box[name])
        low, high = low + ends[0], high + ends[1]
    return low, high


def _extremes(values: Iterable[Fraction]) -> tuple[Fraction, Fraction]:
    found = tuple(values)
    return min(found), max(found)
