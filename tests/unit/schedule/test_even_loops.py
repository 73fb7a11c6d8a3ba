"""Loops that are longer at some points, or under conditions, on the CPU against the serial C."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.examples import quick_of, seeds
from tests.unit.schedule.test_window_product import (
    BLOCK,
    LINE,
    OF_LINE,
    OF_PLANE,
    OF_VOLUME,
    PLANE,
    VOLUME,
    Arrays,
)
from tests.unit.schedule.tile_runs import compilation_of, refusable, run_all

IMAGE: Arrays = {"a": (("m", "n"), "f4"), "w": (("k+1", "k+1"), "f4"), "c": (("m", "n"), "f4")}
OF_IMAGE = "float a[m][n], float w[k+1][k+1], float c[m][n]"

CASES: dict[str, tuple[str, Arrays, list[dict[str, int]]]] = {
    "steps over the border are left out": (
        PLANE.format(
            parameters=OF_IMAGE,
            body="float s = 0; for (int u = 0; u < k; u++) { int y = i + u - k / 2; if (y < 0 || y >= m) continue; "
            "for (int v = 0; v < k; v++) { int x = j + v - k / 2; if (x < 0 || x >= n) continue; "
            "s += a[y][x] * w[u][v]; } } c[i][j] = s;",
        ),
        IMAGE,
        OF_PLANE,
    ),
    "a condition between short loops, a sum and a count": (
        VOLUME.format(
            parameters="float in[p][m][n], float w[q][p][3][3], float out[q][m][n]",
            body="float s = 0; int t = 0; for (int l = 0; l < p; l++) for (int u = -1; u <= 1; u++) "
            "if (i + u >= 0 && i + u < m) for (int v = -1; v <= 1; v++) if (j + v >= 0 && j + v < n) "
            "{ s += in[l][i+u][j+v] * w[o][l][u+1][v+1]; t++; } out[o][i][j] = s * t;",
        ),
        {"in": (("p", "m", "n"), "f4"), "w": (("q", "p", 3, 3), "f4"), "out": (("q", "m", "n"), "f4")},
        OF_VOLUME,
    ),
    "loops from border to border": (
        PLANE.format(
            parameters="float a[m][n], double c[m][n]",
            body="double s = 0; int t = 0; for (int u = i - k < 0 ? 0 : i - k; u <= (i + k < m ? i + k : m - 1); u++) "
            "for (int v = j - k > 0 ? j - k : 0; v < (n <= j + k ? n : j + k + 1); v++) { s += a[u][v]; t++; } "
            "c[i][j] = s / t;",
        ),
        {"a": (("m", "n"), "f4"), "c": (("m", "n"), "f8")},
        OF_PLANE,
    ),
    "what is over the border is that at the border": (
        PLANE.format(
            parameters=OF_IMAGE,
            body="float s = 0; for (int u = 0; u < k; u++) for (int v = 0; v < k; v++) { int y = i + u - k / 2, "
            "x = j + v - k / 2; y = y < 0 ? 0 : y; y = y >= m ? m - 1 : y; x = x < 0 ? 0 : x >= n ? n - 1 : x; "
            "float d = a[y][x] - a[i][j]; s += d * d * w[u][v]; } c[i][j] = s;",
        ),
        IMAGE,
        OF_PLANE,
    ),
    "an array with itself, moved": (
        LINE.format(
            parameters="float *x, float y[n]",
            body="float s = 0; for (int t = 0; t < n - i; t++) s += x[t] * x[t+i]; y[i] = s;",
        ),
        {"x": (("n",), "f4"), "y": (("n",), "f4")},
        [{**run, "n": min(run["n"], 700)} for run in OF_LINE],
    ),
    "an array with itself, moved the other way, in pieces": (
        LINE.format(
            parameters="float x[n], float y[n]",
            body="float s = 0; for (int t = i; t < n; t++) s += x[t] * x[t-i]; y[i] = s;",
        ),
        {"x": (("n",), "f4"), "y": (("n",), "f4")},
        [{**run, "n": min(run["n"], 700)} for run in OF_LINE],
    ),
    "one of two loops": (
        PLANE.format(
            parameters="float a[m][k], float b[k][n], float c[m][n]",
            body="float s = 1; for (int z = 0; z < p; z++) { if (i > z) for (int l = 0; l < k; l++) "
            "s += a[i][l] * b[l][j]; else { s -= z; for (int l = 0; l < k; l++) s -= a[i][l] * b[l][j]; } } "
            "c[i][j] = s;",
        ),
        {"a": (("m", "k"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "a loop in one that is longer from step to step": (
        PLANE.format(
            parameters="float a[m][k+1], float b[k+1][n], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) for (int r = 0; r <= l; r++) s += a[i][r] * b[l-r][j]; "
            "c[i][j] = s;",
        ),
        {"a": (("m", "k+1"), "f4"), "b": (("k+1", "n"), "f4"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
}
UNSIGNED = LINE.format(
    parameters="float x[n+40], float y[n]",
    body="float s = 0; for (int t = 0; t < (i - p < 40u ? i - p : 40); t++) s += x[t+i]; y[i] = s;",
)
QUICK = {"steps over the border are left out", "loops from border to border", "an array with itself, moved"}


@pytest.mark.parametrize("name", quick_of(CASES, QUICK))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays, runs = CASES[name]
    (region,) = compilation_of(source).plan.functions[0].regions
    if name != "one of two loops":
        assert region.tilings[0].recipe == "window product"
    refused = run_all(source, arrays, [{**run, **BLOCK} for run in runs], tmp_path)
    assert {number for number, _ in refused} <= refusable(source)


def test_an_unsigned_comparison_is_no_lesser_one(tmp_path: Path) -> None:
    """A negative `i - p` is larger than 40 in an unsigned comparison."""
    arrays: Arrays = {"x": (("n+40",), "f4"), "y": (("n",), "f4")}
    (region,) = compilation_of(UNSIGNED).plan.functions[0].regions
    assert all(tiling.recipe != "window product" for tiling in region.tilings)
    run_all(UNSIGNED, arrays, [{**run, **BLOCK} for run in OF_LINE[:3]], tmp_path)


def _random_loops(seed: int) -> tuple[str, Arrays]:
    """A sum over a window whose loops begin and end where they like, inside of the array or at its border."""
    random = Random(seed)
    loops = ""
    for name, point, end in (("u", "i", "m"), ("v", "j", "n")):
        near, far = random.randint(0, 3), random.randint(0, 3)
        first = random.choice(
            ("0", f"{point} - {near} < 0 ? 0 : {point} - {near}", f"{point} < {near} ? 0 : {point} - {near}")
        )
        behind = random.choice(
            (
                end,
                f"{point} + {far} < {end} ? {point} + {far} : {end}",
                f"{end} >= {point} + k ? {point} + k : {end}",
                f"{point} + 1",
            )
        )
        if random.random() < 0.3:
            loops += f"if ({point} % 3 != {random.randint(0, 2)} || {point} >= k) "
        loops += f"for (int {name} = {first}; {name} < ({behind}); {name}++) "
    body = f"float s = 0; {loops} s += a[u][v] * b[v]; c[i][j] = s;"
    arrays: Arrays = {"a": (("m", "n"), "f4"), "b": (("n",), "f4"), "c": (("m", "n"), "f4")}
    return PLANE.format(parameters="float a[m][n], float b[n], float c[m][n]", body=body), arrays


@pytest.mark.parametrize("seed", seeds(25))
def test_sums_of_random_loops_are_those_of_the_source(seed: int, tmp_path: Path) -> None:
    source, arrays = _random_loops(seed)
    runs = [{**run, **BLOCK, "n": min(run["n"], 40), "m": min(run["m"], 25)} for run in OF_PLANE]
    refused = run_all(source, arrays, runs, tmp_path)
    assert {number for number, _ in refused} <= refusable(source)
