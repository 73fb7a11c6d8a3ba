"""Whole times: a polynomial is in another one so often, as a row of so many elements is in a distance.

::

    n in i*n + i         i times, and i is left over
    n + 2 in 2*n + 5     2 times, and 1 is left over
    3 in n               not a whole number of times that is known: 0 times

A quotient without a remainder is the answer; else, of a divisor that is no number, its first term decides.
"""

from __future__ import annotations

from comprehensive.algebra.polynomial import Polynomial, sum_of


def whole_times(value: Polynomial, part: Polynomial) -> Polynomial:
    """Return a polynomial with integer coefficients: how often ``part``, which is not 0, is in ``value``."""
    exact = integral_quotient(value, part)
    if exact is not None:
        return exact
    if part.is_constant:
        return Polynomial.constant(0)
    first = Polynomial.from_terms(part.terms()[:1])
    each = (integral_quotient(Polynomial.from_terms((term,)), first) for term in value.terms())
    return sum_of(times for times in each if times is not None)


def integral_quotient(value: Polynomial, part: Polynomial) -> Polynomial | None:
    """Return the quotient without a remainder, if there is one with integer coefficients."""
    quotient = value.divide_exactly(part)
    return quotient if quotient is not None and quotient.is_integral else None
