"""More coordinates: parallel loops inside of a parallel one, on the CPU against the serial C, and in tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.loops.ir import Points
from comprehensive.loops.normalize import normalize
from comprehensive.strategies.to_points import points_of
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


BATCH = """void f(int m, int h, int n, int l, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int b = 0; b < m; b++)
      {body}
  }}
}}
"""
BATCHES = {
    "heads first": BATCH.format(
        parameters="const float q[m][h][n][l], const float k[m][h][n][l], float s[m][h][n][n]",
        body="for (int p = 0; p < h; p++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {"
        "float t = 0; for (int x = 0; x < l; x++) t += q[b][p][i][x] * k[b][p][j][x]; s[b][p][i][j] = t; }",
    ),
    "heads between the rows and columns of operands": BATCH.format(
        parameters="const float q[m][n][h][l], const float k[m][n][h][l], float s[m][n][h][n]",
        body="for (int i = 0; i < n; i++) for (int p = 0; p < h; p++) for (int j = 0; j < n; j++) {"
        "float t = 0; for (int x = 0; x < l; x++) t += q[b][i][p][x] * k[b][j][p][x]; s[b][i][p][j] = t; }",
    ),
    "sums in rows of the result": BATCH.format(
        parameters="const float q[m][n][h * l], const float k[m][h][l][n], float s[m][n][h][n]",
        body="for (int i = 0; i < n; i++) for (int p = 0; p < h; p++) {"
        "for (int j = 0; j < n; j++) s[b][i][p][j] = 0; for (int x = 0; x < l; x++) for (int j = 0; j < n; j++)"
        "s[b][i][p][j] += q[b][i][p * l + x] * k[b][p][x][j]; }",
    ),
}
SHAPES = {
    "heads first": ("m, h, n, l", "m, h, n, l", "m, h, n, n"),
    "heads between the rows and columns of operands": ("m, n, h, l", "m, n, h, l", "m, n, h, n"),
    "sums in rows of the result": ("m, n, h, l", "m, h, l, n", "m, n, h, n"),
}


@pytest.mark.parametrize("name", BATCHES)
def test_products_of_two_numbers_are_products(name: str, tmp_path: Path) -> None:
    """Heads of a batch, wherever they stand: nothing is shared along them."""
    assert recipes_of(BATCHES[name])["product"] is None
    arrays = {a: (tuple(shape.split(", ")), "f4") for a, shape in zip("qks", SHAPES[name], strict=True)}
    runs = [{"m": m, "h": h, "n": n, "l": k, "B": 3} for m, h, n, k in ((2, 3, 17, 11), (1, 2, 5, 0))]
    assert run_all(BATCHES[name], arrays, runs, tmp_path) == set()


def test_channels_last_are_a_window_product(tmp_path: Path) -> None:
    """The loop over channels is the one that has no other in it, and those over a window stand around it."""
    source = BATCH.format(
        parameters="const float x[m][h + 2][n + 2][l], const float w[3][3][l][h], float y[m][h][n][h]",
        body="for (int i = 0; i < h; i++) for (int j = 0; j < n; j++) for (int o = 0; o < h; o++) {"
        "float s = 0; for (int u = 0; u < 3; u++) for (int v = 0; v < 3; v++) for (int c = 0; c < l; c++)"
        "s += x[b][i + u][j + v][c] * w[u][v][c][o]; y[b][i][j][o] = s; }",
    )
    assert recipes_of(source)["window product"] is None
    arrays = {
        "x": (("m", "h + 2", "n + 2", "l"), "f4"),
        "w": ((3, 3, "l", "h"), "f4"),
        "y": (("m", "h", "n", "h"), "f4"),
    }
    runs = [{"m": m, "h": h, "n": n, "l": k, "B": 3} for m, h, n, k in ((2, 6, 9, 11), (1, 3, 2, 0))]
    assert run_all(source, arrays, runs, tmp_path) == set()


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
