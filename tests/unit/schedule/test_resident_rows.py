"""Several loops over a row, which stays in shared memory: on the CPU against the serial C, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from comprehensive.plan.interface import interface
from comprehensive.soundness.emulated import build
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import (
    compilation_of,
    numbers_of,
    recipes_of,
    run_all,
    sources_of,
    warnings_of,
)

LINE = """void f(int m, int n, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
RUNS = [
    {"m": m, "n": n, "B": 3} for m, n in ((9, 130), (2, 1), (3, 0), (5, 15), (1, 1030), (17, 33), (2, 64))
]
Arrays = dict[str, tuple[tuple[int | str, ...], str]]
SQUARE: Arrays = {"a": (("m", "n"), "f4"), "y": (("m", "n"), "f4")}

CASES: dict[str, tuple[str, Arrays]] = {
    "softmax": (
        LINE.format(
            parameters="const float a[m][n], float y[m][n]",
            body="float most = -10000; for (int j = 0; j < n; j++) most = a[i][j] > most ? a[i][j] : most; "
            "float sum = 0; for (int j = 0; j < n; j++) { y[i][j] = 1 / (1 + most - a[i][j]); sum += y[i][j]; } "
            "for (int j = 0; j < n; j++) y[i][j] = y[i][j] / sum;",
        ),
        SQUARE,
    ),
    "a sum of what is dear, and a row for it": (
        LINE.format(
            parameters="const double a[m][n], double y[m], double z[m]",
            body="double most = a[i][0]; for (int j = 1; j < n; j++) if (a[i][j] > most) most = a[i][j]; "
            "double sum = 0; for (int j = 0; j < n; j++) sum += a[i][j] / (1 + most * most); "
            "y[i] = sum + most; z[i] += most;",
        ),
        {"a": (("m", "n+1"), "f8"), "y": (("m",), "f8"), "z": (("m",), "f8")},
    ),
    "where the greatest is": (
        LINE.format(
            parameters="const float a[m][n], int y[m], float z[m][n]",
            body="float most = -10000; int best = 0; for (int j = 0; j < n; j++) if (a[i][j] > most) { "
            "most = a[i][j]; best = j; } y[i] = best; for (int j = 0; j < n; j++) z[i][j] = a[i][j] + best;",
        ),
        {"a": (("m", "n"), "f4"), "y": (("m",), "i4"), "z": (("m", "n"), "f4")},
    ),
    "a matrix and a vector, one row for the block": (
        LINE.format(
            parameters="const float a[m][n], const double x[n], float y[m]",
            body="double sum = 0; for (int j = 0; j < n; j++) sum += a[i][j] * x[j]; y[i] = sum;",
        ),
        {"a": (("m", "n"), "f4"), "x": (("n",), "f8"), "y": (("m",), "f4")},
    ),
    "in place, and sums so far": (
        LINE.format(
            parameters="float a[m][n], int b[m][n], int c[m][n], int w[m]",
            body="int k = 7; int t = 1; for (int j = 0; j < n; j++) { k += b[i][j]; t = t && b[i][j] < 90; } "
            "float s = 0; for (int j = 0; j < n; j++) { float d = a[i][j] * k; s += d; a[i][j] = s; } "
            "for (int j = 0; j < n; j++) { a[i][j] *= 2; c[i][j] = b[i][j] - k; } w[i] = 10 * k + t;",
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "i4"), "c": (("m", "n"), "i4"), "w": (("m",), "i4")},
    ),
    "a recurrence along the row": (
        LINE.format(
            parameters="const float a[m][n + 2], const float b[m][n + 2], float y[m][n + 2]",
            body="for (int j = 1; j < n + 2; j++) y[i][j] = y[i][j] - y[i][j - 1] * a[i][j] / (b[i][j - 1] + 200);",
        ),
        {name: (("m", "n + 2"), "f4") for name in ("a", "b", "y")},
    ),
    "in place, from the first element on": (
        LINE.format(
            parameters="float y[m][n + 1]",
            body="float most = y[i][0]; for (int j = 1; j < n + 1; j++) most = y[i][j] > most ? y[i][j] : most; "
            "float sum = 0; for (int j = 0; j < n + 1; j++) { y[i][j] = 1 / (1 + most - y[i][j]); sum += y[i][j]; } "
            "for (int j = 0; j < n + 1; j++) y[i][j] = y[i][j] / sum;",
        ),
        {"y": (("m", "n + 1"), "f4")},
    ),
    "parts of rows, and other columns": (
        LINE.format(
            parameters="const float a[m][n + 3], const float x[n + 3], float y[m][n + 3], double z[m]",
            body="float s = 0; for (int j = 0; j < n; j++) s += a[i][j + 3] * x[j]; float p = s; "
            "for (int j = 0; j < n + 2; j++) { y[i][j + 1] = a[i][j + 1] - s; p += a[i][j + 1]; } "
            "double q = 0; for (int j = 0; j < n; j++) q += y[i][j + 3] * p; z[i] = q;",
        ),
        {
            "a": (("m", "n + 3"), "f4"),
            "x": (("n + 3",), "f4"),
            "y": (("m", "n + 3"), "f4"),
            "z": (("m",), "f8"),
        },
    ),
    "layer norm, a batch of it": (
        """void f(int m, int n, const float a[2][m][n], const float g[n], float y[2][m][n], int B)
{
  meta_schedule block(B, B) {
    meta_for (int b = 0; b < 2; b++)
      meta_for (int i = 0; i < m; i++) {
        float mean = 0;
        for (int j = 0; j < n; j++) mean += a[b][i][j];
        mean = mean / n;
        float v = 0;
        for (int j = 0; j < n; j++) v += (a[b][i][j] - mean) * (a[b][i][j] - mean);
        float s = 1 / sqrtf(v / n + 1);
        for (int j = 0; j < n; j++) y[b][i][j] = (a[b][i][j] - mean) * s * g[j];
      }
  }
}
""",
        {"a": ((2, "m", "n"), "f4"), "g": (("n",), "f4"), "y": ((2, "m", "n"), "f4")},
    ),
}


