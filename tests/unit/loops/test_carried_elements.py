"""Elements that a loop has stored in the turn before are scalars, where it computes the same to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from comprehensive.loops.interpreter import run
from comprehensive.loops.normalize import normalize
from comprehensive.loops.verify import verify
from comprehensive.metafork.printer import print_stmts
from tests.unit.loops.nests import nest_of

ROWS = "meta_for (int v = 0; v < m; v++) meta_for (int u = 0; u < 1; u++)"
PARAMETERS = "int m, int n, const float x[m][n], float y[m][n], double d"


def text(body: str, parameters: str = PARAMETERS) -> str:
    nest = nest_of(f"{ROWS} {{ {body} }}", parameters)
    found = normalize(nest)
    verify(found)
    assert normalize(found) == found
    for m, n in ((3, 1), (2, 2), (3, 7)):
        random = np.random.RandomState(n)
        data = {a: random.standard_normal((m, n)).astype(np.float32) for a in "xy"}
        sizes = {s.name: {"m": m, "n": n, "d": 0.3}[s.name] for s in nest.scalars}
        arrays = {a.name: data[a.name] for a in nest.arrays}
        expected, computed = run(nest, sizes, arrays), run(found, sizes, arrays)
        for name, array in expected.items():
            np.testing.assert_array_equal(array.view(np.uint8), computed[name].view(np.uint8), name)
    return print_stmts(found.bands[0].body)


def test_sums_so_far_are_those_of_a_scalar() -> None:
    carried = "y[v][0] = x[v][0]; for (int j = 1; j < n; j++) y[v][j] = y[v][j - 1] + x[v][j];"
    assert text(carried) == (
        "float y_before = -0.0f;\n"
        "for (int j = 0; j < n; j++) {\n  y_before = y_before + x[v][j];\n  y[v][j] = y_before;\n}\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        "for (int j = 1; j < n; j++) y[v][j] += y[v][j - 1];",
        "y[v][n - 1] = x[v][n - 1]; for (int j = n - 2; j >= 0; j--) y[v][j] = d * y[v][j + 1] + x[v][j];",
        "for (int j = 2; j < n; j += 2) { float t = y[v][j - 2] * x[v][j]; y[v][j] = t; }",
        "for (long j = 1; j < n; j++) { y[v][j] = y[v][j] > y[v][j - 1] ? y[v][j] : y[v][j - 1]; }",
    ],
)
def test_the_element_of_the_turn_before_is_in_a_scalar(body: str) -> None:
    found = text(body)
    assert "y_before" in found
    (_, loop) = found.split("for (")
    assert loop.count("= y_before;") == 1


@pytest.mark.parametrize(
    "body",
    [
        # Two turns before, another row, a store under a condition of other data or to one element, and a read behind
        # the store.
        "for (int j = 2; j < n; j++) y[v][j] = y[v][j - 1] + y[v][j - 2];",
        "for (int j = 1; j < n; j++) y[v][j] = y[v][j - 1] + y[(v + 1) % m][j - 1];",
        "for (int j = 1; j < n; j++) if (x[v][j] > 0) y[v][j] = y[v][j - 1];",
        "for (int j = 1; j < n; j++) y[v][0] += x[v][j];",
        "for (int j = 1; j < n; j++) { y[v][j] = x[v][j]; float t = y[v][j - 1]; y[v][j] = t; }",
        "for (int j = 1; j < n; j++) { if (x[v][j] > 9) break; y[v][j] = y[v][j - 1]; }",
    ],
)
def test_other_loops_stay(body: str) -> None:
    assert "y_before" not in text(body)


def test_what_is_stored_under_a_condition_that_reads_it_is_there_in_any_case() -> None:
    assert text(
        "for (int j = n - 2; j >= 0; j--) if (y[v][j + 1] < y[v][j]) y[v][j] = d + y[v][j + 1];"
    ).endswith(
        "  float y_here = y[v][n - 2 - j];\n"
        "  if (y_before < y_here) {\n    y_here = d + y_before;\n    y[v][n - 2 - j] = y_here;\n  }\n"
        "  y_before = y_here;\n}\n"
    )


def test_elements_that_are_rounded_in_memory_stay() -> None:
    nest = nest_of(
        f"{ROWS} {{ for (int j = 1; j < n; j++) y[v][j] += y[v][j - 1]; }}", "int m, int n, __half y[m][n]"
    )
    assert "y_before" not in print_stmts(normalize(nest).bands[0].body)
