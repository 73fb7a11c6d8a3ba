"""Whatever computes C's operators on integers in Python agrees with a C compiler, on negative numbers, too."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.bindings.needs import NeedsCase
from comprehensive.loops.fold import fold
from comprehensive.loops.interpreter import c_value
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.c_integers import OPERATORS
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.preprocessor.conditions import evaluated
from comprehensive.model.integers import calculate
from comprehensive.poly.search import evaluate
from tests.examples import examples
from tests.unit.codegen.compiled import WARNINGS, compile_text

SYMBOLS = tuple(OPERATORS)
LONGS = {"a": ScalarType.LONG, "b": ScalarType.LONG}

small = st.one_of(st.integers(-20, 20), st.integers(-(2**31), 2**31))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    cases = "\n".join(f"case {number}: return a {symbol} b;" for number, symbol in enumerate(SYMBOLS))
    text = (
        f"long long apply(int o, long long a, long long b) {{ switch (o) {{ {cases} default: return 0; }} }}"
    )
    library = ctypes.CDLL(
        str(compile_text(text, ".c", ("-std=c99", *WARNINGS), tmp_path_factory.mktemp("c")))
    )
    library.apply.argtypes = (ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong)
    library.apply.restype = ctypes.c_longlong
    return library


def literal(value: int) -> Expr:
    return (
        IntLiteral(value, ScalarType.LONG) if value >= 0 else Unary("-", IntLiteral(-value, ScalarType.LONG))
    )


@settings(max_examples=examples(400), deadline=None)
@given(symbol=st.sampled_from(SYMBOLS), a=small, b=small)
def test_operators_are_those_of_c(compiled: ctypes.CDLL, symbol: str, a: int, b: int) -> None:
    if symbol in ("/", "%") and b == 0:
        return
    if symbol in ("<<", ">>"):
        b = abs(b) % 30
        a = abs(a) if symbol == "<<" else a
    expected = compiled.apply(SYMBOLS.index(symbol), a, b)
    assert OPERATORS[symbol](a, b) == expected
    assert calculate(symbol, a, b) == expected
    assert calculate(symbol, np.array([a, a]), b).tolist() == [expected, expected]
    assert calculate(symbol, a, np.array([b])).tolist() == [expected]
    names = Binary(symbol, Name("a"), Name("b"))
    assert c_value(names, {"a": a, "b": b}, LONGS) == expected
    assert NeedsCase(names, ()).at({"a": a, "b": b}) == expected
    assert evaluate(names, {"a": a, "b": b}) == expected
    written = Binary(symbol, literal(a), literal(b))
    assert evaluated(written) == expected
    assert constant_value(written) in (None, expected)
    folded = fold(written)
    assert not isinstance(folded, IntLiteral) or folded.value == expected
