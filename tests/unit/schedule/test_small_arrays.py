"""Small arrays of a point and operands that constants number, on the CPU against the serial C, and in tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import recipes_of, run_all

GATES = """void f(int m, int n, int k, const float x[m][k], {w}, float y[m][n], int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
WIDTH = "const float w[2][n][k]"
SPELLINGS = {
    "two arrays": (
        "const float v[n][k], const float w[n][k]",
        "float s = 1, t = 1; for (int l = 0; l < k; l++) { s += x[i][l] * v[j][l]; t += x[i][l] * w[j][l]; }"
        "y[i][j] = s - 2 * t;",
    ),
    "one array": (
        WIDTH,
        "float s = 1, t = 1; for (int l = 0; l < k; l++) { s += x[i][l] * w[0][j][l]; t += x[i][l] * w[1][j][l]; }"
        "y[i][j] = s - 2 * t;",
    ),
    "elements of a small array": (
        WIDTH,
        "float s[2] = {1, 1}; for (int l = 0; l < k; l++) for (int q = 0; q < 2; q++) s[q] += x[i][l] * w[q][j][l];"
        "y[i][j] = s[0] - 2 * s[1];",
    ),
    "one after the other": (
        WIDTH,
        "float s[2]; for (int q = 0; q < 2; q++) { float t = 1; for (int l = 0; l < k; l++) t += x[i][l] * w[q][j][l];"
        "s[q] = t; } y[i][j] = s[0] - 2 * s[1];",
    ),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_two_sums_are_a_product_in_every_spelling(name: str, tmp_path: Path) -> None:
    w, body = SPELLINGS[name]
    source = GATES.format(w=w, body=body)
    assert recipes_of(source)["product"] is None
    shape = ("n", "k") if name == "two arrays" else (2, "n", "k")
    arrays = {"x": (("m", "k"), "f4"), "v": (("n", "k"), "f4"), "w": (shape, "f4"), "y": (("m", "n"), "f4")}
    arrays = arrays if name == "two arrays" else {a: arrays[a] for a in "xwy"}
    runs = [{"m": m, "n": n, "k": k, "B0": 3, "B1": 4} for m, n, k in ((17, 13, 21), (4, 5, 0))]
    run_all(source, arrays, runs, tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        "float s[2] = {1, 1}; for (int l = 0; l < k; l++) s[l % 2] += x[i][l] * w[0][j][l]; y[i][j] = s[0] - s[1];",
        "float s[40]; for (int q = 0; q < 40; q++) s[q] = q; for (int l = 0; l < k; l++)"
        "s[3] += x[i][l] * w[0][j][l] * s[4]; y[i][j] = s[3];",
        "float s[2] = {1, 1}; for (int l = 0; l < k; l++) for (int q = 0; q < 2; q++) {"
        "if (x[i][l] > 50) break; s[q] += w[q][j][l]; } y[i][j] = s[0] - s[1];",
    ],
)
def test_other_arrays_stay_arrays(body: str, tmp_path: Path) -> None:
    source = GATES.format(w=WIDTH, body=body)
    assert recipes_of(source)["product"] is not None
    arrays = {"x": (("m", "k"), "f4"), "w": ((2, "n", "k"), "f4"), "y": (("m", "n"), "f4")}
    run_all(source, arrays, [{"m": 5, "n": 6, "k": 7, "B0": 3, "B1": 4}], tmp_path)
