"""Products over triangles: which tiles are launched, and that results are those of the serial C."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import comprehensive
from tests.examples import quick_of

PROGRAM = """void f(int n, int m, int k, int s, const float a[n][k], const float b[m][k], float c[n][m], int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < n; i++)
      meta_for (int j = 0; j < m; j++)
        if ({condition}) {{
          float sum = 0.0f;
          for (int l = 0; l < k; l++)
            sum += a[i][l] * b[j][l];
          c[i][j] = sum;
        }}
  }}
}}
"""
INSIDE = {
    "j <= i": lambda i, j, n, s: j <= i,
    "j < i": lambda i, j, n, s: j < i,
    "i <= j": lambda i, j, n, s: i <= j,
    "i + j < n": lambda i, j, n, s: i + j < n,
    "i + j >= n - 1": lambda i, j, n, s: i + j >= n - 1,
    "j <= i - s": lambda i, j, n, s: j <= i - s,
    "s + j <= i && i != 7": lambda i, j, n, s: (s + j <= i) & (i != 7),
}


@cache
def program(condition: str) -> comprehensive.Program:
    return comprehensive.compile(PROGRAM.format(condition=condition), registers="estimate")


@cache
def loaded(condition: str) -> comprehensive.Module:
    return program(condition).load(device="cpu")


@pytest.mark.parametrize("condition", quick_of(INSIDE, {"s + j <= i && i != 7"}))
@pytest.mark.parametrize(
    ("n", "m"), quick_of([(1, 1), (65, 65), (130, 67), (67, 200), (257, 129)], {(1, 1), (130, 67), (67, 200)})
)
def test_every_point_inside_is_computed_and_no_other(condition: str, n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    k, s = 9, 3
    a, b = (rng.integers(-4, 5, (rows, k)).astype(np.float32) for rows in (n, m))
    i, j = np.indices((n, m))
    expected = np.where(INSIDE[condition](i, j, n, s), a @ b.T, np.float32(-1))
    for tile in (1, 4, 6, 7):
        c = np.full((n, m), -1, np.float32)
        loaded(condition).f(n, m, k, s, a, b, c, B0=8, B1=8, tile=tile)
        assert np.array_equal(c, expected), tile


def test_a_triangle_launches_the_tiles_that_have_work() -> None:
    (found,) = program("j <= i").explain(device="h200", n=2048, m=2048, k=1024, B0=8, B1=8).regions
    assert found.ranking is not None
    blocks = {
        r.number: r.cost.blocks for r in found.ranking.fitting if r.kind != "leaf" and r.cost is not None
    }
    # Of tiles of 64 x 64 there are 32 + 31 + .. + 1 of 1,024, and the busiest of 132 multiprocessors has 4.
    assert blocks[7] == 4


def test_what_has_no_edge_between_two_coordinates_is_launched_whole() -> None:
    assert "mirror" not in program("i != j").cuda
    assert "mirror" in program("j <= i").cuda
