"""Windows of a run-time size: kernels for some sizes, on the CPU against the serial C, and the others for the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.metafork.printer import print_expr
from tests.unit.schedule.tile_runs import compilation_of, numbers_of, run_all

LAYERS = """void f(int q, int p, int m, int n, int k, const float *in, const float *w, float *out,
       int B0, int B1, int B2)
{{
  meta_schedule block(B0, B1, B2) {{
    meta_for (int o = 0; o < q; o++)
      meta_for (int i = 0; i < m; i++)
        meta_for (int j = 0; j < n; j++) {{
          float s = 0;
          for (int c = 0; c < p; c++)
            {loops}
          out[(o*m + i)*n + j] = s;
        }}
  }}
}}
"""
WINDOW = (
    "for (int y = 0; y < k; y++) for (int x = 0; x < k; x++)"
    " s += in[(c*(m + k) + i + y)*(n + k) + j + x] * w[((o*p + c)*k + y)*k + x];"
)
ROW = "for (int x = 0; x < k; x++) s += in[(c*m + i)*(n + k) + j + x] * w[(o*p + c)*k + x];"
AROUND = (
    "for (int x = 0; x < k; x++) { int t = j + x - k / 2; t = t < 0 ? 0 : t >= n ? n - 1 : t;"
    " s += in[(c*m + i)*n + t] * w[(o*p + c)*k + x]; }"
)
BLOCK = {"B0": 2, "B1": 3, "B2": 4}


def _recipes(loops: str) -> dict[str, list[str]]:
    (region,) = compilation_of(LAYERS.format(loops=loops)).plan.functions[0].regions
    return {t.recipe: [print_expr(c) for c in t.tile.conditions] for t in region.tilings}


@pytest.mark.parametrize("loops", [WINDOW, ROW, AROUND])
def test_every_instance_computes_what_the_source_does(loops: str, tmp_path: Path) -> None:
    recipes = _recipes(loops)
    assert {"window product", "window product of 3", "window product of 5"} <= recipes.keys()
    assert "k == 3" in recipes["window product of 3"]
    arrays = {
        "in": (("p*(m+k)*(n+k)",), "f4"),
        "w": (("q*p*k*k",), "f4"),
        "out": (("q", "m", "n"), "f4"),
    }
    source = LAYERS.format(loops=loops)
    for size in (0, 1, 3, 4, 5):
        runs = [
            {"q": q, "p": p, "m": m, "n": n, "k": size, **BLOCK}
            for q, p, m, n in ((3, 9, 5, 34), (5, 1, 1, 1), (2, 0, 3, 4))
        ]
        refused = {number for number, _ in run_all(source, arrays, runs, tmp_path / str(size))}
        for known in (3, 5):
            numbers = {*numbers_of(source, f"window product of {known}")}
            assert numbers
            assert numbers <= refused if size != known else not numbers & refused


@pytest.mark.parametrize(
    "loops",
    [
        "for (int x = 0; x < k; x++) s += in[(c*k + x)*n + j] * w[(o*p + c)*k + x];",  # no window
        "for (int x = 0; x < k + 1; x++) s += in[c*(n + k) + j + x] * w[(o*p + c)*k + x];",  # no size of its own
        "for (int x = 0; x < p; x++) s += in[c*(n + p) + j + x] * w[(o*p + c)*p + x];",  # no loop around it
    ],
)
def test_other_loops_have_no_such_kernels(loops: str) -> None:
    assert not any(recipe.startswith("window product of") for recipe in _recipes(loops))
