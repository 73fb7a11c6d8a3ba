"""Kernels over register tiles for layouts, types and offsets that no spec has, on the CPU against the serial C."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.optimize.protocols import NotApplicable
from comprehensive.plan.interface import interface
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import (
    compilation_of,
    numbers_of,
    register_tiles_of,
    run_all,
    sources_of,
    warnings_of,
)
from tests.unit.tuning.programs import PAIRS

PLANE = """void f(int m, int n, int k, {parameters}, int B0, int B1)
{{
  int dim0 = (m + B0 - 1) / B0, dim1 = (n + B1 - 1) / B1;
  meta_schedule {{
    meta_for (int v0 = 0; v0 < dim0; v0++)
      meta_for (int v1 = 0; v1 < dim1; v1++)
        meta_for (int u0 = 0; u0 < B0; u0++)
          meta_for (int u1 = 0; u1 < B1; u1++) {{
            int i = v0 * B0 + u0, j = v1 * B1 + u1;
            if (i < m && j < n) {{
              {body}
            }}
          }}
  }}
}}
"""
LINE = """void f(int m, int n, int k, {parameters}, int B0, int B1)
{{
  int dim = (m + B0 - 1) / B0;
  meta_schedule {{
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B0; u++) {{
        int i = v * B0 + u;
        if (i < m) {{
          {body}
        }}
      }}
  }}
}}
"""
M, N, K = 70, 131, 37
SIZES = {"m": M, "n": N, "k": K, "B0": 3, "B1": 5}

# Source, and the arrays with their shapes and types.
CASES: dict[str, tuple[str, dict[str, tuple[tuple[int | str, ...], str]]]] = {
    "second operand by rows": (
        PLANE.format(
            parameters="float a[m][k], float b[n][k], float c[m][n]",
            body="for (int l = 0; l < k; l++) c[i][j] += a[i][l] * b[j][l];",
        ),
        {"a": (("m", "k"), "f4"), "b": (("n", "k"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "first operand by columns": (
        PLANE.format(
            parameters="float a[k][m], float b[k][n], float c[m][n]",
            body="float sum = 0.5f; for (int l = 0; l < k; l++) sum += a[l][i] * b[l][j]; c[i][j] = sum;",
        ),
        {"a": (("k", "m"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "offsets and double": (
        PLANE.format(
            parameters="double a[m+1][k+3], double b[k+2][n+1], double c[m][n]",
            body="double sum = 0; for (int l = 0; l < k; l++) sum += a[i+1][l+3] * b[l+2][j+1]; c[i][j] -= sum;",
        ),
        {"a": (("m+1", "k+3"), "f8"), "b": (("k+2", "n+1"), "f8"), "c": (("m", "n"), "f8")},
    ),
    "a diagonal": (
        PLANE.format(
            parameters="float a[k][k], float b[k][n], float c[m][n]",
            body="for (int l = 0; l < k; l++) c[i][j] += a[l][l] * b[l][j];",
        ),
        {"a": (("k", "k"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "the same for all columns": (
        PLANE.format(
            parameters="float a[m][k], float x[k], float c[m][n]",
            body="for (int l = 0; l < k; l++) c[i][j] += a[i][l] * x[l];",
        ),
        {"a": (("m", "k"), "f4"), "x": (("k",), "f4"), "c": (("m", "n"), "f4")},
    ),
    "bytes": (
        PLANE.format(
            parameters="unsigned char a[m][k], unsigned char b[k][n], int c[m][n]",
            body="for (int l = 0; l < k; l++) c[i][j] += a[i][l] * b[l][j];",
        ),
        {"a": (("m", "k"), "u1"), "b": (("k", "n"), "u1"), "c": (("m", "n"), "i4")},
    ),
    "two sums": (
        LINE.format(
            parameters="float a[m][k], float b[m][k], float x[k], float y[m], float z[m]",
            body="float s = 0, t = 1; for (int l = 0; l < k; l++) { s += a[i][l] * x[l]; t *= b[i][l]; } "
            "y[i] = s; z[i] = t + s;",
        ),
        {
            "a": (("m", "k"), "f4"),
            "b": (("m", "k"), "f4"),
            "x": (("k",), "f4"),
            "y": (("m",), "f4"),
            "z": (("m",), "f4"),
        },
    ),
    "zero first": (
        PLANE.format(
            parameters="float a[m][k], float b[n][k], float c[m][n]",
            body="c[i][j] = 0; for (int l = 0; l < k; l++) c[i][j] += a[i][l] * b[j][l]; c[i][j] = 2 * c[i][j];",
        ),
        {"a": (("m", "k"), "f4"), "b": (("n", "k"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "a scalar in the loop and one after it": (
        PLANE.format(
            parameters="float a[m][k], float b[k][n], float c[m][n], float d[m][n]",
            body="float s = d[i][j]; for (int l = 0; l < k; l++) { float w = a[i][l] * b[l][j]; s += w * w; } "
            "float t = s + 1; c[i][j] = t; d[i][j] = 5;",
        ),
        {"a": (("m", "k"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4"), "d": (("m", "n"), "f4")},
    ),
    "rows of bytes": (
        LINE.format(
            parameters="unsigned char a[m][k], int x[k], int y[m]",
            body="int s = 0; for (int l = 0; l < k; l++) s += a[i][l] * x[l]; y[i] = s;",
        ),
        {"a": (("m", "k"), "u1"), "x": (("k",), "i4"), "y": (("m",), "i4")},
    ),
    "rows of elements of two sizes": (
        LINE.format(
            parameters="unsigned char a[m][k], double b[m][k], double y[m]",
            body="double s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[i][l]; y[i] = s;",
        ),
        {"a": (("m", "k"), "u1"), "b": (("m", "k"), "f8"), "y": (("m",), "f8")},
    ),
    "a store before the loop": (
        LINE.format(
            parameters="float a[m][k], float x[k][4], int y[m], float z[m]",
            body="y[i] = 5 + i; float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * x[l][2]; z[i] = s;",
        ),
        {"a": (("m", "k"), "f4"), "x": (("k", 4), "f4"), "y": (("m",), "i4"), "z": (("m",), "f4")},
    ),
    "conversions of definitions": (
        LINE.format(
            parameters="float r[1], long y[m], float z[m]",
            body="float f = r[0]; int q = f * 2.5f; long w = i; z[i] = q; y[i] = w * 1000000 + (i + 1L) * 1000000;",
        ),
        {"r": ((1,), "f4"), "y": (("m",), "i8"), "z": (("m",), "f4")},
    ),
    "a scalar and an iterator of one name": (
        LINE.format(
            parameters="int q[m], int y[m]",
            body="int s = 0; for (int x = 0; x < 3; x++) { int t = q[i] + x; s += t; } "
            "for (int t = 0; t < 3; t++) s += t * i; y[i] = s;",
        ),
        {"q": (("m",), "i4"), "y": (("m",), "i4")},
    ),
    "turned with arithmetic": (
        PLANE.format(
            parameters="float a[m][n], float c[n][m], float r[1]", body="c[j][i] = 2 * a[i][j] + r[0];"
        ),
        {"a": (("m", "n"), "f4"), "c": (("n", "m"), "f4"), "r": ((1,), "f4")},
    ),
    "turned bytes": (
        PLANE.format(
            parameters="unsigned char a[m][n], unsigned char c[n*m]", body="c[j*m + i] = 255 - a[i][j];"
        ),
        {"a": (("m", "n"), "u1"), "c": (("n*m",), "u1")},
    ),
    "in place": (
        PLANE.format(parameters="int a[m][n]", body="a[i][j] = a[i][j] * 3 + i - j;"),
        {"a": (("m", "n"), "i4")},
    ),
    "a condition on a scalar beside the loop": (
        PLANE.format(
            parameters="float a[m][k], float b[k][n], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[l][j]; "
            "c[i][j] = 2 * s + (k % 2 == 0 ? 0 : 3 * c[i][j]);",
        ),
        {"a": (("m", "k"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "first values of all points and of each": (
        PLANE.format(
            parameters="float a[m][k], float b[k][n], float c[m][n]",
            body="float s = 0.5f * k, t = c[i][j]; for (int l = 0; l < k; l++) { s += a[i][l] * b[l][j]; "
            "t -= a[i][l]; } c[i][j] = s * t;",
        ),
        {"a": (("m", "k"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "several statements": (
        PLANE.format(
            parameters="float a[m][n+2], float b[m][n], float c[m][n]",
            body="float t = 0; for (int x = 0; x < 3; x++) t += a[i][j+x]; b[i][j] = t; c[i][j] = t * b[i][j];",
        ),
        {"a": (("m", "n+2"), "f4"), "b": (("m", "n"), "f4"), "c": (("m", "n"), "f4")},
    ),
}


# Further layouts of a product, which take the longest.
@pytest.mark.parametrize("name", quick_of(CASES, {"turned with arithmetic"}))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    runs = [SIZES, {**SIZES, "k": 0}, {**SIZES, "m": 1, "n": 1, "k": 1}, {**SIZES, "n": 132, "k": 40}]
    runs += [{**SIZES, "m": 66, "n": 20, "k": k} for k in (272, 301)]
    # Resident rows are made for rows up to some length.
    assert {number for number, _ in run_all(source, arrays, runs, tmp_path)} <= set(numbers_of(source))


def test_first_values_that_are_alike_are_assigned_once_to_all_points() -> None:
    text = sources_of(CASES["first values of all points and of each"][0])["f.cu"]
    kernel = text[text.index("// accumulate(s, t)") : text.index("cf_await")]
    plain = [line.strip() for line in kernel.split("\n") if not line.startswith("#line")]
    assert [line for line in plain if line.startswith("s[r0][r1] =")] == ["s[r0][r1] = 0.5f * k;"]
    assert "if" not in kernel[: kernel.index("s[r0][r1] =")]
    first, second = (n for n, line in enumerate(plain) if line.startswith("t[r0][r1] ="))
    assert plain[first] == "t[r0][r1] = 0;"
    assert plain[second - 1].startswith("if (j <")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for (int l = 0; l < i * j; l++) c[i][j] += a[i][l];", "is not the same for all points"),
        (
            "float s = 0; for (int l = 0; l < k; l++) s = s * 0.5f + l; c[i][j] = s;",
            "read nothing that changes",
        ),
        ("for (int l = 0; l < k; l++) c[i][j] += a[i][l] * a[i][2 * l];", "subscript of 'a' is not 'l'"),
        ("for (int l = 0; l < k; l++) c[i][j] += a[i][2 * l];", "is not 'l' and what does not change"),
        ("for (int l = 0; l < k; l++) c[i][j] += l > 2 ? a[i][l + 1] : 0;", "is read under a condition"),
        (
            "int t = a[i][0]; for (int l = 0; l < k; l++) c[i][j + t - t] += a[i][l];",
            "is computed by the point",
        ),
    ],
)
def test_what_is_no_product_says_why(body: str, reason: str) -> None:
    source = PLANE.format(parameters="float a[m][k], float c[m][n]", body=body)
    (tile,) = register_tiles_of(source)
    assert isinstance(tile, NotApplicable)
    assert reason in tile.reason


def test_what_has_no_tile_is_generated_without() -> None:
    compilation = compilation_of(PAIRS)
    assert all(isinstance(tree.alternatives[0].tree, NotApplicable) for tree in compilation.trees)
    assert interface(compilation.plan.functions[0]).tile is None


# The others with `make test-all`: nvcc takes ten seconds and more for each.
@pytest.mark.toolchain
@pytest.mark.slow  # those of the examples are compiled by `tests/specs`
@pytest.mark.parametrize("name", CASES)
def test_nvcc_compiles_them_without_a_warning(name: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[name][0], tmp_path, nvcc) == ()
