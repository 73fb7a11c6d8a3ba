"""Loops that the whole device shares, run on the CPU against the serial C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.loops.ir import Role
from comprehensive.plan.interface import interface
from comprehensive.soundness.emulated import build
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.examples import quick_of

PROGRAM = """#include <math.h>
void f(int n, int m, const float *x, const int *k, const float a[n][m], float *y, float *r, int *t)
{
  float sum = 1.5f, most = -3, least = 100;
  int total = 3, common = 255, some = 0, odd = 7, all = 5, any = 0, top = -2000000000;
  unsigned product = 3;
  double norm = 0;
#pragma omp parallel for reduction(+: sum) reduction(max: most) reduction(min: least)
  for (int i = 0; i < n; i++) {
    y[i] = 2 * x[i];
    sum += y[i];
    if (x[i] > most) most = x[i];
    least = fminf(least, x[i]);
  }
  r[0] = sum;
  r[1] = most - 1;
  r[2] = least;
#pragma omp parallel for reduction(+: total) reduction(&: common) reduction(|: some) reduction(^: odd) \\
    reduction(&&: all) reduction(||: any) reduction(*: product) reduction(max: top)
  for (int i = n - 1; i >= 0; i -= 3) {
    int v = k[i];
    total -= 9 * v;
    common &= v;
    some |= v;
    odd = odd ^ v;
    all = all && v > 0;
    any = any || v < -90;
    product *= v;
    if (v >= top) { top = v; }
  }
  t[0] = total; t[1] = common; t[2] = some; t[3] = odd; t[4] = all; t[5] = any; t[6] = product; t[7] = top;
#pragma omp parallel for reduction(+: norm)
  for (int i = 0; i < n; i++)
    for (int j = i; j < m; j++)
      norm += a[i][j] * a[i][j];
  r[3] = sqrt(norm);
}
"""


class Built:
    def __init__(self, text: str, folder: Path, *, reassociate: bool = False) -> None:
        c, cxx = find_c_compiler(), find_cxx_compiler()
        if c is None or cxx is None:
            pytest.skip("no C or no C++ compiler on this machine")
        source = folder / ("f.mf" if reassociate else "f.c")
        source.write_text(text, encoding="utf-8")
        options = Options(
            registers="estimate", pragma=None if reassociate else "auto", reassociate=reassociate
        )
        self.compilation: Compilation = compile_file(source, options)
        self.built = build(
            self.compilation, outputs(self.compilation), folder / "work", c=c, cxx=cxx, sanitize=True
        )
        (plan,) = self.compilation.plan.functions
        self.host = interface(plan)

    def serial(self, data: dict[str, Any]) -> None:
        ones = {p.name: 1 for p in self.compilation.program.functions[0].parameters if p.added}
        self.built.serial.call("f", {**data, **ones})

    def launch(
        self, data: dict[str, Any], chosen: dict[str, int] | None = None, *, backwards: bool = False
    ) -> None:
        assert self.built.kernels.call("f", data, chosen, backwards=backwards).status == 0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(PROGRAM, tmp_path_factory.mktemp("split"))


def _data(n: int, m: int) -> dict[str, Any]:
    draw = np.random.default_rng(n * 1000 + m)
    return {
        "n": n,
        "m": m,
        "x": (draw.integers(-400, 400, n) / 8).astype("f4"),
        "k": draw.integers(-99, 99, n).astype("i4"),
        "a": (draw.integers(-8, 8, (n, m)) / 4).astype("f4"),
        "y": np.zeros(n, "f4"),
        "r": np.zeros(4, "f4"),
        "t": np.zeros(8, "i4"),
    }


@pytest.mark.parametrize(
    ("n", "m"),
    quick_of(
        [(0, 3), (1, 1), (2, 40), (3, 2), (17, 5), (100, 33), (1000, 7), (4097, 1)],
        {(0, 3), (1, 1), (2, 40), (17, 5), (1000, 7)},
    ),
)
@pytest.mark.parametrize("backwards", [False, True])
def test_every_size_gives_what_the_serial_program_does(n: int, m: int, backwards: bool, built: Built) -> None:
    """Values and sums of these are exact in single precision, so that no order changes them."""
    expected = _data(n, m)
    built.serial(expected)
    assert built.host.tile is not None
    for tile in (0, -1, 1):
        chosen = {**{a.name: 3 for a in built.host.program}, built.host.tile: tile}
        found = _data(n, m)
        built.launch(found, chosen, backwards=backwards)
        for name in ("y", "r", "t"):
            np.testing.assert_array_equal(found[name], expected[name])


def test_the_result_is_the_same_to_the_bit_in_every_run(built: Built) -> None:
    results: list[Any] = []
    for backwards in (False, True):
        data = _data(5000, 3)
        data["x"] = np.random.default_rng(1).standard_normal(5000).astype("f4")
        built.launch(data, backwards=backwards)
        results.append(data["r"])
    np.testing.assert_array_equal(results[0], results[1])


def test_the_caller_passes_what_the_function_has(built: Built) -> None:
    assert [a.name for a in built.host.arguments] == ["n", "m", "x", "k", "a", "y", "r", "t"]
    assert {a.name for a in built.host.program} <= {"B0", "B1"}
    (function,) = built.compilation.program.functions
    assert {p.name for p in function.memory} >= {"parts_of_float", "parts_of_int", "parts_of_double"}


@pytest.mark.slow
def test_a_loop_of_the_host_may_be_around(tmp_path: Path) -> None:
    text = """void f(int n, int T, const double *x, double *r)
{
  for (int t = 0; t < T; t++) {
    double s = 0;
#pragma acc parallel loop reduction(+: s)
    for (int i = t; i < n; i++)
      s += x[i];
    r[t] = s;
  }
}
"""
    made = Built(text, tmp_path)
    x = np.arange(50.0)
    expected, found = np.zeros(7), np.zeros(7)
    made.serial({"n": 50, "T": 7, "x": x, "r": expected})
    made.launch({"n": 50, "T": 7, "x": x, "r": found})
    np.testing.assert_array_equal(found, expected)


POINT = """void f(int n, const float *x, const int a[n][3], float *r, int *h, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 2; i < 3; i++) {
      int k;
      r[0] = 2;
      for (k = 1; k < n; k++) {
        r[i] += x[k - 1] * i;
        h[i] |= k;
      }
      r[1] = 5;
    }
  }
  meta_schedule {
    meta_for (int i = 3; i <= 3; i += 1)
      meta_for (int j = 0; j < 1; j++) {
        for (int p = 0; p < n; p++)
          for (int q = 0; q < 3; q++)
            h[i] = a[p][q] < h[i] ? a[p][q] : h[i];
        h[0] = 7;
      }
  }
}
"""


@pytest.mark.slow
def test_points_that_are_alone_are_shared_where_any_order_will_do(tmp_path: Path) -> None:
    """Also elements that a loop updates; one that a loop without iterations never touches need not be there."""
    made = Built(POINT, tmp_path, reassociate=True)
    assert len(made.compilation.nests) == 4
    for n in (0, 1, 2, 30, 1001):
        draw = np.random.default_rng(n)
        x, a = draw.integers(-9, 9, n).astype("f4"), draw.integers(-99, 99, (n, 3)).astype("i4")
        elements = 4 if n else 2  # without iterations nothing touches r[2], h[2] and h[3]
        results: list[Any] = []
        for run in (made.serial, made.launch):
            r, h = np.full(elements, 3, "f4"), np.full(elements, 64, "i4")
            chosen: dict[str, Any] = {"B": 1} if run == made.serial else {}
            run({"n": n, "x": x, "a": a, "r": r, "h": h, **chosen})
            results.append((r, h))
        for found, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_a_loop_over_a_plane_behind_a_pointer_may_be_empty(tmp_path: Path) -> None:
    """The parts of the inner loop depend on the outer one's size, which is chosen to be at least 1."""
    text = """void f(int n, int m, const int *a, int *r, int B)
{
  int s = 3;
#pragma omp parallel for reduction(+: s)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s += a[i * m + j];
  *r = s;
}
"""
    path = tmp_path / "f.c"
    path.write_text(text, encoding="utf-8")
    (first, *_) = compile_file(path, Options(registers="estimate", pragma="omp")).nests
    assert {s.name for s in first.with_role(Role.PROGRAM)}.isdisjoint({"n", "m"})
