"""Sums that several threads add up: on the CPU against the serial C, on numbers whose sums are exact."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from comprehensive.optimize.protocols import NotApplicable
from comprehensive.plan.interface import interface
from comprehensive.schedule.recipes.split_rows import SplitRows
from comprehensive.soundness.emulated import build
from comprehensive.strategies.tilings import tilings
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool
from comprehensive.verification import verify
from comprehensive.verification_report import to_text
from tests.examples import quick_of
from tests.unit.schedule.tile_runs import (
    compilation_of,
    numbers_of,
    run_all,
    sources_of,
    texts_of,
    warnings_of,
)

LINE = """void f(int m, int n, {parameters}, int B0)
{{
  int dim = (m + B0 - 1) / B0;
  meta_schedule {{
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B0; u++) {{
        int i = v * B0 + u;
        if (i < m) {{
          {body}
        }}
      }}
  }}
}}
"""
MATVEC = LINE.format(
    parameters="float a[m][n], float x[n], float y[m]",
    body="float s = 0.5f; for (int l = 0; l < n; l++) s += a[i][l] * x[l]; y[i] = s;",
)
RUNS = [
    {"m": m, "n": n, "parts0": 2, "B0": 3}
    for m, n in ((19, 2050), (8, 4100), (1, 1), (5, 0), (3, 3), (2, 9000), (9, 128))
]

CASES: dict[str, tuple[str, dict[str, tuple[tuple[int | str, ...], str]]]] = {
    "a product": (MATVEC, {"a": (("m", "n"), "f4"), "x": (("n",), "f4"), "y": (("m",), "f4")}),
    "several sums, one of them in place": (
        LINE.format(
            parameters="double a[m][n], int b[m][n], double y[m], int z[m]",
            body="double s = 0; int p = i; for (int l = 0; l < n; l++) { double d = a[i][l] - l; s -= d * d; "
            "p += b[i][l] * l; y[i] += a[i][l]; } z[i] = p; y[i] *= s + 1;",
        ),
        {"a": (("m", "n"), "f8"), "b": (("m", "n"), "i4"), "y": (("m",), "f8"), "z": (("m",), "i4")},
    ),
    "a column, and what is known before": (
        LINE.format(
            parameters="float a[m][n+3], float x[n][4], float w[m], float y[m]",
            body="float q = w[i]; float s = q; for (int l = 0; l < n; l++) s += q * a[i][l+3] * x[l][2]; y[i] = s;",
        ),
        {"a": (("m", "n+3"), "f4"), "x": (("n", 4), "f4"), "w": (("m",), "f4"), "y": (("m",), "f4")},
    ),
    "what is known before comes from the sum": (
        LINE.format(
            parameters="float a[m][n], int b[m][n], int parts0, float y[m], int z[m]",
            body="float parts = 2; float q = parts + 1; int r = 3; int k = r * 2; for (int l = 0; l < n; l++) { "
            "parts += q * a[i][l]; r += b[i][l] * (k + parts0); } y[i] = parts; z[i] = r;",
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "i4"), "y": (("m",), "f4"), "z": (("m",), "i4")},
    ),
    "the greatest, and what is true of all": (
        LINE.format(
            parameters="float a[m][n], int b[m][n], float y[m], int z[m]",
            body="float t = y[i]; int k = 6; int w = 1; for (int l = 0; l < n; l++) { if (a[i][l] > t) t = a[i][l]; "
            "k &= b[i][l]; w = w && b[i][l] < 100; z[i] = b[i][l] < z[i] ? b[i][l] : z[i]; } "
            "y[i] = t; z[i] += 10 * k + w;",
        ),
        {"a": (("m", "n"), "f4"), "b": (("m", "n"), "i4"), "y": (("m",), "f4"), "z": (("m",), "i4")},
    ),
    "a product of integers": (
        LINE.format(
            parameters="unsigned char a[m][n], unsigned y[m]",
            body="y[i] = 3; unsigned p = 1; for (int l = 0; l < n; l++) p *= 2 * a[i][l] + 1; y[i] += p;",
        ),
        {"a": (("m", "n"), "u1"), "y": (("m",), "u4")},
    ),
}


QUICK = ("a column, and what is known before",)


@pytest.mark.parametrize("name", quick_of(CASES, QUICK))
def test_every_instance_computes_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays = CASES[name]
    assert compilation_of(source, reassociate=True).reassociated
    # Resident rows are made for rows up to some length.
    refused = run_all(source, arrays, RUNS, tmp_path, reassociate=True)
    assert {number for number, _ in refused} <= set(numbers_of(source, reassociate=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    quick_of(
        ["s += 0.1f * a[i][l]", "s += a[i][l] / (x[l] * x[l] + 1)", "s *= 1 + 0.01f * a[i][l]"],
        {"s += a[i][l] / (x[l] * x[l] + 1)"},
    ),
)
def test_check_allows_for_rounding(step: str) -> None:
    source = LINE.format(
        parameters="float a[m][n], float x[n], float y[m]",
        body=f"float s = 1; for (int l = 0; l < n; l++) {step}; y[i] = s;",
    )
    compilation = compilation_of(source, reassociate=True)
    assert compilation.reassociated
    report = verify(compilation, points=4, run=True)
    assert report.holds, to_text(report)
    assert "within rounding" in to_text(report)


def test_header_and_manifest_say_so() -> None:
    for asked in (False, True):
        made = texts_of(MATVEC, reassociate=asked)
        assert ("in another order" in made["f.h"]) is asked
        tile = json.loads(made["f.json"])["functions"][0]["regions"][0]["tiles"][0]
        assert tile["reassociated"] is asked


def test_without_being_asked_sums_keep_their_order() -> None:
    assert not compilation_of(MATVEC).reassociated


def test_the_order_is_another_one_and_always_the_same(tmp_path: Path) -> None:
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        pytest.skip("no C or no C++ compiler on this machine")
    compilation = compilation_of(MATVEC, reassociate=True)
    built = build(compilation, sources_of(MATVEC, reassociate=True), tmp_path / "work", c=c, cxx=cxx)
    (plan,) = compilation.plan.functions
    host = interface(plan)
    assert host.tile is not None
    m, n = 7, 5000
    random = np.random.default_rng(3)
    a, x = random.standard_normal((m, n)).astype("f4"), random.standard_normal(n).astype("f4")
    results = []
    for backwards in (False, True):
        y = np.zeros(m, "f4")
        data = {"m": m, "n": n, "a": a, "x": x, "y": y}
        chosen = {"B0": 3, host.tile: 1}
        assert built.kernels.call("f", data, chosen, backwards=backwards).status == 0
        results.append(y)
    serial = np.zeros(m, "f4")
    built.serial.call("f", {"m": m, "n": n, "a": a, "x": x, "y": serial, "B0": 3})
    exact = a.astype("f8") @ x.astype("f8") + 0.5
    bound = n * 2.0**-24 * (np.abs(a).astype("f8") @ np.abs(x).astype("f8") + 0.5)
    assert (results[0] == results[1]).all()
    assert (results[0] != serial).any()
    assert (np.abs(results[0] - exact) <= bound).all()
    assert np.abs(results[0] - exact).max() < np.abs(serial - exact).max()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("float s = 0; for (int l = 0; l < n; l++) s = 0.5f * s + a[i][l]; y[i] = s;", "more than to put"),
        ("float s = 0; for (int l = 0; l < n; l++) s += a[i][l] * s; y[i] = s;", "more than to put"),
        (
            "float s = 1; for (int l = 0; l < n; l++) { s += a[i][l]; s *= 2; } y[i] = s;",
            "in two ways, '+' and '*'",
        ),
        ("int s = 0; for (int l = 0; l < n; l++) s += a[i][l]; y[i] = s;", "rounds 's' to an integer"),
        (
            "y[i] = 2; float q = y[i]; float s = 0; for (int l = 0; l < n; l++) s += a[i][l]; y[i] = q * s;",
            "stored and read before the loop",
        ),
        ("float s = 0; for (int l = 0; l < n; l++) s += b[l][i]; y[i] = s;", "neighbours of 'b'"),
    ],
)
def test_what_is_more_than_a_sum_says_why(body: str, reason: str) -> None:
    source = LINE.format(parameters="float a[m][n], float b[n][m], float y[m]", body=body)
    compilation = compilation_of(source, reassociate=True)
    tiled = tilings(compilation.nests[0])[0].result
    assert not isinstance(tiled, NotApplicable)
    assert tiled.fragment.tile is not None
    found = SplitRows().fit(tiled.fragment.nest, tiled.fragment.tile)
    assert isinstance(found, NotApplicable)
    assert reason in found.reason
    assert not compilation.reassociated


@pytest.mark.toolchain
@pytest.mark.parametrize("name", quick_of(CASES, QUICK))
def test_nvcc_compiles_them_without_a_warning(name: str, tmp_path: Path, nvcc: Tool) -> None:
    assert warnings_of(CASES[name][0], tmp_path, nvcc, reassociate=True) == ()
