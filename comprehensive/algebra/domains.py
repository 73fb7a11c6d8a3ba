"""Finite domains of integer variables: limits in, the values in ascending order out.

>>> powers_of_two(20), divisors(12), list(multiples(32, 100)), list(box(3, 5))
((1, 2, 4, 8, 16), (1, 2, 3, 4, 6, 12), [32, 64, 96], [3, 4, 5])
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

Domain = Sequence[int]
"""The values that a variable may take; a `range` is never written out."""


def powers_of_two(limit: int) -> tuple[int, ...]:
    """Return 1, 2, 4, ... up to the limit."""
    return tuple(1 << exponent for exponent in range(max(0, limit).bit_length()))


def divisors(number: int) -> tuple[int, ...]:
    """The positive divisors. ValueError for numbers below 1; trial division, for the sizes of problems."""
    if number < 1:
        raise ValueError(f"only positive numbers have finitely many divisors, not {number}")
    small = [candidate for candidate in range(1, isqrt(number) + 1) if number % candidate == 0]
    return tuple(sorted({*small, *(number // divisor for divisor in small)}))


def multiples(step: int, limit: int) -> range:
    """Return `step`, `2*step`, ... up to the limit. ValueError for a step below 1."""
    if step < 1:
        raise ValueError(f"a step is positive, not {step}")
    return range(step, limit + 1, step)


def box(low: int, high: int) -> range:
    """All integers from `low` to `high`, both included; none where `high` is less."""
    return range(low, high + 1)
