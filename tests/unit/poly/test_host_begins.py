"""The first value of a loop of host code bounds its iterator, as far as the type of the iterator holds it."""

from __future__ import annotations

import pytest

from comprehensive.poly.domains import host_begins
from tests.laws.nests import nests_of

PROGRAM = """void f(int n, int m, long w, float y[n], int B)
{
  for (%s) {
    meta_schedule block(B) {
      meta_for (int i = 0; i < n; i++)
        if (i < k) y[i] = k;
    }
  }
}
"""


@pytest.mark.parametrize(
    ("loop", "bound"),
    [
        ("int k = m; k < n; k++", "k - m"),
        ("long k = m; k < n; k += 2", "k - m"),
        ("int k = 3; k < n; k++", "k - 3"),
        ("int k = m; k >= 0; k--", "-k + m"),
        ("short k = m; k < n; k++", None),
        ("int k = w; k < n; k++", None),
    ],
)
def test_an_iterator_is_not_before_its_first_value(loop: str, bound: str | None) -> None:
    (nest,) = nests_of(PROGRAM % loop)
    found = host_begins(nest).get("k")
    assert (None if found is None else str(found.polynomial)) == bound
