"""Domains hold what their names say, in ascending order."""

from __future__ import annotations

import pytest

from comprehensive.algebra import box, divisors, multiples, powers_of_two


@pytest.mark.parametrize(
    ("limit", "values"), [(-3, ()), (0, ()), (1, (1,)), (2, (1, 2)), (7, (1, 2, 4)), (8, (1, 2, 4, 8))]
)
def test_powers_of_two(limit: int, values: tuple[int, ...]) -> None:
    assert powers_of_two(limit) == values


def test_divisors() -> None:
    for number in range(1, 200):
        assert divisors(number) == tuple(d for d in range(1, number + 1) if number % d == 0)
    assert divisors(1 << 14) == powers_of_two(1 << 14)


def test_multiples_and_boxes() -> None:
    assert list(multiples(32, 127)) == [32, 64, 96]
    assert list(multiples(32, 31)) == []
    assert list(box(-1, 2)) == [-1, 0, 1, 2]
    assert list(box(2, 1)) == []


def test_what_has_no_finite_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="0"):
        divisors(0)
    with pytest.raises(ValueError, match="-32"):
        multiples(-32, 100)
