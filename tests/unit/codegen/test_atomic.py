"""Atomic updates in the emitted code: what is called, what it computes, and what never happens to such arrays."""

from __future__ import annotations

import json

import pytest

from comprehensive.codegen.atomic import atomic_call
from comprehensive.metafork.ast import Assign, Index, Name, ScalarType
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.verification import verify
from comprehensive.verification_report import to_text
from tests.unit.schedule.tile_runs import compilation_of, texts_of

INTEGERS = """void f(int n, const int x[n], const int v[n], int a[n], unsigned b[n], long c[n], int d[n], unsigned e[n],
                   long w[n], int B)
{
  meta_schedule block(B) cache(a, v) {
    meta_for (int i = 0; i < n; i++) {
      int k = x[i];
      if (v[i] > 0) {
        meta_atomic a[k] += v[i];
        meta_atomic b[k] -= v[i];
        meta_atomic c[k] -= v[i] * 1000000000L;
      }
      meta_atomic a[k]--;
      meta_atomic d[k] |= v[i];
      meta_atomic e[k] ^= v[i] + 3u;
      meta_atomic w[x[i]] &= v[i];
    }
  }
}
"""
FLOATS = """void f(int n, const int x[n], const float v[n], const unsigned u[n], float h[n], double g[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      meta_atomic h[x[i]] += v[i] * 2.0f;
      meta_atomic g[x[i]] -= u[i];
    }
  }
}
"""
ROWS = """void f(int n, int m, const int x[n][m], int h[m], int B, int s)
{
  int dim = n / (B * s);
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++)
        for (int k = 0; k < s; k++)
          for (int j = 0; j < m; j++)
            meta_atomic h[x[(i * s + k) * B + u][j]] += 1;
  }
}
"""


@pytest.mark.parametrize(
    ("operator", "type", "call"),
    [
        ("+=", ScalarType.INT, "atomicAdd(&h[k], v)"),
        ("-=", ScalarType.UNSIGNED, "atomicSub(&h[k], v)"),
        ("&=", ScalarType.INT, "atomicAnd(&h[k], v)"),
        ("|=", ScalarType.UNSIGNED, "atomicOr(&h[k], v)"),
        ("^=", ScalarType.LONG, "atomicXor((unsigned long long *)&h[k], (unsigned long long)(v))"),
        ("-=", ScalarType.LONG, "atomicAdd((unsigned long long *)&h[k], -(unsigned long long)(v))"),
        ("-=", ScalarType.FLOAT, "atomicAdd(&h[k], -(float)v)"),
        ("+=", ScalarType.DOUBLE, "atomicAdd(&h[k], v)"),
    ],
)
def test_each_operator_and_type_has_its_function(operator: str, type: ScalarType, call: str) -> None:
    statement = Assign(Index("h", (Name("k"),)), operator, Name("v"), atomic=True)
    assert atomic_call(statement, type) == call


@pytest.mark.parametrize("source", [INTEGERS, ROWS], ids=["all operators", "rows"])
def test_the_emitted_code_computes_what_the_serial_c_does(source: str) -> None:
    compilation = compilation_of(source)
    report = verify(compilation, points=4, run=True)
    assert report.holds, to_text(report)
    assert report.runs is not None
    assert all(leaf.runs == 4 for leaf in report.runs), to_text(report)


def test_floating_point_sums_are_equal_within_rounding_and_said_to_be() -> None:
    compilation = compilation_of(FLOATS, reassociate=True)
    assert compilation.reassociated
    report = verify(compilation, points=4, run=True)
    assert report.holds, to_text(report)
    assert "within rounding" in to_text(report)
    made = texts_of(FLOATS, reassociate=True)
    assert json.loads(made["f.json"])["functions"][0]["regions"][0]["reassociated"] is True
    assert "in another order each time" in made["f.h"]


def test_integer_sums_are_the_same_in_any_order() -> None:
    assert not compilation_of(INTEGERS).reassociated
    assert json.loads(texts_of(INTEGERS)["f.json"])["functions"][0]["regions"][0]["reassociated"] is False


def test_what_is_updated_atomically_is_tiled_but_not_cached() -> None:
    compilation = compilation_of(INTEGERS)
    (plan,) = compilation.plan.functions
    for leaf in plan.regions[0].leaves:
        assert "a" not in leaf.nest.cached
    points, *_ = compilation.trees[0].alternatives
    assert points.recipe == "points"
    assert not isinstance(points.tree, NotApplicable)
    warning = next(d for d in compilation.diagnostics if d.code == "CF0412")
    assert "is updated atomically" in warning.message


def test_the_source_of_a_leaf_keeps_the_keyword() -> None:
    leaf = texts_of(INTEGERS)["f.leaf0.mf"]
    assert "meta_atomic a[k]--;" in leaf
    assert "meta_atomic w[x[i]] &= v[i];" in leaf
