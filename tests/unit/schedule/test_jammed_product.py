"""Turns of a loop around others that are done together: on the CPU against the serial C, and loops that are left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import numbers_of, recipes_of, run_all

POINTS = """void f(int m, int n, int d, const float *x, const float *y, const float *w, float *out, int *at, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < m; i++) {{
      float best = 1.0e30f;
      int nearest = -1;
      for (int c = 0; c < n; c++) {{
        {turn}
      }}
      at[i] = nearest;
      out[(n + 1)*i + n] = best;
    }}
  }}
}}
"""
DISTANCE = "float s = 0; for (int j = 0; j < d; j++) {{ float t = x[i*d + j] - y[c*d + j]; s += {term}; }}"
SQUARES = DISTANCE.format(term="t * t")
TURNS = {
    "nearest": f"{SQUARES} if (s < best) {{ best = s; nearest = c; }}",
    "in each other": (
        "float s = w[c]; for (int h = 0; h < d; h++) { float t = y[c*d + h];"
        " for (int j = 0; j < d; j++) s += x[i*d + j] * t; } best += s;"
    ),
}
LEFT = {
    "of constant steps": (
        "for (int h = 0; h < 3; h++) {"
        " float s = 0; for (int j = 0; j < d; j++) s += x[i*d + j] * y[c*d + j + h]; best += s; }"
    ),
    "stored": f"float u = w[c]; {SQUARES} s += u; out[(n + 1)*i + c] = s; best = s < best ? s : best;",
    "read again": f"float t0 = best; {SQUARES} best = s + t0;",
    "carried": "for (int j = 0; j < d; j++) best += x[i*d + j] * y[c*d + j]; nearest++;",
    "left": f"{SQUARES} if (s < best) {{ best = s; nearest = c; break; }}",
    "longer": "float s = 0; for (int j = 0; j < c; j++) s += x[i*d + j] * y[c*d + j]; best += s;",
    "stored before": (
        "float s = 0; for (int j = 0; j < d; j++) { out[(n + 1)*i + j] = s; s += x[i*d + j] * y[c*d + j]; }"
        " best += s;"
    ),
}
ARRAYS = {
    "x": (("m*d + 1",), "f4"),
    "y": (("n*d + 1",), "f4"),
    "w": (("n",), "f4"),
    "out": (("m*(n + 1)",), "f4"),
    "at": (("m",), "i4"),
}


@pytest.mark.parametrize("name", TURNS)
def test_turns_done_together_compute_what_the_source_does(name: str, tmp_path: Path) -> None:
    source = POINTS.format(turn=TURNS[name])
    numbers = {n for turns in (8, 16) for n in numbers_of(source, f"jammed product of {turns}")}
    assert numbers, recipes_of(source)
    runs = [
        {"m": m, "n": n, "d": d, "B": 4}
        for m, n, d in ((5, 33, 9), (300, 16, 4), (1, 1, 1), (3, 0, 5), (2, 7, 0), (257, 15, 34))
    ]
    refused = {number for number, _ in run_all(source, ARRAYS, runs, tmp_path, backwards=(False, True))}
    assert not numbers & refused


@pytest.mark.parametrize("name", LEFT)
def test_other_loops_are_left(name: str) -> None:
    source = POINTS.format(turn=LEFT[name])
    assert not numbers_of(source, "jammed product of 8")


def test_points_of_two_coordinates_are_a_batch_of_those_along_one(tmp_path: Path) -> None:
    source = """void f(int m, int n, int d, float x[d][m][n], float y[d][n + n], float out[m][n], int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {
        float s = 1;
        for (int c = 0; c < d; c++) {
          float t = 0;
          for (int l = 0; l < n; l++) { float u = x[c][i][l] - y[c][j + l]; t += u * u; }
          s += t * c;
        }
        out[i][j] = s;
      }
  }
}
"""
    assert numbers_of(source, "jammed product of 8")
    arrays: dict[str, tuple[tuple[int | str, ...], str]] = {
        "x": (("d", "m", "n"), "f4"),
        "y": (("d", "n + n"), "f4"),
        "out": (("m", "n"), "f4"),
    }
    run_all(
        source, arrays, [{"m": 3, "n": n, "d": d, "B0": 1, "B1": 5} for n, d in ((70, 9), (13, 17))], tmp_path
    )
