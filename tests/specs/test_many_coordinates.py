"""Nests of four and more parallel loops have tiles: the outermost coordinates are a batch of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive import verification
from comprehensive.driver import compile_file
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.compiled_specs import OPTIONS
from tests.examples import quick_of

PROGRAMS = {
    "scores": (
        2,
        """void scores(int b, int h, int s, int d, const float *q, const float *k, float *o,
            int B0, int B1, int B2, int B3)
{
  meta_schedule block(B0, B1, B2, B3) {
    meta_for (int i = 0; i < b; i++)
      meta_for (int j = 0; j < h; j++)
        meta_for (int r = 0; r < s; r++)
          meta_for (int c = 0; c < s; c++) {
            float sum = 0;
            for (int e = 0; e < d; e++)
              sum += q[((i*h + j)*s + r)*d + e] * k[((i*h + j)*s + c)*d + e];
            o[((i*h + j)*s + r)*s + c] = c <= r ? sum : -1.0f;
          }
  }
}
""",
    ),
    "permuted": (
        2,
        """void permuted(int a, int b, int c, int d, const float *x, float *y, int B0, int B1, int B2, int B3)
{
  meta_schedule block(B0, B1, B2, B3) {
    meta_for (int i = 0; i < a; i++)
      meta_for (int j = 0; j < b; j++)
        meta_for (int k = 0; k < c; k++)
          meta_for (int l = 0; l < d; l++)
            y[((i*d + l)*b + j)*c + k] = x[((i*b + j)*c + k)*d + l];
  }
}
""",
    ),
    "planes": (
        2,
        """void planes(int a, int b, int c, int d, int e, float x[a][b][c][d][e], float y[a][b][c][d][e],
            int B0, int B1, int B2, int B3, int B4)
{
  meta_schedule block(B0, B1, B2, B3, B4) {
    meta_for (int i = 0; i < a; i++)
      meta_for (int j = 0; j < b; j++)
        meta_for (int k = 1; k < c - 1; k++)
          meta_for (int l = 1; l < d - 1; l++)
            meta_for (int m = 0; m < e; m++)
              y[i][j][k][l][m] = x[i][j][k - 1][l][m] + x[i][j][k + 1][l][m] + x[i][j][k][l - 1][m];
  }
}
""",
    ),
}
"""The programs by function: how many of its coordinates are a batch, and its text."""


@pytest.mark.parametrize("name", quick_of(PROGRAMS, {"permuted"}))
def test_the_outermost_coordinates_are_a_batch_of_tiles(name: str, tmp_path: Path) -> None:
    if find_c_compiler() is None or find_cxx_compiler() is None:
        pytest.skip("no C or no C++ compiler on this machine")
    batch, text = PROGRAMS[name]
    path = tmp_path / f"{name}.mf"
    path.write_text(text)
    compilation = compile_file(path, OPTIONS)
    ((region,),) = (function.regions for function in compilation.plan.functions)
    assert len(region.tilings[0].tile.batch) == batch
    report = verification.verify(compilation, points=4, run=True)
    assert report.holds
    assert not report.unchecked
