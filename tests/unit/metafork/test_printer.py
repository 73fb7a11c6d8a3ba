"""What is printed is C, short, and parses back to the same tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given, settings

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    IntLiteral,
    MetaFor,
    Name,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.own_statement import OwnCall, OwnStatement
from comprehensive.metafork.printer import print_expr, print_program, print_region, print_stmts
from comprehensive.metafork.sequencing import sequenced
from comprehensive.metafork.walk import Statement, statements_in
from comprehensive.records import replace
from tests.examples import examples
from tests.unit.metafork.trees import bodies, exprs, parse_as, parse_clean

A, B, C = Name("a"), Name("b"), Name("c")


@given(exprs)
@settings(max_examples=examples(100), deadline=None)
def test_every_expression_survives_printing_and_parsing(tree: Expr) -> None:
    assert parse_as("condition", print_expr(tree)) == tree


@given(bodies)
@settings(max_examples=examples(100), deadline=None)
def test_all_statements_survive_printing_and_parsing(body: tuple[Stmt, ...]) -> None:
    read = _read(print_stmts(body))
    declared = [name for s in statements_in(body) for name in _declared(s)]
    if len(set(declared)) == len(declared) and not any(
        isinstance(s, While | DoWhile | Continue) for tree in (body, read) for s in statements_in(tree)
    ):
        assert read == body
        return
    # Loops that count, and jumps to their end, are read in one form; what stands behind a jump may have
    # kept a loop from counting until it was left out.
    read = _read(print_stmts(read))
    assert _read(print_stmts(read)) == read


def _declared(statement: Stmt) -> tuple[str, ...]:
    match statement:
        case Declare(name=name) | MetaFor(iterator=name):
            return (name,)
        case For(type=kind, iterator=name) if kind is not None:
            return (name,)
        case _:
            return ()


def _read(text: str) -> tuple[Stmt, ...]:
    """The statements of a text, with the names that they have in it."""
    parsed = cast(tuple[Stmt, ...], parse_as("region", text))
    sink, name = DiagnosticSink(), Namer({"a", "b", "i", "n", "x1", "_t", "cache", "Zeta"})
    found = sequenced(parsed, {}, name, sink, has_parallel=False)
    assert sink.diagnostics == ()
    return found


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Binary("-", A, Binary("-", B, C)), "a - (b - c)"),
        (Binary("-", Binary("-", A, B), C), "a - b - c"),
        (Binary("*", Binary("+", A, B), C), "(a + b) * c"),
        (Binary("+", A, Binary("*", B, C)), "a + b * c"),
        (Unary("-", Unary("-", A)), "- -a"),
        (Unary("-", Unary("!", A)), "-!a"),
        (Unary("-", Binary("+", A, B)), "-(a + b)"),
        (Binary("-", A, Unary("-", B)), "a - -b"),
        (Conditional(Conditional(A, B, C), A, Conditional(A, B, C)), "(a ? b : c) ? a : a ? b : c"),
        (Binary("&", Binary("==", A, B), C), "a == b & c"),
        (Binary("==", Binary("&", A, B), C), "(a & b) == c"),
        (IntLiteral(-3), "-3"),
        (Binary("-", A, IntLiteral(-3)), "a - -3"),
        (Unary("-", IntLiteral(-3)), "- -3"),
        (IntLiteral(-(2**31)), "-2147483647 - 1"),
        (Unary("-", IntLiteral(-(2**31))), "-(-2147483647 - 1)"),
        (IntLiteral(7, ScalarType.UNSIGNED), "7u"),
        (IntLiteral(2**40, ScalarType.LONG), "1099511627776L"),
        (FloatLiteral("1.", ScalarType.FLOAT), "1.f"),
        (FloatLiteral("2", ScalarType.FLOAT), "2.0f"),
        (FloatLiteral("1e5", ScalarType.DOUBLE), "1e5"),
    ],
)
def test_parentheses_stand_only_where_c_needs_them(tree: Expr, text: str) -> None:
    assert print_expr(tree) == text


def test_an_else_stays_with_its_if() -> None:
    one, two = (Assign(A, "=", IntLiteral(k)) for k in (1, 2))
    tree = (If(A, (If(B, (one,)),), (two,)),)
    assert print_stmts(tree) == "if (a) {\n  if (b)\n    a = 1;\n} else {\n  a = 2;\n}\n"
    assert _read(print_stmts(tree)) == tree


def test_all_branches_have_braces_or_none_has() -> None:
    one, two = (Assign(A, "=", IntLiteral(k)) for k in (1, 2))
    tree = (If(A, (one,), (If(B, (one,), (one, two)),)),)
    assert (
        print_stmts(tree)
        == "if (a) {\n  a = 1;\n} else if (b) {\n  a = 1;\n} else {\n  a = 1;\n  a = 2;\n}\n"
    )
    assert print_stmts((If(A, (one,), (If(B, (one,), (two,)),)),)) == (
        "if (a)\n  a = 1;\nelse if (b)\n  a = 1;\nelse\n  a = 2;\n"
    )


def _loop(*body: Statement) -> For[Statement]:
    return For(ScalarType.INT, "i", IntLiteral(0), "<", A, IntLiteral(1), body)


def test_a_loop_under_a_line_of_its_own_stands_in_braces() -> None:
    loop = replace(_loop(Assign(B, "=", C)), unrolled=True)
    text = "#pragma unroll\n{0}for (int i = 0; i < a; i++)\n{0}  b = c;\n"
    assert print_stmts((loop,)) == text.format("")
    assert print_stmts((If(A, (loop,)),)) == f"if (a) {{\n  {text.format('  ')}}}\n"
    assert print_stmts((If(A, (replace(loop, unrolled=False),)),)) == (
        "if (a)\n  for (int i = 0; i < a; i++)\n    b = c;\n"
    )


@dataclass(frozen=True, slots=True)
class Meeting(OwnStatement):
    """A statement that no program has."""


def test_statements_of_another_ir_stand_in_the_same_loops_and_branches() -> None:
    loop = _loop(Meeting(), Assign(B, "=", C))
    tree = (If(A, (Meeting(),), (If(B, (loop,)),)),)
    assert print_stmts(tree, own=lambda _, margin: f"{margin}meet();\n") == (
        "if (a) {\n  meet();\n} else if (b) {\n"
        "  for (int i = 0; i < a; i++) {\n    meet();\n    b = c;\n  }\n}\n"
    )
    with pytest.raises(TypeError, match="programs have no Meeting"):
        print_stmts(tree)


@dataclass(frozen=True, slots=True)
class Call(OwnCall):
    """A statement that no program has, one call in C."""


def test_one_call_is_a_body_without_braces() -> None:
    assert print_stmts((_loop(Call()),), own=lambda _, margin: f"{margin}meet();\n") == (
        "for (int i = 0; i < a; i++)\n  meet();\n"
    )


def test_regions_are_replaced_and_all_other_bytes_are_kept() -> None:
    text = (
        '/* meta_schedule */\r\n#define S "meta_schedule {"\nvoid f(int n, int B, int a[n])\n{\tint d = n/B;\n'
        "meta_schedule { meta_for (int i = 0; i < d; i++) meta_for (int u = 0; u < B; u++) a[i*B+u] = 1; }"
        "\r\n}  // x"
    )
    program = parse_clean(text)
    region = program.functions[0].regions[0]
    printed = print_program(program, {0: print_region(("a",), region.body, 0)})
    before, after = text.split("meta_schedule { meta_for")[0], "\r\n}  // x"
    assert printed == (
        before
        + "meta_schedule cache(a) {\n  meta_for (int i = 0; i < d; i++)\n    meta_for (int u = 0; u < B; u++)\n"
        "      a[i * B + u] = 1;\n}" + after
    )
    assert print_program(program, {}) == text
