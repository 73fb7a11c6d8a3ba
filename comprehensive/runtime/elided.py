"""The text of a program as its serial elision compiles it, before the keywords of MetaFork are dropped.

In: a program.  Out: its text, and lines to stand before it.  Most programs stay as they are.  Compilers of C differ in
what they make of `half` and `bfloat16`, if they know them at all: in a program that computes with these, every region
says its conversions, as kernels do, and functions that are part of regions alone are left out::

    y[i] += alpha * x[i];   -->   y[i] = __float2half_rn(__half2float(y[i]) + alpha * __half2float(x[i]));
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.codegen.conversions import converted, storage_headers
from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.ast import Expr, Function, IntLiteral, MetaSchedule, Program, ScalarType, Stmt
from comprehensive.metafork.file_scope import functions_besides
from comprehensive.metafork.printer import print_region, print_regions
from comprehensive.metafork.rewrite import map_expressions, substitute
from comprehensive.metafork.scope import scope_of_region
from comprehensive.metafork.tokens import Origin, tokens
from comprehensive.metafork.type_names import storage_names

_OF_COMPILERS = ("_Float16", "__bf16")
"""Names that are keywords for some compilers: nothing else can be declared by them."""


@dataclass(frozen=True, slots=True)
class Elision:
    before: str
    text: str


def elision(program: Program, *, every_access: bool) -> Elision:
    """The text of the program.

    With ``every_access`` its data is volatile, so that the compiler drops no access, not even of `a[i] - a[i]`:
    kernels may read what the serial program reads, whether its value counts or not.
    """
    edits = [(span, text) for span, text in _regions(program)]
    before = _declarations(program) if edits or _has_storage(program) else ""
    if before:
        edits += [(span, "\n" * span.text.count("\n")) for span in functions_besides(program.functions)]
    if every_access:
        edits += [
            (Span(p.span.file, p.span.start, p.span.start), "volatile ")
            for function in program.functions
            for p in function.own_parameters
            if p.is_data and p.span.text
        ]
    text = program.file.text
    for span, replacement in sorted(edits, key=lambda edit: edit[0].start, reverse=True):
        text = f"{text[: span.start]}{replacement}{text[span.end :]}"
    return Elision(before, text)


def _has_storage(program: Program) -> bool:
    return any(p.type.is_storage for function in program.functions for p in function.parameters)


def _regions(program: Program) -> list[tuple[Span, str]]:
    """The regions that say conversions, and their text with these."""
    changed: dict[int, str] = {}
    pairs = [(function, region) for function in program.functions for region in function.regions]
    for number, (function, region) in enumerate(pairs):
        body = converted(region.body, _types(function, region))
        if body != region.body:
            changed[number] = print_region(region.cache, _with_any_blocks(function, body))
    return print_regions(program, changed)


def _types(function: Function, region: MetaSchedule) -> dict[str, ScalarType]:
    scope = scope_of_region(function, region, frozenset())
    return {name: symbol.type for name, symbol in scope.symbols.items()}


def _with_any_blocks(function: Function, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Block sizes that the C function has no parameters for are 1: they decide who computes, not what."""
    ones: dict[str, Expr] = {p.name: IntLiteral(1) for p in function.parameters if p.added}
    return map_expressions(body, lambda expr: substitute(expr, ones)) if ones else body


def _declarations(program: Program) -> str:
    """The storage types by all names that mean them in the program."""
    names = storage_names(list(tokens(Origin(program.file, DiagnosticSink()))))
    lines = ["#define CUDA_NO_HALF", "#define CUDA_NO_BFLOAT16"]
    lines += [f"#include <{header}>" for header in storage_headers(names.values())]
    for name, meant in names.items():
        if name in _OF_COMPILERS:
            lines.append(f"#define {name} {meant}")
        elif name != meant:
            lines.append(f"typedef {meant} {name};")
    return "".join(f"{line}\n" for line in lines)
