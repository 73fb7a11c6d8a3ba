"""An axis: a range in, places on it and ticks out.

An axis is logarithmic where its range starts at 1 or more and spans a factor of 64 or more: block sizes are powers of
two, and the hyperbolas of products of block sizes are straight lines then.
"""

from __future__ import annotations

import math
from fractions import Fraction

from msgspec import Struct

_LOGARITHMIC_FROM = 64
_MOST_TICKS = 12


class Scale(Struct, frozen=True):
    """Maps `low` to 0 and `high` to 1."""

    low: Fraction
    high: Fraction

    @property
    def is_logarithmic(self) -> bool:
        """Whether the axis is logarithmic: equal factors are equally long."""
        return self.low >= 1 and self.high >= _LOGARITHMIC_FROM * self.low

    def place(self, value: Fraction) -> float:
        """Return where the value is on the axis, between 0 and 1 inside the range."""
        if self.is_logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return float((value - self.low) / (self.high - self.low))

    def value(self, place: Fraction) -> Fraction:
        """A rational at a place, to about ten digits; exact on a linear axis."""
        if not self.is_logarithmic:
            return self.low + (self.high - self.low) * place
        grown = float(self.low) * float(self.high / self.low) ** float(place)
        return min(max(Fraction(f"{grown:.10g}"), self.low), self.high)

    def ticks(self) -> tuple[int, ...]:
        """Return at most a dozen integers: powers of two, or multiples of 1, 2 or 5 times a power of ten."""
        if self.is_logarithmic:
            powers = [2**k for k in range(math.ceil(self.high).bit_length() + 1)]
            inside = [power for power in powers if self.low <= power <= self.high]
            return tuple(inside[:: math.ceil(len(inside) / _MOST_TICKS)])
        step = next(
            each
            for exponent in range(400)
            for each in (10**exponent, 2 * 10**exponent, 5 * 10**exponent)
            if (self.high - self.low) / each < _MOST_TICKS
        )
        first = math.ceil(self.low / step) * step
        return tuple(range(first, math.floor(self.high) + 1, step))
