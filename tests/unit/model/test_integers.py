"""Integers of 64 bits as the model calculates with them, one or one for each thread."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.metafork.ast import Binary, Cast, Expr, IntLiteral, Name, ScalarType
from comprehensive.model.integers import calculate, in_type, is_unsigned, kept

LARGE = 0x9E3779B97F4A7C15
"""A constant above the largest signed number: that of the golden ratio, as random generators have it."""
EXPRESSIONS = (
    f"(uint64_t)i * {LARGE}ULL",
    "(uint64_t)i | 0x8000000000000000ULL",
    "0xFFFFFFFFFFFFFFFFULL - i",
    f"t[((uint64_t)i * {LARGE}ULL) >> 60]",
    "((uint64_t)i - 3 > 0x8000000000000000ULL) * (seed >> (i % 64))",
)


def _of_c(symbol: str, left: int, right: int) -> int:
    left, right = left % 2**64, right % 2**64
    match symbol:
        case "/":
            return kept(left // right)
        case "%":
            return kept(left % right)
        case ">>":
            return kept(left >> right)
        case _:
            return int(
                {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[symbol]
            )


@pytest.mark.parametrize("symbol", ["<", "<=", ">", ">=", "/", "%", ">>"])
def test_operators_of_unsigned_numbers_take_no_bit_for_a_sign(symbol: str) -> None:
    column, number = np.array([-1, 5, 2**62, -(2**63)]), 7
    expected = [_of_c(symbol, int(each), number) for each in column]
    assert calculate(symbol, column, number, unsigned=True).tolist() == expected
    assert [calculate(symbol, int(each), number, unsigned=True) for each in column] == expected
    if symbol != ">>":
        turned = [_of_c(symbol, kept(LARGE), int(each)) for each in column]
        assert calculate(symbol, kept(LARGE), column, unsigned=True).tolist() == turned


def test_large_constants_wrap_around_beside_columns() -> None:
    column = np.arange(4)
    assert calculate("*", column, kept(LARGE)).tolist() == [kept(i * LARGE) for i in range(4)]
    assert calculate("-", kept(2**64 - 1), column).tolist() == [-1, -2, -3, -4]
    assert (kept(2**63), kept(2**63 - 1), kept(-(2**63))) == (-(2**63), 2**63 - 1, -(2**63))


@pytest.mark.parametrize(
    ("right", "unsigned", "holds"),
    [
        (Name("n"), frozenset[str](), 1),
        (Name("n"), frozenset(("n",)), 0),
        (IntLiteral(7, ScalarType.UNSIGNED_LONG), frozenset[str](), 0),
        (Cast(ScalarType.UNSIGNED_LONG, Name("n")), frozenset[str](), 0),
        (Cast(ScalarType.UNSIGNED, Name("n")), frozenset[str](), 1),
    ],
)
def test_what_compares_looks_at_the_types_of_its_operands(
    right: Expr, unsigned: frozenset[str], holds: int
) -> None:
    comparison = Binary("<", Name("i"), right)
    looks = is_unsigned(comparison, unsigned)
    assert calculate("<", -1, 7, unsigned=looks) == holds
    assert calculate("<", np.array([-1]), 7, unsigned=looks).tolist() == [holds]


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        (ScalarType.UNSIGNED, -1, 2**32 - 1),
        (ScalarType.INT, 2**32 - 2, -2),
        (ScalarType.UNSIGNED_CHAR, 257, 1),
        (ScalarType.BOOL, 256, 1),
        (ScalarType.UNSIGNED_LONG, -1, -1),
    ],
)
def test_integers_are_converted_to_types(type: ScalarType, value: int, expected: int) -> None:
    assert in_type(type, value) == expected
    assert in_type(type, np.array([value])).tolist() == [expected]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_program_with_constants_above_the_largest_signed_number_has_costs(
    expression: str, tmp_path: Path
) -> None:
    source = tmp_path / "f.mf"
    source.write_text(
        "#include <stdint.h>\n"
        "void f(int n, uint64_t seed, const uint64_t *t, uint64_t *o, int B)\n"
        f"{{ meta_schedule block(B) {{ meta_for (int i = 0; i < n; i++) o[i] = {expression}; }} }}\n"
    )
    assert "f.h" in outputs(compile_file(source, Options(registers="estimate")))
