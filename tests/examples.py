"""How many examples property tests draw: all in `make test-all`, a part of them in `make test`.

A test names the number of `make test-all`::

    @settings(max_examples=examples(60))
"""

from __future__ import annotations

from hypothesis import settings

ALL = 50
"""Examples of a test that names no number, in `make test-all`; the quick profile has fewer (`tests/conftest.py`)."""
QUICK = 20


def examples(number: int) -> int:
    """The number in the profile at hand, rounded up."""
    return -(-number * settings.default.max_examples // ALL)
