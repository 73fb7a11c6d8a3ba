"""Elements that no iteration writes are read through a view: updates in place have the tiles of other products."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.loops.ir import Nest
from comprehensive.strategies.apart_reads import with_apart_reads
from tests.examples import quick_of
from tests.laws.nests import nests_of
from tests.unit.schedule.tile_runs import compilation_of, recipes_of, run_all, sources_of

PLANE = """void f(int n, int k, int q, {parameters}, int B)
{{
  meta_schedule block(B, B) {{
    meta_for (int i = k + q; i < n; i++)
      meta_for (int j = k + q; j < n; j++) {{ {body} }}
  }}
}}
"""
DECLARED = "float a[n][n]"
UPDATE = "for (int l = k; l < k + q; l++) a[i][j] -= a[i][l] * a[l][j];"
LINEAR = "float s = a[i * n + j]; for (int l = k; l < k + q; l++) s -= a[i * n + l] * a[l * n + j]; a[i * n + j] = s;"
CASES = {
    "an update in place": (PLANE.format(parameters=DECLARED, body=UPDATE), {"a": (("n", "n"), "f4")}),
    "behind a pointer": (PLANE.format(parameters="float *a", body=LINEAR), {"a": (("n*n",), "f4")}),
    "of one triangle": (
        PLANE.format(
            parameters="double a[n][n]",
            body="if (j <= i) { double s = 0; for (int l = 0; l < k; l++) s += a[i][l] * a[j][l]; a[i][j] -= s; }",
        ),
        {"a": (("n", "n"), "f8")},
    ),
}
RUNS = [{"n": n, "k": k, "q": q, "B": 4} for n, k, q in ((70, 0, 8), (131, 9, 33), (40, 40, 0), (33, 1, 1))]


def nest(body: str, parameters: str = DECLARED) -> Nest:
    (found,) = nests_of(PLANE.format(parameters=parameters, body=body))
    return found


@pytest.mark.parametrize("name", quick_of(CASES, {"behind a pointer"}))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    assert recipes_of(source)["product"] is None
    assert run_all(source, arrays, RUNS, tmp_path, backwards=(False, True)) == set()


def test_a_view_is_another_parameter_for_the_same_data() -> None:
    text = sources_of(PLANE.format(parameters=DECLARED, body=UPDATE))["f.cu"]
    assert "const float *__restrict__ a_1," in text
    assert "{ &a, &a, &a," in text


@pytest.mark.parametrize(
    ("body", "parameters", "views"),
    [
        (UPDATE, DECLARED, 1),
        (LINEAR, "float *a", 1),
        # The columns that are read reach into those that are written.
        ("for (int l = k; l <= k + q; l++) a[i][j] -= a[i][l] * x[l];", f"{DECLARED}, const float x[n]", 0),
        # One of two neighbours is written.
        ("for (int l = k; l < k + q; l++) a[i][j] += a[i][l] - a[i][l + 1];", DECLARED, 0),
        ("for (int l = 0; l < k - 1; l++) a[i][j] += a[i][l] - a[i][l + 1];", DECLARED, 1),
        ("for (int l = 0; l < k; l++) c[i][j] += a[i][l];", f"const {DECLARED}, float c[n][n]", 0),
        ("for (int l = 0; l < k; l++) a[i][j] += a[i][t[l]];", f"{DECLARED}, const int t[n]", 0),
    ],
)
def test_what_is_read_apart_from_all_that_is_written_has_a_view(
    body: str, parameters: str, views: int
) -> None:
    given = nest(body, parameters)
    found = with_apart_reads(given)
    assert len(found.arrays) - len(given.arrays) == views
    assert all(array.const and array.pointer == "a" for array in found.arrays[len(given.arrays) :])
    assert (found is given) == (views == 0)
    assert with_apart_reads(found) is found


TAKING_TURNS = """void f(int T, int n, float *a, int B) {
  for (int t = 0; t < T; t++) {
    meta_schedule block(B) {
      meta_for (int i = 0; i < n; i++) {
        float s = 0;
        for (int l = 0; l < 2; l++) s += a[l + 1] * 0.25f;
        a[n + i + 3] = s + a[i];
      }
    }
    meta_schedule block(B) {
      meta_for (int i = 0; i < n; i++)
        a[i] = a[n + i + 3];
    }
  }
}
"""


def test_what_another_region_of_a_loop_writes_is_not_read_apart_by_several_sweeps() -> None:
    regions = compilation_of(TAKING_TURNS).plan.functions[0].regions
    assert not any(region.several for region in regions)
