"""Pointers and numbers that walk beside a loop: on the CPU against the serial C, and with the tiles of subscripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import recipes_of, run_all

WALKS = """void f(int m, int n, const float *a, const float *x, float *y, float *z, int *w, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      const float *p = a + i * (n + 3) + 1, *q = x;
      float s = 0, t = 0;
      int k = 2;
      for (int j = 0; j < n; j++) s += *p++ * *q++;
      for (int j = n; j > 1; j -= 2) { t += x[k + i]; k++; p--; }
      const float *r = a + i;
      int e = 0, j = 0;
      while (j < 3) {
        for (int l = 0; l <= 4; l++) { t += r[0] * (e + 1); r += 1; }
        j++;
        r += m - 4;
        e += 2;
      }
      y[i] = s;
      z[i] = t - *p;
      w[i] = (int)(p - a) + e + k;
    }
  }
}
"""
PRODUCT = """void f(int m, int n, int l, const float *a, const float *b, float *c, int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {
        const float *p = a + i * l, *q = b + j;
        float s = 0;
        for (int k = 0; k < l; k++) { s += *p * *q; p++; q += n; }
        c[i * n + j] = s;
      }
  }
}
"""


def test_what_walks_is_where_it_is_in_the_source(tmp_path: Path) -> None:
    arrays = {
        "a": (("m*(n+3) + 9*m + 30",), "f4"),
        "x": (("m + n + 9",), "f4"),
        "y": (("m",), "f4"),
        "z": (("m",), "f4"),
        "w": (("m",), "i4"),
    }
    runs = [{"m": m, "n": n, "B": 3} for m, n in ((5, 12), (3, 0), (2, 1), (9, 33))]
    run_all(WALKS, arrays, runs, tmp_path)


def test_a_product_of_pointers_that_walk_is_a_product(tmp_path: Path) -> None:
    assert recipes_of(PRODUCT)["product"] is None
    arrays = {"a": (("m*l",), "f4"), "b": (("l*n",), "f4"), "c": (("m*n",), "f4")}
    assert run_all(PRODUCT, arrays, [{"m": 17, "n": 13, "l": 21, "B0": 3, "B1": 4}], tmp_path) == set()


def test_a_row_that_is_walked_from_its_number_to_the_next_has_one_length(tmp_path: Path) -> None:
    source = """void f(int m, int n, const float *a, const float *x, float *y, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      float s = 0;
      for (int k = i * n; k < (i + 1) * n; k++) s += a[k] * x[k - i * n];
      y[i] = s;
    }
  }
}
"""
    assert recipes_of(source)["rows"] is None
    arrays = {"a": (("m*n",), "f4"), "x": (("n",), "f4"), "y": (("m",), "f4")}
    run_all(source, arrays, [{"m": m, "n": n, "B": 3} for m, n in ((17, 33), (3, 0), (1, 130))], tmp_path)


@pytest.mark.parametrize(
    "header",
    [
        "unsigned long j = n - 2; j < m; j++",
        "unsigned j = i - 3; j < n; j++",
        "unsigned char j = n + 250; j < 200; j++",
        "int j = (unsigned)n - 2u; j < m; j++",
        "int j = 4294967296L + i; j < n; j += 2",
    ],
)
def test_a_start_has_the_type_of_the_iterator(header: str, tmp_path: Path) -> None:
    source = f"""void f(int m, int n, const float *a, float *y, long *w, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      long p = 3;
      float s = 0;
      for ({header}) {{ s += a[p % 300]; p += 4; }}
      y[i] = s;
      w[i] = p;
    }}
  }}
}}
"""
    arrays = {"a": ((300,), "f4"), "y": (("m",), "f4"), "w": (("m",), "i8")}
    run_all(
        source, arrays, [{"m": m, "n": n, "B": 3} for m, n in ((1, 1), (8, 8), (5, 2), (9, 40))], tmp_path
    )
