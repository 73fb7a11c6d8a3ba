"""Rows whose length is a sum: what stays in them is proved to be apart, and what does not is not."""

from __future__ import annotations

import pytest

from comprehensive.poly.legality import parallel_loops
from comprehensive.poly.model import Parallel
from tests.laws.nests import nests_of

PLANE = """void f(int m, int n, int w, float *x, const float y[m], float c[m * w][n], int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < {extent}; j++) {{ {body} }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("extent", "body", "is_proved"),
    [
        ("n + 1", "x[i * (n + 1) + j] = y[i];", True),
        ("n", "x[(i + 1) * (n + 2) + j + 1] = y[i];", True),
        ("n + 2", "x[i * (n + 2) + j] = y[i];", True),
        ("2 * n - 1", "x[i * (2 * n - 1) + j] = y[i];", True),
        ("n + 1", "x[1 + i * (n + 1) + j] = y[i];", True),
        ("w", "c[i * w + j][0] = y[i];", True),
        ("n + 3", "x[i * (n + 2) + j] = y[i];", False),
        ("w + 1", "c[i * w + j][0] = y[i];", False),
        # Neighbours, one of which is written: where rows begin is a row and some more elements.
        (
            "n + 1",
            "if (n > 300) x[(n+2)*(n+2) + i*(n+2) + j] = y[i] + x[(n+2)*(n+2) + i*(n+2) + j + 1];",
            False,
        ),
        (
            "n + 1",
            "if (n > 300) x[n*n + 4*n + 4 + i*(n+2) + j] = y[i] + x[n*n + 4*n + 5 + i*(n+2) + j];",
            False,
        ),
        # What a row writes the next one reads.
        ("2 * w", "if (w > 300) x[i*(2*w) + j + 3*w] = 1 + x[i*(2*w) + j + w];", False),
    ],
)
def test_iterations_are_parallel_only_where_rows_are_kept(extent: str, body: str, is_proved: bool) -> None:
    (nest,) = nests_of(PLANE.format(extent=extent, body=body))
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(nest)) == is_proved
