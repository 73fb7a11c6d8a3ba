"""Sectors and banks of a warp, against a simulation lane by lane."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial
from comprehensive.counters.lanes import bank_share, sector_share

B = Polynomial.symbol("B")


@pytest.mark.parametrize(
    ("stride", "size", "share"),
    [
        (1, 4, 1),
        (-1, 4, 1),
        (0, 4, 1),
        (2, 4, Fraction(1, 2)),
        (3, 4, Fraction(1, 3)),
        (8, 4, Fraction(1, 8)),
        (1000, 4, Fraction(1, 8)),
        (1, 8, 1),
        (4, 8, Fraction(1, 4)),
        (1, 1, 1),
        (100, 1, Fraction(1, 32)),
    ],
)
def test_the_share_of_a_sector_that_a_stride_uses(stride: int, size: int, share: Fraction) -> None:
    assert (sector_share(stride, size).value, sector_share(stride, size).exact) == (share, True)


def test_a_stride_without_a_number_brings_every_lane_to_its_own_sector() -> None:
    assert (sector_share(B, 4).value, sector_share(B, 4).exact) == (Fraction(1, 8), False)
    assert sector_share(None, 8).value == Fraction(1, 4)


def turns(stride: int, words: int) -> int:
    """Half warps of 8-byte elements and whole ones of 4 bytes, word by word."""
    count, group = 0, 32 // words
    for begin in range(0, 32, group):
        banks: dict[int, set[int]] = {}
        for lane in range(begin, begin + group):
            for word in range(stride * lane * words, stride * lane * words + words):
                banks.setdefault(word % 32, set()).add(word)
        count += max(map(len, banks.values()))
    return count


@given(st.integers(-200, 200), st.sampled_from([4, 8]))
def test_the_share_of_banks_is_that_of_a_simulation(stride: int, size: int) -> None:
    words = size // 4
    assert bank_share(stride, size).value == Fraction(words, turns(stride, words))


@pytest.mark.parametrize(
    ("stride", "share"),
    [(B, Fraction(1, 32)), (2 * B + 1, 1), (4 * B + 2, Fraction(1, 2)), (32 * B + 8, Fraction(1, 8))],
)
def test_of_a_stride_with_parameters_counts_what_is_known_of_its_divisors(
    stride: Polynomial, share: Fraction
) -> None:
    found = bank_share(stride, 4)
    assert (found.value, found.exact) == (share, False)
    values = [bank_share(int(stride.evaluate({"B": b})), 4).value for b in range(64)]
    assert found.value == min(values)
