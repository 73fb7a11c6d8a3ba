"""The parameters nearest to given ones at which a system holds: what a user would have to change.

In: a system, a point that has all its symbols, and which of them may change.  Out: new values for these, or None::

    nearest(system of "B + 2 <= Z_B", {"B": 1024, "Z_B": 512}, ("B",))     # {"B": 510}

Nearest is what has the smallest product of factors between old and new values.  Tried are powers of two, values a few
steps away, and where a condition becomes an equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import log2

from comprehensive.algebra import Quotient, System, with_quotients
from comprehensive.algebra.polynomial import Scalar

LARGEST = 4096
STEPS = 2
"""Values that far away are tried one by one."""
MOST_POINTS = 20000


def nearest(
    system: System,
    point: Mapping[str, int | Fraction],
    names: tuple[str, ...],
    quotients: tuple[Quotient, ...] = (),
    admitted: Callable[[Mapping[str, Scalar]], bool] = lambda point: True,
) -> Mapping[str, int] | None:
    """Return the nearest point to the given one; None where nothing that is tried holds.

    KeyError for a symbol without a value.

    ``quotients`` are symbols of the system that depend on others; ``admitted`` says what else must hold of a point.
    """
    domains = [sorted(_values(system, point, name), key=lambda v: _factor(v, point[name])) for name in names]
    while len(domains) > 1 and _size(domains) > MOST_POINTS:
        domains = [domain[: max(1, len(domain) * 3 // 4)] for domain in domains]
    best: tuple[float, tuple[int, ...]] | None = None
    for values in product(*domains):
        distance = sum(_factor(v, point[name]) for v, name in zip(values, names, strict=True))
        if best is not None and (distance, values) >= best:
            continue
        moved = with_quotients({**point, **dict(zip(names, values, strict=True))}, quotients)
        if all(atom.holds({s: moved[s] for s in atom.symbols}) for atom in system.atoms) and admitted(moved):
            best = (distance, values)
    return None if best is None else dict(zip(names, best[1], strict=True))


def _values(system: System, point: Mapping[str, int | Fraction], name: str) -> set[int]:
    value = int(point[name])
    tried = {1 << k for k in range(LARGEST.bit_length())} | set(range(value - STEPS, value + STEPS + 1))
    tried |= set(_thresholds(system, point, name))
    return {v for v in tried if v >= 1}


def _thresholds(system: System, point: Mapping[str, int | Fraction], name: str) -> Iterator[int]:
    """Integers beside the values at which a condition that is linear in the name becomes an equality."""
    for atom in system.atoms:
        if name not in atom.symbols or atom.polynomial.degree(name) != 1:
            continue
        others = {s: point[s] for s in atom.symbols if s != name}
        slope = atom.polynomial.coefficient(name, 1).evaluate(others)
        if slope:
            at = -atom.polynomial.coefficient(name, 0).evaluate(others) / slope
            yield from (int(at) - 1, int(at), int(at) + 1)


def _factor(new: int, old: int | Fraction) -> float:
    """Return how far values are from each other, as a logarithm: sums are then those of products."""
    return abs(log2(new / max(1, int(old))))


def _size(domains: list[list[int]]) -> int:
    size = 1
    for domain in domains:
        size *= len(domain)
    return size
