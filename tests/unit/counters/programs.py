"""Small programs for the tests of performance counters."""

from __future__ import annotations

from comprehensive.loops.ir import Variant
from comprehensive.strategies.caching import initial_caching
from tests.laws.nests import nests_of

SCALE = """
void scale(int n, const float x[n], float y[n], int B) {
  meta_schedule block(B) { meta_for (int i = 0; i < n; i++) y[%s] = x[%s] * 2.0f; }
}"""


def first(text: str) -> Variant:
    """The first region of a program, cached as at the root of its tree."""
    return Variant(initial_caching(nests_of(text)[0]))


def scaled(written: str, read: str) -> Variant:
    """``y[written] = x[read] * 2`` with nothing cached."""
    return Variant(nests_of(SCALE % (written, read))[0])


SMOOTH = """
void smooth(int n, const float x[n], float y[n], int B) {
  meta_schedule block(B) cache(x) {
    meta_for (int i = 1; i < n - 1; i++) y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
  }
}"""
TRANSPOSED = """
void transposed(int N, float a[N][N], float c[N][N], int B0, int B1) {
  meta_schedule block(B0, B1) { meta_for (int i = 0; i < N; i++) meta_for (int j = 0; j < N; j++) c[j][i] = a[i][j]; }
}"""
