"""Many integer points at once, a column of values for each symbol: ranges or a point in, columns of values out.

    pool = Pool.spread(ranges)              # all over the ranges, small values more often
    pool = Pool.near(point, ranges)         # around a point, single symbols changed
    pool.values(2*s*B + 2)                  # array([4, 6, 10, ...]), exact

Values are exact: int64 where they are known to fit, Python's integers where not.  The points are the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from comprehensive.algebra.polynomial import Polynomial, Scalar

Column = NDArray[Any]
"""One value for each point: int64, or objects that are integers."""
Range = tuple[int | None, int | None]
"""The least and the largest value of a symbol, where they are known."""

SIZE = 512
_FITS = 1 << 62
# No column of int64 has larger amounts than twice this.
_SMALL = 1 << 40
# So many columns are remembered, each of some kilobytes.
_MOST_VALUES = 1 << 12
_LARGEST_EXPONENT = 12
_DIAGONAL = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of `SIZE` points.

    Columns of new symbols are made when they are first needed, from their ranges.
    """

    columns: dict[str, Column]
    _values: dict[Polynomial, Column] = field(default_factory=dict[Polynomial, Column], repr=False)
    _monomials: dict[tuple[tuple[str, int], ...], tuple[Column, int]] = field(
        default_factory=dict[tuple[tuple[str, int], ...], tuple[Column, int]], repr=False
    )

    @staticmethod
    def spread(ranges: Mapping[str, Range]) -> Pool:
        """Points all over the ranges: all symbols alike first, then each on its own."""
        return Pool({name: _spread(name, limits) for name, limits in ranges.items()})

    @staticmethod
    def near(point: Mapping[str, Scalar], ranges: Mapping[str, Range], turn: int = 0) -> Pool:
        """The point, and points that differ from it in some symbols: a little, by factors of two, or reset.

        What the point does not say of a symbol is its least value, or 1.
        """
        values = {
            name: point.get(name, limits[0] if limits[0] is not None else 1)
            for name, limits in ranges.items()
        }
        return Pool({name: _near(name, int(values[name]), limits, turn) for name, limits in ranges.items()})

    def point(self, index: int, names: Iterable[str]) -> dict[str, int]:
        """The values of these symbols at one of the points."""
        return {name: int(self.columns[name][index]) for name in names}

    def values(self, polynomial: Polynomial) -> Column:
        """The values of a polynomial with integer coefficients at all points."""
        found = self._values.get(polynomial)
        if found is None:
            if len(self._values) >= _MOST_VALUES:
                self._values.clear()
            found = self._values[polynomial] = self._evaluated(polynomial)
        return found

    def _evaluated(self, polynomial: Polynomial) -> Column:
        scale, terms = polynomial.integers()
        assert scale == 1, "the polynomials of atoms have integer coefficients"
        parts = [(coefficient, *self._monomial(powers)) for coefficient, powers in terms]
        fits = sum(abs(coefficient) * largest for coefficient, _, largest in parts) < _FITS
        total: Column = np.zeros(SIZE, dtype=np.int64 if fits else object)
        for coefficient, column, _ in parts:
            total += (column if fits else column.astype(object)) * coefficient
        return total

    def _monomial(self, powers: tuple[tuple[str, int], ...]) -> tuple[Column, int]:
        """The values of a product of powers, and the largest of their amounts."""
        found = self._monomials.get(powers)
        if found is None:
            column: Column = np.ones(SIZE, dtype=np.int64)
            largest = 1
            for name, power in powers:
                factor = self.columns[name]
                for _ in range(power):
                    largest *= max(1, int(abs(factor).max()))
                    if largest >= _FITS:
                        column = column.astype(object)
                    column = column * factor
            found = self._monomials[powers] = column, largest
        return found


def _spread(name: str, limits: Range) -> Column:
    steps, sides, shares = _pattern(name)
    low, high = limits
    if low is not None and high is not None:
        span = min(max(0, high - low), _SMALL)
        return _plus(low, np.where(steps <= span, steps, (shares * (span + 1)).astype(np.int64)))
    if low is None and high is None:
        return steps * sides
    return _plus(low, steps) if low is not None else _plus(high or 0, -steps)


@lru_cache(maxsize=64)
def _pattern(name: str) -> tuple[Column, Column, Column]:
    """Steps that double, signs, and shares of 1."""
    random = np.random.RandomState(crc32(name.encode()))
    steps: Column = np.floor(2.0 ** (random.random_sample(SIZE) * _LARGEST_EXPONENT)).astype(np.int64) - 1
    steps[: len(_DIAGONAL)] = _DIAGONAL
    return steps, random.choice((-1, 1), SIZE), random.random_sample(SIZE)


def _near(name: str, value: int, limits: Range, turn: int) -> Column:
    factors, little, kind = _changes(name, turn)
    low, high = limits
    distance = value - (low if low is not None else 0)
    steps: Column = np.zeros(SIZE, dtype=np.int64)
    if abs(distance) < _SMALL:
        scaled = (distance * factors).astype(np.int64) - distance
        steps = np.choose(kind, (steps, scaled, little, steps - distance))
    lowest = -_SMALL if low is None else max(-_SMALL, low - value)
    highest = _SMALL if high is None else min(_SMALL, high - value)
    return _plus(value, np.clip(steps, min(lowest, 0), max(highest, 0)))


@lru_cache(maxsize=1 << 10)
def _changes(name: str, turn: int) -> tuple[Column, Column, Column]:
    """Factors, small steps, and which change each point makes: none, by a factor, by a step, to the lowest value."""
    random = np.random.RandomState(crc32(f"{name} {turn}".encode()))
    kind: Column = random.choice((0, 1, 2, 3), SIZE, p=(0.6, 0.2, 0.15, 0.05))
    kind[0] = 0
    return 2.0 ** random.randint(-4, 5, SIZE), random.randint(-3, 4, SIZE), kind


def _plus(value: int, steps: Column) -> Column:
    return steps + value if abs(value) < _SMALL else steps.astype(object) + value
