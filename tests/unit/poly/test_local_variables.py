"""Local variables without value, and local arrays that are left: found where they are; silence for right programs."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.loops.build import build
from comprehensive.loops.interpreter import UndefinedBehaviour, run
from comprehensive.loops.ir import Nest
from comprehensive.poly.local_variables import local_faults
from comprehensive.poly.report import check
from tests.examples import seeds
from tests.unit.metafork.trees import parse_clean


def region(statements: str, asserts: str = "") -> Nest:
    text = (
        "void f(int n, int m, int c, int mode, int B, const int key[n], const int *row, float x[n][m],"
        f" float o[n]) {{ {asserts} meta_schedule block(B) {{ meta_for (int i = 0; i < n; i++)"
        f" {{ {statements} }} }} }}"
    )
    (nest,) = build(parse_clean(text), DiagnosticSink())
    return nest


def said(statements: str, asserts: str = "") -> list[tuple[str, str, str]]:
    """Code, message and place of everything that is said of a region."""
    sink = DiagnosticSink()
    check(region(statements, asserts), sink)
    return [(d.code, d.message, d.span.text if d.span is not None else "") for d in sink.diagnostics]


@pytest.mark.parametrize(
    ("statements", "message", "place"),
    [
        (
            "float w[4]; for (int k = 0; k <= 4; k++) w[k] = k; o[i] = w[1];",
            "1 of array 'w' is 4, outside 0 to 3",
            "w[k]",
        ),
        (
            "float w[4]; for (int k = 0; k < 4; k++) w[k - 1] = k; o[i] = w[1];",
            "1 of array 'w' is -1, negative",
            "w[k - 1]",
        ),
        (
            "float w[3][4]; for (int k = 0; k < 4; k++) for (int l = 0; l < 3; l++) w[k][l] = k; o[i] = w[0][0];",
            "1 of array 'w' is 3, outside 0 to 2",
            "w[k][l]",
        ),
        (
            "float w[4]; int k = 0; while (k < 5) { w[k] = k; k++; } o[i] = w[0];",
            "1 of array 'w' is 4, outside 0 to 3",
            "w[k]",
        ),
    ],
)
def test_a_local_array_that_is_left_is_an_error_at_the_subscript(
    statements: str, message: str, place: str
) -> None:
    assert said(statements) == [("CF0402", f"subscript {message}", place)]


@pytest.mark.parametrize(
    ("statements", "value", "extent"),
    [
        ("float w[8]; for (int k = 0; k < m; k++) w[k] = x[i][k]; o[i] = w[0];", 8, 8),
        ("float w[99]; for (int k = 0; k < m; k++) w[k] = x[i][k]; o[i] = w[0];", 99, 99),
        ("float w[2]; w[0] = 1; w[1] = 2; o[i] = i < 1 ? w[0] : w[i];", 2, 2),
        ("float w[2]; w[0] = 1; w[1] = 2; o[i] = x[i][0] + w[m - 1];", 2, 2),
    ],
)
def test_a_local_array_that_is_left_for_some_sizes_is_a_warning(
    statements: str, value: int, extent: int
) -> None:
    ((code, message, _),) = said(statements)
    assert code == "CF0418"
    text = f"subscript 1 of the local array 'w' is {value}, outside 0 to {extent - 1}, for some sizes"
    assert message == text


@pytest.mark.parametrize(
    ("statements", "name", "place"),
    [
        ("float s; for (int k = 0; k < 4; k++) s += k; o[i] = s;", "s", "s"),
        ("float s; for (int k = 0; k < m; k++) s += x[i][k]; o[i] = s;", "s", "s"),
        ("float s; for (int k = 0; k < c; k++) s += k; o[i] = s;", "s", "s"),
        ("float s; for (int e = row[i]; e < row[i + 1]; e++) s += e; o[i] = s;", "s", "s"),
        ("float t; if (i > 2) t = 1; o[i] = t;", "t", "t"),
        ("float t; for (int k = 0; k < i; k++) t = k; o[i] = t;", "t", "t"),
        ("float t; float u = t; o[i] = u;", "t", "t"),
        ("float w[4]; for (int k = 0; k < 3; k++) w[k] = k; o[i] = w[0] + w[3];", "w[3]", "w[3]"),
        ("float w[2][2]; w[0][1] = 1; w[1][0] = 2; o[i] = w[0][1] + w[1][1];", "w[1][1]", "w[1][1]"),
        ("int k; while (k < 4) k = k + 2; o[i] = k;", "k", "k = k + 2;"),
        ("int k; for (int l = 0; l < m; l++) k++; o[i] = x[i][0] + k;", "k", "k"),
    ],
)
def test_a_read_before_any_value_is_an_error_at_the_read(statements: str, name: str, place: str) -> None:
    (found, *others) = said(statements)
    assert found == ("CF0406", f"'{name}' is read before it has a value", place)
    assert not others


@pytest.mark.parametrize(
    ("statements", "condition"),
    [
        ("float t; if (key[i] > 0) t = 1; o[i] = t;", "'key[i] > 0' is false"),
        ("float t; if (!key[i]) t = 1; o[i] = t;", "'!key[i]' is false"),
        ("float t; if (mode) t = 1; o[i] = t;", "'mode' is false"),
        ("float t = 1; float u; if (x[i][0] > 0) t = u; o[i] = t + 1;", "'x[i][0] > 0' is true"),
        ("float t; if (key[i] > 0 && mode) t = 1; o[i] = t;", "'key[i] > 0 && mode' is false"),
        ("float t; if (key[i] > 0) o[i] = t; else o[i] = t + 1;", "'key[i] > 0' is true"),
        ("float t; if (row[i] < 3) { } else t = 1; o[i] = t;", "'row[i] < 3' is true"),
        ("float t; if (key[i] > 0) { if (i < 0) t = 1; } else t = 2; o[i] = t;", "'key[i] > 0' is true"),
    ],
)
def test_a_read_without_value_under_one_condition_on_data_is_a_warning(
    statements: str, condition: str
) -> None:
    ((code, message, _),) = said(statements)
    assert code == "CF0417"
    assert message.endswith(f"is read here without a value where {condition}")


@pytest.mark.parametrize(
    "statements",
    [
        "float w[4]; for (int k = 0; k < 4; k++) w[k] = k; o[i] = w[3];",
        "float w[4]; for (int k = 3; k >= 0; k--) w[k] = k; o[i] = w[0];",
        "float w[4]; for (int k = 0; k < 9; k++) if (k < 4) w[k] = k; o[i] = w[3];",
        "float w[8]; for (int k = 0; k < c; k++) w[k] = k; o[i] = w[0];",
        "float w[4]; for (int k = 0; k < 4; k++) w[k] = 0; o[i] = w[key[i]];",
        "float w[4]; w[key[i]] = 1; o[i] = w[0] + w[3];",
        "float w[2]; for (int k = 0; k < m; k++) w[k % 2] = k; o[i] = w[m % 2] + w[(m + 1) % 2];",
        "float t; if (key[i] > 0) t = 1; if (key[i] > 0) o[i] = t;",
        "float t; if (key[i] > 0) t = 1; o[i] = key[i] <= 0 ? 0 : t;",
        "float t; if (key[i] > 0 && mode) t = 1; if (key[i] > 0) o[i] = mode ? t : 0;",
        "float t; if (mode == 0) t = 1; if (mode == 1) t = 2; o[i] = t;",
        "float t; if (mode == 0) t = 1; else if (mode == 1) t = 2; o[i] = t;",
        "float t; switch (mode) { case 0: t = 1; break; default: t = 2; } o[i] = t;",
        "float t; for (int k = 0; k < m; k++) if (k == 0 || x[i][k] > t) t = x[i][k]; o[i] = t;",
        "float t; for (int k = 0; k < c; k++) t = k; o[i] = t;",
        "float t; for (int e = row[i]; e < row[i + 1]; e++) if (e == row[i] || e > t) t = e; o[i] = t;",
        "float t; int is = 0; for (int k = 0; k < m; k++) if (x[i][k] > 1) { t = k; is = 1; } o[i] = is ? t : 0;",
        "float t; int at = -1; for (int k = 0; k < 16; k++) if (row[k] == i) { t = k; at = k; } if (at >= 0) o[i] = t;",
        "float t, d = 0; for (int k = 0; k < m; k++) { if (k > 0) d += x[i][k] - t; t = x[i][k]; } o[i] = d;",
        "float t; do t = x[i][0]; while (t < key[i]); o[i] = t;",
        "float t; while (1) { t = x[i][0]; if (t > key[i]) break; } o[i] = t;",
        "float t; if (n > 8) t = 1; o[i] = t;",
        "int t; if (i > 0) t = 0; for (int k = 0; k < i; k++) t += 1; if (i > 0) o[i] = t;",
        "float t; if (row[i] < row[i + 1]) t = 1; for (int e = row[i]; e < row[i + 1]; e++) o[i] += t;",
        "int w[4], p = 0; w[p++] = i; while (p > 0) { int k = w[--p]; if (key[k] > 8) w[p++] = k / 2; o[i] += k; }",
        "float t, u; t = 1; u = t; o[i] = u;",
        "float a, b; if (key[i] & 1) { a = 1; b = 2; } else { b = 1; a = 2; } o[i] = a + b;",
        "unsigned k = 3; float w[4]; do { w[k] = k; } while (k-- > 0); o[i] = w[0] + w[3];",
    ],
)
def test_nothing_is_said_of_programs_that_are_right_in_a_call_that_knows_better(statements: str) -> None:
    assert [found for found in said(statements) if found[0] in ("CF0402", "CF0406", "CF0417", "CF0418")] == []


def test_an_assert_excludes_the_sizes_that_leave_a_local_array() -> None:
    statements = "float w[8]; for (int k = 0; k < m; k++) w[k] = x[i][k]; o[i] = w[0];"
    assert said(statements, "assert(m <= 8);") == []
    assert said(statements, "assert(m <= 9);") != []


# --- against the reference interpreter, which takes note of every read without value and every subscript ----------


def drawn(rng: random.Random, depth: int = 0) -> str:
    """Statements over two scalars and an array that are declared without value."""

    def value() -> str:
        return rng.choice(["1", "t + 1", "u + 1", "w[0] + 1", "w[2] + 1", "w[k1] + 1", "i"])

    def condition() -> str:
        return rng.choice(["a[i] > 0", "b[i] > 0", "i > 1", "k1 == 1", "a[i] > 0 && b[i] > 0", "n > 0"])

    def statement() -> str:
        match rng.randrange(7 if depth < 2 else 4):
            case 0 | 1:
                return f"{rng.choice(['t', 'u'])} {rng.choice(['=', '=', '+='])} {value()};"
            case 2:
                return f"w[{rng.choice(['0', '1', 'k1', 'k1 + 1'])}] = {value()};"
            case 3:
                return f"o[i] = {rng.choice([value(), f'({condition()}) ? {value()} : {value()}'])};"
            case 4 | 5:
                otherwise = f" else {{ {drawn(rng, depth + 1)} }}" if rng.random() < 0.5 else ""
                return f"if ({condition()}) {{ {drawn(rng, depth + 1)} }}{otherwise}"
            case _:
                return f"for (k1 = 0; k1 < {rng.choice(['1', '3', 'i'])}; k1++) {{ {drawn(rng, depth + 1)} }}"

    return " ".join(statement() for _ in range(rng.randrange(1, 4)))


def fault(nest: Nest, n: int, a: int, b: int) -> Span | None:
    """The place where a run meets what C leaves undefined, with the same data for each thread."""
    data = {"a": np.full(n, a, "int32"), "b": np.full(n, b, "int32"), "o": np.zeros(n, "int32")}
    try:
        run(nest, {"n": n, "B": 2}, data)
    except UndefinedBehaviour as error:
        return error.span
    return None


@pytest.mark.parametrize("seed", seeds(60))
def test_what_is_said_is_so_in_runs_and_what_all_runs_meet_is_said(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(4):
        text = (
            "void f(int n, int B, const int a[n], const int b[n], int o[n]) { meta_schedule block(B) {"
            " meta_for (int i = 0; i < n; i++) { int t, u, w[3]; int k1 = 0; "
            + drawn(rng)
            + " o[i] = t; } } }"
        )
        (nest,) = build(parse_clean(text), DiagnosticSink())
        said = local_faults(nest)
        met = [{fault(nest, n, a, b) for a, b in product((0, 1), repeat=2)} for n in (5, 8, 9)]
        sure = [
            *said.out_of_bounds,
            *said.for_some_sizes,
            *(read for read in said.without_value if read.condition is None),
        ]
        for places in met:
            assert None not in places or not sure, text
            assert places != {None} or not said.without_value, text
        common = {place for places in met for place in places}
        assert sure or len(common) > 1 or None in common, text
