"""Neighbouring points in vectors: on the CPU against the serial C, where limits and alignment cut them in all ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.driver import Compilation
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import compilation_of, run_all, sources_of, warnings_of

PLANE = """void f(int m, int n, int t, {parameters}, int B0, int B1)
{{
  int dim0 = (m - 2 + B0 - 1) / B0, dim1 = (n - 2 + B1 - 1) / B1;
  meta_schedule {{
    meta_for (int v0 = 0; v0 < dim0; v0++)
      meta_for (int v1 = 0; v1 < dim1; v1++)
        meta_for (int u0 = 0; u0 < B0; u0++)
          meta_for (int u1 = 0; u1 < B1; u1++) {{
            int i = v0 * B0 + u0 + 1, j = v1 * B1 + u1 + 1;
            if (i < m - 1 && j < n - 1) {{
              {body}
            }}
          }}
  }}
}}
"""
CUBE = """void f(int m, int n, int t, {parameters}, int B0, int B1)
{{
  int dim0 = (m - 2 + B0 - 1) / B0, dim1 = (n - 2 + B0 - 1) / B0, dim2 = (n - 2 + B1 - 1) / B1;
  meta_schedule {{
    meta_for (int v0 = 0; v0 < dim0; v0++)
      meta_for (int v1 = 0; v1 < dim1; v1++)
        meta_for (int v2 = 0; v2 < dim2; v2++)
          meta_for (int u0 = 0; u0 < B0; u0++)
            meta_for (int u1 = 0; u1 < B0; u1++)
              meta_for (int u2 = 0; u2 < B1; u2++) {{
                int i = v0 * B0 + u0 + 1, j = v1 * B0 + u1 + 1, k = v2 * B1 + u2 + 1;
                if (i < m - 1 && j < n - 1 && k < n - 1) {{
                  {body}
                }}
              }}
  }}
}}
"""
LINE = """void f(int m, int n, int t, {parameters}, int B0, int B1)
{{
  int dim = (n - 2 + B0 - 1) / B0;
  meta_schedule {{
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B0; u++) {{
        int j = v * B0 + u + 1;
        if (j < n - 1) {{
          {body}
        }}
      }}
  }}
}}
"""
M, N = 37, 272
RUNS = [
    {"m": m, "n": n, "t": t, "B0": 3, "B1": 5}
    for m, n, t in ((M, N, 0), (M, N - 1, 1), (9, 136, 1), (3, 4, 0), (3, 3, 0), (5, 8, 1), (4, 7, 0))
]
FIVE = "a[i][j] + a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1]"

CASES: dict[str, tuple[str, dict[str, tuple[tuple[int | str, ...], str]]]] = {
    "five points": (
        PLANE.format(parameters="float a[m][n], float b[m][n]", body=f"b[i][j] = 0.2f * ({FIVE});"),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "f4")},
    ),
    "integers, divided by data": (
        PLANE.format(
            parameters="int a[m][n], int b[m][n]",
            body=f"b[i][j] = ({FIVE}) / (a[i][j] * a[i][j] + 1);",
        ),
        {"a": (("m", "n"), "i4"), "b": (("m", "n"), "i4")},
    ),
    "divided by where the point is": (
        PLANE.format(
            parameters="float a[m][n], float b[m][n]",
            body="b[i][j] = (a[i][j-1] + a[i][j+1]) * (100 / j) + 100 % (n - 1 - j);",
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "f4")},
    ),
    "rows of a flat array": (
        PLANE.format(
            parameters="const float *a, float *b",
            body="b[i*n + j] = a[i*n + j] - a[(i-1)*n + j] - a[i*n + j-1] + a[i*n + j+1];",
        ),
        {"a": (("m*n",), "f4"), "b": (("m*n",), "f4")},
    ),
    "doubles and a scalar": (
        PLANE.format(
            parameters="double a[m][n], double b[m][n], double w[m]",
            body=f"double s = {FIVE}; s *= w[i]; b[i][j] = s + a[i][j];",
        ),
        {"a": (("m", "n"), "f8"), "b": (("m", "n"), "f8"), "w": (("m",), "f8")},
    ),
    "bytes": (
        PLANE.format(
            parameters="unsigned char a[m][n], unsigned char b[m][n]", body="b[i][j] = a[i][j-1] + a[i][j+1];"
        ),
        {"a": (("m", "n"), "u1"), "b": (("m", "n"), "u1")},
    ),
    "a loop of three by three": (
        PLANE.format(
            parameters="float a[m][n], float b[m][n]",
            body="float s = 0; for (int y = 0; y < 3; y++) for (int x = 0; x < 3; x++) { float d = a[i-1+y][j-1+x]; "
            "s += d * d; } b[i][j] = s;",
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "f4")},
    ),
    "five by five, weighted": (
        PLANE.format(
            parameters="float a[m+4][n+4], float w[5][5], float b[m][n]",
            body="float s = 0.5f; for (int y = 0; y < 5; y++) for (int x = 0; x < 5; x++) "
            "s += a[i+y][j+x] * w[y][x]; b[i][j] = s / 25.0f;",
        ),
        {"a": (("m+4", "n+4"), "f4"), "w": ((5, 5), "f4"), "b": (("m", "n"), "f4")},
    ),
    "integers of a flat array, two sums": (
        PLANE.format(
            parameters="const int *a, int *b, int *c",
            body="int s = 3, p = 1; for (int y = 0; y < 3; y++) { int d = a[(i-1+y)*n + j+1] - a[(i-1+y)*n + j-1]; "
            "s += d; p *= d; } b[i*n + j] = s; c[i*n + j] = p + i;",
        ),
        {"a": (("m*n",), "i4"), "b": (("m*n",), "i4"), "c": (("m*n",), "i4")},
    ),
    "numbers of the source among data": (
        PLANE.format(
            parameters="float a[m][n], float b[m][n]",
            body="float s = 0; for (int y = 0; y < 3; y++) { s += 3 / (a[i-1+y][j-1] * y + 2) + a[i-1+y][j]; "
            "float d = a[i-1+y][j+1] * 1234567.0f; s += (d + y) + 1; } b[i][j] = s;",
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "f4")},
    ),
    "rows from below": (
        PLANE.format(
            parameters="float a[m][n], float b[m][n]",
            body="float s = 0; for (int y = 0; y < 3; y++) s = 0.5f * s + a[i+1-y][j-1] + a[i+1-y][j]; b[i][j] = s;",
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "f4")},
    ),
    "a cube, summed over rows": (
        CUBE.format(
            parameters="float a[m][n][n], float b[m][n][n]",
            body="float s = 0; for (int y = 0; y < 3; y++) s = 0.5f * s + a[i][j-1+y][k-1] + a[i][j-1+y][k+1]; "
            "b[i][j][k] = s;",
        ),
        {"a": (("m", "n", "n"), "f4"), "b": (("m", "n", "n"), "f4")},
    ),
    "two results, one changed in place": (
        PLANE.format(
            parameters="float a[m][n], float b[m][n], int c[m][n]",
            body="float d = a[i][j+1] - a[i][j-1]; b[i][j] -= d; c[i][j] = d * t;",
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "f4"), "c": (("m", "n"), "i4")},
    ),
    "stored elsewhere in the row": (
        PLANE.format(
            parameters="float a[m][n], float b[m][n+8]", body="b[i][j+4] = a[i][j-1] + a[i][j] + a[i][j+1];"
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n+8"), "f4")},
    ),
    "from the first element on": (
        PLANE.format(parameters="float a[m][n], float b[m][n]", body="b[i][j-1] = a[i][j] + a[i][j-1];"),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "f4")},
    ),
    "a cube": (
        CUBE.format(
            parameters="float a[m][n][n], float b[m][n][n]",
            body="b[i][j][k] = a[i][j][k] - 0.5f * (a[i-1][j][k] + a[i+1][j][k] + a[i][j-1][k] + a[i][j+1][k] "
            "+ a[i][j][k-1] + a[i][j][k+1]);",
        ),
        {"a": (("m", "n", "n"), "f4"), "b": (("m", "n", "n"), "f4")},
    ),
    "a cube behind pointers": (
        CUBE.format(
            parameters="const float *a, float *b",
            body="int at = (i * n + j) * n + k; b[at] = a[at] - 0.5f * (a[at - n * n] + a[at + n * n] + a[at - n] "
            "+ a[at + n] + a[at - 1] + a[at + 1]);",
        ),
        {"a": (("m*n*n",), "f4"), "b": (("m*n*n",), "f4")},
    ),
    "rows behind a pointer, the last first": (
        PLANE.format(
            parameters="const float *a, float *b",
            body="b[i*n + j] = a[(m-1-i)*n + j-1] + a[(m-1-i)*n + j+1];",
        ),
        {"a": (("m*n",), "f4"), "b": (("m*n",), "f4")},
    ),
    "a line, the halves of an array in turns": (
        LINE.format(
            parameters="int a[2*n]",
            body="if (t % 2) a[j] = (a[n+j-1] + a[n+j] + a[n+j+1]) / 3; else a[n+j] = (a[j-1] + a[j] + a[j+1]) / 3;",
        ),
        {"a": (("2*n",), "i4")},
    ),
}
MARCHING = {
    "a loop of three by three",
    "five by five, weighted",
    "integers of a flat array, two sums",
    "a cube, summed over rows",
    "numbers of the source among data",
}
"""The programs whose rows come into registers once (row streaming)."""


def has_windows(compilation: Compilation) -> bool:
    (plan,) = compilation.plan.functions
    return any(tile.kernel.together for tile in plan.regions[0].single)


@pytest.mark.parametrize("name", quick_of(CASES, {"two results, one changed in place"}))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    compilation = compilation_of(source)
    assert has_windows(compilation)
    assert ("for (int row = 0;" in sources_of(source)["f.cu"]) == (name in MARCHING)
    runs = [run for run in RUNS if not name.startswith("a cube") or run["m"] < M]
    assert run_all(source, arrays, runs, tmp_path) == set()


NEIGHBOURED = {
    "rows of a flat array": "a_stride0 != 0 && 0 < o0 + t0 * U0 &&",
    "rows behind a pointer, the last first": "a_stride0 != 0 && 0 < o0 + t0 * U0 &&",
    "a cube behind pointers": "a_stride0 != 0 && 0 < o0 + t0 * U0 &&",
}


@pytest.mark.parametrize("name", NEIGHBOURED)
def test_behind_a_pointer_a_cut_vector_is_read_whole_between_other_rows(name: str) -> None:
    text = " ".join(sources_of(CASES[name][0])["f.cu"].split())
    assert f"(cf_width == 4 && {NEIGHBOURED[name]}" in text


@pytest.mark.parametrize(
    "read",
    [
        "a[j-1] + a[j+1] + c[i*n + j]",  # one row for all points: nothing is known behind its end
        "a[i/2*n + j-1] + a[i/2*n + j+1]",  # the same row for two
    ],
)
def test_behind_a_pointer_a_cut_vector_without_rows_on_both_sides_is_not_read_whole(read: str) -> None:
    source = PLANE.format(parameters="const float *a, const float *c, float *b", body=f"b[i*n + j] = {read};")
    assert has_windows(compilation_of(source))
    text = " ".join(sources_of(source)["f.cu"].split())
    assert "first + 4 <= y1_limit" in text
    assert "(cf_width == 4 ? 0 <= first" not in text
    assert "(cf_width == 4 &&" not in text


NO_WINDOWS = (
    "b[i][j] = a[i][j];",  # nothing is shared
    "b[i][j] = a[i][j] + a[i][j+7];",  # too many single elements
    # Rows whose numbers are no sums: too many for those that do not march.
    "float s = 0; for (int y = 0; y < 3; y++) for (int x = 0; x < 5; x++) s += a[i/2 + i + y][j-1+x]; b[i][j] = s;",
    "b[i][j] = t > 2 ? a[i][j-1] : a[i][j+1];",  # perhaps not read
    "b[i][j+2] = a[i][j-1] + a[i][j] + a[i][j+1];",  # what is read together is stored apart
    "b[i][j] = a[i][j-1] + a[i][j+1]; c[i][j] = b[i][j];",  # read after it has been stored
    "b[i][2*j] = a[i][j-1] + a[i][j+1];",  # no vector is stored
    "b[i][j] = a[i][2*j-1] + a[i][2*j+1];",  # nor read
)


@pytest.mark.parametrize("body", quick_of(NO_WINDOWS, NO_WINDOWS[:3]))
def test_what_has_no_windows(body: str) -> None:
    source = PLANE.format(parameters="float a[3*m][2*n+9], float b[m][2*n], float c[m][n]", body=body)
    compilation = compilation_of(source)
    assert compilation.plan.functions[0].regions[0].single
    assert not has_windows(compilation)


@pytest.mark.toolchain
@pytest.mark.slow  # those of the examples are compiled by `tests/specs`
@pytest.mark.parametrize("name", CASES)
def test_nvcc_compiles_them_without_a_warning(name: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[name][0], tmp_path, nvcc) == ()
