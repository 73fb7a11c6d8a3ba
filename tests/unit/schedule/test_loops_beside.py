"""Points with several serial loops, one after the other, each with its operands: every tile against the serial C."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.words import most_words
from comprehensive.metafork.ast import For, Name
from comprehensive.optimize.tree import Tree
from comprehensive.plan.plan import TilePlan
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import (
    compilation_of,
    numbers_of,
    recipes_of,
    refusable,
    run_all,
    warnings_of,
)

PLANE = """void f(int m, int n, int p, int q, {parameters}, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
LINE = """void f(int m, int p, int q, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
Arrays = dict[str, tuple[tuple[int | str, ...], str]]
OF_PLANE: Arrays = {
    "a": (("m", "p"), "f4"),
    "b": (("p", "n"), "f4"),
    "c": (("m", "q"), "f4"),
    "d": (("q", "n"), "f4"),
    "y": (("m", "n"), "f4"),
}
OF_LINE: Arrays = {
    "a": (("m", "p"), "f4"),
    "u": (("p",), "f4"),
    "c": (("m", "q"), "f4"),
    "v": (("q",), "f4"),
    "y": (("m",), "f4"),
}
DECLARED = "const float a[m][p], const float b[p][n], const float c[m][q], const float d[q][n], float y[m][n]"
ROWS = "const float a[m][p], const float u[p], const float c[m][q], const float v[q], float y[m]"
PLANES = [
    {"m": m, "n": n, "p": p, "q": q, "B0": 2, "B1": 4}
    for m, n, p, q in ((70, 133, 41, 7), (17, 20, 0, 33), (33, 9, 16, 0), (3, 5, 0, 0))
]
LINES = [{"m": m, "p": p, "q": q, "B": 4} for m, p, q in ((67, 131, 33), (40, 0, 70), (9, 64, 0), (5, 0, 0))]

CASES: dict[str, tuple[str, Arrays]] = {
    "a product and one of low rank": (
        PLANE.format(
            parameters=DECLARED,
            body="float s = 0; for (int k = 0; k < p; k++) s += a[i][k] * b[k][j]; s *= 0.5f; float t = 1;"
            "for (int k = 0; k < q; k++) t += c[i][k] * d[k][j]; y[i][j] = s + t;",
        ),
        OF_PLANE,
    ),
    "both add to one element": (
        PLANE.format(
            parameters=DECLARED,
            body="for (int k = 0; k < p; k++) y[i][j] += a[i][k] * b[k][j];"
            "for (int k = 0; k < q; k++) y[i][j] -= c[i][k] * d[k][j];",
        ),
        OF_PLANE,
    ),
    "the second one goes on with the sum, and reads the same array": (
        PLANE.format(
            parameters="const float *a, const float *b, const float *c, const float *d, float *y",
            body="float s = 0; for (int k = 0; k < p; k++) s += a[i*p + k] * b[k*n + j];"
            "for (int k = 0; k < q; k++) s += c[i*q + k] * d[k*n + j];"
            "y[i*n + j] = s; for (int k = 0; k < p; k++) s += a[i*p + k]; y[i*n + j] += s;",
        ),
        OF_PLANE,
    ),
    "doubles and floats": (
        PLANE.format(
            parameters=DECLARED.replace("const float a", "const double a"),
            body="double s = 0; for (int k = 0; k < p; k++) s += a[i][k] * b[k][j];"
            "float t = s; for (int k = 0; k < q; k++) t = fmaxf(t, c[i][k] + d[k][j]); y[i][j] = t;",
        ),
        {**OF_PLANE, "a": (("m", "p"), "f8")},
    ),
    "two rows": (
        LINE.format(
            parameters=ROWS,
            body="float s = 0; for (int k = 0; k < p; k++) s += a[i][k] * u[k];"
            "for (int k = 0; k < q; k++) s += c[i][k] * v[k]; y[i] = s;",
        ),
        OF_LINE,
    ),
    "a mean, and what lies around it": (
        LINE.format(
            parameters=ROWS,
            body="float s = 0; for (int k = 0; k < p; k++) s += a[i][k]; s = s / (p + 1); float t = 0;"
            "for (int k = 0; k < p; k++) t += (a[i][k] - s) * (a[i][k] - s); y[i] = t; float w = 0;"
            "for (int k = 0; k < q; k++) w += c[i][k] * v[k]; y[i] = w + t;",
        ),
        OF_LINE,
    ),
}
CASES["an element that is read before the loop that updates it"] = (
    PLANE.format(
        parameters=DECLARED + ", float z[m][n]",
        body="float t = y[i][j]; for (int k = 0; k < q; k++) y[i][j] = y[i][j] * 0.5f + c[i][k] * d[k][j]; "
        "z[i][j] = t + y[i][j];",
    ),
    {**OF_PLANE, "z": (("m", "n"), "f4")},
)
CASES["a loop that is longer at some points"] = (
    LINE.format(
        parameters=ROWS,
        body="float s = 0; for (int k = 0; k < i && k < p; k++) s += a[i][k] * u[k];"
        "for (int k = 0; k < q; k++) s += c[i][k] * v[k]; y[i] = s;",
    ),
    OF_LINE,
)
CASES["both sides of the diagonal of a symmetric matrix"] = (
    PLANE.format(
        parameters="const float a[m][m], const float b[m][n], float y[m][n]",
        body="float s = 0; for (int k = 0; k < i; k++) s += a[i][k] * b[k][j]; s += b[i][j] * a[i][i];"
        "for (int k = i + 1; k < m; k++) s += a[k][i] * b[k][j]; y[i][j] = 2 * s;",
    ),
    {"a": (("m", "m"), "f4"), "b": (("m", "n"), "f4"), "y": (("m", "n"), "f4")},
)
WINDOWS: dict[str, tuple[str, Arrays]] = {
    "four products a turn, and what is left": (
        PLANE.format(
            parameters="const float *a, const float *b, float *y",
            body="float s = 0; int k = 0; for (; k + 3 < p; k += 4) s += a[i*p + k] * b[j*p + k]"
            " + a[i*p + k + 1] * b[j*p + k + 1] + a[i*p + k + 2] * b[j*p + k + 2] + a[i*p + k + 3] * b[j*p + k + 3];"
            "for (; k < p; k++) s += a[i*p + k] * b[j*p + k]; y[i*n + j] = s;",
        ),
        {**OF_PLANE, "b": (("n", "p"), "f4")},
    ),
    "two windows of one element": (
        PLANE.format(
            parameters="const float a[m + p][n], const float b[p], const float c[m][n + 3*q], const float d[q], "
            "float y[m][n]",
            body="for (int k = 0; k < p; k++) y[i][j] += a[i + k][j] * b[k]; y[i][j] *= 0.5f;"
            "for (int k = 0; k < q; k++) y[i][j] -= c[i][j + 2*k] * d[k] + c[i][j + 2*k + 1];",
        ),
        {
            "a": (("m + p", "n"), "f4"),
            "b": (("p",), "f4"),
            "c": (("m", "n + 3*q"), "f4"),
            "d": (("q",), "f4"),
            "y": (("m", "n"), "f4"),
        },
    ),
    "neighbours along one coordinate, then along the other one": (
        PLANE.format(
            parameters="const float a[m][p], const float u[p + 2], const float d[p][n], float y[m][n]",
            body="float s = 0; for (int k = 0; k < p; k++) s += u[k + 2] * d[k][j] + u[k];"
            "for (int k = 0; k < p; k++) s += a[i][k] * a[i][k]; y[i][j] = s;",
        ),
        {"a": (("m", "p"), "f4"), "u": (("p + 2",), "f4"), "d": (("p", "n"), "f4"), "y": (("m", "n"), "f4")},
    ),
    "rows by four, and what is left": (
        LINE.format(
            parameters="const float *a, const float *u, float *y",
            body="float s = y[i]; int k; for (k = 0; k < (p & ~3); k += 4) s += a[i*p + k] * u[k] "
            "+ a[i*p + k+1] * u[k+1] + a[i*p + k+2] * u[k+2] + a[i*p + k+3] * u[k+3]; "
            "for (; k < p; k++) s += a[i*p + k] * u[k]; y[i] = s;",
        ),
        OF_LINE,
    ),
}
LEFT = {
    "the second one reads what the first one stores": LINE.format(
        parameters="float a[m][p], const float c[m][q], float y[m]",
        body="for (int k = 0; k < p; k++) a[i][k] = a[i][k] + 1; float s = 0;"
        "for (int k = 0; k < p; k++) s += a[i][k]; y[i] = s;",
    ),
    "a bound is computed by the point": LINE.format(
        parameters=ROWS + ", const int h[m]",
        body="float s = 0; for (int k = 0; k < p; k++) s += a[i][k] * u[k]; int most = h[i];"
        "for (int k = 0; k < most; k++) s += c[i][k] * v[k]; y[i] = s;",
    ),
}


def plan_of(source: str, recipe: str) -> TilePlan:
    (function,) = compilation_of(source).plan.functions
    (region,) = function.regions
    (found,) = (plan for plan in region.tilings if plan.recipe == recipe)
    return found


@pytest.mark.parametrize(
    "case", quick_of(CASES, {"two rows", "both sides of the diagonal of a symmetric matrix"})
)
def test_every_instance_computes_what_the_serial_program_does(case: str, tmp_path: Path) -> None:
    source, arrays = CASES[case]
    recipe = "rows" if arrays is OF_LINE else "product"
    assert recipes_of(source)[recipe] is None
    refused = run_all(source, arrays, PLANES if recipe == "product" else LINES, tmp_path)
    assert {number for number, _ in refused} <= refusable(source)


@pytest.mark.parametrize(
    "case",
    quick_of(
        WINDOWS,
        {
            "four products a turn, and what is left",
            "neighbours along one coordinate, then along the other one",
        },
    ),
)
def test_windows_one_after_the_other_compute_what_the_serial_program_does(case: str, tmp_path: Path) -> None:
    source, arrays = WINDOWS[case]
    assert recipes_of(source)["window product"] is None
    is_line = arrays is OF_LINE
    refused = run_all(source, arrays, LINES if is_line else PLANES, tmp_path)
    # Boxes of rows by four are four times as long: some are too large.
    assert set(numbers_of(source, "window product")) - {number for number, _ in refused}


def test_copies_of_each_loop_begin_at_multiples_of_vectors() -> None:
    source = PLANE.format(
        parameters="const float a[m + p][n + q], const float b[p], float y[m][n]",
        body="float s = 0; for (int k = 0; k < p; k++) s += a[i + k][j] * b[k];"
        "for (int k = 0; k < p; k++) s -= a[i + k][j + q] * b[k]; y[i][j] = s;",
    )
    found = plan_of(source, "window product").kernel.alignments
    assert {a.multiples for a in found if a.array == "a"} == {(), (Name("q"),)}


def test_two_sums_of_a_point_have_room_in_registers() -> None:
    """Two blocks of the table leave a thread 128 registers; one block leaves it as many as it needs."""
    two, one = (
        plan_of(CASES[case][0], "product").instances
        for case in ("a product and one of low rank", "both add to one element")
    )
    assert [i.sizes[:-1] for i in two] == [i.sizes[:-1] for i in one]
    assert (one[0].sizes[-1], two[0].sizes[-1]) == (2, 1)
    assert all(a.sizes[-1] <= b.sizes[-1] for a, b in zip(two, one, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_nvcc_has_nothing_to_say(case: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[case][0], tmp_path, nvcc) == ()


@pytest.mark.parametrize("case", LEFT)
def test_others_are_left(case: str) -> None:
    assert recipes_of(LEFT[case]).get("rows") is not None


def test_loops_of_one_bound_have_one_limit_and_arrays_count_along_their_own_loop() -> None:
    """Three loops have two bounds; `tests/unit/model/test_choice.py` holds the costs of such points."""
    source, _ = CASES["a mean, and what lies around it"]
    rows = plan_of(source, "rows")
    assert rows.kernel.beside
    assert [limit for _, limit in rows.kernel.limits] == [Name("m"), Name("p"), Name("q")]
    # a is read along p alone, c along q alone; neither along both.
    along = {(each.array, each.limits) for each in rows.traffic}
    assert {("a", (0, 1)), ("c", (0, 2))} <= along


def test_a_single_loop_is_not_beside_another() -> None:
    (tree,) = compilation_of(CASES["two rows"][0]).trees
    tiles = [each.tree.source.tile for each in tree.alternatives if isinstance(each.tree, Tree)]
    assert {sum(isinstance(s, For) for s in tile.bodies[0]) for tile in tiles if tile is not None} == {2}


def test_words_are_enough_for_each_loop() -> None:
    t, d = Polynomial.symbol("T"), Polynomial.symbol("D")
    first, second = t * d * 2 + d, t * d + d * 3 + 4
    assert most_words([first, second]) == t * d * 2 + d * 3 + 4
    assert most_words([first]) == first
