"""Minima: the cases are disjoint, cover everything, and give the least value in Python's integers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.least import least_of
from comprehensive.algebra import Polynomial, at_most
from tests.unit.algebra.strategies import all_hold, points, polynomials

B, s = Polynomial.symbol("B"), Polynomial.symbol("s")


@given(st.lists(polynomials, min_size=1, max_size=4), points)
def test_one_case_holds_at_each_point_and_its_value_is_the_least(values, point):
    held = [case for case in least_of(values) if all_hold(case.atoms, point)]
    assert len(held) == 1
    assert held[0].value.evaluate(point) == min(value.evaluate(point) for value in values)


def test_values_that_are_equal_or_never_the_least_make_no_case() -> None:
    first, second = least_of((B, s, B, B + 1))
    assert (first.value, set(first.atoms)) == (B, {at_most(B, s), at_most(B, B + 1)})
    assert second.value == s
    assert least_of((Polynomial(3), Polynomial(2)))[0].value == 2
    with pytest.raises(ValueError, match="no values"):
        least_of(())
