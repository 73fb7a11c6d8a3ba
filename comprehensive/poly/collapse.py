"""Mixed-radix collapse: two digits of one number become one counter.

``k*B + j, k < s, j < B  -->  y, y < s*B``: allowed where, in every polynomial given, the coefficient of the high
digit is that of the low one times the extent of the low one.  The map is a bijection, so nothing is lost or added.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from comprehensive.algebra import Polynomial

Extents = dict[str, Polynomial]


class Collapsed(Struct, frozen=True):
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
    free = [
        name
        for name in sorted(extents)
        if name not in fixed
        and extents.keys().isdisjoint(extents[name].symbols)
        and any(name in p.symbols for p in polynomials)
    ]
    if len(free) < 2:
        return None
    coefficients = {name: [p.coefficient(name, 1) for p in polynomials] for name in free}
    speaks = {name: [bool(c) for c in coefficients[name]] for name in free}
    for high in free:
        for low in free:
            if high == low or speaks[high] != speaks[low]:
                continue
            pairs = zip(coefficients[high], coefficients[low], strict=True)
            if all(one == other * extents[low] for one, other in pairs if other):
                return high, low
    return None
