"""Points of any statements, several a thread, beside the serial C: loops in each other, conditions, loops that differ.

The CPU runs the kernels that `gen` emits.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.unit.schedule.test_lower_tile import LINE, PLANE, SIZES
from tests.unit.schedule.tile_runs import refusable, run_all, sources_of, warnings_of

CASES: dict[str, tuple[str, dict[str, tuple[tuple[int | str, ...], str]]]] = {
    "a window as large as it turns out": (
        PLANE.format(
            parameters="float a[m+k][n+k], float f[k][k], float c[m][n]",
            body="float s = 0; for (int p = 0; p < k; p++) for (int q = 0; q < k; q++) s += a[i+p][j+q] * f[p][q]; "
            "c[i][j] = s;",
        ),
        {"a": (("m+k", "n+k"), "f4"), "f": (("k", "k"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "several loops over a row": (
        LINE.format(
            parameters="float a[m][k], float y[m][k]",
            body="float h = -1e30f; for (int l = 0; l < k; l++) h = a[i][l] > h ? a[i][l] : h; "
            "float s = 0; for (int l = 0; l < k; l++) s += a[i][l] - h; "
            "for (int l = 0; l < k; l++) y[i][l] = (a[i][l] - h) / s;",
        ),
        {"a": (("m", "k"), "f4"), "y": (("m", "k"), "f4")},
    ),
    "loops that differ from point to point": (
        LINE.format(
            parameters="int len[m], float a[m][k], float y[m]",
            body="float s = 0; for (int l = 0; l < k; l++) s += a[i][l]; "
            "for (int l = 0; l < len[i] % 5 + k % 2; l++) { float q = s * l; if (q > 3) break; s += q; } y[i] = s;",
        ),
        {"len": (("m",), "i4"), "a": (("m", "k"), "f4"), "y": (("m",), "f4")},
    ),
    "conditions of a launch in each other": (
        LINE.format(
            parameters="float a[m], float y[m], float z[m]",
            body="if (k > 2) { if (m > 6) y[i] = a[i]; if (k != 5) z[i] = a[i] + 1; } else if (m > 4) y[i] = 7;",
        ),
        {"a": (("m",), "f4"), "y": (("m",), "f4"), "z": (("m",), "f4")},
    ),
    "a condition that is no limit": (
        PLANE.format(
            parameters="float a[m][k], float b[n][k], float c[m][n]",
            body="if (j <= i && i + j < 2 * m) { float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[j][l]; "
            "c[i][j] = s; }",
        ),
        {"a": (("m", "k"), "f4"), "b": (("n", "k"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "loops that count in what is there before and behind them": (
        PLANE.format(
            parameters="int x[m][n], int y[m][n], int z[m][n]",
            body="int t = x[i][j] % 7, l = 2, u = 0; while (t > 0) t--; "
            "for (l = x[i][j] % 5; l < 9 - t; l += 2) { if (l == 6) break; u += l; if (u % 3 == 0) continue; u++; } "
            "for (t = l; t > -l; t--) for (l = t; l > 0; l -= 3) u -= l; "
            "y[i][j] = u; z[i][j] = l + t;",
        ),
        {"x": (("m", "n"), "i4"), "y": (("m", "n"), "i4"), "z": (("m", "n"), "i4")},
    ),
    "arrays of a point": (
        PLANE.format(
            parameters="float a[m][n], float b[n][4], float c[m][n]",
            body="float w[4], s = a[i][j]; for (int q = 0; q < 4; q++) w[q] = b[j][q] * s; "
            "for (int l = 0; l < k; l++) { s += w[l % 4]; w[(l + 1) % 4] -= a[i][j]; } c[i][j] = s + w[3];",
        ),
        {"a": (("m", "n"), "f4"), "b": (("n", "4"), "f4"), "c": (("m", "n"), "f4")},
    ),
    "conditions on data": (
        PLANE.format(
            parameters="int x[m][n], int y[m][n], int z[m][n]",
            body="int t = x[i][j]; if (t > 3) { y[i][j] = t; int q = 2 * t; z[i][j] = q; } "
            "else if (t < -3) y[i][j] = -t; "
            "int u = 0; while (t > 0) { t /= 2; u++; if (u == 5) continue; z[i][j] = u; }",
        ),
        {"x": (("m", "n"), "i4"), "y": (("m", "n"), "i4"), "z": (("m", "n"), "i4")},
    ),
}


@pytest.mark.parametrize(
    "name",
    quick_of(
        CASES,
        {
            "arrays of a point",
            "conditions on data",
            "loops that count in what is there before and behind them",
        },
    ),
)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    runs = [SIZES, {**SIZES, "k": 0}, {**SIZES, "m": 1, "n": 1, "k": 1}, {**SIZES, "m": 66, "n": 20, "k": 5}]
    refused = {number for number, _ in run_all(source, arrays, runs, tmp_path)}
    # Pieces of many rows are for wide windows.
    assert refused <= (refusable(source) if name == "a window as large as it turns out" else set())


@pytest.mark.toolchain
@pytest.mark.parametrize("name", quick_of(CASES, {"conditions on data"}))
def test_nvcc_compiles_them_without_a_warning(name: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[name][0], tmp_path, nvcc) == ()


@pytest.mark.parametrize(
    ("body", "is_looked_up"),
    [
        ("p[i][2] = 1; p[i][3] = p[i][1];", False),
        ("p[i][2] = 1; p[i][3] = x[x[i] % 4];", False),
        ("p[i][0] = 1; p[i][2] = p[i][p[i][0]];", True),
        ("p[i][0] = 1; int t = p[i][0]; int u = t + 1; p[i][2] = p[i][u];", True),
    ],
)
def test_points_outside_look_up_nothing_that_those_inside_store(body: str, is_looked_up: bool) -> None:
    source = LINE.format(parameters="int p[m][4], int x[m]", body=body)
    text = "".join(sources_of(source).values())
    assert ("points outside do what the last ones inside do" in text) is not is_looked_up
