"""Loops of the grid or of threads that make no index together are coordinates, each for itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.tile_runs import recipes_of, run_all

Arrays = dict[str, tuple[tuple[int | str, ...], str]]
PRODUCT = """void f(int m, int n, int k, const float a[m][k], const float b[k][n], float c[m][n])
{
  meta_schedule {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {
        float s = 0.0f;
        for (int l = 0; l < k; l++)
          s += a[i][l] * b[l][j];
        c[i][j] = s;
      }
  }
}
"""
SUM = """void f(int m, int n, int k, const float a[m][n], const float b[m][n], float c[m][n])
{
  meta_schedule {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++)
        if (j <= i)
          c[i][j] = a[i][j] + b[i][j];
  }
}
"""
CONVOLUTION = """void f(int m, int n, int k, const float a[3][k][m + 2][n + 2], const float b[3][5][k][3][3],
       float c[3][5][m][n])
{
  meta_schedule {
    meta_for (int g = 0; g < 3; g++)
      meta_for (int o = 0; o < 5; o++)
        meta_for (int y = 0; y < m; y++)
          meta_for (int x = 0; x < n; x++) {
            float s = 0.0f;
            for (int i = 0; i < k; i++)
              for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++)
                  s += a[g][i][y + p][x + q] * b[g][o][i][p][q];
            c[g][o][y][x] = s;
          }
  }
}
"""
# Rows of a block, and of each row a batch of its own beside the digits of one index.
BATCH = """void f(int m, int n, int k, const float a[k][m * 4], float c[k][m * 4])
{
  meta_schedule {
    meta_for (int b = 0; b < k; b++)
      meta_for (int i = 0; i < m; i++)
        meta_for (int one = 0; one < 1; one++)
          meta_for (int u = 0; u < 4; u++)
            c[b][i * 4 + u] = 2 * a[b][i * 4 + u];
  }
}
"""
OF_PRODUCT: Arrays = {"a": (("m", "k"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")}
OF_SUM: Arrays = dict.fromkeys("abc", (("m", "n"), "f4"))
OF_CONVOLUTION: Arrays = {
    "a": ((3, "k", "m + 2", "n + 2"), "f4"),
    "b": ((3, 5, "k", 3, 3), "f4"),
    "c": ((3, 5, "m", "n"), "f4"),
}
OF_BATCH: Arrays = dict.fromkeys("ac", (("k", "4 * m"), "f4"))
CASES: dict[str, tuple[str, Arrays, str]] = {
    "a product": (PRODUCT, OF_PRODUCT, "product"),
    "a sum": (SUM, OF_SUM, "points"),
    "a convolution of groups": (CONVOLUTION, OF_CONVOLUTION, "window product"),
    "digits, and loops beside them": (BATCH, OF_BATCH, "points"),
}
RUNS = [{"m": m, "n": n, "k": k} for m, n, k in ((70, 130, 9), (1, 1, 1), (33, 0, 4), (5, 67, 0))]


@pytest.mark.parametrize("name", CASES)
def test_a_nest_without_sizes_of_blocks_has_tiles(name: str) -> None:
    source, _, recipe = CASES[name]
    assert recipes_of(source)[recipe] is None


@pytest.mark.parametrize("name", quick_of(CASES, {"a sum", "digits, and loops beside them"}))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays, _ = CASES[name]
    assert run_all(source, arrays, RUNS, tmp_path) == set()
