"""Accesses across the rows of a tile go through shared memory: values are those of the serial C, at any size."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.tile_runs import recipes_of, run_all, sources_of

PLANE = """void f(int m, int n, {parameters}, int B)
{{
  meta_schedule block(B, B) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
SPACE = """void f(int p, int m, int n, {parameters}, int B)
{{
  meta_schedule block(1, B, B) {{
    meta_for (int l = 0; l < p; l++)
      meta_for (int i = 0; i < m; i++)
        meta_for (int j = 0; j < n; j++) {{
          {body}
        }}
  }}
}}
"""
READ = "const float a[n][m], float b[m][n]"
STORED = "const float a[m][n], float b[n][m]"
Arrays = dict[str, tuple[tuple[int | str, ...], str]]
OF_READ: Arrays = {"a": (("n", "m"), "f4"), "b": (("m", "n"), "f4")}
OF_STORED: Arrays = {"a": (("m", "n"), "f4"), "b": (("n", "m"), "f4")}
OF_BOTH: Arrays = {"a": (("n", "m"), "f4"), "b": (("m", "n"), "f4"), "c": (("n", "m"), "f4")}


def plane(body: str, parameters: str) -> str:
    return PLANE.format(body=body, parameters=parameters)


def space(body: str, parameters: str) -> str:
    return SPACE.format(body=body, parameters=parameters)


CASES: dict[str, tuple[str, Arrays]] = {
    "what is read lies across": (plane("b[i][j] = a[j][i];", READ), OF_READ),
    "what is stored lies across": (plane("b[j][i] = a[i][j];", STORED), OF_STORED),
    "behind pointers": (plane("b[i * n + j] = a[j * m + i];", "const float *a, float *b"), OF_READ),
    "several statements read it": (
        plane("float v = a[j][i]; b[i][j] = v * v; c[i][j] += 2 * a[j][i];", f"{READ}, float c[m][n]"),
        {**OF_READ, "c": (("m", "n"), "f4")},
    ),
    "one is read, another one stored": (
        plane(
            "float v = b[i][j] * d[i][j]; b[i][j] = v + a[j][i]; c[j][i] = v;",
            f"{READ}, float c[n][m], const float d[m][n]",
        ),
        {**OF_BOTH, "d": (("m", "n"), "f4")},
    ),
    "what is stored is read, too": (
        plane("b[i][j] = c[j][i]; c[j][i] = a[j][i];", f"{READ}, float c[n][m]"),
        OF_BOTH,
    ),
    "an element of its own besides": (
        plane("b[i][j] = a[j][i] + x[j] - y[i];", f"{READ}, const float x[n], const float y[m]"),
        {**OF_READ, "x": (("n",), "f4"), "y": (("m",), "f4")},
    ),
    "read under a condition besides": (
        plane("b[i][j] = a[j][i] > 0 ? a[j][i] : c[j][i];", f"{READ}, const float c[n][m]"),
        OF_BOTH,
    ),
    "bytes": (
        plane("b[i][j] = a[j][i];", "const unsigned char a[n][m], unsigned char b[m][n]"),
        {"a": (("n", "m"), "u1"), "b": (("m", "n"), "u1")},
    ),
    "doubles": (
        plane("b[j][i] = 0.5 * a[i][j];", "const double a[m][n], double b[n][m]"),
        {"a": (("m", "n"), "f8"), "b": (("n", "m"), "f8")},
    ),
    "neighbours across": (
        plane("b[i][j] = a[j][i] + a[j][i + 1];", "const float a[n][m + 1], float b[m][n]"),
        {"a": (("n", "m + 1"), "f4"), "b": (("m", "n"), "f4")},
    ),
    "of three coordinates the first and the last": (
        space("b[l][i][j] = a[j][i][l];", "const float a[n][m][p], float b[p][m][n]"),
        {"a": (("n", "m", "p"), "f4"), "b": (("p", "m", "n"), "f4")},
    ),
    "of three coordinates the last two": (
        space(
            "b[l][j][i] = a[l][i][j] * s[l];", "const float a[p][m][n], float b[p][n][m], const float s[p]"
        ),
        {"a": (("p", "m", "n"), "f4"), "b": (("p", "n", "m"), "f4"), "s": (("p",), "f4")},
    ),
}
RUNS = [{"p": 3, "m": m, "n": n, "B": 4} for m, n in ((70, 130), (1, 1), (33, 0), (3, 300), (64, 128))]
QUICK = {"several statements read it", "of three coordinates the first and the last"}


@pytest.mark.parametrize("name", quick_of(CASES, QUICK))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    runs = (
        RUNS if "p" in source.split("{")[0] else [{k: v for k, v in run.items() if k != "p"} for run in RUNS]
    )
    assert recipes_of(source)["transposition"] is None
    assert run_all(source, arrays, runs, tmp_path, backwards=(False, True)) == set()


@pytest.mark.parametrize(
    ("body", "parameters"),
    [
        ("b[i][j] = a[i][j];", "const float a[m][n], float b[m][n]"),
        # What is read under a condition alone may not be there.
        ("b[i][j] = x[j] > 0 ? a[j][i] : 0;", f"{READ}, const float x[n]"),
        # A point would read what it has stored only behind all points.
        ("b[j][i] = a[i][j]; c[i][j] = b[j][i] + a[i][j];", f"{STORED}, float c[m][n]"),
        ("if (x[j] > 0) b[j][i] = a[i][j];", f"{STORED}, const float x[n]"),
        # Neither coordinate runs from element to element.
        ("b[i][2 * j] = a[j][2 * i];", "const float a[n][2 * m], float b[m][2 * n]"),
        ("b[i][j] = x[i];", "const float x[m], float b[m][n]"),
    ],
)
def test_other_points_are_not_transposed(body: str, parameters: str) -> None:
    assert "transposition" not in recipes_of(plane(body, parameters))


def test_rows_of_the_tile_are_a_bank_longer_than_what_they_hold() -> None:
    floats, bytes_ = (
        sources_of(plane("b[i][j] = a[j][i];", f"const {type} a[n][m], {type} b[m][n]"))["f.cu"]
        for type in ("float", "unsigned char")
    )
    assert "(T0 * U0 + 1)" in floats
    assert "(T0 * U0 + 4)" in bytes_
