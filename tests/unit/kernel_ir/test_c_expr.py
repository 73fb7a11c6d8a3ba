"""Integer expressions in 64 bit have the value that C gives them, or none where C gives none."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Polynomial
from comprehensive.codegen.runtime_files import RUNTIME, plain_files
from comprehensive.kernel_ir.c_expr import c_comment, c_string, count, is_wide, polynomial, wide
from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.printer import print_expr
from tests.examples import examples
from tests.unit.codegen.compiled import WARNINGS, compile_text

TYPES = {
    "i": ScalarType.INT,
    "j": ScalarType.INT,
    "k": ScalarType.LONG,
    "u": ScalarType.UNSIGNED,
    "c": ScalarType.UNSIGNED_CHAR,
}
UNDEFINED = -(2**63)

names = st.sampled_from(tuple(TYPES)).map(Name)
literals = st.integers(0, 100).map(IntLiteral)
operators = st.sampled_from(
    ("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "&", "|", "^")
)


def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    casts = st.sampled_from((ScalarType.INT, ScalarType.LONG, ScalarType.UNSIGNED, ScalarType.UNSIGNED_CHAR))
    return st.one_of(
        st.builds(Binary, operators, inner, inner),
        st.builds(Unary, st.sampled_from(("-", "+", "!", "~")), inner),
        st.builds(Conditional, inner, inner, inner),
        st.builds(Cast, casts, inner),
        st.builds(Binary, st.sampled_from(("<<", ">>")), inner, st.integers(0, 8).map(IntLiteral)),
    )


expressions: st.SearchStrategy[Expr] = st.recursive(st.one_of(names, literals), grow, max_leaves=8)


def test_expressions_have_the_value_that_the_compiler_computes(tmp_path: Path) -> None:
    """40 expressions at 4 points: where ours is defined it is what gcc computes in C's own types."""
    drawn: list[Expr] = []

    @settings(max_examples=examples(40), deadline=None, database=None, derandomize=True)
    @given(expressions)
    def collect(expr: Expr) -> None:
        drawn.append(expr)

    collect()
    runtime = plain_files()[RUNTIME]
    text = [runtime, "#include <signal.h>", "#include <setjmp.h>"]
    arguments = "int i, int j, long k, unsigned u, unsigned char c"
    unused = "(void)i; (void)j; (void)k; (void)u; (void)c;"
    for number, expr in enumerate(drawn):
        text.append(f"long long ours{number}({arguments}) {{ {unused} return {wide(expr, TYPES)}; }}")
        text.append(
            f"long long theirs{number}({arguments}) {{ {unused} return (long long)({print_expr(expr)}); }}"
        )
    flags = ("-std=gnu99", "-O0", "-w", "-fwrapv", "-fno-strict-overflow")
    library = ctypes.CDLL(str(compile_text("\n".join(text), ".c", flags, tmp_path)))
    types = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_uint, ctypes.c_ubyte]
    points = [(0, 1, 2, 3, 4), (7, 3, 40, 2, 255), (-5, 2, -9, 1, 0), (100, -7, 1000, 4000000000, 9)]
    compared = 0
    for number in range(len(drawn)):
        ours, theirs = library[f"ours{number}"], library[f"theirs{number}"]
        for function in (ours, theirs):
            function.restype, function.argtypes = ctypes.c_longlong, types
        for point in points:
            mine = ours(*point)
            if mine != UNDEFINED:
                compared += 1
                assert mine == theirs(*point), (print_expr(drawn[number]), point)
    assert compared > len(drawn)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The checked operations, two int arguments each."""
    runtime = plain_files()[RUNTIME]
    operations = ("add", "sub", "mul", "div", "mod")
    text = [runtime, "#include <stdint.h>"]
    text += [f"long long t_{o}(long long a, long long b) {{ return cf_{o}(a, b); }}" for o in operations]
    folder = tmp_path_factory.mktemp("checked")
    target = compile_text(
        "\n".join(text),
        ".c",
        ("-std=c99", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", *WARNINGS),
        folder,
    )
    library = ctypes.CDLL(str(target))
    for o in operations:
        library[f"t_{o}"].restype = ctypes.c_longlong
    return library


sixty_four = st.one_of(st.integers(-(2**63) + 1, 2**63 - 1), st.integers(-(2**32), 2**32))


@settings(max_examples=examples(200), deadline=None)
@given(a=sixty_four, b=sixty_four)
def test_arithmetic_is_exact_or_undefined(checked: ctypes.CDLL, a: int, b: int) -> None:
    expected: dict[str, int | None] = {"add": a + b, "sub": a - b, "mul": a * b, "div": None, "mod": None}
    if b != 0:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        expected |= {"div": quotient, "mod": a - b * quotient}
    for operation, value in expected.items():
        function = checked[f"t_{operation}"]
        function.restype = ctypes.c_longlong
        found = function(ctypes.c_longlong(a), ctypes.c_longlong(b))
        fits = value is not None and abs(value) < 2**63
        assert found == (value if fits else UNDEFINED), operation


def test_floats_calls_and_unknown_names_are_left_to_the_compiler() -> None:
    assert not is_wide(FloatLiteral("1.0", ScalarType.FLOAT), TYPES)
    assert not is_wide(Binary("+", Name("x"), IntLiteral(1)), TYPES)
    assert not is_wide(Call("sqrt", (Name("i"),)), TYPES)
    assert is_wide(Call("abs", (Name("i"),)), TYPES)


def test_polynomials_print_in_counts_and_in_integers() -> None:
    s, b = Polynomial.symbol("s"), Polynomial.symbol("B")
    assert count(2 * s * b + 2) == "cf_plus(cf_times(2, cf_times(cf_amount(B), cf_amount(s))), 2)"
    assert count(Polynomial(0)) == "0"
    assert polynomial(s * b - 1) == "cf_sub(cf_mul(B, s), 1)"
    assert polynomial(Polynomial(0)) == "0"
    with pytest.raises(ValueError):
        count(s - 1)


def test_text_cannot_leave_a_string_or_a_comment() -> None:
    assert c_string('a "b" \\ ??/\n') == '"a \\"b\\" \\\\ \\077\\077/\\012"'
    assert len(c_string("x" * 5000)) < 4095
    assert c_comment("a */ b /* c\nd *//* \\") == "a * / b / * c d * // * "
