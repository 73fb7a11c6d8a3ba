"""Kernels whose serial loops read boxes: loops in each other and windows, on the CPU against the serial C."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.loops.normalize import normalize
from comprehensive.model.accesses import COPYING
from comprehensive.optimize.protocols import Applied, NotApplicable
from comprehensive.records import replace
from comprehensive.schedule.instances import SHARED_WORDS, Instance
from comprehensive.schedule.reference_groups import loop_nests
from comprehensive.strategies.tilings import tilings
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.laws.nests import nests_of
from tests.unit.schedule.tile_runs import compilation_of, refusable, run_all, sources_of, warnings_of

Arrays = dict[str, tuple[tuple[int | str, ...], str]]

VOLUME = """void f(int q, int m, int n, int p, int k, {parameters}, int B0, int B1, int B2)
{{
  meta_schedule block(B0, B1, B2) {{
    meta_for (int o = 0; o < q; o++)
      meta_for (int i = 0; i < m; i++)
        meta_for (int j = 0; j < n; j++) {{
          {body}
        }}
  }}
}}
"""
PLANE = """void f(int m, int n, int p, int k, {parameters}, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
LINE = """void f(int n, int p, int k, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < n; i++) {{
      {body}
    }}
  }}
}}
"""
BLOCK = {"B": 5, "B0": 3, "B1": 5, "B2": 2}
OF_VOLUME = [
    {"q": q, "m": m, "n": n, "p": p, "k": 2}
    for q, m, n, p in (
        (5, 9, 34, 9),
        (33, 17, 36, 8),
        (1, 1, 1, 1),
        (3, 2, 5, 0),
        (2, 0, 5, 3),
        (17, 3, 70, 17),
    )
]
OF_PLANE = [
    {"m": m, "n": n, "p": p, "k": k}
    for m, n, p, k in (
        (19, 131, 3, 5),
        (1, 1, 1, 1),
        (33, 128, 2, 8),
        (3, 4, 2, 0),
        (5, 6, 0, 3),
        (17, 260, 3, 17),
    )
]
OF_LINE = [
    {"n": n, "p": p, "k": k}
    for n, p, k in ((2050, 3, 16), (1, 1, 1), (1027, 2, 5), (512, 2, 33), (3, 2, 0), (7, 0, 4), (0, 2, 2))
]

CASES: dict[str, tuple[str, Arrays, list[dict[str, int]]]] = {
    "a layer of a network": (
        VOLUME.format(
            parameters="float in[p][m+2][n+2], float k3[q][p][3][3], float out[q][m][n]",
            body="float s = 0.5f; for (int c = 0; c < p; c++) for (int y = 0; y < 3; y++) for (int x = 0; x < 3; x++) "
            "s += in[c][i+y][j+x] * k3[o][c][y][x]; out[o][i][j] = s;",
        ),
        {"in": (("p", "m+2", "n+2"), "f4"), "k3": (("q", "p", 3, 3), "f4"), "out": (("q", "m", "n"), "f4")},
        OF_VOLUME,
    ),
    "a layer behind pointers": (
        VOLUME.format(
            parameters="float *in, float *w, float *out",
            body="float s = 0; for (int c = 0; c < p; c++) for (int y = 0; y < 3; y++) for (int x = 0; x < 3; x++) "
            "s += in[(c*(m+2) + i + y)*(n+2) + j + x] * w[((o*p + c)*3 + y)*3 + x]; out[(o*m + i)*n + j] = s;",
        ),
        {"in": (("p*(m+2)*(n+2)",), "f4"), "w": (("q*p*9",), "f4"), "out": (("q*m*n",), "f4")},
        OF_VOLUME,
    ),
    "every second point, a bias and what is not negative": (
        VOLUME.format(
            parameters="double in[p][2*m+3][2*n+3], double w[3][3][p][q], double bias[q], double out[q][m][n]",
            body="double s = bias[o]; for (int c = 0; c < p; c++) for (int y = 0; y < 3; y++) "
            "for (int x = 0; x < 3; x++) s += in[c][2*i+y][2*j+x] * w[y][x][c][o]; out[o][i][j] = s > 0 ? s : 0;",
        ),
        {
            "in": (("p", "2*m+3", "2*n+3"), "f8"),
            "w": ((3, 3, "p", "q"), "f8"),
            "bias": (("q",), "f8"),
            "out": (("q", "m", "n"), "f8"),
        },
        OF_VOLUME,
    ),
    "channels last, in place": (
        VOLUME.format(
            parameters="float in[m+2][n+2][p], float w[q][3][3][p], float out[m][n][q]",
            body="for (int c = 0; c < p; c++) for (int y = 0; y < 3; y++) for (int x = 0; x < 3; x++) "
            "out[i][j][o] += in[i+y][j+x][c] * w[o][y][x][c];",
        ),
        {"in": (("m+2", "n+2", "p"), "f4"), "w": (("q", 3, 3, "p"), "f4"), "out": (("m", "n", "q"), "f4")},
        OF_VOLUME,
    ),
    "a window known at run time": (
        PLANE.format(
            parameters="float in[m+k][n+k], float w[k+1][k+1], float out[m][n]",
            body="float s = 0; for (int y = 0; y < k; y++) for (int x = 0; x < k; x++) s += in[i+y][j+x] * w[y][x]; "
            "out[i][j] = s;",
        ),
        {"in": (("m+k", "n+k"), "f4"), "w": (("k+1", "k+1"), "f4"), "out": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "a second loop of a product": (
        PLANE.format(
            parameters="float a[m][p][k+1], float b[p][k+1][n], float c[m][n]",
            body="for (int z = 0; z < p; z++) for (int l = 0; l < k; l++) c[i][j] += a[i][z][l] * b[z][l][j];",
        ),
        {"a": (("m", "p", "k+1"), "f4"), "b": (("p", "k+1", "n"), "f4"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "statements between the loops": (
        PLANE.format(
            parameters="float a[p+1][m][k+1], float b[p+1][n+k], float w[p+1], double c[m][n]",
            body="double s = 1; for (int z = 0; z < p; z++) { float t = w[z]; for (int l = 0; l < k; l++) "
            "{ float d = a[z][i][l] - b[z][j+l]; t += d * d + l; } s += t * z; } c[i][j] = s;",
        ),
        {
            "a": (("p+1", "m", "k+1"), "f4"),
            "b": (("p+1", "n+k"), "f4"),
            "w": (("p+1",), "f4"),
            "c": (("m", "n"), "f8"),
        },
        OF_PLANE,
    ),
    "several rows of a window": (
        PLANE.format(
            parameters="float a[p+1][m+2][n+4], unsigned char w[p+1], float c[m][n]",
            body="float s = 0; for (int z = 0; z < p; z++) s += w[z] * (a[z][i][j] + a[z][i][j+4] - a[z][i+2][j+1] "
            "+ a[z][i+2][j]); c[i][j] = s;",
        ),
        {"a": (("p+1", "m+2", "n+4"), "f4"), "w": (("p+1",), "u1"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "each channel for itself": (
        VOLUME.format(
            parameters="float in[q][m+k][n+k], float w[q][k+1][k+1], float out[q][m][n]",
            body="float s = 0; for (int y = 0; y < k; y++) for (int x = 0; x < k; x++) "
            "s += in[o][i+y][j+x] * w[o][y][x]; out[o][i][j] = s;",
        ),
        {"in": (("q", "m+k", "n+k"), "f4"), "w": (("q", "k+1", "k+1"), "f4"), "out": (("q", "m", "n"), "f4")},
        OF_VOLUME,
    ),
    "elements of rows that need not be whole": (
        PLANE.format(
            parameters="float *a, float *b, float *c",
            body="float s = 0; for (int y = 0; y < p; y++) for (int x = 0; x < k; x++) "
            "s += b[y*k + x] * (a[(i+y)*(n+k+4) + j+x+3] - a[(i+y+2)*(n+k+4) + j+x]); c[i*n + j] = s;",
        ),
        {"a": (("(m+p+2)*(n+k+4)",), "f4"), "b": (("p*k+1",), "f4"), "c": (("m*n",), "f4")},
        OF_PLANE,
    ),
    "a filter": (
        LINE.format(
            parameters="float x[n+k], float w[k+1], float y[n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += x[i+l] * w[l]; y[i] = s;",
        ),
        {"x": (("n+k",), "f4"), "w": (("k+1",), "f4"), "y": (("n",), "f4")},
        OF_LINE,
    ),
    "several filters, one of them of every third element": (
        LINE.format(
            parameters="int x[3*n+k+4], int w[p+1][k+1], int y[n], int z[n]",
            body="int s = 0, t = 1; for (int l = 0; l < p; l++) for (int r = 0; r < k; r++) "
            "{ s += x[3*i+r+4] * w[l][r]; t ^= w[l][r] + x[i+r]; } y[i] = s; z[i] = t;",
        ),
        {"x": (("3*n+k+4",), "i4"), "w": (("p+1", "k+1"), "i4"), "y": (("n",), "i4"), "z": (("n",), "i4")},
        OF_LINE,
    ),
    "a convolution, whose window runs down": (
        PLANE.format(
            parameters="float in[m+k][n+3*k+1], float w[k+1][k+1], float out[m][n]",
            body="float s = 0; for (int y = 0; y < k; y++) for (int x = 0; x < k; x++) "
            "s += in[i+k-1-y][j+3*(k-1-x)] * w[y][x] * (in[i+y][j+k-x] - w[y][x]); out[i][j] = s;",
        ),
        {"in": (("m+k", "n+3*k+1"), "f4"), "w": (("k+1", "k+1"), "f4"), "out": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "turned kernels of constant extents": (
        VOLUME.format(
            parameters="double in[p][m+4][2*n+2], double w[q][p][5][2], double out[q][m][n]",
            body="double s = 0; for (int c = 0; c < p; c++) for (int y = 0; y < 5; y++) for (int x = 0; x < 2; x++) "
            "s += in[p-1-c][i+4-y][2*j+1-x] * w[o][c][y][x]; out[o][i][j] = s;",
        ),
        {
            "in": (("p", "m+4", "2*n+2"), "f8"),
            "w": (("q", "p", 5, 2), "f8"),
            "out": (("q", "m", "n"), "f8"),
        },
        OF_VOLUME,
    ),
    "a filter of what came before": (
        LINE.format(
            parameters="float *x, float w[k+1], float *y",
            body="float s = 0; for (int l = 0; l < k; l++) if (i - l >= 0) s += x[i-l] * w[l]; y[i] = s;",
        ),
        {"x": (("n",), "f4"), "w": (("k+1",), "f4"), "y": (("n",), "f4")},
        OF_LINE,
    ),
    "a polynomial, from its highest power down": (
        LINE.format(
            parameters="double x[n], double c[k+1], double y[n]",
            body="double s = c[k]; for (int l = k - 1; l >= 0; l--) s = s * x[i] + c[l]; y[i] = s;",
        ),
        {"x": (("n",), "f8"), "c": (("k+1",), "f8"), "y": (("n",), "f8")},
        OF_LINE,
    ),
    "points from the last to the first": (
        PLANE.format(
            parameters="float a[p+1][2*m], float b[2*n+k][k], float c[m][n]",
            body="float s = 0; for (int y = 0; y < p; y++) for (int l = 0; l < k; l++) "
            "s += a[y][m-1-i] * b[2*(n-1-j)+l][l] + a[p-1-y][i]; c[i][j] = s;",
        ),
        {"a": (("p+1", "2*m"), "f4"), "b": (("2*n+k", "k"), "f4"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "the diagonals of rows that are whole": (
        PLANE.format(
            parameters="float a[m+k][n+k], float w[k+1], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += a[i+l][j-l+k-1] * w[l]; c[i][j] = s;",
        ),
        {"a": (("m+k", "n+k"), "f4"), "w": (("k+1",), "f4"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "elements that are the same in all steps of a piece": (
        PLANE.format(
            parameters="float a[p+1][m+k], float w[p+1], float c[m][n]",
            body="float s = 0; for (int l = 0; l < p; l++) for (int r = 0; r < k; r++) s += a[l][i+r] * w[l]; "
            "c[i][j] = s;",
        ),
        {"a": (("p+1", "m+k"), "f4"), "w": (("p+1",), "f4"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "rows that are looked up": (
        PLANE.format(
            parameters="float a[m][k], float b[256][n], unsigned char at[k], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[at[l] % 97][j]; c[i][j] = s;",
        ),
        {"a": (("m", "k"), "f4"), "b": ((256, "n"), "f4"), "at": (("k",), "u1"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "places that each point computes, before the loops and in them": (
        PLANE.format(
            parameters="double a[m][k], short b[256][p+256], unsigned char at[m][n], unsigned char to[n][k], "
            "double c[m][n]",
            body="double s = 0; int q = at[i][j]; for (int l = 0; l < p; l++) for (int r = 0; r < k; r++) "
            "{ int t = to[j][r] + l; s += a[i][r] * b[q][t] + b[t % 256][l]; } c[i][j] = s;",
        ),
        {
            "a": (("m", "k"), "f8"),
            "b": ((256, "p+256"), "i2"),
            "at": (("m", "n"), "u1"),
            "to": (("n", "k"), "u1"),
            "c": (("m", "n"), "f8"),
        },
        OF_PLANE,
    ),
    "points that read between the loops": (
        PLANE.format(
            parameters="float a[p+1][n], float b[p+1][m+k], unsigned char w[n], float v[256], float c[m][n]",
            body="float s = 0; for (int l = 0; l < p; l++) { float t = a[l][j] * v[w[j]], u = 0; "
            "for (int r = 0; r < k; r++) u += b[l][i+r] * t; s += u; } c[i][j] = s;",
        ),
        {
            "a": (("p+1", "n"), "f4"),
            "b": (("p+1", "m+k"), "f4"),
            "w": (("n",), "u1"),
            "v": ((256,), "f4"),
            "c": (("m", "n"), "f4"),
        },
        OF_PLANE,
    ),
    "elements that data says are there": (
        PLANE.format(
            parameters="float *a, unsigned char there[m][k], float b[k][n], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) "
            "s += b[l][j] * (there[i][l] > 4 && i*k+l < 20 ? a[i*k+l] : 2); c[i][j] = s;",
        ),
        {"a": ((20,), "f4"), "there": (("m", "k"), "u1"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "a diagonal along the points": (
        PLANE.format(
            parameters="float a[m+k][m], float b[k][n], float c[m][n]",
            body="float s = 0; for (int l = 0; l < k; l++) s += a[i+l][i] * b[l][j]; c[i][j] = s;",
        ),
        {"a": (("m+k", "m"), "f4"), "b": (("k", "n"), "f4"), "c": (("m", "n"), "f4")},
        OF_PLANE,
    ),
    "two coordinates along one row": (
        PLANE.format(
            parameters="float *a, float *b, float *c",
            body="float s = 0; for (int l = 0; l < k; l++) s += a[i+j+l] * b[l]; c[i*n+j] = s;",
        ),
        {"a": (("m+n+k",), "f4"), "b": (("k+1",), "f4"), "c": (("m*n",), "f4")},
        OF_PLANE,
    ),
    "rows that begin elsewhere in each plane": (
        VOLUME.format(
            parameters="float *a, float *b, float *c",
            body="float s = 0; for (int l = 0; l < p; l++) for (int r = 0; r < k; r++) "
            "s += a[(i*p + l)*(k+q) + o + r] * b[(l*k + r)*n + j]; c[(o*m + i)*n + j] = s;",
        ),
        {"a": (("m*p*(k+q)+k",), "f4"), "b": (("p*k*n",), "f4"), "c": (("q*m*n",), "f4")},
        OF_VOLUME,
    ),
    "a row along each of three coordinates": (
        VOLUME.format(
            parameters="float a[q][p][k+1], float b[m][p][k+1], float c[n][p][k+1], float out[q][m][n]",
            body="float s = 0; for (int y = 0; y < p; y++) for (int l = 0; l < k; l++) "
            "s += a[o][y][l] * b[i][y][l] * c[j][y][l]; out[o][i][j] = s;",
        ),
        {
            "a": (("q", "p", "k+1"), "f4"),
            "b": (("m", "p", "k+1"), "f4"),
            "c": (("n", "p", "k+1"), "f4"),
            "out": (("q", "m", "n"), "f4"),
        },
        OF_VOLUME,
    ),
}


@pytest.mark.parametrize("name", quick_of(CASES, {"a filter", "a filter of what came before"}))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays, runs = CASES[name]
    (region,) = compilation_of(source).plan.functions[0].regions
    # Steps that count down along a row are pieces of it, as others are.
    assert region.tilings[0].recipe == (
        "rows" if name == "a polynomial, from its highest power down" else "window product"
    )
    # Where rows are read several times they may be resident, up to some length.
    refused = run_all(source, arrays, [{**run, **BLOCK} for run in runs], tmp_path)
    assert {number for number, _ in refused} <= refusable(source)


def test_what_a_step_stages_is_a_box_of_each_array() -> None:
    source, _, _ = CASES["a layer of a network"]
    (region,) = compilation_of(source).plan.functions[0].regions
    (tile,) = region.tilings
    sizes = dict(zip(tile.kernel.constants, (2, 4, 2, 4, 1, 8, 8, 2, 3), strict=True))
    rows, columns, weights = 4 * 1 + 2, 2 * 8 + 2, 3 * 3 * 2 * 4
    # Rows begin at 4 words modulo 8.
    assert tile.kernel.shared_words.evaluate(sizes) == 2 * 8 * (rows * (columns + 2) + weights // 8 * (8 + 4))


def test_a_step_does_every_multiply_add_of_its_tile_and_reads_its_boxes_once() -> None:
    source, _, _ = CASES["a layer of a network"]
    (region,) = compilation_of(source).plan.functions[0].regions
    (tile,) = region.tilings
    step = tile.work(Instance((2, 8, 2, 4, 1, 8, 8, 2, 3)), 4).step
    warps, points, turns = 1, 4 * 8, 8 * 3 * 3
    # A row of three vectors for each turn of y, a vector of weights for each of x; two instructions each.
    loads = 8 * 3 * 2 * 3 + turns * 2
    copies = -(-8 * 10 * 18 // (32 * 4)) * (3 + 1) + -(-8 * 9 * 8 // 32) * (3 + COPYING)
    assert step.instructions == warps * (turns * points + loads + copies)
    assert (step.waits, step.barriers) == (0, 1)
    # Rows of weights are not aligned: they begin in the midst of a sector, and end in one more.
    sectors = 8 * 10 * 3 + 8 * (9 * 8 // 8 + 1)
    assert step.bytes == 32 * sectors


@pytest.mark.parametrize(
    ("step", "is_unrolled"),
    [
        ("s += a[i][v][u] * b[u][v][j];", True),
        ("for (int w = 0; w < 3; w++) s += a[i][v][u+w] * b[u][v][j+w];", False),
    ],
)
def test_steps_of_whole_pieces_that_are_short_are_unrolled(step: str, is_unrolled: bool) -> None:
    source = PLANE.format(
        parameters="const float a[m][k][p+2], const float b[p][k][n+2], float c[m][n]",
        body=f"float s = 0; for (int u = 0; u < p; u++) for (int v = 0; v < k; v++) {step} c[i][j] = s;",
    )
    text = sources_of(source)["f.cu"]
    assert ("if (D <= v_left)" in text) == is_unrolled


@pytest.mark.parametrize(("steps", "recipe"), [(11, "points"), (12, "window product")])
def test_many_constant_steps_of_loops_in_each_other_are_done_in_pieces(
    steps: int, recipe: str, tmp_path: Path
) -> None:
    source = PLANE.format(
        parameters=f"const float a[m][{steps}][{steps}], const float b[{steps}][{steps}][n], float c[m][n]",
        body=f"float s = 0; for (int u = 0; u < {steps}; u++) for (int v = 0; v < {steps}; v++) "
        "s += a[i][u][v] * b[v][u][j]; c[i][j] = s;",
    )
    (region,) = compilation_of(source).plan.functions[0].regions
    assert recipe in {tiling.recipe for tiling in region.tilings}
    arrays: Arrays = {
        "a": (("m", steps, steps), "f4"),
        "b": ((steps, steps, "n"), "f4"),
        "c": (("m", "n"), "f4"),
    }
    run_all(source, arrays, [{"m": 5, "n": 7, "p": 1, "k": 1, **BLOCK}], tmp_path)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "for (int l = 0; l < k; l++) for (int r = 0; r < l; r++) c[i][j] += a[l][i+r];",
            "is not the same for all",
        ),
        (
            "for (int l = 0; l < p; l++) { for (int r = 0; r < k; r++) c[i][j] += a[l][i+r]; "
            "for (int r = 0; r < k; r++) c[i][j] += a[l][j+r]; }",
            "several loops beside each other",
        ),
        (
            "for (int l = 0; l < p; l++) for (int r = 0; r < k; r++) c[i][j] += a[l][i*r];",
            "is no sum of 'i' and others",
        ),
        (
            "for (int l = 0; l < p; l++) { c[i][j] *= 2; for (int r = 0; r < k; r++) c[i][j] += a[l][i+r]; }",
            "is assigned between the loops",
        ),
        (
            "for (int l = 0; l < p; l++) for (int r = 0; r < k; r++) c[i][j] += d[i][j][r] * b[(i*j + l) % (m+k)];",
            "a subscript of 'b' is no sum of 'i' and others",
        ),
        (
            "for (int l = 0; l < p; l++) for (int r = 0; r < k; r++) c[i][j] += l;",
            "read nothing that changes",
        ),
        (
            "int q = 0; for (int l = 0; l < k; l++) { d[i][j][q] = a[l][i+l]; if (b[l] > 0) q++; }",
            "a subscript of 'd' is computed by the point",
        ),
    ],
)
def test_what_is_no_box_says_why(body: str, reason: str) -> None:
    source = PLANE.format(
        parameters="float a[m+k+p][n*k+k], float b[m+k], float c[m][n], float d[m][n][k]", body=body
    )
    (nest,) = map(normalize, nests_of(source))
    (found,) = (tiling.result for tiling in tilings(nest) if tiling.recipe == "window product")
    assert isinstance(found, NotApplicable)
    assert reason in found.reason


def test_the_corners_of_diagonals_need_whole_rows() -> None:
    """`a[i+l][j-l+k]` reads the first row for the last columns alone: nothing has to be in its first ones."""
    source = PLANE.format(
        parameters="float a[m+k][n+k], float w[k], float c[m][n]",
        body="float s = 0; for (int l = 0; l < k; l++) s += a[i+l][j-l+k] * w[l]; c[i][j] = s;",
    )
    (nest,) = map(normalize, nests_of(source))
    (found,) = (tiling.result for tiling in tilings(nest) if tiling.recipe == "window product")
    assert isinstance(found, Applied)
    variant = found.fragment
    assert variant.tile is not None
    assert loop_nests(variant.nest, variant.tile)[0].uncached == {}
    arrays = tuple(replace(array, whole_rows=False) for array in variant.nest.arrays)
    (loops,) = loop_nests(replace(variant.nest, arrays=arrays), variant.tile)
    assert {reference.array for reference in loops.uncached} == {"a"}


def test_a_product_may_have_rows_that_begin_elsewhere_in_each_plane(tmp_path: Path) -> None:
    source = VOLUME.format(
        parameters="float *a, float b[p][n], float c[q][m][n]",
        body="float s = 0; for (int l = 0; l < p; l++) s += a[i*(p+q) + o + l] * b[l][j]; c[o][i][j] = s;",
    )
    arrays: Arrays = {"a": (("m*(p+q)",), "f4"), "b": (("p", "n"), "f4"), "c": (("q", "m", "n"), "f4")}
    (region,) = compilation_of(source).plan.functions[0].regions
    assert region.tilings[0].recipe == "product"
    refused = run_all(source, arrays, [{**run, **BLOCK} for run in OF_VOLUME[:4]], tmp_path)
    assert {number for number, _ in refused} <= refusable(source)


@pytest.mark.toolchain
@pytest.mark.parametrize("name", quick_of(CASES, {"a filter"}))
def test_nvcc_compiles_them_without_a_warning(name: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[name][0], tmp_path, nvcc) == ()


@pytest.mark.parametrize("group", [8, 32])
def test_groups_of_steps_with_a_scale_each_leave_room_for_blocks(group: int, tmp_path: Path) -> None:
    source = f"""void f(int m, int n, int k, const float a[m][k], const signed char b[n][k],
       const float scale[n][k/{group}], float c[m][n], int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        float s = 0;
        for (int g = 0; g < k/{group}; g++) {{
          float t = 0;
          for (int l = 0; l < {group}; l++)
            t += a[i][g*{group} + l] * b[j][g*{group} + l];
          s += t * scale[j][g];
        }}
        c[i][j] = s;
      }}
  }}
}}
"""
    (plan,) = compilation_of(source).plan.functions
    (found,) = (tiling for tiling in plan.regions[0].tilings if tiling.recipe == "window product")
    words = [found.kernel.shared_words.evaluate(found.sizes(instance)) for instance in found.instances]
    assert max(words) <= SHARED_WORDS
    arrays = {"a": (("m", "k"), "f4"), "b": (("n", "k"), "i1"), "scale": (("n", f"k//{group}"), "f4")}
    sizes = [
        {"m": m, "n": n, "k": k, "B0": 3, "B1": 4} for m, n, k in ((17, 13, 70), (5, 140, 32), (3, 2, 7))
    ]
    run_all(source, arrays | {"c": (("m", "n"), "f4")}, sizes, tmp_path)
