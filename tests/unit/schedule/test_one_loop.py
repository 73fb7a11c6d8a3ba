"""Loops of a point that become one, and elements whose place a loop remembers: every tile against the serial C."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.metafork.ast import For
from comprehensive.optimize.tree import Tree
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import compilation_of, recipes_of, run_all

LINE = """void f(int m, int n, {parameters}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
ROWS = "const float a[m][n], float y[m]"
Arrays = dict[str, tuple[tuple[int | str, ...], str]]
OF_ROWS: Arrays = {"a": (("m", "n"), "f4"), "y": (("m",), "f4")}
OF_PLACES: Arrays = {"a": (("m", "n"), "f4"), "y": (("m",), "i4")}
SIZES = ({"m": 67, "n": 131, "B": 8}, {"m": 33, "n": 4, "B": 4}, {"m": 5, "n": 1, "B": 2})
NONE = {"m": 5, "n": 0, "B": 2}


def line(body: str, parameters: str = ROWS) -> str:
    return LINE.format(parameters=parameters, body=body)


def place(header: str, condition: str, first: str = "0") -> str:
    body = f"int best = {first}; for ({header}) if ({condition}) best = j; y[i] = best;"
    return line(body, "const float a[m][n], int y[m]")


FUSED: dict[str, tuple[str, Arrays]] = {
    "a maximum and a sum": (
        line(
            "float most = -1000; for (int j = 0; j < n; j++) most = fmaxf(most, a[i][j]);"
            "float sum = 0; for (int k = 0; k < n; k++) sum += a[i][k]; y[i] = most + sum;"
        ),
        OF_ROWS,
    ),
    "a maximum with its first term before it": (
        line(
            "float most = a[i][0]; for (int j = 1; j < n; j++) most = fmaxf(most, a[i][j]);"
            "float sum = 0; for (int j = 0; j < n; j++) sum += a[i][j]; y[i] = most - sum;"
        ),
        OF_ROWS,
    ),
    "three sums, of two arrays": (
        line(
            "float s = 0, t = 0, u = 0; for (int j = 0; j < n; j++) s += a[i][j] * x[j];"
            "for (int j = 0; j < n; j++) { float d = a[i][j]; t += d * d; }"
            "for (int j = 0; j < n; j++) u += x[j]; y[i] = s + t * u;",
            "const float a[m][n], const float x[n], float y[m]",
        ),
        {**OF_ROWS, "x": (("n",), "f4")},
    ),
}
HELD: dict[str, tuple[str, Arrays]] = {
    "the first largest": (place("int j = 1; j < n; j++", "a[i][j] > a[i][best]"), OF_PLACES),
    "the last smallest": (place("int j = 0; j < n; j++", "a[i][j] <= a[i][best]"), OF_PLACES),
    "from the other side": (place("int j = 1; j < n; j++", "a[i][best] < a[i][j]"), OF_PLACES),
    "behind a pointer": (
        line(
            "int best = 0; for (int j = 1; j < n; j++) if (a[i * n + j] > a[i * n + best]) best = j; y[i] = best;",
            "const float *a, int *y",
        ),
        OF_PLACES,
    ),
    "with a statement more": (
        line(
            "int best = 0, found = 0; for (int j = 1; j < n; j++)"
            "if (a[i][j] > a[i][best]) { best = j; found += 1; } y[i] = best + 1000 * found;",
            "const float a[m][n], int y[m]",
        ),
        OF_PLACES,
    ),
}
LEFT = {
    "the second loop reads what the first one finds": line(
        "float s = 0; for (int j = 0; j < n; j++) s += a[i][j];"
        "float t = 0; for (int j = 0; j < n; j++) t += a[i][j] * s; y[i] = t;"
    ),
    "something else stands between them": line(
        "float s = 0; for (int j = 0; j < n; j++) s += a[i][j]; y[i] = s;"
        "float t = 0; for (int j = 0; j < n; j++) t += a[i][j] * s; y[i] += t;"
    ),
    "they have other turns": line(
        "float s = 0; for (int j = 0; j < n; j++) s += a[i][j];"
        "float t = 0; for (int j = 0; j < n / 2; j++) t += a[i][j]; y[i] = s * t;"
    ),
}


def loops_of_rows(source: str) -> int:
    """Return the number of loops of the points over whose rows there are tiles."""
    (tree,) = compilation_of(source).trees
    sources = [each.tree.source for each in tree.alternatives if isinstance(each.tree, Tree)]
    (tile,) = (s.tile for s in sources if s.tile is not None and s.tile.recipe == "rows")
    return sum(isinstance(s, For) for s in tile.alternatives[0].body)


@pytest.mark.parametrize("case", quick_of(FUSED, {"a maximum and a sum"}))
def test_loops_that_do_not_know_of_each_other_are_one(case: str, tmp_path: Path) -> None:
    source, arrays = FUSED[case]
    assert loops_of_rows(source) == 1
    run_all(source, arrays, SIZES, tmp_path)


@pytest.mark.parametrize("case", quick_of(LEFT, {"something else stands between them"}))
def test_others_stay_apart(case: str, tmp_path: Path) -> None:
    """They are done one after the other, each with its pieces (`test_loops_beside.py`)."""
    assert loops_of_rows(LEFT[case]) == 2
    run_all(LEFT[case], OF_ROWS, SIZES, tmp_path)


@pytest.mark.parametrize("case", quick_of(HELD, {"the last smallest"}))
def test_an_element_whose_place_is_remembered_is_held(case: str, tmp_path: Path) -> None:
    source, arrays = HELD[case]
    assert recipes_of(source)["rows"] is None
    run_all(source, arrays, (*SIZES, NONE), tmp_path)


def test_an_element_has_one_spelling(tmp_path: Path) -> None:
    body = "y[i + 1] = 2; for (int j = 1; j <= n; j++) y[1 + i] += a[i][j - 1] * a[i][-1 + j];"
    source = line(body, "const float a[m][n], float y[m + 1]")
    assert recipes_of(source)["rows"] is None
    run_all(source, {**OF_ROWS, "y": (("m + 1",), "f4")}, (*SIZES, NONE), tmp_path)


def test_an_iterator_that_is_read_behind_its_loop_is_no_place_that_it_remembers(tmp_path: Path) -> None:
    source = line("float s = 0; int j; for (j = 0; j < n; j++) s += a[i][j]; y[i] = s + j;")
    assert recipes_of(source)["rows"] is None
    run_all(source, OF_ROWS, (*SIZES, NONE), tmp_path)


def test_a_place_that_has_not_been_read_is_not_looked_at(tmp_path: Path) -> None:
    """The loop remembers the place behind the one that it has read, which the last turn never reads."""
    body = (
        "int best = 0; for (int j = 1; j < n - 1; j++) if (a[i][j] > a[i][best]) best = j + 1; y[i] = best;"
    )
    source = line(body, "const float a[m][n], int y[m]")
    assert recipes_of(source)["rows"] is not None
    run_all(source, OF_PLACES, SIZES, tmp_path)
