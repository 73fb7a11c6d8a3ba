"""Operands: what is read, that it prints back, and what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.ptx.operands import (
    Address,
    Arguments,
    Expression,
    Immediate,
    Name,
    Not,
    Operand,
    OperandError,
    Pair,
    Place,
    Sum,
    Vector,
    operands_of,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%r1", Name("%r1")),
        ("%tid.x", Name("%tid.x")),
        ("_", Name("_")),
        ("$L__BB0_2", Name("$L__BB0_2")),
        ("_ZN3fooEv", Name("_ZN3fooEv")),
        ("%SPL", Name("%SPL")),
        ("-17", Immediate("-17")),
        ("0x1F", Immediate("0x1F")),
        ("0f3F800000", Immediate("0f3F800000")),
        ("0d3FF0000000000000", Immediate("0d3FF0000000000000")),
        ("1.5e-3", Immediate("1.5e-3")),
        ("!%p1", Not(Name("%p1"))),
        ("[%rd1]", Address(Name("%rd1"))),
        ("[%rd1+16]", Address(Name("%rd1"), 16)),
        ("[%rd1+-4]", Address(Name("%rd1"), -4)),
        ("[ %rd1 + 0x10 ]", Address(Name("%rd1"), 16)),
        ("[param_0+8]", Address(Name("param_0"), 8)),
        ("[4096]", Address(Immediate("4096"))),
        ("{%f1,  %f2}", Vector((Name("%f1"), Name("%f2")))),
        ("{%r1, _}", Vector((Name("%r1"), Name("_")))),
        ("%r1|%p1", Pair((Name("%r1"), Name("%p1")))),
        ("(param0, param1)", Arguments((Name("param0"), Name("param1")))),
        ("()", Arguments(())),
        ("array+12", Sum(Name("array"), 12)),
        (
            "[texture, {%f1, %f2}]",
            Place((Name("texture"), Vector((Name("%f1"), Name("%f2"))))),
        ),
        ("(1+2)*3", Expression("(1+2)*3", ())),
        ("base*4+other", Expression("base*4+other", ("base", "other"))),
    ],
)
def test_one_operand(text: str, expected: Operand) -> None:
    assert operands_of(text) == (expected,)
    assert operands_of(str(expected)) == (expected,)


def test_operands_in_a_row() -> None:
    found = operands_of(" %r1|%p1, [%rd2+-4],{%f1, _} /* , */ , !%p2 ")
    assert [str(o) for o in found] == ["%r1|%p1", "[%rd2+-4]", "{%f1, _}", "!%p2"]
    assert [name for o in found for name in o.names] == ["%r1", "%p1", "%rd2", "%f1", "%p2"]
    assert operands_of("  ") == ()


def test_equal_operands_are_one_object() -> None:
    assert operands_of("%r1, %r2")[1] is operands_of(" %r2")[0]


@pytest.mark.parametrize("text", ["%r1,", ",%r1", "[%r1", "%r1]", "{%r1, (%r2})", "[]", "{%r1,,%r2}"])
def test_what_is_not_well_formed_is_refused(text: str) -> None:
    with pytest.raises(OperandError):
        operands_of(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("017", 15),
        ("0b101", 5),
        ("0xFFu", 255),
        ("42U", 42),
        ("-0x10", -16),
        ("0f40490FDB", pytest.approx(math.pi)),
        ("-0f3F800000", -1.0),
        ("0d400921FB54442D18", math.pi),
        ("2.5", 2.5),
        ("1e3", 1000.0),
    ],
)
def test_values_of_literals(text: str, value: float) -> None:
    (found,) = operands_of(text)
    assert isinstance(found, Immediate)
    assert found.value == value


@given(st.text(alphabet="%rd123[]{}()|!,+-_ $.x/*", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = operands_of(text)
    except OperandError:
        return
    printed = ", ".join(map(str, found))
    assert operands_of(printed) == found
