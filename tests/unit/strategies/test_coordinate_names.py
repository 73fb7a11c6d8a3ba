"""Coordinates are called as the program calls their values, where nothing else has that name."""

from __future__ import annotations

import pytest

from comprehensive.loops.ir import Points
from comprehensive.metafork.ast import For
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.strategies.tilings import tilings
from comprehensive.strategies.to_points import points_of
from tests.laws.nests import nests_of

PLANE = """void f(int n, const float a[n][n], float b[n][n], {parameters}int B)
{{
  meta_schedule block(B, B) {{
    meta_for ({kind} i = {first}; i < n; i++)
      meta_for ({kind} j = {first}; j < n; j++) {{ {body} }}
  }}
}}
"""


def names_in(text: str) -> tuple[str, ...]:
    (nest,) = nests_of(text)
    found = points_of(nest)
    assert isinstance(found, Points)
    return found.names


@pytest.mark.parametrize(
    ("kind", "first", "body", "names"),
    [
        ("int", "0", "b[i][j] = a[i][j];", ("i", "j")),
        ("unsigned", "0", "b[i][j] = a[i][j];", ("i", "j")),
        ("int", "0", "b[j][i] = a[j][i];", ("j", "i")),
        # An iterator that begins elsewhere is no coordinate: these begin at 0.
        ("int", "1", "b[i][j] = a[i][j];", ("y0", "y1")),
        ("int", "1", "int row = i - 1; b[row][j] = a[row][j];", ("row", "y1")),
        # What else the program calls a value does not matter.
        ("int", "0", "int row = i; b[row][j] = a[i][j];", ("i", "j")),
    ],
)
def test_a_coordinate_has_the_name_of_its_iterator(
    kind: str, first: str, body: str, names: tuple[str, str]
) -> None:
    assert names_in(PLANE.format(kind=kind, first=first, body=body, parameters="")) == names


def test_an_index_of_blocks_and_threads_is_called_as_in_the_program() -> None:
    text = """void f(int n, const float a[n], float b[n], int B, int s)
{
  int dim = n / (B * s);
  meta_schedule {
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B; u++)
        for (int w = 0; w < s; w++) { int p = (v * s + w) * B + u; b[p] = a[p]; }
  }
}"""
    assert names_in(text) == ("p",)


def test_digits_of_a_number_are_called_as_in_the_program() -> None:
    text = """void f(int m, int n, const float a[m][n], float b[m][n], int B)
{
  assert(n >= 1);
  meta_schedule block(B) {
    meta_for (int t = 0; t < m * n; t++) { int i = t / n, j = t % n; b[i][j] = a[i][j]; }
  }
}"""
    assert names_in(text) == ("i", "j")


def test_a_coordinate_that_became_a_loop_is_called_as_in_the_program() -> None:
    text = """void f(int m, int n, const float a[m][n][3], float b[m][n][3], int B)
{
  meta_schedule block(B, B, 1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++)
        meta_for (int c = 0; c < 3; c++) b[i][j][c] = a[i][j][c];
  }
}"""
    (nest,) = nests_of(text)
    found = points_of(nest)
    assert isinstance(found, Points)
    assert found.names == ("i", "j")
    (alternative,) = found.alternatives
    (loop,) = alternative.body
    assert isinstance(loop, For)
    assert loop.iterator == "c"


def test_messages_name_both_loops_of_which_the_tool_has_made_one() -> None:
    text = """void f(int m, int h, int w, const float a[m][h * w], float y[m], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      float s = 0;
      for (int r = 0; r < h; r++)
        for (int c = 0; c < w; c++) s += a[i][(r * w + c) * 2 % (h * w)];
      y[i] = s;
    }
  }
}"""
    (nest,) = nests_of(text)
    reasons = [each.result.reason for each in tilings(nest) if isinstance(each.result, NotApplicable)]
    assert "a subscript of 'a' is not 'r and c' and what does not change" in reasons
