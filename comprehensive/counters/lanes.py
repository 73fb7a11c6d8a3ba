"""The demand of the 32 lanes of a warp on memory at once: a stride in elements in, shares of what is moved out.

    sector_share(2, 4)    # 1/2: of every sector of 32 bytes every second float is used
    bank_share(8, 4)      # 1/8: eight floats of each bank that is asked, one after the other

Warps along ``threadIdx.x``, whose first lane is at the beginning of a sector. A stride that is known in part gets the
least share that it can have.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import gcd

from msgspec import Struct

from comprehensive.algebra import Polynomial
from comprehensive.machine.parameters import WARP_THREADS, WORD_BYTES
from comprehensive.machine.sites import BANKS, SECTOR_BYTES


class Share(Struct, frozen=True):
    """A part of 1; where it is not ``exact``, the least that it can be."""

    value: Fraction
    exact: bool


def sector_share(stride: Polynomial | int | None, size_bytes: int) -> Share:
    """Bytes used over bytes of the sectors that are moved; one element for all lanes counts as whole use."""
    known = _constant(stride)
    if known is None:
        return Share(Fraction(min(size_bytes, SECTOR_BYTES), SECTOR_BYTES), False)
    if known == 0:
        return Share(Fraction(1), True)
    first = [abs(known) * lane * size_bytes for lane in range(WARP_THREADS)]
    sectors = {byte // SECTOR_BYTES for begin in first for byte in (begin, begin + size_bytes - 1)}
    return Share(Fraction(WARP_THREADS * size_bytes, SECTOR_BYTES * len(sectors)), True)


def bank_share(stride: Polynomial | int | None, size_bytes: int) -> Share:
    """1 over the conflict degree: the turns that there are without conflicts, over those that there are.

    Lanes that want the same word of a bank are served together. Of 8 bytes half a warp is served at a time.
    """
    known = _constant(stride)
    if known is not None:
        return Share(_bank_share(known, size_bytes), True)
    if stride is None:
        return Share(Fraction(1, BANKS), False)
    assert isinstance(stride, Polynomial)
    return Share(min(_bank_share(step, size_bytes) for step in _possible(stride)), False)


def turns(size_bytes: int) -> int:
    """Return in how many turns a warp is served without bank conflicts, for elements of so many bytes."""
    return max(1, size_bytes // WORD_BYTES)


def _bank_share(stride: int, size_bytes: int) -> Fraction:
    needed = turns(size_bytes)
    together = WARP_THREADS // needed
    taken = 0
    for first in range(0, WARP_THREADS, together):
        words = {
            byte // WORD_BYTES
            for lane in range(first, first + together)
            for byte in range(
                stride * lane * size_bytes, (stride * lane + 1) * size_bytes, min(size_bytes, 4)
            )
        }
        taken += max(Counter(word % BANKS for word in words).values())
    return Fraction(needed, taken)


def _possible(stride: Polynomial) -> range:
    """Values of which one has the same banks as any that the stride can have: it is ``constant + step * integer``."""
    constant, step = 0, 0
    for term in stride.terms():
        if term.coefficient.denominator != 1:
            return range(BANKS * WORD_BYTES)
        if term.powers:
            step = gcd(step, int(term.coefficient))
        else:
            constant = int(term.coefficient)
    # Banks repeat after 128 elements of a byte.
    return range(constant % max(step, 1), constant % max(step, 1) + BANKS * WORD_BYTES, max(step, 1))


def _constant(stride: Polynomial | int | None) -> int | None:
    if isinstance(stride, Polynomial):
        if not stride.is_constant or stride.constant_value().denominator != 1:
            return None
        return int(stride.constant_value())
    return stride
