"""The assumptions of trees on the scalars of a nest, with and without threads that are counted from elsewhere."""

from __future__ import annotations

import pytest

from comprehensive.counters.assumptions import assumptions
from tests.laws.nests import nests_of

PLAIN = """void f(%s n, float a[4096]) {
  meta_schedule {
    meta_for (int i = 0; i < 8; i++)
      meta_for (%s j = %s; j < %s; j++)
        a[i * 512 + j] = 1;
  }
}"""


@pytest.mark.parametrize(
    ("type", "start", "bound", "assumed"),
    [
        ("int", "0", "n", {"1 <= n"}),
        ("int", "1", "n - 1", {"1 <= n", "3 <= n"}),
        ("int", "0", "(n - 1) / 2", {"1 <= n", "3 <= n"}),
        # One of an odd number is left: as a quotient without rounding that would be a half.
        ("int", "n / 2", "n", {"1 <= n"}),
        # Of 0 that is very many.
        ("unsigned", "0", "n - 1", {"1 <= n"}),
    ],
)
def test_a_block_has_a_thread(type: str, start: str, bound: str, assumed: set[str]) -> None:
    (nest,) = nests_of(PLAIN % (type, type, start, bound))
    assert {str(atom) for atom in assumptions(nest)} == assumed
