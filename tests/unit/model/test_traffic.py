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
