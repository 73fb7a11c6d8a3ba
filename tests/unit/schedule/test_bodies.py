"""Sums over all others of a set of bodies, however these are stored, on the CPU against the serial C, and in tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import recipes_of, run_all

BODIES = """void f(int n, {parameters}, float a[n], float b[n], int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < n; i++) {{
      {body}
    }}
  }}
}}
"""
APART = "const float x[n], const float y[n], const float m[n]"
LOOP = "float s = 0, t = 0; for (int j = 0; j < n; j++) {{ {0} }} a[i] = s; b[i] = t;"
FORCE = "float f = m[j] / (u * u + v * v + 0.5f); s += f * u; t += f * v;"
SPELLINGS = {
    "an array for each member": (APART, LOOP.format(f"float u = x[j] - x[i], v = y[j] - y[i]; {FORCE}")),
    "without the body itself": (
        APART,
        LOOP.format(f"if (j == i) continue; float u = x[j] - x[i], v = y[j] - y[i]; {FORCE}"),
    ),
    "where it is another one": (
        APART,
        LOOP.format(f"if (j != i) {{ float u = x[j] - x[i]; float v = y[j] - y[i]; {FORCE} }}"),
    ),
    "members beside each other": (
        "const float p[n][3]",
        LOOP.format(
            f"float u = p[j][0] - p[i][0], v = p[j][1] - p[i][1]; {FORCE}".replace("m[j]", "p[j][2]")
        ),
    ),
    "sums in a small array": (
        "const float p[n][2], const float m[n]",
        "float s[2] = {0, 0}; for (int j = 0; j < n; j++) { float d[2], r = 0.5f;"
        "for (int c = 0; c < 2; c++) { d[c] = p[j][c] - p[i][c]; r += d[c] * d[c]; }"
        "for (int c = 0; c < 2; c++) s[c] += m[j] / r * d[c]; } a[i] = s[0]; b[i] = s[1];",
    ),
}
SHAPES = {"x": ("n",), "y": ("n",), "m": ("n",), "a": ("n",), "b": ("n",)}


@pytest.mark.parametrize("name", SPELLINGS)
def test_sums_over_bodies_are_rows_in_every_spelling(name: str, tmp_path: Path) -> None:
    parameters, body = SPELLINGS[name]
    source = BODIES.format(parameters=parameters, body=body)
    assert recipes_of(source)["rows"] is None
    shapes = SHAPES | {"p": ("n", 3 if "p[n][3]" in parameters else 2)}
    arrays = {a: (s, "f4") for a, s in shapes.items() if f"float {a}[" in parameters or a in "ab"}
    run_all(source, arrays, [{"n": n, "B": 3} for n in (67, 5, 0)], tmp_path)


def test_an_element_that_may_not_be_there_is_not_read_first(tmp_path: Path) -> None:
    body = LOOP.format("if (j != i) s += x[j] - x[i + 1]; t += y[j];")
    source = BODIES.format(parameters="const float *x, const float *y", body=body)
    assert recipes_of(source).get("rows", "") is not None
    arrays = {"x": (("n + 1",), "f4"), "y": (("n",), "f4"), "a": (("n",), "f4"), "b": (("n",), "f4")}
    run_all(source, arrays, [{"n": 9, "B": 3}], tmp_path)
