"""Loops that a program has cut into strips, or numbers together, on the CPU against the serial C, and in tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import recipes_of, run_all

PRODUCT = """void f(int m, int n, int k, const float *a, const float *b, float *c, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        float s = 0;
        {body}
        c[i * n + j] = s;
      }}
  }}
}}
"""
STEP = "s += a[i * k + l] * b[l * n + j];"
JOINED = {
    "the end of a strip in a variable": "for (int q = 0; q < k; q += 32) { int e = q + 32 < k ? q + 32 : k; "
    f"for (int l = q; l < e; l++) {STEP} }}",
    "the other way round, with a step that is a size": "for (int q = 0; q < k; q += m) "
    f"for (int l = q; l < (k <= q + m ? k : q + m); l++) {STEP}",
    "strips that fill the range": f"for (int q = 0; q < 8 * n; q += 8) for (int l = q; l < q + 8; l++) {STEP}",
    "numbers of strips": "for (int q = 0; q < (k + 31) / 32; q++)"
    f"for (int l = q * 32; l < (q * 32 + 32 < k ? q * 32 + 32 : k); l++) {STEP}",
    "strips beyond the range, of which each ends with it": "for (int q = 0; q < k + 9; q += 8)"
    f"for (int l = q; l < q + 8 && l < k; l++) {STEP}",
    "two tests in a header": f"for (int l = 0; l < 2 * k && l < k; l++) {STEP}",
    "a test of what a step computes": f"for (int z = 0; z < k + 8; z++) {{ int l = z; if (l >= k) break; {STEP} }}",
    "steps with two numbers": "for (int q = 0; q < k / 8; q++) for (int z = 0; z < 8; z++) { int l = q * 8 + z; "
    f"{STEP} }}",
}


@pytest.mark.parametrize("name", JOINED)
def test_such_loops_are_one(name: str, tmp_path: Path) -> None:
    source = PRODUCT.format(body=JOINED[name])
    assert recipes_of(source)["product"] is None
    arrays = {
        "a": (("m*k + 8*n",), "f4"),
        "b": (("(k + 8*n)*n",), "f4"),
        "c": (("m*n",), "f4"),
    }
    run_all(source, arrays, [{"m": 17, "n": 13, "k": k, "B0": 3, "B1": 4} for k in (0, 5, 64, 75)], tmp_path)


STRIPS = """void f(int m, int n, int k, const float *a, const float *b, float *c, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++)
        for (int q = 0; q < k; q += 16) {{
          {type} s = c[{place}];
          for (int l = q; l < (q + 16 < k ? q + 16 : k); l++) {step}
          c[{place}] = s;
        }}
  }}
}}
"""
TILES = """void f(int n, const float *a, const float *b, float *c, int B)
{
  int tiles = n / B;
  meta_schedule {
    meta_for (int p = 0; p < tiles; p++)
      meta_for (int q = 0; q < tiles; q++)
        for (int r = 0; r < tiles; r++)
          meta_for (int i = 0; i < B; i++)
            meta_for (int j = 0; j < B; j++) {
              float s = c[(p * B + i) * n + q * B + j];
              for (int l = 0; l < B; l++)
                s += a[(p * B + i) * n + r * B + l] * b[(r * B + l) * n + q * B + j];
              c[(p * B + i) * n + q * B + j] = s;
            }
  }
}
"""


def test_sums_that_strips_hold_are_those_of_the_whole_loop(tmp_path: Path) -> None:
    source = STRIPS.format(type="float", place="i * n + j", step=STEP)
    assert recipes_of(source)["product"] is None
    arrays = {"a": (("m*k + 1",), "f4"), "b": (("k*n + 1",), "f4"), "c": (("m*n",), "f4")}
    run_all(source, arrays, [{"m": 17, "n": 13, "k": k, "B0": 3, "B1": 4} for k in (0, 5, 75)], tmp_path)


def test_so_are_those_of_blocks_that_threads_go_through(tmp_path: Path) -> None:
    assert recipes_of(TILES)["product"] is None
    arrays = dict.fromkeys("abc", (("n*n",), "f4"))
    run_all(TILES, arrays, [{"n": n, "B": 4} for n in (3, 8, 37)], tmp_path)


@pytest.mark.parametrize(
    ("type", "place", "step"),
    [
        ("double", "i * n + j", STEP),
        ("float", "q / 16 * m * n + i * n + j", STEP),
        ("float", "i * n + j", "s += a[i * k + l] * b[l * n + j] + c[i * n + j];"),
    ],
)
def test_another_sum_of_strips_stays_in_its_scalar(type: str, place: str, step: str) -> None:
    assert recipes_of(STRIPS.format(type=type, place=place, step=step))["product"] is not None


def test_a_plane_behind_a_pointer_is_a_row(tmp_path: Path) -> None:
    source = """void f(int m, int h, int w, const float *a, float *y, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      float s = 0;
      for (int p = 0; p < h; p++) for (int q = 0; q < w; q++) s += a[(i * h + p) * w + q];
      y[i] = s;
    }
  }
}
"""
    assert recipes_of(source)["rows"] is None
    runs = [{"m": m, "h": h, "w": w, "B": 3} for m, h, w in ((9, 7, 11), (3, 0, 4), (2, 130, 3))]
    run_all(source, {"a": (("m*h*w",), "f4"), "y": (("m",), "f4")}, runs, tmp_path)


PLANES = """void f(int m, int c, int h, int w, const float {a}, float y[m][c], int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++)
      for (int q = 0; q < c; q++) {{
        float s = 0;
        {body}
        y[i][q] = s;
      }}
  }}
}}
"""
SUMS = {
    "rows": ("a[m][c][h * w]", "for (int p = 0; p < h * w; p++) s += a[i][q][p];"),
    "planes": (
        "a[m][c][h][w]",
        "for (int p = 0; p < h; p++) for (int r = 0; r < w; r++) s += a[i][q][p][r];",
    ),
    "digits": ("a[m][c][h][w]", "for (int p = 0; p < h * w; p++) s += a[i][q][p / w][p % w];"),
    "digits in variables": (
        "a[m][c][h][w]",
        "for (int p = 0; p < h * w; p++) { int x = p % w, z = p / w; s += a[i][q][z][x]; }",
    ),
    "a pointer": (
        "*a",
        "for (int p = 0; p < h; p++) for (int r = 0; r < w; r++) s += a[((i * c + q) * h + p) * w + r];",
    ),
    "cubes": (
        "a[m][c][h][w][2]",
        "for (int p = 0; p < h; p++) for (int r = 0; r < w; r++) for (int z = 0; z < 2; z++) s += a[i][q][p][r][z];",
    ),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_plane_of_a_declared_array_is_a_row(name: str, tmp_path: Path) -> None:
    a, body = SUMS[name]
    source = PLANES.format(a=a, body=body)
    assert recipes_of(source)["rows"] is None
    runs = [
        {"m": m, "c": c, "h": h, "w": w, "B": 3}
        for m, c, h, w in ((3, 5, 7, 11), (3, 2, 0, 4), (1, 40, 30, 3))
    ]
    arrays = {"a": (("m*c*h*w*2",), "f4"), "y": (("m", "c"), "f4")}
    run_all(source, arrays, runs, tmp_path)


PLANES_OF_PRODUCTS = """void f(int m, int n, int c, int h, const float a[m][c][h], const float b[c][h][n],
       float y[m][n], int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {{
        float s = 0;
        {body}
        y[i][j] = s;
      }}
  }}
}}
"""


def test_a_product_over_two_numbers_is_one_over_both(tmp_path: Path) -> None:
    body = "for (int k = 0; k < c; k++) for (int l = 0; l < h; l++) s += a[i][k][l] * b[k][l][j];"
    source = PLANES_OF_PRODUCTS.format(body=body)
    assert recipes_of(source)["product"] is None
    runs = [{"m": m, "n": n, "c": c, "h": h, "B": 3} for m, n, c, h in ((17, 13, 3, 11), (3, 4, 5, 0))]
    arrays = {"a": (("m", "c", "h"), "f4"), "b": (("c", "h", "n"), "f4"), "y": (("m", "n"), "f4")}
    assert run_all(source, arrays, runs, tmp_path) == set()


@pytest.mark.parametrize(
    "body",
    [
        "for (int k = 0; k < c; k++) for (int l = 0; l < h - 1; l++) s += a[i][k][l] * b[k][l][j];",
        "for (int k = 0; k < c; k++) for (int l = 0; l < h; l++) s += a[i][k][l] * b[k][0][j];",
        "for (int l = 0; l < h; l++) for (int k = 0; k < c; k++) s += a[i][k][l] * b[k][l][j];",
    ],
)
def test_what_is_no_whole_plane_is_no_row(body: str, tmp_path: Path) -> None:
    source = PLANES_OF_PRODUCTS.format(body=body)
    assert recipes_of(source)["product"] == "there are loops in each other"
    arrays = {"a": (("m", "c", "h"), "f4"), "b": (("c", "h", "n"), "f4"), "y": (("m", "n"), "f4")}
    run_all(source, arrays, [{"m": 17, "n": 13, "c": 3, "h": 11, "B": 3}], tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        # A strip that is shorter than its step, one that overlaps, and a body that speaks of the strip.
        f"for (int q = 0; q < k; q += 32) for (int l = q; l < (q + 16 < k ? q + 16 : k); l++) {STEP}",
        f"for (int q = 0; q < k; q += 8) for (int l = q; l < (q + 9 < k ? q + 9 : k); l++) {STEP}",
        f"for (int q = 0; q < k; q += 8) for (int l = q; l < (q + 8 < k ? q + 8 : k); l++) {{ {STEP} s += q; }}",
        f"for (int q = 0; q < k; q += 8) for (int l = q; l < (q + 8 < k ? k : q + 8); l++) {STEP}",
        f"for (int q = 0; q < k; q += 8) for (int l = q; l < q + 8; l++) if (l < k) {STEP}",
        # An end that is cut off to a byte.
        "for (int q = 0; q < k; q += 4) { unsigned char e = q + 4 < k ? q + 4 : k; "
        f"for (int l = q; l < e; l++) {STEP} }}",
    ],
)
def test_other_loops_stay_two(body: str, tmp_path: Path) -> None:
    source = PRODUCT.format(body=body)
    assert recipes_of(source).get("product", "") is not None
    arrays = {"a": (("m*k + 99",), "f4"), "b": (("(k + 99)*n",), "f4"), "c": (("m*n",), "f4")}
    run_all(
        source, arrays, [{"m": 5, "n": 6, "k": k, "B0": 3, "B1": 4} for k in (0, 5, 24, 75, 300)], tmp_path
    )


@pytest.mark.parametrize(
    "body",
    [
        "int e = cnt[i]; for (int j = 0; j < n; j++) for (int k = 0; k < e; k++) s += a[j * e + k];",
        "int e = 3; for (int j = 0; j < n; j++) for (int k = 0; k < e; k++) { s += a[j * e + k]; if (s > 3) e = 2; }",
        # Both bounds are negative at the last points.
        "for (int j = 0; j < m - i - 3; j++) for (int k = 0; k < n - i - 2; k++) s += 1.5f;",
        "long p = 3; for (int j = i % 2; j < 4; j++) for (long k = n + 1; k > 0; k--) p += n; s += p;",
    ],
)
def test_loops_that_differ_between_points_stay_two(body: str, tmp_path: Path) -> None:
    source = f"""void f(int m, int n, const float *a, const int *cnt, float *y, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      float s = 0;
      {body}
      y[i] = s;
    }}
  }}
}}
"""
    arrays = {"a": (("n*200 + 9",), "f4"), "cnt": (("m",), "i4"), "y": (("m",), "f4")}
    run_all(
        source, arrays, [{"m": m, "n": n, "B": 3} for m, n in ((8, 8), (5, 0), (1, 1), (2, 30))], tmp_path
    )


def test_steps_of_two_loops_that_may_both_have_less_than_none_are_counted_at_launch(tmp_path: Path) -> None:
    source = """void f(int m, int b, int h, const float *a, float *y, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      float s = 0;
      for (int k = 0; k < b - 2; k++) for (int p = 0; p < h - 2; p++) s += a[(i * (b - 2) + k) * (h - 2) + p];
      y[i] = s;
    }
  }
}
"""
    assert recipes_of(source)["rows"] is None
    refused = run_all(
        source,
        {"a": (("m*(b + 2)*(h + 2)",), "f4"), "y": (("m",), "f4")},
        [{"m": m, "b": b, "h": h, "B": 3} for m, b, h in ((9, 7, 11), (3, 1, 1), (2, 0, 9), (2, 9, 1))],
        tmp_path,
    )
    assert refused  # at sizes where a bound is negative
