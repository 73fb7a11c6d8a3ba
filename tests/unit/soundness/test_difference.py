"""Differences are found wherever they are, and what counts as none is bits, NaNs, and rounding where it is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from comprehensive.poly.report import values_text
from comprehensive.soundness import difference
from comprehensive.soundness.difference import first_difference


@pytest.mark.parametrize("place", [(0, 0), (3, 6), (9, 9)])
def test_the_first_element_that_differs_is_named(
    monkeypatch: pytest.MonkeyPatch, place: tuple[int, int]
) -> None:
    monkeypatch.setattr(difference, "PART", 7)
    expected, actual = np.zeros((10, 10), np.int32), np.zeros((10, 10), np.int32)
    actual[place] = 5
    actual[9, 9] = 5
    words = f"a[{place[0]}][{place[1]}] is {actual[place]!s}, expected {expected[place]!s}"
    assert first_difference({"a": expected}, {"a": actual}) == words
    assert first_difference({"a": expected}, {"a": expected.copy()}) is None


@pytest.mark.parametrize("type", ["float32", "float64", "float16", "int64", "uint8"])
def test_values_are_told_as_numbers(type: str) -> None:
    found = first_difference({"a": np.array([1], type)}, {"a": np.array([3], type)})
    assert found in ("a[0] is 3.0, expected 1.0", "a[0] is 3, expected 1")
    tenth = first_difference({"a": np.array([0.1], type)}, {"a": np.array([0.3], type)})
    assert tenth in (None, "a[0] is 0.3, expected 0.1")
    assert values_text({"n": 3, "alpha": 0.5}) == "n = 3, alpha = 0.5"


def test_signs_of_zeros_count_and_nans_are_equal() -> None:
    assert first_difference({"a": np.array([0.0])}, {"a": np.array([-0.0])}) is not None
    assert first_difference({"a": np.array([np.nan])}, {"a": np.array([-np.nan])}) is None
    assert first_difference({"a": np.array([np.nan])}, {"a": np.array([1.0])}) is not None


def test_rounding_is_a_share_of_the_largest_finite_element(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "PART", 2)
    expected = np.array([1.0, 2.0, 3.0, 100.0, np.inf])
    near, far = expected.copy(), expected.copy()
    near[0], far[0] = 1.05, 1.2
    allowed = {"float64": 1e-3}
    assert first_difference({"a": expected}, {"a": near}, allowed) is None
    assert first_difference({"a": expected}, {"a": far}, allowed) is not None
    assert first_difference({"a": expected}, {"a": near}) is not None
    assert first_difference({"a": np.array([1, 2])}, {"a": np.array([1, 3])}, allowed) is not None
