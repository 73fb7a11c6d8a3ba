"""Loops of a point that all threads of a block share, in pieces: on the CPU against the serial C, to the bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.metafork.ast import Declare, IntLiteral
from comprehensive.metafork.walk import all_statements_in
from comprehensive.toolchain.nvcc import Tool
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import compilation_of, numbers_of, recipes_of, run_all, warnings_of

ROWS = """void f(int m, int n, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
PLANES = """void f(int b, int c, int h, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int k = 0; k < c; k++) {{
      {body}
    }}
  }}
}}
"""
OF_ROWS = [{"m": m, "n": n, "B": 3} for m, n in ((9, 130), (3, 0), (2, 1100), (1, 9000), (17, 33), (2, 1))]
OF_PLANES = [
    {"b": b, "c": c, "h": h, "B": 3}
    for b, c, h in ((3, 9, 43), (2, 3, 700), (0, 2, 5), (5, 1, 1), (70, 2, 131))
]
Arrays = dict[str, tuple[tuple[int | str, ...], str]]
PLANE: Arrays = {"x": (("b", "c", "h"), "f4"), "y": (("b", "c", "h"), "f4")}
SQUARE: Arrays = {"a": (("m", "n"), "f4"), "y": (("m", "n"), "f4")}

PULL = """float fx = 0, fy = 0; double s = 0;
      for (int j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = a[i][j] - x[i];
        float r = 1 / sqrtf(dx * dx + dy * dy + 1);
        fx += r * dx;
        fy += r * dy;
        s += r * x[j];
      }
      y[i][0] = fx; y[i][1] = fy; y[i][2] = s;"""
"""A sum whose steps are slow, of which the thread that keeps the order reads four values."""

CASES: dict[str, tuple[str, Arrays]] = {
    "slow steps, of which one thread reads several values": (
        ROWS.format(parameters="const float a[m][n], const float x[m + n], float y[m][3]", body=PULL),
        {"a": (("m", "n"), "f4"), "x": (("m + n",), "f4"), "y": (("m", 3), "f4")},
    ),
    "batch norm": (
        PLANES.format(
            parameters="const float x[b][c][h], float y[b][c][h], const float g[c]",
            body="""float s = 0, q = 0;
      for (int i = 0; i < b; i++)
        for (int p = 0; p < h; p++) { s += x[i][k][p]; q += x[i][k][p] * x[i][k][p]; }
      float m = s / (b * h + 1), r = 1 / sqrtf(q / (b * h + 1) + 1);
      for (int i = 0; i < b; i++)
        for (int p = 0; p < h; p++) y[i][k][p] = (x[i][k][p] - m) * r * g[k];""",
        ),
        {**PLANE, "g": (("c",), "f4")},
    ),
    "one sum over loops in each other, and a declaration between them": (
        PLANES.format(
            parameters="const float x[b][c][h], const float g[b], double y[c]",
            body="""double s = 1;
      for (int i = 0; i < b; i++) { float w = g[i]; for (int p = 0; p < h; p++) s += w * x[i][k][p]; }
      y[k] = s;""",
        ),
        {"x": (("b", "c", "h"), "f4"), "g": (("b",), "f4"), "y": (("c",), "f8")},
    ),
    "three loops in each other, where the greatest is, and columns": (
        PLANES.format(
            parameters="const float x[b][h][4][c], int y[c], float z[b][h][4][c]",
            body="""float most = -1000; int best = -1;
      for (int i = 0; i < b; i++) for (int p = 0; p < h; p++) for (int q = 0; q < 4; q++)
        if (x[i][p][q][k] > most) { most = x[i][p][q][k]; best = i * h + p + q; }
      y[k] = best;
      for (int i = 0; i < b; i++) for (int p = 0; p < h; p++) for (int q = 0; q < 4; q++)
        z[i][p][q][k] = x[i][p][q][k] - most;""",
        ),
        {"x": (("b", "h", 4, "c"), "f4"), "y": (("c",), "i4"), "z": (("b", "h", 4, "c"), "f4")},
    ),
    "softmax": (
        ROWS.format(
            parameters="const float a[m][n], float y[m][n]",
            body="float most = -10000; for (int j = 0; j < n; j++) most = a[i][j] > most ? a[i][j] : most; "
            "float sum = 0; for (int j = 0; j < n; j++) { y[i][j] = 1 / (1 + most - a[i][j]); sum += y[i][j]; } "
            "for (int j = 0; j < n; j++) y[i][j] = y[i][j] / sum;",
        ),
        SQUARE,
    ),
    "sums so far, in place, and down the columns": (
        ROWS.format(
            parameters="float a[m][n], float y[n][m], float t[m]",
            body="float s = 0; for (int j = 0; j < n; j++) { s += a[i][j]; a[i][j] = s; y[j][i] = s * t[i]; } "
            "t[i] += s; float q = t[i]; for (int j = 0; j < n; j++) y[j][i] = y[j][i] - q;",
        ),
        {"a": (("m", "n"), "f4"), "y": (("n", "m"), "f4"), "t": (("m",), "f4")},
    ),
    "attention, decoding": (
        """void f(int m, int n, int d, const float q[m][d], const float k[n][m][d], const float v[n][m][d],
       float s[m][n], float o[m][d], int B)
{
  meta_schedule block(B) {
    meta_for (int h = 0; h < m; h++) {
      float most = -100000;
      for (int t = 0; t < n; t++) {
        float a = 0;
        for (int e = 0; e < d; e++) a += q[h][e] * k[t][h][e];
        s[h][t] = a;
        most = fmaxf(most, a);
      }
      float z = 1;
      for (int t = 0; t < n; t++) { s[h][t] = 1 / (1 + most - s[h][t]); z += s[h][t]; }
      for (int e = 0; e < d; e++) {
        float a = 0;
        for (int t = 0; t < n; t++) a += s[h][t] * v[t][h][e];
        o[h][e] = a / z;
      }
    }
  }
}
""",
        {
            "q": (("m", "d"), "f4"),
            "k": (("n", "m", "d"), "f4"),
            "v": (("n", "m", "d"), "f4"),
            "s": (("m", "n"), "f4"),
            "o": (("m", "d"), "f4"),
        },
    ),
    "a sum of sums, conditional stores, and what is read after another loop": (
        ROWS.format(
            parameters="const float a[m][n], float y[m][n], double z[m], int w[m]",
            body="double s = 0; int k = 0; for (int j = 0; j < n; j++) { float d = a[i][j]; "
            "for (int l = 0; l < 3; l++) d = d * a[i][j] + l; s += d; if (d > 2) y[i][j] = d; k += d > 2; } "
            "w[i] = k; double q = 0; for (int j = 0; j < n; j++) q += y[i][n - 1 - j]; z[i] += q + s;",
        ),
        {**SQUARE, "z": (("m",), "f8"), "w": (("m",), "i4")},
    ),
}

CASES["fewer rows and columns than a border has"] = (
    PLANES.format(
        parameters="const float x[b + 4][c][h + 4], float y[c], float z[b + 4][c][h + 4]",
        body="""float s = 0;
      for (int i = 0; i < b - 2; i++) for (int p = 0; p < h - 2; p++) s += x[i][k][p];
      for (int i = 0; i < b - 2; i++) for (int p = 0; p < h - 2; p++) z[i][k][p] = x[i][k][p] * 2;
      y[k] = s;""",
    ),
    {"x": (("b + 4", "c", "h + 4"), "f4"), "y": (("c",), "f4"), "z": (("b + 4", "c", "h + 4"), "f4")},
)
CASES["values in order, each stored in a plane"] = (
    PLANES.format(
        parameters="const float x[b][c][h], float y[b][c][h], float z[c]",
        body="""float s = 0, q = 0;
      for (int i = 0; i < b; i++)
        for (int p = 0; p < h; p++) { q += x[i][k][p]; s = s * 0.5f + x[i][k][p]; y[i][k][p] = s; }
      z[k] = s + q;""",
    ),
    {**PLANE, "z": (("c",), "f4")},
)
CASES["a declaration between loops that reads what is changed"] = (
    PLANES.format(
        parameters="float x[b][c][h], float y[c]",
        body="""float s = 0;
      for (int i = 0; i < b; i++) for (int p = 0; p < h; p++) s += x[i][k][p];
      y[k] = s;
      for (int i = 0; i < b; i++) {
        float t = x[i][k][h / 2];
        for (int p = 0; p < h; p++) x[i][k][p] = x[i][k][p] - t;
      }""",
    ),
    {"x": (("b", "c", "h"), "f4"), "y": (("c",), "f4")},
)
CASES["counts of values of a row, as they are looked up, and how many are less"] = (
    ROWS.format(
        parameters="const unsigned char x[m][n], int h[m][256], unsigned char y[m][n]",
        body="for (int k = 0; k < 256; k++) h[i][k] = 0; "
        "for (int j = 0; j < n; j++) h[i][x[i][j]]++; "
        "int sum = 0; for (int k = 0; k < 256; k++) { sum += h[i][k]; h[i][k] = sum; } "
        "for (int j = 0; j < n; j++) y[i][j] = h[i][x[i][j]] * 255 / n;",
    ),
    {"x": (("m", "n"), "u1"), "h": (("m", 256), "i4"), "y": (("m", "n"), "u1")},
)
CASES["sums by key under a condition, and bits"] = (
    ROWS.format(
        parameters="const int x[m][n], const int k[m][n], long s[m][8], unsigned w[m][4]",
        body="for (int j = 0; j < n; j++) if (x[i][j] > 0) { s[i][k[i][j] & 7] -= x[i][j]; w[i][j % 4] ^= x[i][j]; } "
        "for (int j = 0; j < n; j++) w[i][j & 3] |= k[i][j];",
    ),
    {"x": (("m", "n"), "i4"), "k": (("m", "n"), "i4"), "s": (("m", 8), "i8"), "w": (("m", 4), "u4")},
)
CASES["rows that are left out, as data says, beside others"] = (
    ROWS.format(
        parameters="const float x[m][n], const int k[m], int count, float y[m][n], float z[m], int w[m]",
        body="""if (k[i] == count) { z[i] = -1; for (int j = 0; j < n; j++) y[i][j] = 0; continue; }
      float most = -10; for (int j = 0; j < n; j++) if (x[i][j] > most) most = x[i][j];
      float sum = 0; for (int j = 0; j < n; j++) sum += 1 / (1 + most - x[i][j]);
      z[i] = sum + (k[i] >= 0 && k[i] < n ? x[i][k[i]] : 0);
      if (sum > 1) if (k[i] > 2) w[i] = 1; else { w[i] = 2; z[i] += 1; }
      for (int j = 0; j < n; j++) { float p = (x[i][j] - most) / sum; y[i][j] = p - (j == k[i]); }""",
    ),
    {
        **{k: v for k, v in SQUARE.items() if k == "y"},
        "x": (("m", "n"), "f4"),
        "k": (("m",), "i4"),
        "z": (("m",), "f4"),
        "w": (("m",), "i4"),
    },
)
NOT_ONE = {"a declaration between loops that reads what is changed"}
"""Cases of which not all loops become one, so that they have no long rows."""


SPLIT: dict[str, tuple[str, Arrays]] = {
    "sums for which a row stays": (
        ROWS.format(
            parameters="const float a[m][n], float y[m][n]",
            body="float s = 2, p = 1; for (int j = 0; j < n; j++) s -= a[i][j]; "
            "for (int j = 0; j < n; j++) { y[i][j] = a[i][j] * s; p += a[i][j] > 2; } "
            "for (int j = 0; j < n; j++) y[i][j] = y[i][j] - p;",
        ),
        SQUARE,
    ),
}


def _runs(name: str) -> list[dict[str, int]]:
    source, _ = (CASES | SPLIT)[name]
    if "int h, " in source:
        return OF_PLANES
    if "int count, " in source:
        return [run | {"count": k} for k, run in enumerate(OF_ROWS)]
    return [run | {"d": 5 + run["m"]} for run in OF_ROWS] if "int d, " in source else OF_ROWS


@pytest.mark.parametrize(
    "name",
    quick_of(
        CASES,
        {
            "batch norm",
            "softmax",
            "sums so far, in place, and down the columns",
            "fewer rows and columns than a border has",
            "values in order, each stored in a plane",
            "a declaration between loops that reads what is changed",
            "counts of values of a row, as they are looked up, and how many are less",
            "rows that are left out, as data says, beside others",
        },
    ),
)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    assert (recipes_of(source)["long rows"] is None) == (name not in NOT_ONE)
    run_all(source, arrays, _runs(name), tmp_path, backwards=(False, True))


@pytest.mark.parametrize("name", ["batch norm", "softmax"])
def test_no_instance_is_refused(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    refused = run_all(source, arrays, _runs(name), tmp_path)
    assert not {number for number, _ in refused} & set(numbers_of(source, "long rows"))


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        ("batch norm", "split long rows"),
        ("one sum over loops in each other, and a declaration between them", "split long rows"),
        ("sums for which a row stays", "split resident rows"),
    ],
)
def test_sums_in_another_order_are_those_of_all_lanes(name: str, recipe: str, tmp_path: Path) -> None:
    source, arrays = (CASES | SPLIT)[name]
    assert numbers_of(source, recipe, reassociate=True)
    assert not numbers_of(source, recipe)
    assert "long rows" not in _recipes(source)
    refused = run_all(source, arrays, _runs(name), tmp_path, reassociate=True)
    assert {number for number, _ in refused} <= set(
        numbers_of(source, "split resident rows", reassociate=True)
    )


