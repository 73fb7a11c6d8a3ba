"""Serial loops that are longer at some points: the longest is done by all points of a block, each does its part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.tile_runs import recipes_of, run_all, sources_of

LINE = """void f(int m, int n, {parameters}, int B)
{{
  {assumed}
  meta_schedule block(B) {{
    meta_for (int i = 0; i < {points}; i++) {{
      {body}
    }}
  }}
}}
"""
PLANE = """void f(int m, int n, {parameters}, int B)
{{
  meta_schedule block(B, B) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{
        {body}
      }}
  }}
}}
"""
MATRIX = "const float a[n][n], const float x[n], float y[n]"
Arrays = dict[str, tuple[tuple[int | str, ...], str]]
OF_MATRIX: Arrays = {"a": (("n", "n"), "f4"), "x": (("n",), "f4"), "y": (("n",), "f4")}
OF_PRODUCT: Arrays = {"a": (("m", "m"), "f4"), "b": (("m", "n"), "f4"), "c": (("m", "n"), "f4")}


def line(body: str, parameters: str = MATRIX, points: str = "n", assumed: str = "") -> str:
    return LINE.format(parameters=parameters, body=body, points=points, assumed=assumed)


def plane(body: str, parameters: str = "const float a[m][m], const float b[m][n], float c[m][n]") -> str:
    return PLANE.format(parameters=parameters, body=body)


SUM = "float s = 0; for ({header}) s += a[i][j] * x[j]; y[i] = s;"
CASES: dict[str, tuple[str, Arrays]] = {
    "below the diagonal": (line(SUM.format(header="int j = 0; j <= i; j++")), OF_MATRIX),
    "above the diagonal": (line(SUM.format(header="int j = i; j < n; j++")), OF_MATRIX),
    "above the diagonal, without it": (line(SUM.format(header="int j = i + 1; j < n; j++")), OF_MATRIX),
    "left of the other diagonal": (line(SUM.format(header="int j = 0; j < n - i; j++")), OF_MATRIX),
    "below a steeper line": (
        line(SUM.format(header="int j = 0; j < 2 * i + 1; j++"), points="(n + 1) / 2"),
        OF_MATRIX,
    ),
    "columns that begin farther left from row to row": (
        line(
            "float s = 0; for (int j = 0; j <= i; j++) s += a[i][n - 1 - i + j] * x[n - 1 - i + j]; y[i] = s;"
        ),
        OF_MATRIX,
    ),
    "behind a pointer": (
        line(
            "float s = 0; for (int j = 0; j <= i; j++) s += a[i * n + j] * x[j]; y[i] = s;",
            "const float *a, const float *x, float *y",
        ),
        OF_MATRIX,
    ),
    "behind a pointer, above the diagonal": (
        line(
            "float s = 0; for (int j = i; j < n; j++) s += a[i * n + j] * x[j]; y[i] = s;",
            "const float *a, const float *x, float *y",
        ),
        OF_MATRIX,
    ),
    "behind a pointer, columns below the diagonal": (
        line(
            "float s = 0; for (int j = i; j < n; j++) s += a[j * n + i] * x[j]; y[i] = s;",
            "const float *a, const float *x, float *y",
        ),
        OF_MATRIX,
    ),
    "behind a pointer, on both sides of the diagonal": (
        line(
            "float s = 0; for (int j = 0; j < n; j++) { if (j <= i) s += a[i * n + j] * x[j]; "
            "else s += a[j * n + i] * x[j]; } y[i] = s;",
            "const float *a, const float *x, float *y",
        ),
        OF_MATRIX,
    ),
    "added up in memory, where there is a step": (
        line("for (int j = 0; j < i; j++) y[i] += a[i][j] * x[j];"),
        OF_MATRIX,
    ),
    "doubles, and a value of each step": (
        line(
            "double s = 0; for (int j = 0; j <= i; j++) { double d = a[i][j] - x[j]; s += d * d; } y[i] = s;",
            "const double a[n][n], const double x[n], double y[n]",
        ),
        {"a": (("n", "n"), "f8"), "x": (("n",), "f8"), "y": (("n",), "f8")},
    ),
    "a product with a lower triangle": (
        plane("float s = 0; for (int k = 0; k <= i; k++) s += a[i][k] * b[k][j]; c[i][j] = s;"),
        OF_PRODUCT,
    ),
    "a product with a transposed upper triangle, in memory": (
        plane("for (int k = i + 1; k < m; k++) c[i][j] += a[k][i] * b[k][j];"),
        OF_PRODUCT,
    ),
    "a product of two triangles, as far as one of them goes": (
        plane("float s = 0; if (j <= i) for (int k = j; k < m; k++) s += a[i][k] * b[k][j]; c[i][j] = s;"),
        OF_PRODUCT,
    ),
}
RUNS = [{"m": m, "n": n, "B": 4} for m, n in ((70, 130), (1, 1), (33, 0), (3, 300), (150, 67))]


QUICK = {"below a steeper line", "a product with a lower triangle"}


@pytest.mark.parametrize("name", quick_of(CASES, QUICK))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    assert run_all(source, arrays, RUNS, tmp_path) == set()


@pytest.mark.parametrize(
    ("header", "parameters", "fits"),
    [
        ("int j = 0; j <= i; j++", "const float *a, const float *x, float *y", True),
        ("int j = i; j < n; j++", "const float *a, const float *x, float *y", True),
        # The last row behind the pointer may end where the program does not read any more.
        ("int j = 0; j < n - i; j++", "const float *a, const float *x, float *y", False),
        ("int j = 0; j < n - i; j++", "const float a[n][n], const float x[n], float y[n]", True),
    ],
)
def test_operands_are_read_where_they_are_surely_there(header: str, parameters: str, fits: bool) -> None:
    reference = "a[i * n + j]" if "*a" in parameters else "a[i][j]"
    body = f"float s = 0; for ({header}) s += {reference} * x[j]; y[i] = s;"
    recipes = recipes_of(line(body, parameters))
    assert (recipes["rows"] is None) is fits
    assert fits or "may not be there" in str(recipes["rows"])


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("j <= i ? a[i*n + j] * x[j] : a[j*n + i]", True),
        ("i <= j ? a[i*n + j] * x[j] : 0", True),
        # The last element of the last row is not read.
        ("j < i ? a[i*n + j] * x[j] : 0", False),
        ("j < i ? a[i*n + j] * x[j] : a[j*n]", False),
        ("a[j] < 0 ? a[i*n + j] : x[j]", False),
    ],
)
def test_operands_under_a_condition_are_there_up_to_the_last_one_that_is_read(value: str, fits: bool) -> None:
    body = f"float s = 0; for (int j = 0; j < n; j++) s += {value}; y[i] = s;"
    recipes = recipes_of(line(body, "const float *a, const float *x, float *y"))
    assert (recipes["rows"] is None) is fits


def test_a_loop_whose_length_is_data_is_not_equalized() -> None:
    parameters = "const float a[n][n], const float x[n], const int e[n], float y[n]"
    recipes = recipes_of(line(SUM.format(header="int j = 0; j < e[i]; j++"), parameters))
    assert "is not the same for all points" in str(recipes["rows"])


@pytest.mark.parametrize(
    ("header", "limits"),
    [
        ("int j = 0; j <= i; j++", ("n", "cf_div(cf_add(n, 1), 2)")),
        ("int j = i; j < n; j++", ("n", "cf_div(cf_add(n, 1), 2)")),
        ("int j = i + 1; j < n; j++", ("n", "cf_sub(n, 1)", "cf_div(cf_sub(n, 1), 2)")),
    ],
)
def test_a_launch_costs_the_mean_of_steps_and_those_that_the_longest_block_does_beyond(
    header: str, limits: tuple[str, ...]
) -> None:
    text = sources_of(line(SUM.format(header=header)))["f.h"]
    for number, limit in enumerate(limits):
        assert f"const long long cf_limit{number} = {limit};" in text
    most, mean = (f"cf_number_of(cf_limit{number})" for number in (len(limits) - 2, len(limits) - 1))
    assert f"cf_launch.more = cf_minus({most} / 128, {mean} / 128);" in text
    assert f"cf_times(4, cf_times(cf_number_of(cf_limit0), {mean}))" in text


def test_where_all_points_do_the_same_steps_no_block_is_longer() -> None:
    assert "cf_launch.more" not in sources_of(line(SUM.format(header="int j = 0; j < n; j++")))["f.h"]


def test_blocks_go_no_farther_than_their_points_and_whole_pieces_have_no_condition() -> None:
    text = sources_of(line(SUM.format(header="int j = 0; j <= i; j++")))["f.cu"]
    assert "const int count = cf_block_steps(j_limit, " in text
    assert "if (step < common / D) {" in text
    upper = sources_of(line(SUM.format(header="int j = i; j < n; j++")))["f.cu"]
    assert "/ D * D;" in upper
