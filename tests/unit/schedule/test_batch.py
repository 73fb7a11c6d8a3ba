"""The coordinates of a tile are those along which loops read the fewest elements; the others are a batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import compilation_of, run_all, sources_of

PRODUCT = """void f(int n, int k, {parameters}, float c[n][n][3][n])
{{
  meta_schedule {{
    meta_for (int p = 0; p < n; p++)
      meta_for (int q = 0; q < n; q++)
        meta_for (int r = 0; r < 3; r++)
          meta_for (int s = 0; s < n; s++) {{
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
              sum += {summand};
            c[p][q][r][s] = sum;
          }}
  }}
}}
"""
CASES = {
    "a coordinate of the other operand": (
        "const float a[k][n][3][n], const float b[k][n]",
        "a[l][q][r][s] * b[l][p]",
        ("p", "q_r_s"),
        {"a": (("k", "n", 3, "n"), "f4"), "b": (("k", "n"), "f4")},
    ),
    "one that both operands have": (
        "const float a[n][3][k][n], const float b[n][n][k]",
        "a[q][r][l][s] * b[q][p][l]",
        ("p", "s"),
        {"a": (("n", 3, "k", "n"), "f4"), "b": (("n", "n", "k"), "f4")},
    ),
    "the innermost of those that are as good": (
        "const float a[k][n][n], const float b[n][3][k]",
        "a[l][q][s] * b[p][r][l]",
        ("r", "s"),
        {"a": (("k", "n", "n"), "f4"), "b": (("n", 3, "k"), "f4")},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_tiles_lie_along_coordinates_of_both_operands(name: str, tmp_path: Path) -> None:
    parameters, summand, along, operands = CASES[name]
    source = PRODUCT.format(parameters=parameters, summand=summand)
    (region,) = compilation_of(source).plan.functions[0].regions
    (tiling,) = (each for each in region.tilings if each.recipe == "product")
    assert tuple(c.name for c in tiling.tile.coordinates) == along
    arrays = {**operands, "c": (("n", "n", 3, "n"), "f4")}
    run_all(source, arrays, [{"n": 9, "k": 17}, {"n": 5, "k": 0}], tmp_path)


FOUR_INDICES = """void f(int n, int k, const float a[n][k][n][k], const float b[n][k][n][k], float c[n][n][n][n])
{
  meta_schedule {
    meta_for (int p = 0; p < n; p++)
      meta_for (int q = 0; q < n; q++)
        meta_for (int r = 0; r < n; r++)
          meta_for (int s = 0; s < n; s++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
              for (int m = 0; m < k; m++)
                sum += a[p][l][q][m] * b[s][m][r][l];
            c[p][q][r][s] = sum;
          }
  }
}
"""


def test_fewest_elements_are_read_of_what_lies_along_a_loop_around_the_pieces(tmp_path: Path) -> None:
    (region,) = compilation_of(FOUR_INDICES).plan.functions[0].regions
    (tiling,) = (each for each in region.tilings if each.recipe == "window product")
    assert tuple(c.name for c in tiling.tile.coordinates) == ("p", "q", "s")
    arrays = {name: (("n", "k", "n", "k"), "f4") for name in "ab"} | {"c": (("n", "n", "n", "n"), "f4")}
    run_all(FOUR_INDICES, arrays, [{"n": 5, "k": 9}, {"n": 3, "k": 17}, {"n": 2, "k": 0}], tmp_path)


BATCH_AS_LONG_AS_A_LOOP = """void f(const float a[8][8][8][8], float b[8][8][8][8])
{
  meta_schedule {
    meta_for (int i = 0; i < 8; i++)
      meta_for (int j = 0; j < 8; j++)
        meta_for (int k = 0; k < 8; k++)
          meta_for (int l = 0; l < 8; l++) {
            float sum = 0.0f;
            for (int m = 0; m < 8; m++)
              sum += a[i][m][k][l];
            b[i][j][k][l] = sum;
          }
  }
}
"""


def test_a_constant_loop_stays_one_beside_a_batch_of_that_length() -> None:
    text = sources_of(BATCH_AS_LONG_AS_A_LOOP)["f.cu"]
    assert "m < 8" in text
    assert "m < i_limit" not in text
