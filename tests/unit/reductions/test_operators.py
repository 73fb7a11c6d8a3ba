"""Statements that put a value into a variable: what they do is read off them, and put together in any order."""

from __future__ import annotations

import itertools
import random

import pytest

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.loops.interpreter import c_value
from comprehensive.metafork.ast import Assign, Binary, Block, Name, ScalarType, Stmt
from comprehensive.metafork.parse import parse
from comprehensive.metafork.walk import statements_in
from comprehensive.reductions.accumulators import Obstacle, accumulators
from comprehensive.reductions.operators import OPERATORS, Operator, operator_called, update_of

TYPES = {
    "s": ScalarType.INT,
    "x": ScalarType.FLOAT,
    "a": ScalarType.INT,
    "f": ScalarType.FLOAT,
    "i": ScalarType.INT,
}


def body_of(text: str) -> tuple[Stmt, ...]:
    source = f"""void g(int n, int *a, float *f, int B, int C) {{ meta_schedule {{
      meta_for (int b = 0; b < n; b++) meta_for (int i = 0; i < B; i++) {{ int s = 0; float x = 0;
      {{ {text} }} }} }} }}"""
    sink = DiagnosticSink()
    program = parse(SourceFile("g.mf", source), sink)
    assert [d.message for d in sink.diagnostics] == []
    (block,) = (s for s in statements_in(program.functions[0].regions[0].body) if isinstance(s, Block))
    return block.body


SETTING = Operator("= 3", None, 3)


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("s += a[i];", "+"),
        ("s -= a[i];", "+"),
        ("s++;", "+"),
        ("s = s + a[i] - 2;", "+"),
        ("s = a[i] + s;", "+"),
        ("s = s * 2 * a[i];", "*"),
        ("s ^= a[i];", "^"),
        ("s = a[i] & s;", "&"),
        ("s |= 1;", "|"),
        ("s = s && a[i] > 0;", "&&"),
        ("s = a[i] || s;", "||"),
        ("if (a[i] > s) s = a[i];", "max"),
        ("if (s <= a[i]) { s = a[i]; }", "max"),
        ("s = a[i] < s ? a[i] : s;", "min"),
        ("s = s < a[i] ? s : a[i];", "min"),
        ("s = s >= a[i] ? s : a[i];", "max"),
        ("x = fmaxf(x, f[i]);", "max"),
        ("x = fminf(f[i], x);", "min"),
    ],
)
def test_updates_are_found_in_all_their_spellings(text: str, symbol: str) -> None:
    (statement,) = body_of(text)
    found = update_of(statement)
    assert found is not None
    assert found.operator is OPERATORS[symbol]
    many = accumulators((statement,), TYPES)
    assert not isinstance(many, Obstacle)
    assert [(Name(each.name), each.operator.symbol) for each in many] == [(found.target, symbol)]


@pytest.mark.parametrize(
    "text",
    [
        "s = a[i] - s;",
        "s = s - s;",
        "s = s * 2 + a[i];",
        "s += a[s];",
        "s = s + a[i] + s;",
        "s = a[i];",
        "s /= 2;",
        "s <<= 1;",
        "if (a[i] > s) s = a[i] + 1;",
        "if (a[i] > 3) s = a[i];",
        "if (a[i] > s) s = a[i]; else s = 0;",
        "s = a[i] > s ? s + 1 : s;",
        "s = s > s ? s : a[i];",
    ],
)
def test_what_is_no_update_is_none(text: str) -> None:
    assert isinstance(accumulators(body_of(text), TYPES), Obstacle)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("s += a[i]; a[i] = s;", "'s' is read"),
        ("s += a[i]; s *= 2;", "'+' and '*'"),
        ("s += f[i];", "rounds 's'"),
        ("if (s > 3) s += a[i];", "'s' is read"),
    ],
)
def test_what_else_runs_from_one_iteration_to_the_next_is_told(text: str, reason: str) -> None:
    found = accumulators(body_of(text), TYPES)
    assert isinstance(found, Obstacle)
    assert reason in found.reason


@pytest.mark.parametrize("text", ["s = 3;", "if (a[i] > 3) s = 3;", "if (a[i]) if (f[i] > 0) { s = 3; }"])
def test_a_variable_that_is_set_to_one_number_is_put_together(text: str) -> None:
    found = accumulators(body_of(text), TYPES)
    assert not isinstance(found, Obstacle)
    assert [(each.name, each.operator) for each in found] == [("s", SETTING)]
    assert isinstance(accumulators(body_of(f"{text} s = 4;"), TYPES), Obstacle)


@pytest.mark.parametrize("symbol", [*sorted(OPERATORS), "= 3"])
def test_parts_put_together_are_the_whole(symbol: str) -> None:
    """Every way to cut values into parts, each begun with nothing in it, gives what the serial loop does."""
    operator = OPERATORS.get(symbol, SETTING)
    draw = random.Random(symbol)

    def put(target: int, value: int) -> int:
        statement = operator.update(Name("s"), Name("v"))
        assert isinstance(statement, Assign)
        values = {"s": target, "v": value}
        if statement.operator == "=":
            return int(c_value(statement.value, values))
        return int(c_value(Binary(statement.operator[:-1], Name("s"), Name("v")), values))

    for _ in range(20):
        values = [draw.randint(-5, 5) for _ in range(6)]
        start = draw.choice((-3, 0, 1, 6))
        serial = start
        for value in values:
            serial = put(serial, value)
        for cut in itertools.combinations(range(1, 6), 2):
            parts = (values[: cut[0]], values[cut[0] : cut[1]], values[cut[1] :])
            total = start
            for part in parts:
                held = start if operator.neutral is None else operator.neutral
                for value in part:
                    held = put(held, value)
                total = put(total, held)
            assert total == serial


def test_a_clause_names_its_operator() -> None:
    assert operator_called("-") is OPERATORS["+"]
    assert operator_called("max") is OPERATORS["max"]
    assert operator_called("mine") is None
