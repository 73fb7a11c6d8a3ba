"""Unflatten: a parallel loop over all elements of a plane, on the CPU against the serial C, and in tiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.schedule.tile_runs import recipes_of, run_all, sources_of

PROGRAM = """void f(int m, int n, int p, const float *a, const float *b, float *c, int B)
{{
  meta_schedule block(B) {{
    meta_for ({type} t = 0; t < {limit}; t++) {{
      {body}
    }}
  }}
}}
"""
PRODUCT = (
    "int i = t / n, j = t % n; float s = 0; "
    "for (int k = 0; k < p; k++) s += a[i * p + k] * b[k * n + j]; c[t] = s;"
)
ARRAYS = {"a": (("m*n*p + m*p",), "f4"), "b": (("n*p + 1",), "f4"), "c": (("m*n*p + 1",), "f4")}
RUNS = [{"m": m, "n": n, "p": p, "B": 3} for m, n, p in ((17, 13, 21), (5, 1, 3), (4, 9, 2), (3, 70, 1))]


@pytest.mark.parametrize(
    ("limit", "body", "recipe"),
    [
        ("m * n", PRODUCT, "product"),
        ("m * n", "int i = t / n; int j = t - i * n; c[j * m + i] = a[t];", "transposition"),
        (
            "p * m * n",
            "int q = t / (m * n), i = t / n % m, j = t % n; c[(q * n + j) * m + i] = a[t] + (i > 0 ? a[t - n] : 2);",
            "transposition",
        ),
        (  # a divisor that a point computes
            "m * n",
            "float s = t / n; for (int k = 1; k < 4; k++) s += a[t % (n * k)] + t % (n * k); c[t] = s;",
            "points",
        ),
        ("n * 96", "c[t] = a[t / 96] * b[t % 96 / 96];", "points"),
    ],
)
def test_a_plane_of_elements_has_two_coordinates(limit: str, body: str, recipe: str, tmp_path: Path) -> None:
    source = PROGRAM.format(type="int", limit=limit, body=body)
    assert recipes_of(source)[recipe] is None
    arrays = ARRAYS | ({"c": (("n*96",), "f4")} if "96" in limit else {})
    run_all(source, arrays, RUNS, tmp_path)


def test_an_iterator_of_another_type_is_taken_apart_too() -> None:
    source = PROGRAM.format(type="long", limit="(long)m * n", body=PRODUCT)
    assert recipes_of(source)["product"] is None
    # The number of a point is put together again in int.
    assert "cf_le(cf_mul(m, n), 2147418112)" in sources_of(source)["f.h"]


@pytest.mark.parametrize("limit", ["m", "m * n - 1"])
def test_an_extent_that_is_not_whole_rows_stays_one_coordinate(limit: str) -> None:
    assert "product" not in recipes_of(PROGRAM.format(type="int", limit=limit, body=PRODUCT))
