"""Reads of all points before the first computes: which values have them, and that results stay those of the C code."""

from __future__ import annotations

from pathlib import Path

import pytest

import comprehensive

PROGRAM = """void f(int n, const float x[n + 1], const float w[n], const int at[n], float y[n], int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < n; i++)
      y[i] = {value};
  }}
}}
"""


def tile_of(value: str) -> str:
    source = comprehensive.compile(PROGRAM.format(value=value), registers="estimate").cuda
    return source[source.index("f_tile(") : source.index("f_tile_run")]


@pytest.mark.parametrize(
    ("value", "reads"),
    [
        ("x[i] / w[i]", ["read_x[r0] = cf_opaque(x[i]);", "read_w[r0] = cf_opaque(w[i]);"]),
        ("sqrtf(x[i]) + x[i]", ["read_x[r0] = cf_opaque(x[i]);"]),
        # What is looked up is read with the number that it is looked up by.
        ("1.0f / x[at[i]]", ["read_x[r0] = cf_opaque(x[at[i]]);"]),
        ("x[i] / x[i + 1]", ["read_x[0][r0] = cf_opaque(x[i]);", "read_x[1][r0] = cf_opaque(x[i + 1]);"]),
    ],
)
def test_what_a_slow_operation_needs_is_read_for_all_points_first(value: str, reads: list[str]) -> None:
    tile = tile_of(value)
    for read in reads:
        assert read in tile
    assert tile.index(reads[-1]) < tile.index("value[r0] = ")


@pytest.mark.parametrize("value", ["x[i] + w[i]", "fmaxf(x[i], w[i])", "x[i / 2]"])
def test_what_the_compiler_moves_by_itself_is_left_alone(value: str) -> None:
    assert "read_" not in tile_of(value)


def test_only_what_every_point_reads_is_read_first() -> None:
    tile = tile_of("x[i] > 0.0f ? w[i] / x[i] : 0.0f")
    assert "read_x[r0] = cf_opaque(x[i]);" in tile
    assert "read_w" not in tile


@pytest.mark.parametrize("n", [1, 1023, 4099])
def test_results_are_those_of_the_serial_c(n: int, tmp_path: Path) -> None:
    import numpy as np

    program = comprehensive.compile(
        PROGRAM.format(value="x[at[i]] / (1.0f + expf(-w[i]))"), registers="estimate"
    )
    rng = np.random.default_rng(n)
    x, w = (rng.standard_normal(count).astype(np.float32) for count in (n + 1, n))
    at = rng.integers(0, n, n, dtype=np.int32)
    run = program.load(device="cpu")
    results = []
    for tile in (0, 1, 2):
        y = np.zeros(n, np.float32)
        run.f(n, x, w, at, y, B=32, tile=tile)
        results.append(y)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
