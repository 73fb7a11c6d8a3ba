"""Choices that are the lesser or the larger of two integers."""

from __future__ import annotations

from itertools import product

import pytest

from comprehensive.loops.extremes import at_least_zero, larger, largest, least_of, lesser
from comprehensive.loops.integers import Ring
from comprehensive.metafork.ast import Binary, Conditional, Expr, IntLiteral, Name, Unary
from comprehensive.metafork.c_integers import OPERATORS
from tests.unit.poly.nests import expr

ONE = IntLiteral(1)


def _value(e: Expr, at: dict[str, int]) -> int:
    match e:
        case IntLiteral(value=value):
            return value
        case Name(identifier=name):
            return at[name]
        case Unary(operator=operator, operand=operand):
            value = _value(operand, at)
            return {"-": -value, "!": int(not value)}[operator]
        case Binary(operator=operator, left=left, right=right):
            return int(OPERATORS[operator](_value(left, at), _value(right, at)))
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return _value(then if _value(condition, at) else otherwise, at)
        case _:
            raise AssertionError(e)


PLACES = [dict(zip("inr", at, strict=True)) for at in product(range(-3, 4), repeat=3)]
HERE, N, LAST = expr("i + r"), expr("n"), expr("n - 1")


@pytest.mark.parametrize(
    "choice",
    [
        Conditional(Binary("<", HERE, N), HERE, N),
        Conditional(Binary("<", HERE, N), HERE, LAST),
        Conditional(Binary("<=", HERE, N), HERE, N),
        Conditional(Binary(">", HERE, N), N, HERE),
        Conditional(Unary("!", Binary(">=", HERE, N)), HERE, LAST),
    ],
)
def test_a_choice_of_the_lesser_one_is_known_by_what_it_decides(choice: Conditional) -> None:
    found = lesser(Ring(), choice)
    assert found is not None
    assert larger(Ring(), choice) is None
    for at in PLACES:
        assert _value(choice, at) == min(_value(each, at) for each in found)


@pytest.mark.parametrize(
    "choice",
    [
        Conditional(Binary("<", HERE, N), HERE, expr("n - 2")),
        Conditional(Binary("<", HERE, N), HERE, expr("n + 1")),
        Conditional(Binary("==", HERE, N), HERE, N),
        Conditional(Binary("<", HERE, N), HERE, expr("r")),
    ],
)
def test_other_choices_are_none(choice: Conditional) -> None:
    assert lesser(Ring(), choice) is None
    assert larger(Ring(), choice) is None


def test_a_difference_of_both_is_the_least_of_all_differences() -> None:
    last, first = (
        Conditional(Binary("<", HERE, N), HERE, LAST),
        Conditional(Binary("<", HERE, expr("3")), expr("3"), HERE),
    )
    ring = Ring()
    length = Binary("+", Binary("-", last, first), ONE)
    found = [ring.write(value) for value in least_of(ring, ring.read(length))]
    assert len(found) == 4
    for at in PLACES:
        assert _value(length, at) == min(_value(each, at) for each in found)


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_comparisons_hold_where_their_polynomials_are_not_negative(operator: str) -> None:
    for comparison in (Binary(operator, HERE, N), Unary("!", Binary(operator, HERE, N))):
        ring = Ring()
        found = at_least_zero(ring, comparison)
        assert found is not None
        written = ring.write(found)
        assert all((_value(written, at) >= 0) == bool(_value(comparison, at)) for at in PLACES)


def test_the_largest_value_below_limits_is_at_the_ends_that_slopes_lead_to():
    ring, limits = Ring(), {"i": Name("n"), "j": Name("m")}
    found = largest(ring, ring.read(expr("3*i - 2*j + k")), limits)
    assert found is not None
    assert ring.read(found) == ring.read(expr("3*n - 3 + k"))
    assert largest(ring, ring.read(expr("k - i")), limits) == Name("k")
    assert largest(ring, ring.read(expr("i*j")), limits) is None
