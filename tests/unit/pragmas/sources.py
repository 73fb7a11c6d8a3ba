"""C files with directives, and what becomes of them."""

from __future__ import annotations

from comprehensive.diagnostics import Diagnostic, DiagnosticSink, SourceFile
from comprehensive.loops.build import build
from comprehensive.loops.printer import print_nest
from comprehensive.metafork.ast import Program
from comprehensive.metafork.parse import parse
from comprehensive.pragmas.read import Models, parse_pragmas


def read(text: str, models: Models = "omp") -> tuple[Program, tuple[Diagnostic, ...]]:
    sink = DiagnosticSink()
    return parse_pragmas(SourceFile("f.c", text), sink, models), sink.diagnostics


def nests(text: str, models: Models = "omp") -> list[str]:
    """The regions of a right file."""
    program, said = read(text, models)
    assert [d.message for d in said] == []
    return [print_nest(nest) for nest in build(program, DiagnosticSink())]


def nests_of_metafork(text: str) -> list[str]:
    sink = DiagnosticSink()
    program = parse(SourceFile("f.mf", text), sink)
    assert [d.message for d in sink.diagnostics] == []
    return [print_nest(nest) for nest in build(program, DiagnosticSink())]


def codes(text: str, models: Models = "omp") -> list[str]:
    return [d.code for d in read(text, models)[1]]


def in_function(body: str, parameters: str = "int n, float *a, float *b, int *c, float m[n][n]") -> str:
    return f"void f({parameters})\n{{\n  int i, j;\n  float t;\n{body}}}\n"


LOOP = "  for (i = 0; i < n; i++)\n    a[i] = b[i];\n"
