"""Elements that loops add to, held in a scalar of the point where a statement before the loops assigns them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.tile_runs import numbers_of, recipes_of, run_all, sources_of

LINE = """void f(int m, int n, const float a[m][n], const float x[n], float y[{elements}], int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      {body}
    }}
  }}
}}
"""
FIRST_OUT = "y[i] = 0.5f * x[0]; for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];"


def line(body: str, elements: str = "m") -> str:
    return LINE.format(body=body, elements=elements)


TWICE = "y[i] = 1; for (int j = 0; j < n; j++) y[i] += a[i][j]; for (int j = 0; j < n; j++) y[i] -= a[i][j] * x[j];"


@pytest.mark.parametrize("body", quick_of((FIRST_OUT, TWICE), {FIRST_OUT}))
def test_every_instance_computes_what_the_source_does(body: str, tmp_path: Path) -> None:
    source = line(body)
    assert recipes_of(source)["resident rows"] is None
    arrays = {"a": (("m", "n"), "f4"), "x": (("n",), "f4"), "y": (("m",), "f4")}
    runs = [{"m": m, "n": n, "B": 3} for m, n in ((9, 130), (3, 1), (17, 33), (40, 270))]
    refused = run_all(source, arrays, runs, tmp_path)
    assert {number for number, _ in refused} <= set(numbers_of(source))


def test_the_element_is_stored_once() -> None:
    text = sources_of(line(FIRST_OUT))["f.cu"]
    (kernel,) = (part for part in text.split("__global__") if "y_held +=" in part)
    assert kernel.count("\n    y[") + kernel.count("\n      y[") == 1


@pytest.mark.parametrize(
    "body",
    [
        "for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];",  # without steps the element need not be there
        "y[i] += x[0]; for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];",
        "y[2*i] = 1; for (int j = 0; j < n; j++) y[2*i] += a[i][j] * y[2*i + 1];",
    ],
)
def test_other_elements_stay_where_they_are(body: str) -> None:
    found = recipes_of(line(body, "2*m"))["resident rows"]
    assert found is not None
    assert "other than along a row" in found


COVARIANCE = """void f(int m, int n, const float a[n][m], float c[m][m], int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++)
        if (j >= i) {{
          {body}
        }}
  }}
}}
"""
MIRRORED = (
    "float s = 0; for (int k = 0; k < n; k++) s += a[k][i] * a[k][j]; s /= n; c[i][j] = s; c[j][i] = s;",
    "c[i][j] = 0; for (int k = 0; k < n; k++) c[i][j] += a[k][i] * a[k][j]; c[i][j] /= n; c[j][i] = c[i][j];",
    "c[i][j] = 0; for (int k = 0; k < n; k++) c[i][j] += a[k][i] * a[k][j]; c[j][i] = c[i][j] /= n;",
    "c[i][j] = 0; for (int k = 0; k < n; k++) c[i][j] = c[i][j] + a[k][i] * a[k][j];"
    "c[j][i] = c[i][j] / n; c[i][j] = c[j][i];",
)


@pytest.mark.parametrize("body", quick_of(MIRRORED, {MIRRORED[1]}))
def test_a_sum_that_is_stored_on_both_sides_of_a_diagonal_is_a_product(body: str, tmp_path: Path) -> None:
    source = COVARIANCE.format(body=body)
    assert recipes_of(source)["product"] is None
    arrays = {"a": (("n", "m"), "f4"), "c": (("m", "m"), "f4")}
    assert (
        run_all(source, arrays, [{"m": m, "n": n, "B": 3} for m, n in ((37, 21), (5, 0))], tmp_path) == set()
    )


def test_an_element_that_the_loop_may_read_elsewhere_is_not_held(tmp_path: Path) -> None:
    body = "c[i][j] = 1; c[j][i] = 2; for (int k = 0; k < n; k++) c[i][j] += a[k][i] * a[k][j];"
    source = COVARIANCE.format(body=body)
    assert recipes_of(source)["product"] is not None
    run_all(source, {"a": (("n", "m"), "f4"), "c": (("m", "m"), "f4")}, [{"m": 9, "n": 4, "B": 3}], tmp_path)
