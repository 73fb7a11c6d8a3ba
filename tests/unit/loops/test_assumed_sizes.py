"""Sizes of which no loop of the grid says that they are not negative: a launch tests that where rows need it."""

from __future__ import annotations

import pytest

from comprehensive.loops.ir import Points
from comprehensive.loops.normalize.points import normalize_points
from comprehensive.metafork.printer import print_expr
from comprehensive.strategies.to_points import points_of
from tests.laws.nests import nests_of

GROUPS = """void f(int b, int c, int g, int n, const float *x, float *y, int B0, int B1)
{{
  int gs = c / g;
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < b; i++)
      meta_for (int j = 0; j < g; j++) {{
        float s = 0.0f;
        for (int k = 0; k < {n}; k++) s += x[k];
        {body}
      }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("n", "body", "rows", "conditions"),
    [
        ("n", "for (int k = 0; k < gs; k++) y[i*c + j*gs + k] = s;", [None, "c"], ["0 <= gs", "0 <= c"]),
        ("n", "for (int k = 0; k < gs; k++) y[i*c + j + k*g] = s;", [None, "c"], ["g * gs <= c"]),
        # Rows of gs elements would ask for g * c <= c.
        ("n", "for (int k = 0; k < gs; k++) y[i*gs + j*c + k] = s;", [None, "c"], ["b * gs <= c"]),
        # Loops of one name go through different numbers.
        ("2*n", "for (int k = 0; k < n; k++) y[(i*g + j)*n + k] = s;", [None, "g", "n"], []),
    ],
)
def test_rows_that_are_kept_by_sizes_that_are_not_negative(
    n: str, body: str, rows: list[str | None], conditions: list[str]
) -> None:
    (nest,) = nests_of(GROUPS.format(n=n, body=body))
    points = points_of(nest)
    assert isinstance(points, Points)
    bodies = [alternative.body for alternative in points.alternatives]
    seen = normalize_points(nest, bodies, dict(zip(points.names, points.limits, strict=True)))
    (written,) = [array for array in seen.arrays if array.name == "y"]
    assert written.dims is not None
    assert [None if extent is None else print_expr(extent) for extent in written.dims] == rows
    assert set(conditions) <= {print_expr(condition) for condition in seen.conditions}
