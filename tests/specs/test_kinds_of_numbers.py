"""Kinds of floating-point numbers, and roundings to integers: in regions they are what C says, on every leaf."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import CompileError
from comprehensive.driver import Options, compile_file
from comprehensive.verification import verify
from comprehensive.verification_report import to_text

PROGRAM = """#include <math.h>
static const float T[3] = { NAN, 1.0f, -NAN };
static const double U[2] = { NAN, 1.0 };
void f(int n, const float *a, const double *b, float *o, int *k, double *p, signed char *q, half *h, int B)
{
  const float limit = NAN;
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++) {
      float best = NAN;
      for (int j = 0; j < 3; j++) best = fminf(best, T[j]);
      o[i] = isnan(a[i]) ? 0.0f : a[i] != 0 ? best / a[i] : NAN;
      k[i] = isfinite(1 / a[i]) + 2 * isnan(b[i]) + 4 * (isinf(b[i] / 0) != 0) + 8 * !signbit(a[i]);
      if (isinf(1 / a[i]) || signbit(NAN)) p[i] = lrint(b[i]) + (double)lroundf(a[i]);
      else p[i] = isinf(limit / a[i]) ? -INFINITY : U[i & 1] + llrintf(a[i]) + llround(b[i]);
      q[i] = (signed char)lrintf(fminf(fmaxf(a[i] * 12.7f, -128.0f), 127.0f));
      h[i] = NAN;
    }
  }
}
"""


def _checked(text: str, folder: Path) -> str:
    source = folder / "f.mf"
    source.write_text(text)
    report = verify(compile_file(source, Options(registers="estimate")), points=6, run=True)
    assert report.holds, to_text(report)
    assert report.unchecked == 0, to_text(report)
    return to_text(report)


def test_they_are_computed_as_in_c(tmp_path: Path) -> None:
    assert "f register tile 1: 6 of 6 points equal" in _checked(PROGRAM, tmp_path)


@pytest.mark.parametrize("value", ["isinf(a[i])", "1 + signbit(a[i])", "isinf(a[i]) > 0", "k[isinf(b[i])]"])
def test_what_c_leaves_open_is_no_number(value: str, tmp_path: Path) -> None:
    source = tmp_path / "f.mf"
    source.write_text(PROGRAM.replace("k[i] = ", f"k[i] = {value} + "))
    with pytest.raises(CompileError) as raised:
        compile_file(source, Options(registers="estimate"))
    assert [d.code for d in raised.value.diagnostics] == ["CF0235"]
