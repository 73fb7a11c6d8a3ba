"""Loops of one thread along rows, read in vectors: on the CPU against the serial C, to the bit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import recipes_of, run_all, sources_of

PROGRAM = """void f(int m, int n, int d, const float q[m][d], const {type} k[n][m][d], const int t[n][d], float w[n][d],
       float y[m][n], int B)
{{
  meta_schedule block(B) {{
    meta_for (int h = 0; h < m; h++) {{
      float most = -100000;
      for (int j = 0; j < n; j++) {{
        float a = 0;
        {loop}
        y[h][j] = a;
        most = a > most ? a : most;
      }}
      for (int j = 0; j < n; j++)
        y[h][j] = y[h][j] - most;
    }}
  }}
}}
"""
RUNS = [
    {"m": m, "n": n, "d": d, "B": 3}
    for m, n, d in ((3, 130, 16), (9, 33, 14), (2, 40, 4), (1, 70, 3), (5, 8, 0), (3, 4, 29), (2, 3, -4))
]


def _program(loop: str, type: str = "float") -> str:
    return PROGRAM.format(loop=loop, type=type)


def _vectors(source: str) -> set[str]:
    """The arrays that are read in vectors."""
    return set(re.findall(r"cf_vectors<cf_width, 4, 4>\(&\w+\[0\], &(\w+)\[", sources_of(source)["f.cu"]))


@pytest.mark.parametrize(
    ("loop", "type", "vectors"),
    [
        ("for (int e = 0; e < d; e++) a += q[h][e] * k[j][h][e];", "float", {"q", "k"}),
        ("for (int e = 0; e < d; e++) a += k[j][h][e] * k[n - 1 - j][h][e] + e;", "float", {"k"}),
        # Elements of eight bytes are left, as are those that are not neighbours, or not at the same place of a row.
        ("for (int e = 0; e < d; e++) a += q[h][e] * k[j][h][e];", "double", {"q"}),
        ("for (int e = 0; e < d; e++) a += q[h][d - 1 - e] * k[j][h][e / 2];", "float", set()),
        ("for (int e = 0; e < d - 1; e++) a += q[h][e + 1] - q[h][e];", "float", {"q"}),
        ("for (int e = 1; e < d; e++) a += q[h][e];", "float", set()),
        # What is read under a condition need not be there.
        ("for (int e = 0; e < d; e++) a += t[j][e] > 0 ? q[h][e] : 1;", "float", {"t"}),
        ("for (int e = 0; e < d; e++) { int p = t[j][e]; if (p > 0) a += q[h][e] * p; else a += e; }", "float", {"t"}),
        ("for (int e = 0; e < d; e++) if (t[j][e] > 0 && q[h][e] > 0) a += 1;", "float", {"t"}),
        ("for (int e = 0; e < d; e++) for (int p = 0; p < 3; p++) a += q[h][e] * p;", "float", set()),
    ],
)  # fmt: skip
def test_four_elements_are_read_together(loop: str, type: str, vectors: set[str], tmp_path: Path) -> None:
    source = _program(loop, type)
    assert recipes_of(source)["long rows"] is None
    assert _vectors(source) == vectors
    arrays = {
        "q": (("m", "max(0, d)"), "f4"),
        "k": (("n", "m", "max(0, d)"), "f4" if type == "float" else "f8"),
        "t": (("n", "max(0, d)"), "i4"),
        "w": (("n", "max(0, d)"), "f4"),
        "y": (("m", "n"), "f4"),
    }
    run_all(source, arrays, RUNS, tmp_path)


def test_elements_that_the_loop_assigns_are_read_one_by_one() -> None:
    source = _program("for (int e = 0; e < d; e++) { w[j][e] = w[j][e] + k[j][h][e]; a += 1; }")
    source = source.replace("meta_for (int h = 0; h < m; h++)", "meta_for (int h = 0; h < 1; h++)")
    assert "w" not in _vectors(source)
