"""Rows that are divided into parts: a quotient is known by what it is a quotient of."""

from __future__ import annotations

import pytest

from comprehensive.poly.legality import parallel_loops
from comprehensive.poly.model import Parallel
from tests.laws.nests import nests_of

PARTS = """void f(int m, int c, int parts, int n, float *x, int B0, int B1)
{{
  {host}
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int p = 0; p < parts; p++) {{ {body} }}
  }}
}}
"""

PLANES = "for (int k = 0; k < size; k++) for (int l = 0; l < n; l++) x[(i*c + p*size + k)*n + l] = 1;"


@pytest.mark.parametrize(
    ("host", "body", "is_proved"),
    [
        ("int size = c / parts;", "for (int k = 0; k < size; k++) x[i*c + p*size + k] = 1;", True),
        ("int size = c / parts;", PLANES, True),
        ("int size = c / parts; assert(c % parts == 0);", PLANES, True),
        ("int size = c / parts; int all = 3 * c;", PLANES.replace("i*c +", "i*all + 2*c +"), True),
        ("int size = (c + parts - 1) / parts;", PLANES, False),
        ("int size = c / parts;", PLANES.replace("k < size", "k <= size"), False),
        ("int size = c / parts;", PLANES.replace("p*size", "(p + 1)*size"), True),
        ("int size = c / parts;", PLANES.replace("= 1", "= x[(i*c + p*size + k + size)*n + l]"), False),
    ],
)
def test_parts_of_rows_are_apart_where_they_fit_into_the_rows(host: str, body: str, is_proved: bool) -> None:
    (nest,) = nests_of(PARTS.format(host=host, body=body))
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(nest)) == is_proved
