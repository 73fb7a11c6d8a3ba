"""The reference interpreter refuses what has no meaning, and says where."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from comprehensive.loops import compile_python
from comprehensive.loops.arithmetic import (
    FUNCTIONS,
    KINDS,
    TO_INTEGERS,
    float_literal,
    round_to_float,
)
from comprehensive.loops.interpreter import (
    EndlessLoopError,
    Order,
    UndefinedBehaviour,
    c_value,
    dimensions,
    holds_preconditions,
    run,
    scalar_values,
)
from comprehensive.metafork.ast import Binary, Name, ScalarType
from comprehensive.metafork.functions import MATH
from tests.unit.loops.nests import body_of, spec_nests

ARGUMENTS = {"n": 1, "B": 4, "s": 0}


@pytest.fixture
def few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_python, "MOST_TURNS", 1000)


@pytest.mark.parametrize(
    ("statements", "place", "message"),
    [
        ("a[u + 1] = 0;", "u + 1", "index 4 is outside 0..3 in dimension 0 of 'a'"),
        ("int k = a[u - 1];", "u - 1", "index -1"),
        ("int k; a[u] = k;", "a[u] = k", "'k' is read before it has a value"),
        ("int k; if (s) k = 1; a[u] += k;", "a[u] += k", "'k' is read"),
        ("int t[2]; t[0] = 1; a[u] = t[1];", "t[1]", "before it has a value: 't'"),
        ("a[u] = 1 / s;", "1 / s", "division by zero"),
        ("a[u] = 5 % s;", "5 % s", "division by zero"),
        ("a[u] = 2147483647 + B;", "2147483647 + B", "signed overflow"),
        ("int k = 2147483647; k += B; a[u] = k;", "k += B", "signed overflow"),
        ("a[u] = 1 << (B + 40);", "1 << (B + 40)", "shift by 44 bits"),
        ("a[u] = (int)(1e10 + B);", "1e10 + B", "cannot hold 10000000004.0"),
        ("a[u] = abs(-2147483647 - n);", "abs(-2147483647 - n)", "signed overflow"),
    ],
)
def test_undefined_behaviour_is_reported_at_its_place(statements: str, place: str, message: str) -> None:
    nest = body_of(statements)
    with pytest.raises(UndefinedBehaviour) as caught:
        run(nest, ARGUMENTS, {"a": np.zeros(4, "int32")})
    assert message in caught.value.message
    assert place in caught.value.span.text


@pytest.mark.usefixtures("few_turns")
@pytest.mark.parametrize(
    "statements",
    [
        "while (1) {}",
        "do { a[u] = 1; continue; } while (1);",
        "for (int k = 0; k < 1; k += s) a[u] = k;",
        "for (int k = 0; k < 1; k += s) continue;",
        "for (int k = 0; k < 2000000000; k++) a[u] = k;",
        "for (int i = 0; i < 10000; i++) for (int k = 0; k < 10000; k++) {}",
    ],
)
def test_a_run_that_does_not_end_is_given_up(statements: str) -> None:
    with pytest.raises(EndlessLoopError, match="has not ended after 1000 turns") as caught:
        run(body_of(statements), ARGUMENTS, {"a": np.zeros(4, "int32")})
    assert caught.value.span.text


@pytest.mark.usefixtures("few_turns")
def test_a_long_run_that_ends_is_not_given_up() -> None:
    result = run(body_of("int k = 0; while (k < 249) k++; a[u] = k;"), ARGUMENTS, {"a": np.zeros(4, "int32")})
    assert result["a"].tolist() == [249] * 4


def test_a_subscript_is_checked_in_its_own_dimension() -> None:
    nest = body_of("c[0][u + 1] = 1;", "int n, int B, int c[n][B]")
    with pytest.raises(UndefinedBehaviour, match=r"index 4 is outside 0\.\.3 in dimension 1"):
        run(nest, {"n": 2, "B": 4}, {"c": np.zeros((2, 4), "int32")})


def test_an_overflow_of_the_loop_counter_is_found() -> None:
    nest = body_of("for (int k = 2147483640; k <= 2147483647; k++) a[u] = k;")
    with pytest.raises(UndefinedBehaviour, match="signed overflow"):
        run(nest, ARGUMENTS, {"a": np.zeros(4, "int32")})


def test_the_right_operand_of_a_short_circuit_is_not_evaluated() -> None:
    nest = body_of("a[u] = s != 0 && 1 / s > 0 ? 1 : 2;")
    assert run(nest, ARGUMENTS, {"a": np.zeros(4, "int32")})["a"].tolist() == [2, 2, 2, 2]


def test_inputs_are_left_as_they_are_and_shapes_are_kept() -> None:
    nest = body_of("a[u] = 7;")
    data = np.zeros((2, 2), "int32")
    after = run(nest, ARGUMENTS, {"a": data})["a"]
    assert after.tolist() == [[7, 7], [7, 7]]
    assert not data.any()


def test_reversed_order_shows_a_carried_dependence() -> None:
    nest = body_of("if (u > 0) a[u] = a[u - 1] + 1;")
    data = {"a": np.zeros(4, "int32")}
    assert run(nest, ARGUMENTS, data)["a"].tolist() == [0, 1, 2, 3]
    assert run(nest, ARGUMENTS, data, order="reversed")["a"].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "data", "message"),
    [
        ({"n": 1, "B": 1}, {}, "array 'a' is missing"),
        ({"n": 1}, {"a": np.zeros(1, "int32")}, "scalar 'B' is missing"),
        ({"n": 1, "B": 2**31}, {"a": np.zeros(1, "int32")}, "'B' cannot be 2147483648"),
        ({"n": 1, "B": 1}, {"a": np.zeros(1, "int64")}, "has type int64, not int"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, data, message) -> None:
    with pytest.raises(ValueError, match=message):
        run(body_of("a[u] = 0;"), arguments, data)


def test_arrays_have_as_many_elements_as_they_declare() -> None:
    (nest,) = spec_nests("jacobi1d")
    with pytest.raises(ValueError, match="7 elements"):
        run(nest, {"N": 4, "s": 1, "B": 1, "t": 0}, {"a": np.zeros(7, "int32")})


def test_host_scalars_are_computed_as_c_does() -> None:
    (nest,) = spec_nests("matmul")
    arguments = {"n": 100, "B0": 8, "ub1": 4, "s": 3}
    values = scalar_values(nest, arguments)
    assert (values["dim0"], values["dim1"]) == (12, 8)
    assert holds_preconditions(nest, arguments)
    assert not holds_preconditions(nest, {**arguments, "B0": 13})
    assert dimensions(nest, "c", arguments) == (100, 100)


def test_c_value_divides_towards_zero_and_knows_types() -> None:
    quotient = Binary("/", Name("n"), Name("m"))
    assert c_value(quotient, {"n": -7, "m": 2}) == -3
    assert c_value(Binary("%", Name("n"), Name("m")), {"n": -7, "m": 2}) == -1
    product = Binary("*", Name("n"), Name("m"))
    with pytest.raises(UndefinedBehaviour):
        c_value(product, {"n": 2**16, "m": 2**16})
    assert c_value(product, {"n": 2**16, "m": 2**16}, {"n": ScalarType.LONG}) == 2**32


def test_long_expressions_do_not_exhaust_the_python_compiler() -> None:
    nest = body_of("a[u] = " + " + ".join(["u"] * 190) + ";")
    assert run(nest, ARGUMENTS, {"a": np.zeros(4, "int32")})["a"].tolist() == [0, 190, 380, 570]


def test_every_function_of_the_language_is_known() -> None:
    names = {name[:-1] if of.arguments[0] is ScalarType.FLOAT else name for name, of in MATH.items()}
    assert names - {"abs", "labs"} == set(FUNCTIONS) | set(KINDS) | set(TO_INTEGERS)


def test_decimal_literals_are_rounded_to_float_once() -> None:
    # Just above the middle of two floats, but rounded to that middle as a double.
    text = "1.00000005960464477540"
    assert float_literal(text, ScalarType.FLOAT) == np.float32(1.0000001)
    assert float_literal("0.1", ScalarType.FLOAT) == np.float32(0.1)
    assert round_to_float(Fraction(1, 3)) == np.float32(1 / 3)


def test_the_interpreter_runs_a_product_of_ones() -> None:
    (nest,) = spec_nests("matmul")
    n = 32
    data = {name: np.ones(n * n, "float32") for name in "abc"}
    after = run(nest, {"n": n, "B0": 4, "ub1": 4, "s": 2}, data)["c"]
    assert after.tolist() == [float(n + 1)] * (n * n)


@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_an_atomic_sum_may_leave_the_range_on_its_way(order: Order) -> None:
    nest = body_of("meta_atomic a[0] += u < 2 ? 2000000000 : -2000000000;")
    assert run(nest, ARGUMENTS, {"a": np.zeros(4, "int32")}, order=order)["a"][0] == 0