def _recipes(source: str) -> set[str]:
    (plan,) = compilation_of(source, reassociate=True).plan.functions
    return {tiling.recipe for tiling in plan.regions[0].tilings}


def test_where_no_sum_rounds_another_order_is_that_of_the_source() -> None:
    body = "int s = 0; for (int j = 0; j < n; j++) s += at[j]; for (int j = 0; j < n; j++) a[i][j] = s;"
    assert "long rows" in _recipes(ROWS.format(parameters=SOME, body=body))


SOME = "float a[m][n], const float x[m][n], const int at[n], float y[m], int k[m], int h[m][n]"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "for (int j = 0; j < n; j++) y[i] = x[i][j]; for (int j = 0; j < n; j++) a[i][j] = j;",
            "uses it other than along a row",
        ),
        (
            "float s = 0; for (int j = 0; j < k[i]; j++) s += x[i][j]; for (int j = 0; j < n; j++) a[i][j] = s;",
            "'j' is not the same for all points",
        ),
        (
            "for (int j = 0; j < n; j++) { h[i][at[j]] += j; a[i][j] = h[i][at[j]]; }",
            "uses it other than along a row",
        ),
        ("for (int j = 0; j < n; j++) { h[i][at[j]] += j; h[i][j] ^= 3; }", "uses it other than along a row"),
        ("for (int j = 0; j < n; j++) a[i][at[j]] += x[i][j];", "uses it other than along a row"),
        (
            "float w[40]; for (int j = 0; j < 40; j++) w[j] = j + i; "
            "for (int j = 0; j < n; j++) y[i] += x[i][j] * w[3];",
            "is an array of the point",
        ),
        (
            "float s = 0; for (int j = 0; j < n; j++) { s = s * 0.5f + x[i][j]; if (s > 3) a[i][j] = s; }",
            "has to be done in order, and is no assignment",
        ),
        ("float s = 1; for (int j = 0; j < n; j++) s = s * s + 1; y[i] = s;", "has to be done in order"),
    ],
)
def test_what_does_not_fit_says_why(body: str, reason: str) -> None:
    assert reason in str(recipes_of(ROWS.format(parameters=SOME, body=body))["long rows"])


