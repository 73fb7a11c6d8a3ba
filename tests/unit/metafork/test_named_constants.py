"""Names for numbers: true and false are constants, unless the file says otherwise."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.parse import parse
from comprehensive.metafork.printer import print_stmts

PROGRAM = """void f(int n, bool a[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      a[i] = i > 3 ? true : false;
  }
}
"""


@pytest.mark.parametrize(
    ("before", "written"),
    [
        ("#include <stdbool.h>\n", "a[i] = i > 3 ? 1 : 0;"),
        ("", "a[i] = i > 3 ? 1 : 0;"),
        ("enum { false = 7, true };\n", "a[i] = i > 3 ? 8 : 7;"),
        ("#define true 5\n", "a[i] = i > 3 ? 5 : 0;"),
    ],
)
def test_true_and_false_are_numbers_unless_the_program_says_otherwise(before: str, written: str) -> None:
    sink = DiagnosticSink()
    program = parse(SourceFile("f.mf", before + PROGRAM), sink)
    assert sink.diagnostics == ()
    assert written in print_stmts(program.functions[0].regions[0].body, 0)
