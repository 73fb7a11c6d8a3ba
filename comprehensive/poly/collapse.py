"""Mixed-radix collapse: two digits of one number become one counter.

``k*B + j, k < s, j < B  -->  y, y < s*B``: allowed where, in every polynomial given, the coefficient of the high
digit is that of the low one times the extent of the low one.  The map is a bijection, so nothing is lost or added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from comprehensive.algebra import Polynomial

Extents = dict[str, Polynomial]


@dataclass(frozen=True, slots=True)
class Collapsed:
    """The ``polynomials`` over fewer counters, with their ``extents``, and what each new counter stands for."""

    polynomials: tuple[Polynomial, ...]
    extents: Extents
    digits: dict[str, tuple[str, ...]]


def collapse(polynomials: Sequence[Polynomial], extents: Extents) -> Collapsed:
    """Merges digits until no two are left that fit; counters whose extent speaks of counters stay apart."""
    work = list(polynomials)
    free = dict(extents)
    digits: dict[str, tuple[str, ...]] = {name: (name,) for name in free}
    while (pair := _fitting(work, free)) is not None:
        high, low = pair
        # The new counter keeps its digits in its name; "." is in no identifier.
        merged = f"{high}.{low}"
        symbol = Polynomial.symbol(merged)
        work = [p.substitute({high: 0, low: symbol}) if low in p.symbols else p for p in work]
        free = {n: e for n, e in free.items() if n not in pair} | {merged: free[high] * free[low]}
        digits[merged] = digits.pop(high) + digits.pop(low)
    return Collapsed(tuple(work), free, digits)


def _fitting(polynomials: list[Polynomial], extents: Extents) -> tuple[str, str] | None:
    fixed = {s for e in extents.values() for s in e.symbols}
    used = [n for n in sorted(extents) if any(n in p.symbols for p in polynomials)]
    for high in used:
        for low in used:
            if (
                high == low
                or high in fixed
                or low in fixed
                or any(s in extents for s in extents[low].symbols)
            ):
                continue
            if any(s in extents for s in extents[high].symbols):
                continue
            if all(p.coefficient(high, 1) == p.coefficient(low, 1) * extents[low] for p in polynomials):
                return high, low
    return None
