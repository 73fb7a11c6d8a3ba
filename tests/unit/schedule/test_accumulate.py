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
