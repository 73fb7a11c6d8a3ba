"""Loops over parts of a row, longer at some points than at others, where rows stay in shared memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import quick_of
from tests.unit.schedule.tile_runs import recipes_of, run_all

ROWS = """void f(int n, {arrays}, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < n; i++) {{
      {body}
    }}
  }}
}}
"""
GREATEST = (
    "float most = -10000; for (int j = 0; j <= i; j++) if (a[i][j] > most) most = a[i][j]; float sum = 0; "
)
OF_TWO = "const float a[n][n], float y[n][n]"
SPELLINGS = {
    "in place, and zeros in one loop over all": (
        "float a[n][n]",
        GREATEST + "for (int j = 0; j <= i; j++) { a[i][j] = 1 / (1 + most - a[i][j]); sum += a[i][j]; } "
        "for (int j = 0; j < n; j++) a[i][j] = j <= i ? a[i][j] / sum : 0;",
    ),
    "zeros in a loop of their own": (
        OF_TWO,
        GREATEST + "for (int j = 0; j < i + 1; j++) { y[i][j] = 1 / (1 + most - a[i][j]); sum += y[i][j]; } "
        "for (int j = 0; j <= i; j++) y[i][j] /= sum; for (int j = i + 1; j < n; j++) y[i][j] = 0;",
    ),
    "the rest left as it is": (
        "float a[n][n]",
        GREATEST + "for (int j = 0; j <= i; j++) { a[i][j] = 1 / (1 + most - a[i][j]); sum += a[i][j]; } "
        "for (int j = 0; j <= i; j++) a[i][j] /= sum;",
    ),
    "the upper part, by conditions": (
        OF_TWO,
        "float most = -10000; for (int j = 0; j < n; j++) if (j >= i) most = fmaxf(most, a[i][j]); float sum = 0; "
        "for (int j = i; j < n; j++) { y[i][j] = 1 / (1 + most - a[i][j]); sum += y[i][j]; } "
        "for (int j = 0; j < n; j++) { if (j < i) y[i][j] = 0; else y[i][j] /= sum; }",
    ),
}


@pytest.mark.parametrize("name", quick_of(SPELLINGS, {"zeros in a loop of their own"}))
def test_rows_of_which_points_use_parts_stay_in_shared_memory(name: str, tmp_path: Path) -> None:
    arrays, body = SPELLINGS[name]
    source = ROWS.format(arrays=arrays, body=body)
    assert recipes_of(source)["resident rows"] is None
    assert recipes_of(source)["long rows"] is None
    named = [n for n in "ay" if f"{n}[" in arrays]
    runs = [{"n": n, "B": 3} for n in (0, 1, 17, 130)]
    run_all(source, {n: (("n", "n"), "f4") for n in named}, runs, tmp_path)