@pytest.mark.parametrize(("x", "fits"), [("const float x[m][n]", True), ("const float *x", False)])
def test_what_decides_early_reads_no_element_behind_it_that_may_not_be_there(x: str, fits: bool) -> None:
    """All lanes read where the extents are declared; else only one of them knows when to stop."""
    element = "x[i][j]" if fits else "x[i * n + j]"
    body = f"int d = 0; for (int j = 0; j < n; j++) d = d || {element} > 1; "
    body += f"int e = 1; for (int j = 0; j < n; j++) e = e && {element} > d; k[i] = e;"
    reason = recipes_of(ROWS.format(parameters=f"{x}, int k[m]", body=body))["long rows"]
    assert (reason is None) == fits
    assert fits or "has to be done in order" in str(reason)


@pytest.mark.parametrize(
    ("value", "fits"), [("x[i][j]", False), ("x[i][j] * at[j]", False), ("1 / (x[i][j] + 3)", True)]
)
def test_a_loop_whose_operands_go_through_shared_memory_is_another_recipes_unless_its_steps_are_slow(
    value: str, fits: bool
) -> None:
    body = f"float s = 0; for (int j = 0; j < n; j++) s += {value}; y[i] = s;"
    assert ("long rows" in recipes_of(ROWS.format(parameters=SOME, body=body))) == fits


def test_a_thread_that_reads_several_values_of_a_step_has_fewer_steps_in_registers() -> None:
    """The thread takes as many words of registers and of shared memory as where it reads two values."""
    source, _ = CASES["slow steps, of which one thread reads several values"]
    (plan,) = compilation_of(source).plan.functions
    (tiling,) = (t for t in plan.regions[0].tilings if t.recipe == "long rows")
    ahead = {
        s.name: s.dims for s in all_statements_in(tiling.kernel.body) if isinstance(s, Declare) and s.dims
    }
    assert len(ahead) == 4
    assert set(ahead.values()) == {(IntLiteral(8),)}
    lengths = {(sizes["D"], sizes["S"]) for sizes in map(tiling.sizes, tiling.instances)}
    assert lengths == {(1024, 4096), (256, 2048), (128, 1024), (32, 256)}


@pytest.mark.toolchain
@pytest.mark.parametrize("name", quick_of(CASES, {"batch norm", "softmax"}))
def test_nvcc_compiles_them_without_a_warning(name: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[name][0], tmp_path, nvcc) == ()
