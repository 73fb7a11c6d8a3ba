"""Windows over the border, and operands that some points leave out: on the CPU against the serial C."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.loops.normalize import normalize
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.strategies.tilings import tilings
from tests.examples import quick_of
from tests.laws.nests import nests_of
from tests.unit.schedule.test_lower_tile import PLANE as OF_PRODUCT
from tests.unit.schedule.test_lower_tile import SIZES
from tests.unit.schedule.test_window_product import BLOCK, LINE, PLANE, VOLUME
from tests.unit.schedule.tile_runs import (
    compilation_of,
    numbers_of,
    recipes_of,
    refusable,
    run_all,
    sources_of,
)

Arrays = dict[str, tuple[tuple[int | str, ...], str]]

DECLARED = "float x[p][m][n], float w[q][p][3][3], float y[q][m][n]"
POINTERS = "const float *x, const float *w, float *y"
OF_LAYER: Arrays = {"x": (("p", "m", "n"), "f4"), "w": (("q", "p", 3, 3), "f4"), "y": (("q", "m", "n"), "f4")}
FLAT: Arrays = {"x": (("p*m*n",), "f4"), "w": (("q*p*9",), "f4"), "y": (("q*m*n",), "f4")}
STEPS = (
    "float s = 0; for (int c = 0; c < p; c++) for (int r = 0; r < 3; r++) for (int t = 0; t < 3; t++) {{ "
    "int a = {row}, b = {column}; {step} }} "
)
SAME = {"row": "i + r - 1", "column": "j + t - 1"}
LAYERS = [
    {"q": q, "m": m, "n": n, "p": p, "k": 2}
    for q, m, n, p in (
        (5, 9, 34, 9),
        (33, 17, 36, 8),
        (1, 1, 1, 1),
        (2, 2, 1, 3),
        (3, 2, 5, 0),
        (17, 3, 70, 17),
    )
]
FILTERS = [{"n": n, "p": p, "k": k} for n, p, k in ((2050, 3, 16), (1, 1, 1), (1027, 2, 5), (3, 2, 0))]

CASES: dict[str, tuple[str, Arrays, list[dict[str, int]]]] = {
    "zeros around": (
        VOLUME.format(
            parameters=DECLARED,
            body=STEPS.format(
                **SAME,
                step="if (a >= 0 && a < m && b >= 0 && b < n) s += x[c][a][b] * w[o][c][r][t];",
            )
            + "y[o][i][j] = s;",
        ),
        OF_LAYER,
        LAYERS,
    ),
    "zeros around, behind pointers": (
        VOLUME.format(
            parameters=POINTERS,
            body=STEPS.format(
                **SAME,
                step="if (a >= 0 && a < m && b >= 0 && b < n) "
                "s += x[(c*m + a)*n + b] * w[((o*p + c)*3 + r)*3 + t];",
            )
            + "y[(o*m + i)*n + j] = s;",
        ),
        FLAT,
        LAYERS,
    ),
    "left out where it is outside": (
        VOLUME.format(
            parameters=POINTERS,
            body=STEPS.format(
                **SAME,
                step="s += a < 0 || !(a < m) || b < 0 || b > n - 1 ? 0.5f : "
                "x[(c*m + a)*n + b] * w[((o*p + c)*3 + r)*3 + t];",
            )
            + "y[(o*m + i)*n + j] = s;",
        ),
        FLAT,
        LAYERS,
    ),
    "every other element": (
        VOLUME.format(
            parameters="float x[p][2*m][2*n], float w[q][p][3][3], float y[q][m][n]",
            body=STEPS.format(
                row="2 * i + r - 1",
                column="2 * j + t - 1",
                step="if (a >= 0 && b >= 0) s += x[c][a][b] * w[o][c][r][t];",
            )
            + "y[o][i][j] = s;",
        ),
        {**OF_LAYER, "x": (("p", "2*m", "2*n"), "f4")},
        LAYERS,
    ),
    "integers, a window as large as the caller says": (
        PLANE.format(
            parameters="const int *x, const int *w, int *y",
            body="int s = 1; for (int r = 0; r < k; r++) for (int t = 0; t < k; t++) { int a = i + r - k / 2, "
            "b = j + t - k / 2; if (0 <= a && 0 <= b && a < m && b < n) s += x[a*n + b] * w[r*k + t]; } "
            "y[i*n + j] = s;",
        ),
        {"x": (("m*n",), "i4"), "w": (("k*k",), "i4"), "y": (("m*n",), "i4")},
        [
            {"m": m, "n": n, "p": 1, "k": k}
            for m, n, k in ((19, 131, 5), (1, 1, 1), (33, 128, 8), (3, 4, 0), (2, 5, 3))
        ],
    ),
    "the greatest of a window": (
        PLANE.format(
            parameters="const float *x, float *y",
            body="float s = -1e30f; for (int r = 0; r < k; r++) for (int t = 0; t < k; t++) { int a = i + r - k / 2, "
            "b = j + t - k / 2; if (0 <= a && 0 <= b && a < m && b < n && x[a*n + b] > s) s = x[a*n + b]; } "
            "y[i*n + j] = s;",
        ),
        {"x": (("m*n",), "f4"), "y": (("m*n",), "f4")},
        [
            {"m": m, "n": n, "p": 1, "k": k}
            for m, n, k in ((19, 131, 5), (1, 1, 1), (33, 128, 8), (3, 4, 0), (2, 5, 3))
        ],
    ),
    "another comparison beside the bounds": (
        VOLUME.format(
            parameters=DECLARED,
            body=STEPS.format(
                **SAME,
                step="if (a >= 0 && a < m && b >= 0 && b < n && i + t > r) s += x[c][a][b] * w[o][c][r][t];",
            )
            + "y[o][i][j] = s;",
        ),
        OF_LAYER,
        LAYERS,
    ),
    "all points but the own": (
        LINE.format(
            parameters="const float *x, float *y",
            body="float s = 0; for (int l = 0; l < n; l++) if (l != i) s += 1.0f / (x[l] - x[i] + 3); y[i] = s;",
        ),
        {"x": (("n",), "f4"), "y": (("n",), "f4")},
        FILTERS,
    ),
    "all points but some, with values of a branch": (
        LINE.format(
            parameters="const float x[n], const float w[n], float y[n]",
            body="float s = 0; for (int l = 0; l < n; l++) { if (l + 1 == i) continue; float d = x[l] - x[i];"
            "if (d * d < 9) { float t = d * w[l]; s += t; } else { double t = d; s -= t; } } y[i] = s;",
        ),
        {"x": (("n",), "f4"), "w": (("n",), "f4"), "y": (("n",), "f4")},
        FILTERS,
    ),
    "a filter of what has come": (
        LINE.format(
            parameters="float *x, float *w, float *y",
            body="float s = 0; for (int l = 0; l < p; l++) for (int r = 0; r < k; r++) "
            "if (i + r - k + 1 >= 0) s += x[l*n + i + r - k + 1] * w[l*k + r]; y[i] = s;",
        ),
        {"x": (("p*n",), "f4"), "w": (("p*k",), "f4"), "y": (("n",), "f4")},
        FILTERS,
    ),
}


@pytest.mark.parametrize(
    "name", quick_of(CASES, {"zeros around, behind pointers", "left out where it is outside"})
)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays, runs = CASES[name]
    (region,) = compilation_of(source).plan.functions[0].regions
    # What is read at the point itself is read first where the array is declared to have it: rows are left.
    assert region.tilings[0].recipe == ("rows" if "x[n]" in source else "window product")
    refused = run_all(source, arrays, [{**run, **BLOCK} for run in runs], tmp_path)
    # Behind pointers a border that leaves out some weights altogether has no tile.
    without = {*refusable(source), *(numbers_of(source, "window product") if "*x" in source else ())}
    assert {number for number, _ in refused} <= without


def test_blocks_that_no_border_cuts_do_steps_without_comparisons() -> None:
    text = sources_of(CASES["zeros around"][0])["f.cu"]
    clear = "0 <= o1 - 1 && o1 - 1 + (rows1 + 2) <= m && 0 <= o2 - 1 && o2 - 1 + (rows2 + 2) <= n"
    assert f"if (__builtin_expect({clear}, 1))" in " ".join(text.split())
    inside, cut = " ".join(text.split()).split("(rows2 + 2) <= n, 1))")[1].split(" else ")[:2]
    assert "i1 >= 0" not in inside.replace("i + r - 1", "i1")
    assert "i + r - 1 >= 0" in cut


@pytest.mark.parametrize(
    "step",
    [
        "if (a >= 0 && a < m && b >= 0 && b < n && i + t > r) s += x[(c*m + a)*n + b];",
        "if (x[c*m*n] > 0) s += x[(c*m + a + 1)*n + b + 1] * w[r*3 + t];",
        "if (x[c*m*n] != 0) s += x[(c*m + a + 1)*n + b + 1] * w[r*3 + t];",
        "if (a != 4u) s += x[(c*m + a + 1)*n + b + 1];",
        "if (a * 1.0f != b) s += x[(c*m + a + 1)*n + b + 1];",
        "if (a == i || b == j) s += x[(c*m + a + 1)*n + b + 1] * w[r*3 + t];",
        "if (a < 9u && b < 9u) s += x[(c*9 + a)*9 + b];",
        "if (a >= 0 && a < m && b >= 0 && b < n && a * 1.0f < b) s += x[(c*m + a)*n + b];",
    ],
    ids=[
        "an element of which points decide",
        "a condition on data",
        "another condition on data",
        "not an unsigned number",
        "not a floating number",
        "one of two",
        "compared with an unsigned number",
        "compared as floating numbers",
    ],
)
def test_what_may_not_be_there_is_not_copied(step: str) -> None:
    source = VOLUME.format(
        parameters=POINTERS, body=STEPS.format(**SAME, step=step) + "y[(o*m + i)*n + j] = s;"
    )
    (nest,) = map(normalize, nests_of(source))
    (found,) = (tiling.result for tiling in tilings(nest) if tiling.recipe == "window product")
    assert isinstance(found, NotApplicable)
    assert "'x' is read under a condition" in found.reason


def test_what_would_say_that_it_is_there_is_told() -> None:
    source = (
        "void f(int m, int k, const float %s, const float w[k], float *y, int B) { meta_schedule block(B) {"
        " meta_for (int i = 0; i < m; i++) { float s = 0;"
        " for (int l = 0; l < k; l++) { if (w[l] == 0) continue; s += %s * w[l]; } y[i] = s; } } }"
    )
    asked = "declare its extents, as in 'a[m][n]', and write a subscript for each"
    spelled = (
        ("*a", "a[i * k + l]", True),
        ("a[m * k]", "a[i * k + l]", True),
        ("a[m][k]", "a[i][l]", False),
    )
    for declared, element, told in spelled:
        (nest,) = map(normalize, nests_of(source % (declared, element)))
        (found,) = (tiling.result for tiling in tilings(nest) if tiling.recipe == "rows")
        assert isinstance(found, NotApplicable) is told
        assert not isinstance(found, NotApplicable) or found.reason.endswith(asked)


SYMMETRIC = (
    "float s = 0; for (int l = 0; l < k; l++) s += (l <= i ? a[i][l] : a[l][i]) * b[l][j]; c[i][j] = s;"
)


def test_operands_in_declared_extents_may_be_left_out(tmp_path: Path) -> None:
    source = OF_PRODUCT.format(parameters="float a[k][k], float b[k][n], float c[k][n]", body=SYMMETRIC)
    source = source.replace("(m + B0 - 1)", "(k + B0 - 1)").replace("i < m", "i < k")
    assert recipes_of(source)["product"] is None
    arrays: Arrays = {"a": (("k", "k"), "f4"), "b": (("k", "n"), "f4"), "c": (("k", "n"), "f4")}
    runs = [{**SIZES, "k": 70}, {**SIZES, "k": 33, "n": 36}]
    assert {number for number, _ in run_all(source, arrays, runs, tmp_path)} <= refusable(source)
