"""Nests for tests, from text or from the examples in specs/."""

from __future__ import annotations

from pathlib import Path

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.loops.build import build
from comprehensive.loops.ir import Nest
from comprehensive.loops.verify import verify
from comprehensive.metafork.ast import Program
from comprehensive.metafork.parse import parse

SPECS = Path(__file__).parents[3] / "specs"
SPEC_NAMES = sorted(path.stem for path in SPECS.glob("*.mf"))


def program_of(text: str, path: str = "test.mf") -> Program:
    sink = DiagnosticSink()
    program = parse(SourceFile(path, text), sink)
    sink.stop_on_errors()
    return program


def nests_of(text: str) -> tuple[Nest, ...]:
    nests = build(program_of(text), DiagnosticSink())
    for nest in nests:
        verify(nest)
    return nests


def nest_of(region: str, parameters: str = "int n, int B, int s, int *a", host: str = "") -> Nest:
    """The nest of ``meta_schedule { region }`` in a function with these parameters."""
    (nest,) = nests_of(f"void f({parameters}) {{ {host} meta_schedule {{ {region} }} }}\n")
    return nest


def body_of(statements: str, parameters: str = "int n, int B, int s, int *a") -> Nest:
    """A nest of ``n`` blocks ``v`` of ``B`` threads ``u`` around statements."""
    loops = "meta_for (int v = 0; v < n; v++) meta_for (int u = 0; u < B; u++)"
    return nest_of(f"{loops} {{ {statements} }}", parameters)


def unchecked_nest_of(text: str) -> Nest:
    """The nest of a program that the semantic check may refuse (as it does where a name hides another one)."""
    program = parse(SourceFile("test.mf", text), DiagnosticSink())
    (nest,) = build(program, DiagnosticSink())
    verify(nest)
    return nest


def spec_text(name: str) -> str:
    return (SPECS / f"{name}.mf").read_text()


def spec_nests(name: str) -> tuple[Nest, ...]:
    return nests_of(spec_text(name))
