"""Coordinates collapsed to one: what they become, and every point on the CPU against the serial C."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.loops.ir import Points, Variant
from comprehensive.loops.normalize import normalize
from comprehensive.metafork.printer import print_expr, print_stmts
from comprehensive.optimize.protocols import Applied
from comprehensive.schedule.alternatives import one_tile
from comprehensive.schedule.collapse_coordinates import with_lines_joined
from comprehensive.strategies.tilings import tilings
from comprehensive.strategies.to_points import points_of
from tests.laws.nests import nests_of
from tests.unit.schedule.test_window_product import Arrays
from tests.unit.schedule.tile_runs import numbers_of, recipes_of, run_all

RECIPE = "collapsed points"
PROGRAM = """void f(int h, int w, int c, {parameters}, int B0, int B1, int B2)
{{
  meta_schedule block(B0, B1, B2) {{
    meta_for (int i = 0; i < h; i++)
      meta_for (int j = 0; j < w; j++)
        meta_for (int k = 0; k < c; k++)
          {body}
  }}
}}
"""
IMAGES = "const float a[h + 2][w + 2][c], const float s[c], const int t[h][w], float b[h][w][c]"
POINTERS = "const float *a, const float *s, const int *t, float *b"
ARRAYS: Arrays = {
    "a": (("(h + 2)*(w + 2)*c",), "f4"),
    "s": (("c",), "f4"),
    "t": (("h*w",), "i4"),
    "b": (("h*w*c",), "f4"),
}
RUNS = [
    {"h": h, "w": w, "c": c, "B0": 1, "B1": 2, "B2": 2}
    for h, w, c in ((1, 1, 1), (5, 7, 3), (3, 2, 257), (2, 300, 4), (0, 3, 3), (3, 0, 3), (70, 1, 5))
]


def _program(body: str, parameters: str = IMAGES) -> str:
    return PROGRAM.format(parameters=parameters, body=body)


def _collapsed(source: str) -> Variant:
    (nest,) = nests_of(source)
    (found,) = (tiling.result for tiling in tilings(normalize(nest)) if tiling.recipe == RECIPE)
    assert isinstance(found, Applied)
    return found.fragment


@pytest.mark.parametrize(
    ("body", "parameters", "left", "limits"),
    [
        ("b[i][j][k] = s[k];", IMAGES, "b[i_j_k] = s[i_j_k % c];", ["h * w * c"]),
        ("b[i][j][k] = t[i][j];", IMAGES, "b[i_j_k] = t[i_j_k / c / w][i_j_k / c % w];", ["h * w * c"]),
        ("b[i][j][k] = a[i][j + 1][k];", IMAGES, "b[i][j_k] = a[i][j_k + c];", ["h", "w * c"]),
        ("b[(i*w + j)*c + k] = s[k];", POINTERS, "b[i_j_k] = s[i_j_k % c];", ["h * w * c"]),
        ("b[i*(w*c) + (w - 1 - j)*c + k] = s[k];", POINTERS, None, []),
        ("b[(i*w + j)*c + k] = a[(j*h + i)*c + k];", POINTERS, None, []),
        ("b[i][j][k] = a[(i + 1) % h][(j + 1) % w][k];", IMAGES, None, []),
        ("for (int p = 0; p < h; p++) b[i][j][k] += s[p];", IMAGES, None, []),
        ("{ float v = 0; for (int p = 0; p < 3; p++) v += a[i][j + p][k]; b[i][j][k] = v; }", IMAGES,
         "float v = 0; for (int p = 0; p < 3; p++) v += a[i][j_k + c*p]; b[i][j_k] = v;", ["h", "w * c"]),
    ],
)  # fmt: skip
def test_neighbours_on_a_line_have_one_number(
    body: str, parameters: str, left: str | None, limits: list[str]
) -> None:
    source = _program(body, parameters)
    if left is None:
        assert recipes_of(source).get(RECIPE, "none") is not None
        return
    variant = _collapsed(source)
    assert variant.tile is not None
    text = " ".join(print_stmts(variant.tile.alternatives[0].body).split())
    assert text.replace(" ", "") == left.replace(" ", "")
    assert [print_expr(c.limit) for c in variant.tile.coordinates] == limits


def test_the_reason_names_what_is_on_no_line() -> None:
    transposed = _program("b[i][j][k] = a[j][i][k];", "const float a[w][h][c], float b[h][w][c]")
    reason = "neighbouring points do not have neighbouring elements of '{}', row by row"
    assert recipes_of(transposed)[RECIPE] == reason.format("a")
    assert recipes_of(transposed.replace("b[h][w][c]", "b[h][w][c + 1]"))[RECIPE] == reason.format("b")


@pytest.mark.parametrize(
    ("body", "parameters"),
    [
        ("b[i][j][k] = a[i + 1][j][k] * s[k] + a[i][j + 2][k] * t[i][j];", IMAGES),
        ("b[(i*w + j)*c + k] = a[(i*w + j)*c + k] - s[k] * t[i*w + j];", POINTERS),
        ("if (k != j) b[i][j][k] = i == h - 1 ? a[i][j][k] : s[c - 1 - k];", IMAGES),
        ("b[i][j][k] = a[t[i][j] & 1][j][k] + s[k];", IMAGES),
        ("{ b[i][j][k] = s[k]; if (j > 0) b[i][j][k] += a[i][j - 1][k]; }", IMAGES),
    ],
)  # fmt: skip
def test_every_point_is_as_the_serial_program_has_it(body: str, parameters: str, tmp_path: Path) -> None:
    source = _program(body, parameters)
    assert numbers_of(source, RECIPE)
    run_all(source, ARRAYS, RUNS, tmp_path)


def test_a_product_of_negative_limits_has_no_points(tmp_path: Path) -> None:
    source = _program("b[(i*(w - 2) + j)*(c - 2) + k] = 1;", "float *b").replace("j < w", "j < w - 2")
    source = source.replace("k < c", "k < c - 2")
    assert numbers_of(source, RECIPE)
    runs = [{"h": 2, "w": w, "c": c, "B0": 1, "B1": 1, "B2": 1} for w, c in ((1, 1), (1, 5), (6, 1), (5, 4))]
    run_all(source, {"b": (("2*w*c",), "f4")}, runs, tmp_path)


TOKENS = "const float x[h][w][n], const float y[n][c], const float s[c], float b[h][w][c]"
TOKEN_ARRAYS: Arrays = {
    "x": (("h*w*n",), "f4"),
    "y": (("n*c",), "f4"),
    "s": (("c",), "f4"),
    "b": (("h*w*c",), "f4"),
}
SUM = "{{ float v = s[k]; for (int l = 0; l < n; l++) v += {}; b[i][j][k] = v; }}"


def _long(term: str, parameters: str = TOKENS) -> str:
    return _program(SUM.format(term), parameters).replace("int c,", "int c, int n,")


@pytest.mark.parametrize(
    ("term", "coordinates"),
    [
        ("x[i][j][l] * y[l][k]", ["i_j", "k"]),
        ("x[i][j][n - 1 - l] * y[l][c - 1 - k]", ["i_j", "k"]),
        ("b[i][j][k] * l", ["i_j_k"]),
        ("x[i][j][l] * y[l][k] * j", ["i", "j", "k"]),
        ("x[i][0][l] * y[l][k]", ["i", "j", "k"]),
        ("x[i][l % w][l] * x[i][j][l] * y[l][k]", ["i", "j", "k"]),
        ("x[0][(i + j) % w][l] * y[l][k]", ["i", "j", "k"]),
    ],
)
def test_coordinates_of_points_with_long_loops_are_one_where_nothing_tells_them_apart(
    term: str, coordinates: list[str]
) -> None:
    source = _long(term) if coordinates != ["i_j_k"] else _long(term).replace("s[k]", "0")
    (nest,) = nests_of(source)
    nest = normalize(nest)
    found = points_of(nest)
    assert isinstance(found, Points)
    nest, tile = one_tile(nest, found)
    joined, once = with_lines_joined(nest, tile)
    assert [c.name for c in once.coordinates] == coordinates
    assert with_lines_joined(joined, once) == (joined, once)


def test_a_loop_along_the_line_keeps_its_coordinates() -> None:
    """A window down the columns would have whole rows between its elements."""
    source = _long("x[i + l][j][0]", "const float x[h + n][w][1], const float s[c], float b[h][w][c]")
    (nest,) = nests_of(source)
    nest = normalize(nest)
    found = points_of(nest)
    assert isinstance(found, Points)
    _, tile = with_lines_joined(*one_tile(nest, found))
    assert [c.name for c in tile.coordinates] == ["i", "j", "k"]


@pytest.mark.parametrize(
    "term", ["x[i][j][l] * y[l][k]", "x[i][j][n - 1 - l] * y[n - 1 - l][k] + x[i][j][l]"]
)
def test_every_point_of_a_product_of_joined_rows_is_as_the_serial_program_has_it(
    term: str, tmp_path: Path
) -> None:
    source = _long(term)
    assert numbers_of(source, "product")
    runs = [{**run, "n": n} for run, n in zip(RUNS, (1, 40, 3, 17, 5, 5, 0), strict=True)]
    run_all(source, TOKEN_ARRAYS, runs, tmp_path)
