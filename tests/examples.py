"""The number of examples of property tests: all in `make test-all`, a part of them in `make test`.

A test names the number of `make test-all`::

    @settings(max_examples=examples(60))
    @pytest.mark.parametrize("seed", seeds(25))
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")
ALL = 50
"""Examples of a test that names no number, in `make test-all`; the quick profile has fewer (`tests/conftest.py`)."""
QUICK = 8


def examples(number: int) -> int:
    """The number in the profile at hand, rounded up."""
    return -(-number * settings.default.max_examples // ALL)


def seeds(number: int) -> list[object]:
    """The numbers below ``number`` as parameters of a test; those above the part of `make test` are slow tests."""
    quick = -(-number * QUICK // ALL)
    return [seed if seed < quick else pytest.param(seed, marks=pytest.mark.slow) for seed in range(number)]


def quick_of(
    cases: Iterable[T], quick: Container[object], name: Callable[[T], object] = lambda case: case
) -> list[object]:
    """The cases as parameters of a test; those whose name is none of the ``quick`` ones are slow tests.

    A case that is a tuple is several parameters.
    """
    return [
        case
        if name(case) in quick
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for case in cases
    ]
