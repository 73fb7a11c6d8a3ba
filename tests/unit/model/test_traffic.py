"""Bytes that a launch moves at least, of programs where they can be counted by hand."""

from __future__ import annotations

import pytest

from tests.unit.schedule.tile_runs import compilation_of

PROGRAM = """void f(int n, int m, const float a[n][m], const float *c, float b[n][m], int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 1; i < n - 1; i++)
      meta_for (int j = 1; j < m - 1; j++)
        {body}
  }}
}}
"""


@pytest.mark.parametrize(
    ("body", "bytes_of"),
    [
        ("b[i][j] = a[i][j] + a[i - 1][j] + a[i][j + 1];", {"a": 4, "b": 4}),
        ("b[i][j] += a[i][j];", {"a": 4, "b": 8}),
        # Views of rows that the point computes are of the same data.
        ("{ int up = i > 1 ? i - 1 : 0; b[i][j] = a[i][j] + a[up][j]; }", {"a": 4, "b": 4}),
        # Parts of an array count each, neighbours in one of them do not.
        ("b[i][j] = c[i * m + j] + c[n * m + i * m + j] + c[i * m + m + j];", {"c": 8, "b": 4}),
    ],
)
def test_every_element_counts_once(body: str, bytes_of: dict[str, int]) -> None:
    (function,) = compilation_of(PROGRAM.format(body=body)).plan.functions
    tiling = function.regions[0].tilings[0]
    assert {each.array: each.bytes for each in tiling.traffic} == bytes_of
    assert all(each.limits == (0, 1) for each in tiling.traffic)


AROUND = """void f(int n, int m, int c, const float a[n + 2][m + 2][{c}], const float *s, float b[n][m][{c}],
       int B0, int B1, int B2)
{{
  meta_schedule block({blocks}) {{
    meta_for (int i = 0; i < n; i++)
      meta_for (int j = 0; j < m; j++)
        {body}
  }}
}}
"""
"""Pixels of a few values each."""


@pytest.mark.parametrize(
    ("c", "body", "bytes_of"),
    [
        # Three elements of each point, in a loop of three turns.
        ("3", "for (int k = 0; k < 3; k++) b[i][j][k] = a[i][j][k];", {"a": 12, "b": 12}),
        ("c", "meta_for (int k = 0; k < c; k++) b[i][j][k] = a[i][j][k] * s[k] + a[i][j + 2][k];", {"a": 4, "b": 4}),
        ("c", "meta_for (int k = 0; k < c; k++) { float t = 0; for (int x = 0; x < 3; x++) t += a[i][j + x][k];"
         " b[i][j][k] = t; }", {"a": 4, "b": 4}),
    ],
)  # fmt: skip
def test_elements_of_short_rows_count_once(c: str, body: str, bytes_of: dict[str, int]) -> None:
    blocks = "B0, B1, B2" if "meta_for" in body else "B0, B1"
    (function,) = compilation_of(AROUND.format(c=c, body=body, blocks=blocks)).plan.functions
    for tiling in function.regions[0].tilings:
        everywhere = max((each.limits for each in tiling.traffic), key=len)
        assert {each.array: each.bytes for each in tiling.traffic if each.limits == everywhere} == bytes_of
