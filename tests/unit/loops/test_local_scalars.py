"""Scalars are declared where they get their values."""

from __future__ import annotations

import pytest

from comprehensive.loops.normalize.local_scalars import declared_late
from comprehensive.metafork.printer import print_stmts
from tests.laws.nests import nests_of

PROGRAM = """void f(int n, const float a[n], float b[n], int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < n; i++) {{
      {body}
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("float w; w = a[i]; b[i] = w;", "float w = a[i]; b[i] = w;"),
        (
            "float w, e; if (a[i] > 0) { w = 1; e = a[i]; } else { w = 2; e = 3; } b[i] = w * e;",
            "float w; float e; if (a[i] > 0) { w = 1; e = a[i]; } else { w = 2; e = 3; } b[i] = w * e;",
        ),
        (
            "float w, e; if (a[i] > 0) { w = a[i]; b[i] = w; } else { e = 3; b[i] = e; }",
            "if (a[i] > 0) { float w = a[i]; b[i] = w; } else { float e = 3; b[i] = e; }",
        ),
        (
            "float u, w, e; b[i] = 0; for (int j = 0; j < 2; j++) { w = j; e = w; b[i] += e; } u = 1; b[i] += u;",
            "b[i] = 0; for (int j = 0; j < 2; j++) { float w = j; float e = w; b[i] += e; } float u = 1; b[i] += u;",
        ),
    ],
)
def test_a_declaration_moves_to_where_the_value_comes_from(body: str, expected: str) -> None:
    (nest,) = nests_of(PROGRAM.format(body=body))
    (other,) = nests_of(PROGRAM.format(body=expected))
    (band,), (same,) = nest.bands, other.bands
    assert print_stmts(declared_late(band.body), 0) == print_stmts(same.body, 0)
