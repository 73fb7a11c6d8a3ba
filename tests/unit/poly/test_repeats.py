"""Writes through subscripts that depend on data: what is refused, what is assumed, and that runs agree with both."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.arithmetic import UndefinedBehaviour
from comprehensive.loops.build import build
from comprehensive.loops.interpreter import dimensions, run
from comprehensive.loops.ir import Nest
from comprehensive.poly.legality import parallel_loops
from comprehensive.poly.model import Conflict, Parallel, Undecided
from comprehensive.poly.report import check
from tests.unit.metafork.trees import parse_clean

PROGRAM = """void f(int n, int m, const int x[n], const int y[n], const unsigned char c[n], const float a[n],
               const int z[n][m], int h[n], int r[n], float g[n], long w[n], int q[n][m], const int *p, int *o, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      BODY
    }
  }
}
"""

RACES = (
    "h[x[i]] += 1;",
    "h[x[i]] = h[x[i]] + 1;",
    "int v = h[x[i]]; h[x[i]] = v + 1;",
    "r[i] = h[x[i]]; h[x[i]] = i;",
    "int k = x[i]; int l = k * 2; h[l / 2] += i;",
    "unsigned char k = c[i]; h[k]++;",
    "unsigned k = x[i]; h[k] -= 2;",
    "int k; k = x[i]; h[k] *= 3;",
    "int k = x[i]; if (k > 1) k = 1; h[k] += 1;",
    "int k = 0; if (x[i] > 0) k = 1; h[k] += 1;",
    "int t[2]; t[0] = x[i]; h[t[0]] += 1;",
    "h[x[y[i]]] += 1;",
    "h[x[i] % 2] |= i;",
    "h[x[i] > 0 ? 1 : 0] += 1;",
    "h[(int)(a[i] * 0.5f)] += 1;",
    "if (x[i] > 0) h[x[i]] += 1;",
    "if (x[i] > 0) { } else h[x[i]] += 1;",
    "if (i < n && y[i] > 0) h[x[i]] += 1;",
    "for (int j = 0; j < m; j++) h[z[i][j]] += 1;",
    "for (int j = x[i]; j < y[i]; j++) h[x[j]] += 1;",
    "int j = 0; while (j < 2) { h[x[i]] += 1; j++; }",
    "do h[x[i]] += 1; while (0);",
    "q[x[i]][0] += 1;",
    "for (int j = 0; j < m; j++) q[x[i]][j] += 1;",
    "o[p[i]] += 1;",
    "g[x[i]] += 1.5f;",
    "w[x[i]] -= i;",
    "h[i + x[i]] += 1;",
    "h[x[i]] = h[y[i]];",
    "h[x[i]] = 1; r[i] = h[i];",
    "h[i] = 0; h[x[i]] = 1;",
    "meta_atomic h[x[i]] += 1; r[i] = h[i];",
    "meta_atomic h[x[i]] += 1; h[y[i]] = 2;",
    "meta_atomic h[x[i]] += 1; meta_atomic h[y[i]] |= 2;",
)
STORES = {
    "h[x[i]] = i;": "no index occurs twice in 'x'",
    "unsigned k = x[i]; h[k] = i;": "no index occurs twice in 'x'",
    "unsigned short k = x[i]; h[k] = i;": "no index occurs twice in 'k'",
    "h[x[y[i]]] = i;": "no index occurs twice in 'x[y[i]]'",
    "q[x[i]][y[i]] = i;": "no index occurs twice in 'x' and 'y' together",
    "h[x[i]] = i; h[y[i]] = 0;": "no index occurs twice in 'x' and 'y' together",
    "h[x[i]] = i; r[y[i]] = i;": "no index occurs twice in 'y'",
}
INDEPENDENT = (
    "meta_atomic h[x[i]] += 1;",
    "meta_atomic h[x[i]] += y[i]; meta_atomic h[y[i]] -= 3;",
    "meta_atomic h[x[i]]++; if (x[i] > 0) meta_atomic h[0]--;",
    "meta_atomic w[x[i]] ^= y[i];",
    "meta_atomic h[0] += x[i];",
    "meta_atomic h[i]++; meta_atomic h[n - 1 - i]--;",
    "for (int j = 0; j < m; j++) q[i][z[i][j]] += 1;",
    "for (int j = 0; j < m; j++) { q[i][z[i][j]] += 1; q[i][j] *= 2; }",
    "q[i][x[i]] += 1;",
    "r[i] = h[x[i]];",
    "if (i == 0) h[x[i]] += 1;",
    "if (i < 1) { int k = x[i]; if (k > 1) k = 1; h[k] += 1; }",
)


def nest_of(body: str) -> Nest:
    (nest,) = build(parse_clean(PROGRAM.replace("BODY", body)), DiagnosticSink())
    return nest


@pytest.mark.parametrize("body", RACES)
def test_reading_and_writing_where_data_says_is_an_error_with_two_iterations(body: str) -> None:
    sink = DiagnosticSink()
    check(nest_of(body), sink)
    found = [d for d in sink.diagnostics if d.code == "CF0404"]
    assert len(found) == 1, sink.diagnostics
    one, other, values = (note.message for note in found[0].notes)
    assert "at i = " in one
    assert "at i = " in other
    assert "n = " in values
    assert "meta_atomic" in (found[0].help or "")


@pytest.mark.parametrize(
    ("body", "condition"),
    [
        ("h[x[i]] += 1;", "x[0] == x[2]"),
        ("h[x[i]] = h[y[i]];", "x[0] == y[2]"),
        ("h[x[y[i]]] += 1;", "x[y[0]] == x[y[2]]"),
        ("h[i + x[i]] += 1;", "x[2] = 1, x[3] = 0"),
        ("unsigned k = x[i]; h[k] += 1;", "x[0] == x[2]"),
        ("unsigned short k = x[i]; h[k] += 1;", "both find the same k"),
        ("h[x[0]] += 1;", ""),
    ],
)
def test_the_witness_says_what_the_data_must_be(body: str, condition: str) -> None:
    sink = DiagnosticSink()
    check(nest_of(body), sink)
    _, other, _ = sink.diagnostics[0].notes
    assert other.message.partition(", if ")[2] == condition


@pytest.mark.parametrize("body", STORES)
def test_a_scattered_store_is_a_warning_that_names_what_it_assumes(body: str) -> None:
    sink = DiagnosticSink()
    check(nest_of(body), sink)
    (found,) = sink.diagnostics
    assert found.code == "CF0411"
    assert STORES[body] in found.message


@pytest.mark.parametrize("body", INDEPENDENT)
def test_what_data_cannot_bring_together_is_parallel(body: str) -> None:
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(nest_of(body)))


def test_atomic_updates_of_one_element_conflict_with_all_else() -> None:
    for other in ("h[n - 1 - i] = 2;", "meta_atomic h[n - 1 - i] &= 2;", "r[i] = h[n - 1 - i];"):
        verdicts = dict(parallel_loops(nest_of(f"meta_atomic h[i] += 1; {other}")))
        assert all(isinstance(verdict, Conflict) for verdict in verdicts.values())


def test_a_block_may_clear_its_own_row_before_it_adds_to_it() -> None:
    text = """void f(int n, int m, const int x[n][m], int h[n][m])
{
  meta_schedule {
    meta_for (int b = 0; b < n; b++) {
      meta_for (int t = 0; t < m; t++) h[b][t] = 0;
      meta_for (int t = 0; t < m; t++) meta_atomic h[b][x[b][t]] += 1;
    }
  }
}
"""
    (nest,) = build(parse_clean(text), DiagnosticSink())
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(nest))


def test_floating_point_sums_need_leave_for_another_order() -> None:
    nest = nest_of("meta_atomic g[x[i]] += 1.5f;")
    sink = DiagnosticSink()
    check(nest, sink)
    (found,) = sink.diagnostics
    assert found.code == "CF0405"
    assert "--reassociate" in (found.help or "")
    allowed = DiagnosticSink()
    check(nest, allowed, reassociate=True)
    assert allowed.diagnostics == ()


# --- against runs


def _orders_differ(nest: Nest, indices: tuple[int, ...]) -> bool:
    """Whether the results of a run forwards and of one backwards differ."""
    n, half = 3, len(indices) // 2
    arguments = {"n": n, "m": 2, "B": 2}
    given = {
        "x": indices[:half],
        "y": indices[half:],
        "c": indices[:half],
        "a": [2 * k for k in indices[:half]],
    }
    data = {}
    for array in nest.arrays:
        size = 6 if array.dims is None else int(np.prod(dimensions(nest, array.name, arguments)))
        values = np.arange(1, size + 1) if array.name not in given else np.array(given[array.name])
        data[array.name] = (values % 2 if array.name in ("z", "p") else values).astype(array.type.numpy_name)
    try:
        forwards, backwards = run(nest, arguments, data), run(nest, arguments, data, order="reversed")
    except UndefinedBehaviour:
        return False
    return any((forwards[name] != backwards[name]).any() for name in forwards)


@pytest.mark.parametrize("body", [*RACES[::3], *STORES, *INDEPENDENT])
def test_runs_backwards_differ_for_some_data_only_where_the_order_is_said_to_count(body: str) -> None:
    nest = nest_of(body)
    differs = any(_orders_differ(nest, indices) for indices in product(range(2), repeat=6))
    verdicts = [verdict for _, verdict in parallel_loops(nest)]
    if differs:
        assert all(isinstance(verdict, Conflict | Undecided) for verdict in verdicts)
    else:
        assert body not in STORES