DEAR = "a sum of what is dear, and a row for it"


@pytest.mark.parametrize(
    "name",
    quick_of(
        CASES,
        {"in place, and sums so far", "a recurrence along the row", "in place, from the first element on"},
    ),
)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    assert recipes_of(source)["resident rows"] is None
    refused = run_all(source, arrays, RUNS, tmp_path, backwards=(False, True))
    assert {number for number, _ in refused} == set(numbers_of(source)[1:3])  # the longest row


def test_the_first_of_zeros_with_different_signs_is_the_greatest_and_nan_is_passed_over(
    tmp_path: Path,
) -> None:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    source, _ = CASES[DEAR]
    compilation = compilation_of(source)
    built = build(compilation, sources_of(source), tmp_path / "work", c=c, cxx=cxx)
    (plan,) = compilation.plan.functions
    host = interface(plan)
    assert host.tile is not None
    m, n = 4, 500
    a = np.full((m, n + 1), -1.0)
    a[:, 33::32] = -0.0  # neighbours of the first lane, in all instances
    a[0, 3] = a[1, 499] = 0.0
    a[2, 0], a[3, 5] = np.nan, np.nan
    numbers = numbers_of(source)
    for tile in (*numbers[:2], *numbers[3:]):  # rows of the third are shorter
        results: list[bytes] = []
        for run, chosen in ((built.serial.call, {}), (built.kernels.call, {"B": 3, host.tile: tile})):
            y, z = np.zeros(m), np.full(m, -0.0)
            data = {"m": m, "n": n, "a": a, "y": y, "z": z}
            run("f", {**data, "B": 3} if not chosen else data, *((chosen,) if chosen else ()))
            results.append(np.where(np.isnan(z), 5.0, z).tobytes())
        assert results[0] == results[1], f"instance {tile}"


ONE = "float a[m][n], const float x[m][n], const int at[n], float y[m], int k[m]"
SUM = "for (int j = 0; j < n; j++) s += x[i][j]; "


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for (int j = 0; j < k[i]; j++) s += x[i][j];" + SUM, "'j' is not the same for all points"),
        (
            "for (int j = 0; j < n; j++) for (int l = 0; l < n; l++) s += x[i][l];" + SUM,
            "has to be done in order, and is no assignment",
        ),
        (
            SUM + "float w[40]; for (int j = 0; j < 40; j++) w[j] = s; y[i] = w[3];",
            "is an array of the point",
        ),
        (SUM + "for (int j = 0; j < n; j++) a[i][at[j]] = s;", "a loop uses it other than along a row"),
        (SUM + "for (int j = 0; j < n; j++) a[i][j] = s; y[i] = a[i][0];", None),
        (
            "y[i] = 3; float t = y[i]; " + SUM + "for (int j = 0; j < n; j++) a[i][j] = s + t;",
            None,
        ),
        (SUM + "for (int j = 0; j < n; j++) s += x[0][j]; y[i] = s;", None),
        (SUM + "y[i] = s;", None),
        ("for (int j = 0; j < n; j++) s += x[0][j] * at[j]; y[i] = s;", "no row"),
    ],
)
def test_what_does_not_fit_says_why(body: str, reason: str | None) -> None:
    found = recipes_of(LINE.format(parameters=ONE, body="float s = 0; " + body))
    assert (reason is None and found["resident rows"] is None) or reason in str(found["resident rows"])


@pytest.mark.toolchain
@pytest.mark.parametrize("name", quick_of(CASES, {"in place, and sums so far"}))
def test_nvcc_compiles_them_without_a_warning(name: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[name][0], tmp_path, nvcc) == ()
