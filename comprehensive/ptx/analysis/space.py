"""The lattice of memories into which values may point.

    Space.SHARED.meet(Space.GLOBAL)       # Space.ANY
    Space.SHARED.plus(Space.NUMBER)       # Space.SHARED: an array and an offset

The lattice, from the top: NONE (nothing has been seen yet, as of an undefined register), ZERO (the null pointer, which
leads nowhere), then side by side the single memories and NUMBER, below NUMBER also DISTANCE, and at the bottom ANY.  It
is said where an address points, not how it is written: both the offset in shared memory and the generic address made of
it by ``cvta`` are SHARED.

What the elements mean, so that the laws below follow: the driver may place each memory, and each array in it, anywhere.
A value is a single memory if it moves exactly as that memory does, so that it can lead to no other one; it is a NUMBER
if it does not move at all, and cannot be a part of what moves; a DISTANCE may change as arrays move in their memory,
but not as memories do; everything else is ANY, such as an address in pieces, with a tag that is shifted away, packed
with others, or read from memory.

- Where ways meet (``meet``): ``x ^ x = x``, ``NONE ^ x = x``, ``ZERO ^ x = x``, ``NUMBER ^ DISTANCE = DISTANCE``; all
  else is ANY.  A NUMBER that meets a memory is ANY, since it may be an address whose way the analysis has not seen.
- Sums (``plus``), of numbers (ZERO, NUMBER, DISTANCE): as where ways meet; ``memory + number = memory``, and all else
  is ANY.
- Differences (``minus``): ``x - number`` is as ``x + number``, ``memory - memory = DISTANCE`` of one and the same
  memory; all else is ANY.
- Sums and differences are NONE where a part of them is: loops begin optimistic.
"""

from __future__ import annotations

from enum import Enum


class Space(Enum):
    """A memory, or how much is known of it."""

    NONE = "none"
    ZERO = "zero"
    NUMBER = "number"
    DISTANCE = "distance"
    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"
    PARAM = "param"
    ANY = "any"

    @property
    def is_one(self) -> bool:
        """Whether it is a single memory."""
        return self not in _NO_MEMORY

    @property
    def is_number(self) -> bool:
        """Whether it can be added to an address, which then still leads to the same memory."""
        return self in _NUMBERS

    @property
    def is_offset(self) -> bool:
        """Whether it can be added to an address, which then still leads to the same array."""
        return self.is_number and self is not Space.DISTANCE

    def meet(self, other: Space) -> Space:
        """Return the memory of a value that may come from either of the two."""
        if self is other or other is Space.NONE:
            return self
        if self is Space.NONE:
            return other
        if self.is_number and other.is_number:
            return max(self, other, key=_NUMBERS.index)
        if other is Space.ZERO:
            return self
        return other if self is Space.ZERO else Space.ANY

    def plus(self, other: Space) -> Space:
        """Return the memory into which the sum of two values points."""
        if Space.NONE in (self, other):
            return Space.NONE
        if self.is_number and other.is_number:
            return self.meet(other)
        if other.is_number:
            return self
        return other if self.is_number else Space.ANY

    def minus(self, other: Space) -> Space:
        """Return the memory into which the difference of two values points."""
        if other.is_number or Space.NONE in (self, other):
            return self.plus(other)
        return Space.DISTANCE if self is other and self.is_one else Space.ANY


_NUMBERS = (Space.ZERO, Space.NUMBER, Space.DISTANCE)
"""The spaces of numbers, from the top down."""
_NO_MEMORY = frozenset({Space.NONE, *_NUMBERS, Space.ANY})
