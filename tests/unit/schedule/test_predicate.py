"""Conditions on coordinates around a loop: all points of a block go through it, those that meet the condition store."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.optimize.protocols import NotApplicable
from tests.examples import quick_of
from tests.unit.schedule.test_lower_tile import PLANE, SIZES
from tests.unit.schedule.tile_runs import (
    compilation_of,
    numbers_of,
    recipes_of,
    register_tiles_of,
    run_all,
    sources_of,
)

BODY = "if ({condition}) {{ float s = c[i][j]; for (int l = 0; l < k; l++) s += a[i][l] * b[j][l]; c[i][j] = s; }}"
PARAMETERS = "float a[m][k], float b[n][k], float c[m][n]"
ARRAYS = {"a": (("m", "k"), "f4"), "b": (("n", "k"), "f4"), "c": (("m", "n"), "f4")}


CONDITIONS = ("j <= i || j > 2 * i + 3", "2 * i >= j && i < j + 90")


@pytest.mark.parametrize("condition", quick_of(CONDITIONS, CONDITIONS[:1]))
def test_every_instance_computes_what_the_source_does(condition: str, tmp_path: Path) -> None:
    source = PLANE.format(parameters=PARAMETERS, body=BODY.format(condition=condition))
    runs = [SIZES, {**SIZES, "m": 66, "n": 20, "k": 272}, {**SIZES, "n": 70, "m": 131, "k": 0}]
    refused = {number for number, _ in run_all(source, ARRAYS, runs, tmp_path)}
    assert refused <= set(numbers_of(source))  # rows that stay are for some lengths


SQUARE = """void f(int n, int k, const float a[{rows}][k], float c[n][n], int B)
{{
  meta_schedule block(B, B) {{
    meta_for (int i = 0; i < n; i++)
      meta_for (int j = 0; j < n; j++)
        if ({condition}) {{ float s = 0; for (int l = 0; l < k; l++) s += a[i][l] * a[{row}][l]; c[i][j] = s; }}
  }}
}}
"""


def test_blocks_without_a_point_do_nothing() -> None:
    source = SQUARE.format(rows="n", condition="j <= i", row="j")
    (tile,) = register_tiles_of(source)
    assert not isinstance(tile, NotApplicable)
    assert compilation_of(source).plan.functions[0].regions[0].tilings[0].recipe == "product"
    needed = "if (place0 <= turned0 && turned0 < blocks0 && turned1 < blocks1"
    assert f"{needed}\n      && (long)o1 <= (long)(o0 + T0 * U0 - 1)) {{" in sources_of(source)["f.cu"]


@pytest.mark.parametrize(
    ("condition", "row", "fits"),
    [
        ("j <= i", "j", True),
        ("i + j < n", "j", True),
        ("j <= i", "j + 1", True),
        ("j <= i", "j + 2", True),
        ("j < i", "j", True),  # no point reads the last row as the second operand, but it is there
        ("j < i", "j + 1", True),
        ("j < i", "j + 2", False),
        ("i + j < n - 1", "j + 2", False),
    ],
)
def test_nothing_is_read_that_the_program_does_not_read(condition: str, row: str, fits: bool) -> None:
    (first, *_) = register_tiles_of(SQUARE.format(rows="n + 1", condition=condition, row=row))
    assert isinstance(first, NotApplicable) is not fits
    assert fits or "not all of 'a' is read" in first.reason


BEFORE = "float s = c[i][j]; float start = s; if ({condition}) {{ {loop} c[i][j] = s - start; }}"
LOOP = "for (int l = 0; l < k; l++) s += a[i][l] * b[j][l];"


def test_what_stands_before_the_condition_goes_into_it(tmp_path: Path) -> None:
    source = PLANE.format(parameters=PARAMETERS, body=BEFORE.format(condition="j <= i", loop=LOOP))
    assert recipes_of(source)["product"] is None
    assert run_all(source, ARRAYS, [SIZES, {**SIZES, "m": 66, "n": 20, "k": 33}], tmp_path) == set()


@pytest.mark.parametrize(
    ("condition", "loop"),
    [("s < 3.0f", LOOP), ("j <= i", f"float start = 2; {LOOP} s += start;")],
    ids=["the condition reads it", "it is declared again"],
)
def test_what_the_condition_reads_stays_before_it(condition: str, loop: str, tmp_path: Path) -> None:
    source = PLANE.format(parameters=PARAMETERS, body=BEFORE.format(condition=condition, loop=loop))
    assert run_all(source, ARRAYS, [{**SIZES, "m": 9, "n": 12, "k": 7}], tmp_path) == set()
