"""Serial loops that count down: products and rows whose pieces go downwards, in the order of the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.metafork.printer import print_expr
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import compilation_of, recipes_of, refusable, run_all

DOWN = "for (int k = p - 1; k >= 0; k--)"
PLANE = """void f(int m, int n, int p, {parameters}, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
LINE = """void f(int m, int p, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
PLANES = [
    {"m": m, "n": n, "p": p, "B0": 2, "B1": 4}
    for m, n, p in ((70, 36, 40), (9, 33, 19), (12, 8, 3), (4, 4, 0))
]
LINES = [{"m": m, "p": p, "B": 4} for m, p in ((300, 200), (37, 67), (4, 5), (3, 0))]
OF_PLANE = {"a": (("m", "p"), "f4"), "b": (("p", "n"), "f4"), "y": (("m", "n"), "f4")}
DECLARED = "const float a[m][p], const float b[p][n], float y[m][n]"
CASES = {
    "a product": (
        "product",
        PLANE.format(
            parameters=DECLARED,
            body=f"float s = 0; {DOWN} s += a[i][k] * b[k][j]; y[i][j] = s;",
        ),
        OF_PLANE,
    ),
    "rows behind pointers": (
        "product",
        PLANE.format(
            parameters="const float *a, const float *b, float *y",
            body=f"float s = 0; {DOWN} s += a[i*p + k] * b[k*n + j]; y[i*n + j] = s;",
        ),
        OF_PLANE,
    ),
    "one operand down and one up": (
        "product",
        PLANE.format(
            parameters="const float a[p][m], const float b[n][p], float y[m][n]",
            body="for (int k = 0; k < p; k++) y[i][j] += a[k][i] * b[j][p - 1 - k];",
        ),
        {"a": (("p", "m"), "f4"), "b": (("n", "p"), "f4"), "y": (("m", "n"), "f4")},
    ),
    "doubles": (
        "tensor-core product",
        PLANE.format(
            parameters=DECLARED.replace("float", "double"),
            body=f"{DOWN} y[i][j] += a[i][k] * b[k][j];",
        ),
        {name: (shape, "f8") for name, (shape, _) in OF_PLANE.items()},
    ),
    "rows": (
        "rows",
        LINE.format(
            parameters="const float a[m][p], const float u[p], float y[m]",
            body=f"float s = 0; {DOWN} s += a[i][k] * u[k]; y[i] = s;",
        ),
        {"a": (("m", "p"), "f4"), "u": (("p",), "f4"), "y": (("m",), "f4")},
    ),
    "columns": (
        "rows",
        LINE.format(
            parameters="const double a[p][m], const float u[p], double y[m]",
            body=f"double s = 0; {DOWN} s = s * u[k] + a[k][i]; y[i] = s;",
        ),
        {"a": (("p", "m"), "f8"), "u": (("p",), "f4"), "y": (("m",), "f8")},
    ),
    "bytes": (
        "rows",
        LINE.format(
            parameters="const signed char a[m][p], const signed char u[p + 3], int y[m]",
            body=f"int s = 0; {DOWN} s = 3 * s + a[i][k] * u[k + 3]; y[i] = s;",
        ),
        {"a": (("m", "p"), "i1"), "u": (("p + 3",), "i1"), "y": (("m",), "i4")},
    ),
}


@pytest.mark.parametrize("case", quick_of(CASES, {"a product", "rows"}))
def test_every_instance_computes_what_the_serial_program_does(case: str, tmp_path: Path) -> None:
    recipe, source, arrays = CASES[case]
    assert recipes_of(source)[recipe] is None
    refused = run_all(source, arrays, LINES if "n" not in str(arrays["y"]) else PLANES, tmp_path)
    assert {number for number, _ in refused} <= refusable(source)


def test_pieces_begin_at_multiples_of_vectors_where_their_ends_do() -> None:
    _, source, _ = CASES["bytes"]
    (function,) = compilation_of(source).plan.functions
    (region,) = function.regions
    (found,) = (plan for plan in region.tilings if plan.recipe == "rows")
    ends = {each.array: [print_expr(m) for m in each.multiples] for each in found.kernel.alignments}
    assert ends == {"a": ["p"], "u": ["p + 3"]}
