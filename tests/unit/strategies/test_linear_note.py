"""Notes on subscripts that stay linear speak of the terms and the names of the program."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import DiagnosticSink, Severity
from comprehensive.loops.normalize import normalize
from comprehensive.strategies.linear_note import tell_of_linear
from comprehensive.strategies.tilings import tilings
from tests.unit.loops.nests import nests_of

PLANE = """void f(int m, int n, unsigned u, int k, const float *a, const int *x, float *c, int B0, int B1)
{{
  meta_schedule block(B0, B1) {{
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 0; j < n; j++)
        {}
  }}
}}
"""


def notes_of(statement: str) -> list[tuple[str, str]]:
    """Return the marked text and the message of each note."""
    (nest,) = nests_of(PLANE.format(statement))
    sink = DiagnosticSink()
    tell_of_linear(tilings(normalize(nest))[0].result, sink)
    assert all(d.severity is Severity.NOTE and d.code == "CF0501" and d.help for d in sink.diagnostics)
    sink.stop_on_errors(warnings_are_errors=True)  # a note is no warning
    return [(d.span.text, d.message.partition(": ")[2]) for d in sink.diagnostics if d.span is not None]


@pytest.mark.parametrize(
    ("statement", "notes"),
    [
        ("c[i * n + j] = a[i * k + j] + a[j * k + i];", []),
        ("c[i * n + j] = a[i + j] + a[2 * i];", []),  # there are no rows to be found
        (
            "c[i * n + j] = a[i * j + k];",
            [("a[i * j + k]", "'i * j' is a product of numbers that vary")],
        ),
        (
            "c[i * n + j] = a[i * n + j * m];",
            [("a[i * n + j * m]", "none of 'i * n' and 'j * m' is a whole number of rows of the other")],
        ),
        (
            "c[i * n + x[j]] = a[i];",
            [("c[i * n + x[j]]", "what is added to 'i * n' may be longer than a row")],
        ),
        (
            "c[i * n + j] = a[(i - 1) * u + j];",
            [("a[(i - 1) * u + j]", "'i * u - u + j' may wrap around, or be cut off by a conversion")],
        ),
    ],
)
def test_the_term_that_keeps_a_subscript_linear_is_named(
    statement: str, notes: list[tuple[str, str]]
) -> None:
    assert notes_of(statement) == notes
