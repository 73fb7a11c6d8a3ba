"""Bounds that a program compares without signs: ``(unsigned)p < (unsigned)n``."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.poly.report import check
from tests.unit.metafork.trees import parse_clean

SOURCE = """#include <stddef.h>
void f(TYPE n, const float a[n], float b[n], int B)
{{
  meta_schedule block(B) {{
    meta_for (TYPE i = 0; i < n; i++) {{
      int p = i - 1;
      b[i] = 0;
      {step}
    }}
  }}
}}
"""


def codes(step: str, type: str) -> list[str]:
    program = parse_clean(SOURCE.format(step=step).replace("TYPE", type))
    sink = DiagnosticSink()
    for nest in build(program, sink):
        check(nest, sink)
    return [d.code for d in sink.diagnostics]


@pytest.mark.parametrize(
    ("step", "type"),
    [
        ("if ((unsigned)p < (unsigned)n) b[i] = a[p];", "int"),
        ("if ((unsigned)n > (unsigned)p) b[i] = a[p];", "int"),
        ("if (!((unsigned)p >= (unsigned)n)) b[i] = a[p];", "int"),
        ("if ((unsigned)(p + 1) <= (unsigned)n) b[i] = a[p + 1 < n ? p + 1 : 0];", "int"),
        ("if ((size_t)p < (size_t)n) b[i] = a[p];", "int"),
        ("if (i - 1 < n) b[i] = a[i - 1];", "size_t"),
        ("for (int k = 0; k < 3; k++) if ((unsigned)(p + k) < (unsigned)n) b[i] += a[p + k];", "int"),
    ],
)
def test_such_a_bound_keeps_subscripts_inside(step: str, type: str) -> None:
    assert codes(step, type) == []


@pytest.mark.parametrize(
    ("step", "type"),
    [
        ("if ((unsigned)p <= (unsigned)n) b[i] = a[p + 2];", "int"),
        ("if ((unsigned)p >= (unsigned)n) b[i] = a[p];", "int"),
        ("if ((unsigned)p < (unsigned)n) b[i] = a[p - 1];", "int"),
        ("if ((int)(unsigned)p < n) b[i] = a[p];", "int"),
        ("if ((unsigned)(p - 1) < 4294967295u) b[i] = a[p - 1];", "int"),
        ("if ((size_t)(p - 1) < 18446744073709551615ul) b[i] = a[p - 1];", "int"),
    ],
)
def test_what_it_does_not_keep_inside_is_an_error(step: str, type: str) -> None:
    assert codes(step, type) == ["CF0402"]
