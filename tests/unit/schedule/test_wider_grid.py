"""More coordinates: parallel loops inside of a parallel one, on the CPU against the serial C, and in tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.loops.ir import Points
from comprehensive.loops.normalize import normalize
from comprehensive.strategies.points import points_of
from tests.laws.nests import nests_of
from tests.unit.schedule.tile_runs import recipes_of, run_all

PROGRAM = """void f(int m, int n, int l, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
PRODUCT = PROGRAM.format(
    parameters="const float a[m][l], const float b[l][n], float c[m][n]",
    body="for (int j = 0; j < n; j++) c[i][j] = 0; "
    "for (int k = 0; k < l; k++) for (int q = 0; q < n; q++) c[i][q] += a[i][k] * b[k][q];",
)
ELEMENTS = PROGRAM.format(
    parameters="const float *a, float *b, const float x[m]",
    body="float w = x[i]; const float *p = a + i * n; float *q = b + i * n; "
    "if (w > 2) for (int j = 0; j < n; j++) *q++ = w * *p++; else for (int j = 0; j < n; j++) q[j] = p[j] - w;",
)


def test_the_columns_of_a_product_whose_rows_are_parallel_are_parallel(tmp_path: Path) -> None:
    assert recipes_of(PRODUCT)["product"] is None
    arrays = {"a": (("m", "l"), "f4"), "b": (("l", "n"), "f4"), "c": (("m", "n"), "f4")}
    runs = [{"m": m, "n": n, "l": k, "B": 3} for m, n, k in ((17, 13, 21), (5, 0, 3), (4, 9, 0))]
    assert run_all(PRODUCT, arrays, runs, tmp_path) == set()


def test_rows_of_elements_are_a_plane(tmp_path: Path) -> None:
    arrays = {"a": (("m*n",), "f4"), "b": (("m*n",), "f4"), "x": (("m",), "f4")}
    runs = [{"m": m, "n": n, "l": 1, "B": 3} for m, n in ((9, 40), (3, 0), (1, 7))]
    assert run_all(ELEMENTS, arrays, runs, tmp_path) == set()


@pytest.mark.parametrize(
    ("body", "coordinates"),
    [
        ("for (int j = 0; j < n; j++) y[i][j] = x[j][i];", 2),
        ("for (int j = 0; j < n; j++) y[i][j] = y[i][j] * x[j][i];", 2),
        ("for (int k = 0; k < l; k++) for (int j = 0; j < n; j++) z[k][i][j] = x[j][i];", 3),
        ("for (int j = 1; j < n; j++) y[i][j] = y[i][j - 1] + x[j][i];", 1),
        ("float s = 0; for (int j = 0; j < n; j++) s += x[j][i]; y[i][0] = s;", 1),
        ("float w = y[i][0]; for (int j = 0; j < n; j++) y[i][j] = w * x[j][i];", 1),
        ("for (int j = 0; j < n; j++) y[i][j] = x[j][i]; for (int j = 0; j < l; j++) z[j][i][0] = 1;", 1),
        ("for (int j = 0; j < n; j++) { if (x[j][i] < 0) break; y[i][j] = x[j][i]; }", 1),
        ("for (int j = 0; j < i; j++) y[i][j] = x[j][i];", 1),
    ],
)
def test_what_is_parallel_is_a_coordinate(body: str, coordinates: int) -> None:
    parameters = "const float x[n][m], float y[m][n], float z[l][m][n]"
    (nest,) = nests_of(PROGRAM.format(parameters=parameters, body=body))
    points = points_of(normalize(nest))
    assert isinstance(points, Points)
    assert len(points.names) == coordinates
