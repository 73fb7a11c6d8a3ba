"""Unflatten: a parallel loop over all elements of a plane, on the CPU against the serial C, and in tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import recipes_of, run_all, sources_of

PROGRAM = """void f(int m, int n, int p, const float *a, const float *b, float *c, int B)
{{
  meta_schedule block(B) {{
    meta_for ({type} t = 0; t < {limit}; t++) {{
      {body}
    }}
  }}
}}
"""
PRODUCT = (
    "int i = t / n, j = t % n; float s = 0; "
    "for (int k = 0; k < p; k++) s += a[i * p + k] * b[k * n + j]; c[t] = s;"
)
ARRAYS = {"a": (("m*n*p + m*p",), "f4"), "b": (("n*p + 1",), "f4"), "c": (("m*n*p + 1",), "f4")}
RUNS = [{"m": m, "n": n, "p": p, "B": 3} for m, n, p in ((17, 13, 21), (5, 1, 3), (4, 9, 2), (3, 70, 1))]


@pytest.mark.parametrize(
    ("limit", "body", "recipe"),
    [
        ("m * n", PRODUCT, "product"),
        ("m * n", "int i = t / n; int j = t - i * n; c[j * m + i] = a[t];", "transposition"),
        (
            "p * m * n",
            "int q = t / (m * n), i = t / n % m, j = t % n; c[(q * n + j) * m + i] = a[t] + (i > 0 ? a[t - n] : 2);",
            "transposition",
        ),
        (
            "m * n * p * n",
            "int l = t % n, k = t / n % p, j = t / n / p % m, i = t / n / p / m;"
            "c[((i * p + k) * n + l) * m + j] = a[t];",
            "transposition",
        ),
        (  # a divisor that a point computes
            "m * n",
            "float s = t / n; for (int k = 1; k < 4; k++) s += a[t % (n * k)] + t % (n * k); c[t] = s;",
            "points",
        ),
        ("n * 96", "c[t] = a[t / 96] * b[t % 96 / 96];", "points"),
    ],
)
def test_a_plane_of_elements_has_two_coordinates(limit: str, body: str, recipe: str, tmp_path: Path) -> None:
    source = PROGRAM.format(type="int", limit=limit, body=body)
    assert recipes_of(source)[recipe] is None
    more = {"n * 96": {"c": (("n*96",), "f4")}, "m * n * p * n": dict.fromkeys("ac", (("m*n*p*n",), "f4"))}
    arrays = ARRAYS | more.get(limit, {})
    run_all(source, arrays, RUNS, tmp_path)


def test_an_iterator_of_another_type_is_taken_apart_too() -> None:
    source = PROGRAM.format(type="long", limit="(long)m * n", body=PRODUCT)
    assert recipes_of(source)["product"] is None
    # The number of a point is put together again in int.
    assert "cf_le(cf_mul(m, n), 2147418112)" in sources_of(source)["f.h"]


@pytest.mark.parametrize("limit", ["m", "m * n - 1"])
def test_an_extent_that_is_not_whole_rows_stays_one_coordinate(limit: str) -> None:
    assert "product" not in recipes_of(PROGRAM.format(type="int", limit=limit, body=PRODUCT))


def test_a_coordinate_of_a_nest_is_taken_apart_beside_three_others() -> None:
    source = """void f(int b, int g, int c, int k, int h, int w, const float x[b][g*c][h+2][w],
       const float f[g*k][c][3], float y[b][g*k][h][w], int B0, int B1, int B2)
{
  meta_schedule block(B0, B1, B2) {
    meta_for (int o = 0; o < g*k; o++)
      meta_for (int i = 0; i < h; i++)
        meta_for (int j = 0; j < w; j++)
          for (int z = 0; z < b; z++) {
            float s = 0;
            for (int q = 0; q < c; q++)
              for (int u = 0; u < 3; u++)
                s += x[z][o/k*c + q][i + u][j] * f[o][q][u];
            y[z][o][i][j] = s;
          }
  }
}
"""
    assert recipes_of(source)["window product"] is None
    # Channels of a group read the same elements of x: a tile has several of them.
    assert "stage(x): boxes of 1 x D x (T3*U3 + 2) x T4*U4" in sources_of(source)["f.cu"]


def test_a_coordinate_of_blocks_of_one_is_taken_apart_beside_a_triangle() -> None:
    source = """void f(int b, int h, int t, int d, const float *q, const float *k, float *s, int B0, int B1)
{
  meta_schedule block(1, B0, B1) {
    meta_for (int n = 0; n < b * h; n++)
      meta_for (int i = 0; i < t; i++)
        meta_for (int j = 0; j <= i; j++) {
          float sum = 0;
          for (int e = 0; e < d; e++)
            sum += q[((n / h * t + i) * h + n % h) * d + e] * k[((n / h * t + j) * h + n % h) * d + e];
          s[(n * t + i) * t + j] = sum;
        }
  }
}
"""
    assert recipes_of(source)["product"] is None
