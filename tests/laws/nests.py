"""The nests that the laws are tried on: every region of the examples, and a few small ones that stress a corner."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from comprehensive.data import spec_directory
from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.loops.build import build
from comprehensive.loops.ir import Nest
from comprehensive.metafork.parse import parse


def nests_of(text: str, path: str = "test.mf") -> tuple[Nest, ...]:
    """The nests of a source text, which must be free of errors."""
    sink = DiagnosticSink()
    nests = build(parse(SourceFile(path, text), sink), sink)
    sink.stop_on_errors()
    return nests


def example_paths() -> list[Path]:
    return sorted(spec_directory().glob("*.mf"))


CORNERS = {
    "rows": """
void rows(int n, const float *a, float *c, int B, int s) {
  int dim = n / (s * B);
  meta_schedule {
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B; u++)
        for (int k = 0; k < s; k++)
          for (int m = 0; m < 2; m++) {
            int i = (v * s + k) * B + u;
            if (m == 0) c[i] = a[i] * 2.0f + a[i]; else c[i] = c[i] + a[i] * 2.0f;
          }
  }
}""",
    "remainder": """
void remainder(int n, int c[n], int B, int s) {
  int dim = n / (s * B);
  meta_schedule {
    meta_for (int v = 0; v < dim; v++)
      meta_for (int u = 0; u < B; u++)
        for (int k = 0; k < s; k++) {
          int i = (v * B + u) * s + k;
          c[i] = c[i] + i % 3 + k;
        }
  }
}""",
    "alone": """
void alone(int n, int a[n], int c[n], int w[n], int B, int s) {
  int dim = n / (s * B);
  meta_schedule cache(a, w) {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int j = 0; j < B; j++)
        for (int k = 0; k < s; k++) {
          int q = i * s * B + k * B, h = k;
          if (h == i)
            c[q + j] = a[q + j] * q + k;
          else
            c[q + j] = w[k * B + j];
        }
  }
}""",
    "partly": """
void partly(int n, const float a[n], const float b[n], float c[n], int B) {
  meta_schedule block(B) cache(a) {
    meta_for (int i = 1; i < n - 1; i++)
      c[i] = a[i - 1] * a[i] + b[i - 1] * b[i] + b[i + 1];
  }
}""",
    "tiles": """
void tiles(int n, int a[n][n], int c[n][n], int B, int r, int s) {
  int dim0 = n / (r * B), dim1 = n / (s * B);
  meta_schedule {
    meta_for (int v0 = 0; v0 < dim0; v0++)
      meta_for (int v1 = 0; v1 < dim1; v1++)
        meta_for (int u0 = 0; u0 < B; u0++)
          meta_for (int u1 = 0; u1 < B; u1++)
            for (int x = 0; x < r; x++)
              for (int y = 0; y < s; y++) {
                int i = v0 * r * B + x * B + u0;
                int j = v1 * s * B + y * B + u1;
                int below = i + 1;
                c[i][j] = a[i][j] * 2;
                if (below < n) c[i][j] += a[below][j];
              }
  }
}""",
}


@cache
def all_nests() -> Mapping[str, Nest]:
    """All nests by a name that a test can carry; several modules ask while they are collected."""
    found: dict[str, Nest] = {}
    for path in example_paths():
        for nest in nests_of(path.read_text(encoding="utf-8"), path.name):
            found[nest.name] = nest
    for name, text in CORNERS.items():
        (nest,) = nests_of(text, f"{name}.mf")
        found[name] = nest
    return found
