"""A polynomial is in another one so often that what is left over is in no row any more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial, whole_times

i, m, n = (Polynomial.symbol(name) for name in ("i", "m", "n"))


@pytest.mark.parametrize(
    ("value", "part", "times"),
    [
        (i * n + i, n, i),
        (2 * n + 5, n + 2, Polynomial.constant(2)),
        (n, Polynomial.constant(3), Polynomial.constant(0)),
        (6 * n + 3, Polynomial.constant(3), 2 * n + 1),
        (i * m * n + i * n, n * m, i),
        (n, 2 * n, Polynomial.constant(0)),
        (Polynomial.constant(0), n, Polynomial.constant(0)),
        (-n + 1, n, Polynomial.constant(-1)),
    ],
)
def test_how_often_a_part_is_in_a_value(value: Polynomial, part: Polynomial, times: Polynomial) -> None:
    assert whole_times(value, part) == times


@given(
    st.lists(st.integers(-3, 3), min_size=4, max_size=4), st.sampled_from([n, n + 2, 2 * n - 1, m * n, m + n])
)
def test_what_is_put_together_comes_apart(numbers: list[int], part: Polynomial) -> None:
    times = numbers[0] * i + numbers[1]
    rest = numbers[2] * i + numbers[3]
    assert whole_times(times * part + rest, part) == times
