"""Nests however they are written: their tiles are those of the normal form, and equal the serial C."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from comprehensive.driver import tree_of_tiles
from comprehensive.generate import source_texts
from comprehensive.loops.ir import Nest, Role, Variant
from comprehensive.loops.normalize import normalize
from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.printer import print_expr
from comprehensive.optimize.tree import Tree
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import FunctionPlan
from comprehensive.runtime.cpu import Outcome
from comprehensive.runtime.guarded import Edge, GuardedProcess
from comprehensive.soundness.difference import first_difference
from comprehensive.soundness.emulated import Executables, build
from comprehensive.strategies.tilings import tilings
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.compiled_specs import OPTIONS
from tests.examples import quick_of
from tests.laws.nests import nests_of
from tests.specs.disagreement import disagreement
from tests.specs.test_tiles import is_for_short_rows, with_sizes
from tests.unit.schedule.tile_runs import compilation_of

SOURCE = """
void product(int m, int n, int p, int lda, int ldc, const float *a, const float *b, float *c, int B0, int B1)
{
  assert(n <= ldc);
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < p; k++)
          s += a[i*lda + k] * b[(long)k*n + j];
        c[i*ldc + j] = s;
      }
  }
}
void squared(int n, int p, const float *a, float *c, int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < n; i++)
      meta_for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < p; k++)
          s += a[i*p + k] * a[j*p + k];
        c[i*n + j] = s;
      }
  }
}
void planes(int h, int w, const float *x, float *y, int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int j = 0; j < h; j++)
      meta_for (int k = 0; k < w; k++)
        for (int c = 0; c < 3; c++)
          y[(c*h + j)*w + k] = x[(j*w + k)*3 + c] + x[j*w*3 + w - 1 - k];
  }
}
void batched(int l, int m, int n, int p, const float *a, const float *b, float *c, int B0, int B1, int B2)
{
  meta_schedule block(B0, B1, B2) {
    meta_for (int z = 0; z < l; z++)
      meta_for (int i = 0; i < m; i++)
        meta_for (int j = 0; j < n; j++) {
          float s = 0;
          for (int k = 0; k < p; k++)
            s += a[(z*m + i)*p + k] * b[(z*p + k)*n + j];
          c[(z*m + i)*n + j] = s;
        }
  }
}
void many(int l, int m, int n, const float a[l][m][n], const float x[l][n], float y[l][m], int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int z = 0; z < l; z++)
      meta_for (int i = 0; i < m; i++) {
        float s = 0;
        for (int k = 0; k < n; k++)
          s += a[z][i][k] * x[z][k];
        y[z][i] = s;
      }
  }
}
void pull(int n, const float *x, const float *w, float *f, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      float fx = 0.0f, fw = 0.0f;
      for (int j = 0; j < n; j++) {
        float d = x[j] - x[i];
        fx += w[j] * d;
        if (d > fw)
          fw = d;
      }
      f[2 * i] = fx;
      f[2 * i + 1] = fw;
    }
  }
}
void border(int h, int w, const float a[h][w], float b[h][w], int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < h; i++)
      meta_for (int j = 0; j < w; j++) {
        if (i == 0 || j == 0 || j == w - 1)
          b[i][j] = a[i][j];
        else
          b[i][j] = 0.25 * (a[i][j] + a[i - 1][j] + a[i][j - 1] + a[i][j + 1]);
      }
  }
}
void greatest(int m, int n, const float *a, int *at, float *best, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      float most = -1000.0f;
      int where = -1;
      for (int k = 0; k < n; k++)
        if (a[i*n + k] > most) {
          most = a[i*n + k];
          where = k;
        }
      at[i] = where;
      best[i] = most;
    }
  }
}
void rows(int m, int n, const float *a, const float *x, float *y, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < m; i++) {
      float s = 0;
      for (int k = 0; k < n; k++)
        s += a[i*n + k] * x[k];
      y[i] = s;
    }
  }
}
"""
Ran = tuple[Outcome, Mapping[str, Any]]
"""The answer of a launch, and the arrays behind it."""
# By function: the views of each array with their dimensions and references, and what a launch has to meet.
VIEWS: dict[str, tuple[list[str], list[str]]] = {
    "product": (["a[][lda]", "b[][n]", "c[][ldc]"], ["n <= ldc"]),
    "squared": (["a[][p]", "a_2[][p]", "c[][n]"], []),
    "planes": (["x[][3 * w]", "x_2[][3 * w]", "y[][h][w]"], []),
    "batched": (["a[][m][p]", "b[][p][n]", "c[][m][n]"], []),
    "many": (["a[l][m][n]", "x[l][n]", "y[l][m]"], []),
    "pull": (["x", "x_2", "w", "f[][2]"], []),
    "border": (["a[h][w]", "b[h][w]"], []),
    "greatest": (["a[][n]", "at", "best"], []),
    "rows": (["a[][n]", "x", "y"], []),
}
SIZES: dict[str, list[dict[str, int]]] = {
    "product": [
        {"m": 131, "n": 70, "p": 29, "lda": 32, "ldc": 77, "B0": 3, "B1": 8},
        {"m": 5, "n": 132, "p": 40, "lda": 40, "ldc": 132, "B0": 3, "B1": 8},
    ],
    "squared": [{"n": 67, "p": 31, "B0": 4, "B1": 4}, {"n": 130, "p": 8, "B0": 4, "B1": 4}],
    "planes": [{"h": 21, "w": 37, "B0": 4, "B1": 4}, {"h": 16, "w": 64, "B0": 4, "B1": 4}],
    "batched": [
        {"l": 3, "m": 33, "n": 38, "p": 21, "B0": 1, "B1": 4, "B2": 8},
        {"l": 2, "m": 66, "n": 20, "p": 8, "B0": 2, "B1": 3, "B2": 4},
    ],
    "many": [{"l": 3, "m": 70, "n": 67, "B0": 2, "B1": 8}, {"l": 2, "m": 33, "n": 128, "B0": 1, "B1": 32}],
    "pull": [{"n": 133, "B": 8}, {"n": 64, "B": 32}],
    "border": [{"h": 19, "w": 67, "B0": 2, "B1": 8}, {"h": 8, "w": 256, "B0": 2, "B1": 8}],
    "greatest": [{"m": 67, "n": 130, "B": 8}, {"m": 32, "n": 64, "B": 32}],
    "rows": [{"m": 130, "n": 67, "B": 32}, {"m": 7, "n": 256, "B": 32}],
}


def elements(function: str, array: str, n: Mapping[str, int]) -> int:
    """Return the number of elements that the function touches behind a pointer: rows at the end are not whole."""
    match function, array:
        case "product", "a":
            return (n["m"] - 1) * n["lda"] + n["p"]
        case "product", "b":
            return n["p"] * n["n"]
        case "product", _:
            return (n["m"] - 1) * n["ldc"] + n["n"]
        case "squared", "a":
            return n["n"] * n["p"]
        case "squared", _:
            return n["n"] ** 2
        case "planes", _:
            return 3 * n["h"] * n["w"]
        case "pull", _:
            return n["n"] * (2 if array == "f" else 1)
        case "border", _:
            return n["h"] * n["w"]
        case "greatest", "at" | "best":
            return n["m"]
        case "batched", _:
            return n["l"] * prod(n[name] for name in {"a": "mp", "b": "pn", "c": "mn"}[array])
        case "many", _:
            return n["l"] * prod(n[name] for name in {"a": "mn", "x": "n", "y": "m"}[array])
        case _, "a":
            return n["m"] * n["n"]
        case _:
            return n["n" if array == "x" else "m"]


def source_of(function: str) -> str:
    """The text of one function, as a program."""
    found = re.search(rf"^void {function}\(.*?^}}\n", SOURCE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return f"#include <assert.h>\n{found[0]}"


@cache
def over_tiles(function: str) -> tuple[Nest, Variant]:
    """The nest of the region as it is written, and over tiles by the first recipe that fits."""
    (nest,) = map(normalize, nests_of(source_of(function)))
    trees = (tree_of_tiles(tiling.result, OPTIONS) for tiling in tilings(nest))
    return nest, next(tree for tree in trees if isinstance(tree, Tree)).leaves[0].fragment


@pytest.mark.parametrize("function", VIEWS)
def test_rows_are_found_from_the_coefficients(function: str) -> None:
    _, variant = over_tiles(function)
    assert variant.tile is not None
    views = [
        a.name + "".join("[]" if d is None else f"[{print_expr(d)}]" for d in a.dims or ())
        for a in variant.nest.arrays
    ]
    assert (views, [print_expr(c) for c in variant.tile.conditions]) == VIEWS[function]


@pytest.mark.parametrize("function", VIEWS)
def test_the_nest_over_views_does_what_the_source_does(function: str) -> None:
    random = Random(3)
    nest, variant = over_tiles(function)
    constants = [s.name for s in variant.nest.with_role(Role.TILE)]
    for step in range(6):
        values = {name: random.choice((1, 2, 3, 5, 8)) for name in SIZES[function][0]}
        values |= {
            name: values[least] + step % 2 for name, least in (("lda", "p"), ("ldc", "n")) if name in values
        }
        data = {a.name: some(a.type, elements(function, a.name, values), step) for a in nest.arrays}
        sizes = {name: random.choice((1, 2, 3, 4)) for name in constants}
        assert disagreement(nest, with_sizes(variant, sizes), values, data, step) is None


def built(function: str, work: Path, *, sanitize: bool = False) -> tuple[FunctionPlan, Executables]:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    compilation = compilation_of(source_of(function))
    (plan,) = compilation.plan.functions
    return plan, build(compilation, source_texts(compilation.plan), work, c=c, cxx=cxx, sanitize=sanitize)


@pytest.mark.parametrize("function", quick_of(VIEWS, {"product", "pull"}))
def test_tiles_over_views_equal_the_serial_c_and_touch_their_arrays_only(
    function: str, tmp_path: Path
) -> None:
    plan, executables = built(function, tmp_path)
    with GuardedProcess(executables.guards) as process:

        def launch(arguments: Mapping[str, Any], program: Mapping[str, int], tile: int) -> Ran:
            edge, backwards = (Edge.BEGIN if tile % 3 == 1 else Edge.END), tile % 2 == 1
            kernels = executables.kernels
            ran = process.kernels(kernels, function, arguments, program, edge=edge, backwards=backwards)
            assert ran.faults == ()
            return ran.outcome, ran.arrays

        compare(plan, executables, SIZES[function], launch)


@pytest.mark.slow
@pytest.mark.parametrize("function", VIEWS)
def test_no_sanitizer_stops_tiles_over_views(function: str, tmp_path: Path) -> None:
    plan, executables = built(function, tmp_path, sanitize=True)

    def launch(arguments: Mapping[str, Any], program: Mapping[str, int], tile: int) -> Ran:
        actual = {name: v.copy() if isinstance(v, np.ndarray) else v for name, v in arguments.items()}
        return executables.kernels.call(function, actual, program, backwards=tile % 2 == 1), actual

    compare(plan, executables, SIZES[function][-1:], launch)


def compare(
    plan: FunctionPlan,
    executables: Executables,
    runs: Sequence[Mapping[str, int]],
    launch: Callable[[Mapping[str, Any], Mapping[str, int], int], Ran],
) -> None:
    """Launches every tile at all sizes and compares what it leaves with the serial C."""
    function, host, (region,) = plan.function.name, interface(plan), plan.regions
    assert host.tile is not None
    for sizes, tile in product(runs, range(1, region.tile_of(region.numbers[-1]) + 1)):
        data = {
            p.name: some(p.type, elements(function, p.name, sizes), 5)
            for p in plan.function.parameters
            if p.is_data
        }
        expected = {name: values.copy() for name, values in data.items()}
        executables.serial.call(function, {**sizes, **expected})
        program = {a.name: sizes[a.name] for a in host.program} | {host.tile: tile}
        others = {a.name: sizes[a.name] for a in host.arguments if not a.pointer}
        outcome, actual = launch({**others, **data}, program, tile)
        number = region.numbers[len(region.leaves) + tile - 1]
        if outcome.status == 1 and is_for_short_rows(region, number):
            continue
        assert outcome.status == 0, outcome
        assert outcome.leaf == number
        found = {name: actual[name] for name in expected}
        assert first_difference(expected, found) is None, f"tile {tile} at {sizes}"


def some(type: ScalarType, size: int, seed: int) -> Any:
    return (np.random.RandomState(seed).randint(-10_000, 10_000, size) * 0.00037).astype(type.numpy_name)
