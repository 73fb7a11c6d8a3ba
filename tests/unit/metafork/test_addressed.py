"""Local variables whose address is taken are arrays of one element, and no others are."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.driver import Options, compile_file
from comprehensive.metafork.addressed import with_addressed_as_arrays
from comprehensive.metafork.tokens import Origin, tokens
from comprehensive.verification import verify


def rewritten(text: str) -> str:
    origin = Origin(SourceFile("f.mf", text), DiagnosticSink())
    return " ".join(token.text for token in with_addressed_as_arrays(tuple(tokens(origin))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float x; g(&x); y = x;", "float x[1]; g(&x[0]); y = x[0];"),
        (
            "float x = a[i], z = h(1, 2), w; g(&x, &z);",
            "float x[1] = {a[i]}, z[1] = {h(1, 2)}, w; g(&x[0], &z[0]);",
        ),
        ("{ int x = 0; { x++; g(&x); } } x = 1;", "{ int x[1] = {0}; { x[0]++; g(&x[0]); } } x = 1;"),
        (
            "int x = 1; { int x = 2; g(&x); y = x; } z = x;",
            "int x = 1; { int x[1] = {2}; g(&x[0]); y = x[0]; } z = x;",
        ),
        ("float x; float *p = &x; *p = p.x;", "float x[1]; float *p = &x[0]; *p = p.x;"),
        ("float v = f(1), x; g(&x);", "float v = f(1), x[1]; g(&x[0]);"),
    ],
)
def test_scalars_become_arrays(text: str, expected: str) -> None:
    assert rewritten(text) == rewritten_as_is(expected)


def rewritten_as_is(text: str) -> str:
    origin = Origin(SourceFile("f.mf", text), DiagnosticSink())
    return " ".join(token.text for token in tokens(origin))


@pytest.mark.parametrize(
    "text",
    [
        "int x; y = z & x; y = (z) & x; y = 3 & x;",
        "float x[4]; g(&x[1]);",
        "for (int x = 0, y = 1; x < n; x++) { g(&y); }",
        "int x; for (int x = 0; x < n; x++) a[x] = 0; g(&x);",
        "g(&x);",
        "float *p; g(&p);",
    ],
)
def test_others_stay(text: str) -> None:
    assert rewritten(text) == rewritten_as_is(text)


PROGRAM = """
static void minmax(const float *x, int n, float *lo, float *hi)
{
  *lo = x[0];
  *hi = x[0];
  for (int k = 1; k < n; k++) {
    if (x[k] < *lo)
      *lo = x[k];
    if (x[k] > *hi)
      hi[0] = x[k];
  }
}
static void next(int *state, int *was)
{
  *was += *state;
  *state = *state * 3 + 1;
}
void f(int n, int m, const float *a, float *y, int *z, int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      float lo, hi = 0;
      minmax(&a[i * m], m, &lo, &hi);
      y[i] = hi - lo;
      int state = i;
      int sum = 0;
      for (int k = 0; k < 3; k++)
        next(&state, &sum);
      z[i] = sum + state;
    }
  }
}
"""


def test_functions_write_through_addresses(tmp_path: Path) -> None:
    path = tmp_path / "f.mf"
    path.write_text(PROGRAM, encoding="utf-8")
    compilation = compile_file(path, Options(registers="estimate"))
    assert not compilation.diagnostics
    report = verify(compilation, points=4, run=True)
    assert report.holds
    assert all(run.runs > 0 for run in report.runs)
