"""Products and sums over rows whose numbers are looked up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.tile_runs import numbers_of, recipes_of, run_all, sources_of

PLANE = """void f(int m, int n, int k, {parameters}, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
BATCH = """void f(int q, int m, int n, int k, {parameters}, int B0, int B1, int B2)
{{
  meta_schedule block(B0, B1, B2) {{
    meta_for (int b = 0; b < q; b++)
      meta_for (int i = 0; i < m; i++)
        meta_for (int j = 0; j < n; j++) {{
          {body}
        }}
  }}
}}
"""
LINE = """void f(int m, int k, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
SIZES = [
    {"q": 2, "m": m, "n": n, "k": k, "B": 32, "B0": 8, "B1": 8, "B2": 1}
    for m, n, k in ((33, 70, 19), (1, 1, 1), (64, 128, 32), (5, 3, 0), (130, 20, 40))
]
# In planes every instance takes a second.
QUICK = {
    "rows of each step",
    "a pointer to each row",
    "rows of points along both coordinates, with scalars of the program",
    "one sum for each row",
}
STORED = {"c": (("m", "n"), "f4")}

PROGRAMS = {
    "rows of each step": (
        PLANE.format(
            parameters="const float a[m][k], const float t[256][n], const unsigned char at[k], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * t[at[l]][j]; c[i][j] = s;",
        ),
        {"a": (("m", "k"), "f4"), "t": ((256, "n"), "f4"), "at": (("k",), "u1"), **STORED},
        "product",
    ),
    "rows of each point": (
        PLANE.format(
            parameters="const float t[256][k], const float b[k][n], const unsigned char at[m], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += t[at[i]][l] * b[l][j]; c[i][j] = s;",
        ),
        {"t": ((256, "k"), "f4"), "b": (("k", "n"), "f4"), "at": (("m",), "u1"), **STORED},
        "product",
    ),
    "rows of points along both coordinates, with scalars of the program": (
        PLANE.format(
            parameters="const double t[256][k], const double u[256][k], const unsigned char at[m + 3], "
            "const unsigned char to[n], double c[m][n]",
            body="unsigned char r = at[i + 3]; unsigned char o = to[j]; double s = c[i][j]; "
            "for (int l = 0; l < k; l++) s += t[r][l] * u[o][l]; c[i][j] = s;",
        ),
        {
            "t": ((256, "k"), "f8"),
            "u": ((256, "k"), "f8"),
            "at": (("m + 3",), "u1"),
            "to": (("n",), "u1"),
            "c": (("m", "n"), "f8"),
        },
        "product",
    ),
    "beside a number and in planes": (
        BATCH.format(
            parameters="const float a[q][m][k], const short t[300][n], const unsigned char at[q][k], float c[q][m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += a[b][i][l] * t[at[b][l] + b + 5][j]; c[b][i][j] = s;",
        ),
        {
            "a": (("q", "m", "k"), "f4"),
            "t": ((300, "n"), "i2"),
            "at": (("q", "k"), "u1"),
            "c": (("q", "m", "n"), "f4"),
        },
        "product",
    ),
    "a matrix for each plane, and rows of points": (
        BATCH.format(
            parameters="const float x[256][k], const float w[256 + 4][k][n], const unsigned char of[q], "
            "const unsigned char at[q][m], float c[q][m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += x[at[b][i]][l] * w[of[b] + 4][l][j]; "
            "c[b][i][j] = s;",
        ),
        {
            "x": ((256, "k"), "f4"),
            "w": ((256 + 4, "k", "n"), "f4"),
            "of": (("q",), "u1"),
            "at": (("q", "m"), "u1"),
            "c": (("q", "m", "n"), "f4"),
        },
        "product",
    ),
    "rows behind one whose number is looked up": (
        BATCH.format(
            parameters="const float a[q][m][k], const short t[300 + k][n], const unsigned char at[q], float c[q][m][n]",
            body="int r = at[b]; float s = 0; "
            "for (int l = 0; l < k; l++) s += a[b][i][l] * t[r + l][j]; c[b][i][j] = s;",
        ),
        {
            "a": (("q", "m", "k"), "f4"),
            "t": (("300 + k", "n"), "i2"),
            "at": (("q",), "u1"),
            "c": (("q", "m", "n"), "f4"),
        },
        "product",
    ),
    "a pointer to each row": (
        PLANE.format(
            parameters="const float *t, const float b[k][n], const unsigned char at[m], float c[m][n]",
            body="const float *row = t + at[i] * k; float s = 0; "
            "for (int l = 0; l < k; l++) s += row[l] * b[l][j]; c[i][j] = s;",
        ),
        {"t": (("256 * k",), "f4"), "b": (("k", "n"), "f4"), "at": (("m",), "u1"), **STORED},
        "product",
    ),
    "one sum for each row": (
        LINE.format(
            parameters="const float t[256][k], const float x[k], const unsigned char at[m], float y[m]",
            body="float s = 0; for (int l = 0; l < k; l++) s += t[at[i]][l] * x[l]; y[i] = s;",
        ),
        {"t": ((256, "k"), "f4"), "x": (("k",), "f4"), "at": (("m",), "u1"), "y": (("m",), "f4")},
        "rows",
    ),
    "the number is added, too": (
        PLANE.format(
            parameters="const float a[m][k], const float t[256][n], const unsigned char at[k], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += at[l] * a[i][l] * t[at[l]][j]; c[i][j] = s;",
        ),
        {"a": (("m", "k"), "f4"), "t": ((256, "n"), "f4"), "at": (("k",), "u1"), **STORED},
        "product",
    ),
}


@pytest.mark.parametrize("name", quick_of(PROGRAMS, QUICK))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays, recipe = PROGRAMS[name]
    assert numbers_of(source, recipe)
    run_all(source, arrays, SIZES, tmp_path)


def test_rows_are_copied_by_their_numbers_and_no_point_looks_one_up() -> None:
    source, *_ = PROGRAMS["rows of each point"]
    text = sources_of(source)["f.cu"]
    kernel = text[text.index("f_tile(") :]
    assert "cf_looked_up<unsigned char>(&at[o0], t_stride0)" in kernel
    assert kernel.count("at[") == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("s += l < i ? t[at[l]][j] * a[i][l] : 0;", "read under a condition"),
        ("s += a[i][l] * t[2 * at[l]][j];", "more than a number that is looked up"),
        ("s += a[i][l] * t[at[at[l]]][j];", "where data says"),
        ("s += a[i][l] * t[j][at[l]];", "the last subscript of 't' is read from data"),
        ("s += a[i][l] * t[at[i + l]][j];", "several of"),
        ("s += a[i][l] * t[l + (unsigned)at[0]][j];", "wrap around"),
        ("s += a[i][l] * t[j][l + at[0]];", "the last subscript of 't' is read from data"),
    ],
)
def test_what_is_no_row_that_is_looked_up_is_said(body: str, reason: str) -> None:
    source = PLANE.format(
        parameters="const float a[m][k], const float t[600][600], const unsigned char at[m + k], float c[m][n]",
        body=f"float s = 0; for (int l = 0; l < k; l++) {body} c[i][j] = s;",
    )
    found = recipes_of(source)["product"]
    assert found is not None
    assert reason in found


def test_a_number_of_all_points_of_a_block_is_looked_up_if_the_loop_has_a_step() -> None:
    source, *_ = PROGRAMS["a matrix for each plane, and rows of points"]
    assert "copy_w(&w[(0 < l_limit ? of[b] + 4 : 0) * w_stride0 + o1]" in sources_of(source)["f.cu"]


def test_numbers_that_points_assign_are_no_numbers_of_rows() -> None:
    source = PLANE.format(
        parameters="const float a[m][k], const float t[600][600], int at[m][n], float c[m][n]",
        body="at[i][j] = at[i][j] + 1; float s = 0; "
        "for (int l = 0; l < k; l++) s += a[i][l] * t[at[i][j]][l]; c[i][j] = s;",
    )
    assert recipes_of(source)["product"] is not None
