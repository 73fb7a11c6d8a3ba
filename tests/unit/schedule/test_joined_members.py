"""Members of elements side by side, as the parts of complex numbers, as neighbours in rows of boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.tile_runs import numbers_of, run_all, sources_of

RECIPE = "window product"
PLANE = """void f(int m, int n, int p, {parameters}, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
PLANES = [{"m": m, "n": n, "p": p, "B0": 2, "B1": 4} for m, n, p in ((33, 36, 20), (9, 17, 5), (3, 5, 0))]
DECLARED = "const float a[m][p][2], const float b[p][n][2], float c[m][n][2]"
OF_PLANE = {"a": (("m", "p", 2), "f4"), "b": (("p", "n", 2), "f4"), "c": (("m", "n", 2), "f4")}
CASES = {
    "complex numbers": (
        DECLARED,
        "float x = 0, y = 0; for (int k = 0; k < p; k++) {"
        " x += a[i][k][0] * b[k][j][0] - a[i][k][1] * b[k][j][1];"
        " y += a[i][k][0] * b[k][j][1] + a[i][k][1] * b[k][j][0]; } c[i][j][0] = x; c[i][j][1] = y;",
    ),
    "behind pointers": (
        "const float *a, const float *b, float *c",
        "float x = 0, y = 0; for (int k = 0; k < p; k++) {"
        " x += a[2*(i*p + k)] * b[2*(k*n + j)] - a[2*(i*p + k) + 1] * b[2*(k*n + j) + 1];"
        " y += a[2*(i*p + k)] * b[2*(k*n + j) + 1] + a[2*(i*p + k) + 1] * b[2*(k*n + j)]; }"
        " c[2*(i*n + j)] = x; c[2*(i*n + j) + 1] = y;",
    ),
    "one part of one operand": (
        DECLARED,
        "float x = a[i][0][1]; for (int k = 0; k < p; k++) x += a[i][k][0] * b[k][j][1] + b[k][j][0];"
        " c[i][j][0] = x;",
    ),
}


@pytest.mark.parametrize("case", quick_of(CASES, {"complex numbers"}))
def test_every_instance_computes_what_the_serial_program_does(case: str, tmp_path: Path) -> None:
    parameters, body = CASES[case]
    source = PLANE.format(parameters=parameters, body=body)
    # A point reads the first element whatever its loop does.
    runs = PLANES[:2] if "[i][0]" in body else PLANES
    assert "b_members" in sources_of(source)["f.cu"]
    refused = run_all(source, OF_PLANE, runs, tmp_path)
    assert set(numbers_of(source, RECIPE)) - {number for number, _ in refused}


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        (
            "const float p0[m][3], const float q[p][3], float y[m][n]",
            "float s = 0; for (int k = 0; k < p; k++) s += p0[i][0] * q[k][0] + p0[i][1] * q[k][1]; y[i][j] = s;",
        ),
        (
            "const float a[m][p], const float b[p][n], float y[m][n]",
            "float s = 0; for (int k = 0; k < p; k++) s += a[i][k] * b[k][j]; y[i][j] = s;",
        ),
        (
            "const float a[m][p][2], const float b[p][n], float y[m][n]",
            "float s = 0; for (int k = 0; k < p; k++) s += a[i][k][1] * b[k][j]; y[i][j] = s;",
        ),
    ],
)
def test_members_that_are_operands_each_stay_so(parameters: str, body: str) -> None:
    source = PLANE.format(parameters=parameters, body=body)
    assert "_members" not in sources_of(source)["f.cu"]
