"""Loops under a condition on coordinates: all points of a block go through them, and results hold where it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.test_lower_tile import PLANE, SIZES
from tests.unit.schedule.tile_runs import recipes_of, run_all, sources_of

PARAMETERS = "float a[m][k], float b[n][k], float c[m][n]"
ARRAYS = {"a": (("m", "k"), "f4"), "b": (("n", "k"), "f4"), "c": (("m", "n"), "f4")}
RUNS = [SIZES, {**SIZES, "m": 66, "n": 20, "k": 72}, {**SIZES, "n": 70, "m": 131, "k": 0}]
LOOP = "for (int l = 0; l < k; l++) s += a[i][l] * b[j][l];"
BODIES = {
    "a sum that stays as it is": f"float s = 0.5f; if (j <= i) {LOOP} c[i][j] = s;",
    "another sum than before it": f"float s = -1e9f; if (j <= i) {{ s = 0; {LOOP} s *= 0.25f; }} c[i][j] = s;",
    "the same element in both branches": f"if (i + 3 < j) {{ float s = 0; {LOOP} c[i][j] = s; }} "
    "else c[i][j] = b[j][0];",
    "the loop in the other branch": f"if (i == j) c[i][j] = 1; else {{ float s = 0; {LOOP} c[i][j] = s; }}",
    "conditions in each other": f"float s = 1; if (i < m - 2) if (j > 0) {LOOP} if (s < 0.5f) s = 0.5f; c[i][j] = s;",
    "two scalars": "float s = 1, t = 2; if (2 * i >= j && j != 5) for (int l = 0; l < k; l++) "
    "{ s += a[i][l] * b[j][l]; t *= b[j][l]; } c[i][j] += s + t;",
}


@pytest.mark.parametrize(
    "name", quick_of(BODIES, {"another sum than before it", "the same element in both branches"})
)
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source = PLANE.format(parameters=PARAMETERS, body=BODIES[name])
    assert recipes_of(source)["product"] is None
    runs = [{**run, "k": max(1, run["k"])} for run in RUNS] if "b[j][0]" in BODIES[name] else RUNS
    assert run_all(source, ARRAYS, runs, tmp_path) == set()


def test_a_block_without_a_point_leaves_the_loop_out() -> None:
    source = PLANE.format(parameters=PARAMETERS, body=BODIES["a sum that stays as it is"])
    text = sources_of(source)["f.cu"]
    assert "if ((long)o1 <= (long)(o0 + T0 * U0 - 1)) {\n    // stage(a, b): the first S - 1 pieces\n" in text


@pytest.mark.parametrize(
    "body",
    [
        f"float s = c[i][j]; if (j <= i) {LOOP} c[i][j] = s;",
        f"float s = 0; if (a[i][0] < 0) {LOOP} c[i][j] = s;",
        f"if (j <= i) {{ float s = b[j][0]; {LOOP} c[i][j] = s; }} else c[i][j] = 0;",
        f"float s = 0; if (j <= i) {{ {LOOP} c[i][j] = 1; }} c[i][j] += s;",
        f"if (j <= i) {{ float s = 0; {LOOP} c[i][j] = s; }} else c[i][j] += 1;",
    ],
    ids=[
        "a first value that is read",
        "a condition on data",
        "data is read beside the loop",
        "an element is assigned under it",
        "the other branch adds to it",
    ],
)
def test_other_loops_under_a_condition_are_left_alone(body: str) -> None:
    assert recipes_of(PLANE.format(parameters=PARAMETERS, body=body))["product"] is not None


DIVISION = "int s = 0; for (int l = 0; l < k; l++) s += a[i][l] * b[j][l] {division}; c[i][j] = s;"
INTEGERS = "int a[m][k], int b[n][k], int c[m][n]"


@pytest.mark.parametrize(
    ("division", "condition", "fits"),
    [
        ("/ 3", "j < i", True),
        ("/ (i - j)", "j < i", False),
        ("% k", "j < i", False),
        ("% k", "", True),
        ("/ (a[i][l] + 200)", "", False),
    ],
)
def test_no_point_that_is_not_there_divides_by_zero(
    division: str, condition: str, fits: bool, tmp_path: Path
) -> None:
    body = DIVISION.format(division=division)
    source = PLANE.format(parameters=INTEGERS, body=f"if ({condition}) {{ {body} }}" if condition else body)
    assert (recipes_of(source)["product"] is None) == fits
    integers = {name: (shape, "i4") for name, (shape, _) in ARRAYS.items()}
    assert run_all(source, integers, [{**SIZES, "m": 9, "n": 70, "k": 7}], tmp_path) == set()
