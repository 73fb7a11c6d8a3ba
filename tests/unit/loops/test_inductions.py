"""Induction variables: closed forms of what loops change by the same in every turn."""

from __future__ import annotations

import pytest

from comprehensive.metafork.printer import print_stmts
from tests.laws.nests import nests_of

PROGRAM = """void f(int n, int m, unsigned u, long w, const float *a, const float *b, float *y, int B)
{{
  meta_schedule block(B) {{
    meta_for (int i = 0; i < n; i++) {{
      {body}
    }}
  }}
}}
"""
LOOP = "for (int j = 0; j < m; j++)"


def _body(statements: str) -> str:
    (nest,) = nests_of(PROGRAM.format(body=statements))
    (band,) = nest.bands
    return print_stmts(band.body, 0)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p++; }} y[i] = s;",
            f"int p = i; float s = 0; {LOOP} s += a[p + j]; y[i] = s;",
        ),
        (  # before its step a variable has one value, behind it another one
            f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p += 2; s += b[p]; p += n; }} y[i] = s;",
            f"int p = i; float s = 0; {LOOP} {{ s += a[p + j * (2 + n)]; s += b[p + j * (2 + n) + 2]; }} y[i] = s;",
        ),
        (  # the product would be less wide than the variable
            f"long p = i; float s = 0; {LOOP} {{ s += a[p]; p -= n; }} y[i] = s;",
            f"long p = i; float s = 0; {LOOP} s += a[p + (long)j * -n]; y[i] = s;",
        ),
        (  # read behind the loop
            f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p++; }} y[i] = s * p;",
            f"int p = i; float s = 0; {LOOP} s += a[p + j]; p += 0 < m ? m : 0; y[i] = s * p;",
        ),
        (  # what an inner loop adds is what the outer one adds in each turn, and there is some in the inner loop
            f"int p = 0; float s = 0; {LOOP} {{ for (int k = 1; k <= n; k++) {{ s += a[p]; p++; }} p += 3; }} "
            "y[i] = s;",
            f"int p = 0; float s = 0; {LOOP} for (int k = 1; k <= n; k++) s += a[p + j * (n - 1 + 1 + 3) + (k - 1)]; "
            "y[i] = s;",
        ),
        (
            "int p = 8; float s = 0; for (int j = m; j > 2; j -= 2) { s += a[p]; p -= 4; } y[i] = s;",
            "int p = 8; float s = 0; for (int j = m; j > 2; j -= 2) s += a[p + (m - j) * -2]; y[i] = s;",
        ),
        (
            "unsigned p = u; float s = 0; for (long j = 0; j < w; j++) { s += a[p]; p--; } y[i] = s;",
            "unsigned p = u; float s = 0; for (long j = 0; j < w; j++) s += a[(unsigned)(p + j * -1)]; y[i] = s;",
        ),
    ],
)
def test_an_induction_variable_is_a_function_of_the_iterator(written: str, expected: str) -> None:
    assert _body(written) == _body(expected)


@pytest.mark.parametrize(
    "body",
    [
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; if (s > 3) p++; }} y[i] = s;",
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p += j; }} y[i] = s;",
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p *= 2; p++; }} y[i] = s;",
        f"short p = 3; float s = 0; {LOOP} {{ s += a[p]; p++; }} y[i] = s;",
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; if (s > 4) break; p++; }} y[i] = s + p;",
        "int p = i; float s = 0; for (int j = 0; j < m; j += 2) { s += a[p]; p++; } y[i] = s;",
        f"int q = 2, p = i; float s = 0; {LOOP} {{ s += a[p]; p += q; if (s < 0) q = 3; }} y[i] = s;",
        f"int p = i; float s = 0; {LOOP} {{ s += a[p]; p++; if (s > 3) j++; }} y[i] = s;",
        "int p = m; float s = 0; for (int j = 0; j < p; j++) { s += a[p]; p--; } y[i] = s + p;",
        "int p = i, m2 = m; float s = 0; for (int j = 0; j < m2; j++) { s += a[p]; p++; if (s > 9) m2 = j; } y[p] = s;",
    ],
)
def test_other_variables_are_left_alone(body: str) -> None:
    assert "p + " not in _body(body)
