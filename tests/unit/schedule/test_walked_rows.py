"""Points that walk along rows of their own through shared memory: on the CPU against the serial C, to the bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.plan.plan import TilePlan
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
SIZES = [
    {"m": m, "n": n, "B": 3} for m, n in ((9, 130), (3, 0), (40, 33), (1, 700), (35, 17), (2, 1), (70, 400))
]
Arrays = dict[str, tuple[tuple[int | str, ...], str]]
SQUARE: Arrays = {"x": (("m", "n"), "f4"), "y": (("m", "n"), "f4")}
BOTH = "const float x[m][n], float y[m][n]"

CASES: dict[str, tuple[str, str, Arrays]] = {
    "a sum so far of bytes": (
        "const unsigned char x[m][n], unsigned y[m][n]",
        "unsigned run = 0; for (int t = 0; t < n; t++) { run += x[i][t]; y[i][t] = run; }",
        {"x": (("m", "n"), "u1"), "y": (("m", "n"), "u4")},
    ),
    "a filter in place, section by section": (
        "const float q[3][2], float z[m][3], float x[m][n]",
        """for (int s = 0; s < 3; s++) {
        float a = q[s][0], b = q[s][1], c = z[i][s];
        for (int t = 0; t < n; t++) { float in = x[i][t]; float out = a * in + c; c = b * in - a * out; x[i][t] = out; }
        z[i][s] = c;
      }""",
        {"q": ((3, 2), "f4"), "z": (("m", 3), "f4"), "x": (("m", "n"), "f4")},
    ),
    "sections of any number": (
        "int k, const float q[k], float z[m][k], float x[m][n]",
        """for (int s = 0; s < k; s++) {
        float c = z[i][s];
        for (int t = 0; t < n; t++) { c = 0.5f * c + q[s] * x[i][t]; if (c > 40) c -= 20; x[i][t] = c; }
        z[i][s] = c;
      }""",
        {"q": (("k",), "f4"), "z": (("m", "k"), "f4"), "x": (("m", "n"), "f4")},
    ),
    "elements behind the one of a step": (
        BOTH,
        """for (int t = 3; t < n; t++)
        y[i][t] = x[i][t] + 0.5f * x[i][t - 2] - 0.25f * y[i][t - 1] + 0.125f * y[i][t - 3];""",
        SQUARE,
    ),
    "neighbours on both sides, in place": (
        "float x[m][n]",
        "for (int t = 1; t < n - 1; t++) x[i][t] = 0.25f * (x[i][t - 1] + 2 * x[i][t] + x[i][t + 1]);",
        {"x": (("m", "n"), "f4")},
    ),
    "four elements a step": (
        "const short x[m][4 * n + 3], int y[m][n]",
        """int s = 0;
      for (int t = 0; t < n; t++) { for (int u = 0; u < 4; u++) s = 3 * s + x[i][4 * t + u]; y[i][t] = s; }""",
        {"x": (("m", "4 * n + 3"), "i2"), "y": (("m", "n"), "i4")},
    ),
    "one of three elements, and stores of two a step": (
        "const double x[m][3 * n], float y[m][2 * n]",
        """double s = 0;
      for (int t = 0; t < n; t++) { s = 0.5 * s + x[i][3 * t]; y[i][2 * t] = s; y[i][2 * t + 1] = -s; }""",
        {"x": (("m", "3 * n"), "f8"), "y": (("m", "2 * n"), "f4")},
    ),
    "from the end to the begin": (
        BOTH,
        "float s = 1; for (int t = n - 1; t >= 0; t--) { s = 0.5f * s + x[i][t]; y[i][t] = s; }",
        SQUARE,
    ),
    "from the end, with elements behind": (
        "const unsigned char x[m][2 * n + 5], float y[m][n]",
        """for (int t = n - 3; t >= 0; t--)
        y[i][t] = 0.5f * y[i][t + 1] - 0.25f * y[i][t + 2] + x[i][2 * t + 1] - x[i][2 * t + 5];""",
        {"x": (("m", "2 * n + 5"), "u1"), "y": (("m", "n"), "f4")},
    ),
    "passed over": (
        "const float x[m][n], float y[m][4]",
        """float best[4]; for (int k = 0; k < 4; k++) best[k] = -1000;
      for (int t = 0; t < n; t++) {
        float v = x[i][t];
        if (v <= best[3]) continue;
        int p = 3;
        while (p > 0 && best[p - 1] < v) { best[p] = best[p - 1]; p--; }
        best[p] = v;
      }
      for (int k = 0; k < 4; k++) y[i][k] = best[k];""",
        {"x": (("m", "n"), "f4"), "y": (("m", 4), "f4")},
    ),
    "stores under a condition, of elements that are read": (
        "int x[m][n]",
        "int s = 0; for (int t = 0; t < n; t++) { s = s * 5 + x[i][t]; if (s % 3 == 0) x[i][t] = s; }",
        {"x": (("m", "n"), "i4")},
    ),
    "an element that is read before and behind its store": (
        "float x[m][n], float y[m]",
        """float s = 0; for (int t = 0; t < n; t++) { x[i][t] = 0.5f * x[i][t] + s; s = 0.25f * s + x[i][t]; }
      y[i] = s;""",
        {"x": (("m", "n"), "f4"), "y": (("m",), "f4")},
    ),
    "rows of a few elements": (
        "float x[m][24]",
        """float v[24]; for (int t = 0; t < 24; t++) v[t] = x[i][t];
      for (int k = 0; k < 24; k++) for (int t = 0; t < 23; t++)
        if (v[t + 1] < v[t]) { float w = v[t]; v[t] = v[t + 1]; v[t + 1] = w; }
      for (int t = 0; t < 24; t++) x[i][t] = v[t];""",
        {"x": (("m", 24), "f4")},
    ),
    "a walk over what another one has stored": (
        "const int x[m][n], int y[m][n], int z[m]",
        """int s = 0; for (int t = 0; t < n; t++) { s = s * 3 + x[i][t]; y[i][t] = s; }
      int r = 1; for (int t = n - 1; t >= 0; t--) { r = r * 7 ^ y[i][t]; y[i][t] += r; }
      z[i] = r;""",
        {"x": (("m", "n"), "i4"), "y": (("m", "n"), "i4"), "z": (("m",), "i4")},
    ),
    "rows up to the point": (
        "const int x[m][m], int y[m][m]",
        "int s = 0; for (int t = 0; t <= i; t++) { s = s * 3 + x[i][t]; y[i][t] = s; }",
        {"x": (("m", "m"), "i4"), "y": (("m", "m"), "i4")},
    ),
}


QUICK = ("a sum so far of bytes", "from the end, with elements behind", "passed over", "four elements a step")


def source_of(case: str) -> str:
    parameters, body, _ = CASES[case]
    return ROWS.format(parameters=parameters, body=body)


@pytest.mark.parametrize("case", quick_of(CASES, QUICK))
def test_walks_compute_what_the_serial_c_does(case: str, tmp_path: Path) -> None:
    assert recipes_of(source_of(case))["walked rows"] is None
    sizes = [{**s, "k": 2} for s in SIZES] if "int k" in source_of(case) else SIZES
    refused = run_all(source_of(case), CASES[case][2], sizes, tmp_path, backwards=(False, True))
    assert not {number for number, _ in refused} & {*numbers_of(source_of(case), "walked rows")}


@pytest.mark.toolchain
@pytest.mark.parametrize("case", quick_of(CASES, ("from the end, with elements behind", "passed over")))
def test_nvcc_compiles_them_without_a_warning(case: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(source_of(case), tmp_path, nvcc) == ()


def test_a_step_may_have_a_loop_that_data_ends() -> None:
    (tiling,) = tilings_of(
        ROWS.format(
            parameters="const unsigned char x[m][n], unsigned y[m]",
            body="""unsigned c = 1;
      for (int t = 0; t < n; t++) { c ^= x[i][t]; int b = 8; do { c = c & 1 ? c / 2 ^ 99 : c / 2; } while (--b); }
      y[i] = c;""",
        )
    )
    assert [name for name, _ in tiling.kernel.limits] == ["i_limit", "t_limit"]


def test_bytes_that_are_copied_one_by_one_are_waited_for() -> None:
    (tiling,) = tilings_of(source_of("a sum so far of bytes"))
    (instance,) = (i for i in tiling.instances if i.sizes[tiling.kernel.constants.index("D")] == 128)
    words, bytes_ = (tiling.work(instance, together) for together in (4, 1))
    assert words.step.waits < bytes_.step.waits


def test_others_have_rows_that_threads_share_and_rows_that_may_not_be_there() -> None:
    for parameters, body in (
        (
            "const float x[m][n], float y[m]",
            "float s = 0; for (int t = 0; t < n; t++) s += x[i][t]; y[i] = s;",
        ),
        (
            "const int x[n][m], int y[m]",
            "int s = 1; for (int t = 0; t < n; t++) s = s * 3 ^ x[t][i]; y[i] = s;",
        ),
        (
            "const char *x, int y[m]",
            "int s = 1; for (int t = 0; t < n; t++) { if (!x[i * n + t]) break; s = s * 3 ^ x[i * n + t]; } y[i] = s;",
        ),
    ):
        assert "walked rows" not in recipes_of(ROWS.format(parameters=parameters, body=body))


def test_a_loop_that_points_leave_is_left_to_the_kernel_as_written() -> None:
    body = "int s = 1; for (int t = 0; t < n; t++) { if (!x[i][t]) break; s = s * 3 ^ x[i][t]; } y[i] = s;"
    found = recipes_of(ROWS.format(parameters="const char x[m][n], int y[m]", body=body))["walked rows"]
    assert found == "the loop over 't' may end early, and strips are copied beyond that"


def tilings_of(source: str) -> list[TilePlan]:
    (plan,) = compilation_of(source).plan.functions
    (region,) = plan.regions
    return [tiling for tiling in region.tilings if tiling.recipe == "walked rows"]
