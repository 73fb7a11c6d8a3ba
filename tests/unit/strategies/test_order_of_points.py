"""The coordinates of points are in the order of memory, and those of a few values side by side are loops."""

from __future__ import annotations

import pytest

from comprehensive.loops.ir import Nest, Points
from comprehensive.loops.normalize.interchange import interchanged
from comprehensive.loops.normalize.sequentialize import sequentialized
from comprehensive.metafork.printer import print_stmts
from comprehensive.strategies.to_points import points_of
from tests.laws.nests import all_nests, nests_of

PLANE = """void f(int m, int n, {parameters}, int B)
{{
  meta_schedule block(B, B) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {{ {body} }}
  }}
}}
"""
SPACE = """void f(int p, int m, int n, {parameters}, int B)
{{
  meta_schedule block(1, B, B) {{
    meta_for (int i = 0; i < {first}; i++)
      meta_for (int j = 0; j < {second}; j++)
        meta_for (int k = 0; k < {third}; k++) {{ {body} }}
  }}
}}
"""


def points(text: str) -> tuple[Nest, Points]:
    (nest,) = nests_of(text)
    found = points_of(nest)
    assert isinstance(found, Points)
    return nest, found


@pytest.mark.parametrize(
    ("body", "parameters", "order"),
    [
        ("b[j][i] = 2 * a[j][i];", "const float a[n][m], float b[n][m]", "j i"),
        ("b[j * m + i] = 2 * a[j * m + i];", "const float *a, float *b", "j i"),
        ("b[(size_t)j * m + i] = a[(size_t)j * m + i];", "const float *a, float *b", "j i"),
        ("b[i][j] = 2 * a[i][j];", "const float a[m][n], float b[m][n]", "i j"),
        # As many run along one as along the other: the user's order stays.
        ("b[i][j] = a[j][i];", "const float a[n][m], float b[m][n]", "i j"),
        ("b[j][i] = a[i][j];", "const float a[m][n], float b[n][m]", "i j"),
        # What speaks of one coordinate alone touches little.
        ("b[j][i] = x[j] + y[j];", "const float x[n], const float y[n], float b[n][m]", "j i"),
        (
            "float s = 0; for (int k = 0; k < n; k++) s += a[j][k] * x[k][i]; b[j][i] = s;",
            "const float a[n][n], const float x[n][m], float b[n][m]",
            "j i",
        ),
        ("b[j][2 * i] = a[j][2 * i];", "const float a[n][2 * m], float b[n][2 * m]", "j i"),
        ("b[j * 2 + i * 2 * m] = a[j * 2 + i * 2 * m];", "const float *a, float *b", "i j"),
        ("for (int c = 0; c < 3; c++) b[(j * m + i) * 3 + c] = 0;", "float *b", "j i"),
        ("for (int c = 0; c < 3; c++) b[j][i][c] = 0;", "float b[n][m][3]", "j i"),
        ("b[i + j] = 0;", "float *b", "i j"),
        ("b[q[i]][j] = a[j];", "const int q[m], const float a[n], float b[m][n]", "i j"),
    ],
)
def test_the_last_coordinate_runs_along_memory(body: str, parameters: str, order: str) -> None:
    _, found = points(f"#include <stddef.h>\n{PLANE.format(body=body, parameters=parameters)}")
    assert " ".join(found.shown) == order


@pytest.mark.parametrize(
    ("body", "parameters", "order"),
    [
        ("b[k][j][i] = a[k][j][i];", "const float a[n][m][p], float b[n][m][p]", "k j i"),
        ("b[j][k][i] = a[j][k][i];", "const float a[m][n][p], float b[m][n][p]", "j k i"),
        (
            "b[i][k][j] = a[i][k][j] + x[i];",
            "const float a[p][n][m], float b[p][n][m], const float x[p]",
            "i k j",
        ),
        ("b[(k * m + j) * p + i] = a[(k * m + j) * p + i];", "const float *a, float *b", "k j i"),
    ],
)
def test_the_others_are_in_the_order_of_what_is_stored(body: str, parameters: str, order: str) -> None:
    text = SPACE.format(body=body, parameters=parameters, first="p", second="m", third="n")
    assert " ".join(points(text)[1].shown) == order


@pytest.mark.parametrize("name", sorted(all_nests()))
def test_points_in_the_order_of_memory_stay_as_they_are(name: str) -> None:
    nest = all_nests()[name]
    found = points_of(nest)
    if isinstance(found, Points):
        assert interchanged(nest, found) == found
        assert sequentialized(nest, found) == found


def test_limits_and_bodies_go_with_their_coordinates() -> None:
    _, found = points(PLANE.format(body="b[j][i] = i - j;", parameters="int b[n][m]"))
    first, last = found.names
    assert [str(limit) for limit in found.limits] == ["Name(identifier='n')", "Name(identifier='m')"]
    assert (
        print_stmts(found.alternatives[0].body).split()
        == f"b[{first}][{last}] = {last} + {first} * -1;".split()
    )


@pytest.mark.parametrize(
    ("values", "body", "parameters", "order"),
    [
        (3, "out[i][j][k] = in[i][j][k];", "const float in[p][m][3], float out[p][m][3]", "i j"),
        (3, "out[k][i][j] = in[i][j][k];", "const float in[p][m][3], float out[3][p][m]", "i j"),
        (4, "out[(i * m + j) * 4 + k] = 2 * in[(i * m + j) * 4 + k];", "const float *in, float *out", "i j"),
        # Planes are far apart, and a fifth value would be one too many.
        (3, "out[k][i][j] = in[k][i][j];", "const float in[3][p][m], float out[3][p][m]", "k i j"),
        (5, "out[i][j][k] = in[i][j][k];", "const float in[p][m][5], float out[p][m][5]", "i j k"),
        (
            3,
            "float s = 0; for (int l = 0; l < n; l++) s += in[i][j][l]; out[i][j][k] = s;",
            "const float in[p][m][n], float out[p][m][3]",
            "i j k",
        ),
    ],
)
def test_a_few_values_side_by_side_are_a_loop_of_the_point(
    values: int, body: str, parameters: str, order: str
) -> None:
    text = SPACE.format(body=body, parameters=parameters, first="p", second="m", third=values)
    _, found = points(text)
    assert " ".join(found.shown) == order
    loops = print_stmts(found.alternatives[0].body).count("for (")
    assert loops == ("l <" in body) + (len(order.split()) == 2)
