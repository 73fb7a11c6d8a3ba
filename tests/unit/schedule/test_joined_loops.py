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


@pytest.mark.parametrize(
    "body",
    [
        # A strip that is shorter than its step, one that overlaps, and a body that speaks of the strip.
        f"for (int q = 0; q < k; q += 32) for (int l = q; l < (q + 16 < k ? q + 16 : k); l++) {STEP}",
        f"for (int q = 0; q < k; q += 8) for (int l = q; l < (q + 9 < k ? q + 9 : k); l++) {STEP}",
        f"for (int q = 0; q < k; q += 8) for (int l = q; l < (q + 8 < k ? q + 8 : k); l++) {{ {STEP} s += q; }}",
        f"for (int q = 0; q < k; q += 8) for (int l = q; l < (q + 8 < k ? k : q + 8); l++) {STEP}",
        f"for (int q = 0; q < k; q += 8) for (int l = q; l < q + 8; l++) if (l < k) {STEP}",
    ],
)
def test_other_loops_stay_two(body: str, tmp_path: Path) -> None:
    source = PRODUCT.format(body=body)
    assert recipes_of(source).get("product", "") is not None
    arrays = {"a": (("m*k + 99",), "f4"), "b": (("(k + 99)*n",), "f4"), "c": (("m*n",), "f4")}
    run_all(source, arrays, [{"m": 5, "n": 6, "k": k, "B0": 3, "B1": 4} for k in (0, 5, 24, 75)], tmp_path)
