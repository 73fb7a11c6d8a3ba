"""The results of counters: anything but a value with a defined sign is an error that names the counter."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy

from comprehensive.algebra import Polynomial, PortfolioSolver, RationalFunction, at_least
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.protocols import CounterError, Evaluation, Kind
from comprehensive.optimize.tree import Leaf, Tree, leaf_for
from comprehensive.records import replace
from tests.unit.optimize.bits import Bits

B, s = Polynomial.symbol("B"), Polynomial.symbol("s")


@dataclass(frozen=True, slots=True)
class Returning:
    """A counter that returns what it is told to."""

    result: Any
    name: str = "words"
    limit: str = "Z_B"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Bits) -> Evaluation:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def grown(counter: Returning) -> Tree[Bits]:
    assumptions = (at_least(B, 1), at_least(s, 1))
    problem: Problem[Bits] = Problem([counter], [], assumptions, PortfolioSolver())
    return comprehensive_optimization(problem.initial(()), problem)


def quotient(above: Any, below: Any) -> Returning:
    return Returning(Evaluation(RationalFunction(above, below), "table"))


@pytest.mark.parametrize(
    "value", [2.5, 3, Fraction(1, 2), None, "2*B", sympy.Symbol("B") + 1, float("nan")], ids=repr
)
def test_a_value_that_is_no_polynomial_is_an_error_that_shows_it(value: Any) -> None:
    with pytest.raises(CounterError, match=f"'words' gave .* is a {type(value).__name__}") as caught:
        grown(Returning(Evaluation(value, "table")))
    assert "Polynomial" in caught.value.help


@pytest.mark.parametrize("result", [None, 2 * B, 12.0], ids=repr)
def test_a_result_that_is_no_evaluation_is_an_error(result: Any) -> None:
    with pytest.raises(CounterError, match="'words' returned") as caught:
        grown(Returning(result))
    assert "Evaluation" in caught.value.help


def test_what_a_counter_raises_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError, match="mine"):
        grown(Returning(ZeroDivisionError("mine")))


@pytest.mark.parametrize(
    ("below", "zero"), [(B - s, "is 0 at"), (B - 3, "is 0 at B = 3"), (B * s - 6 * s, "is 0 at B = 6")]
)
def test_a_denominator_that_may_be_zero_is_an_error_with_a_point(below: Polynomial, zero: str) -> None:
    with pytest.raises(CounterError, match=zero):
        grown(quotient(s * s + 1, below))


@pytest.mark.parametrize("kind", [Kind.RESOURCE, Kind.PERFORMANCE])
@pytest.mark.parametrize(
    "below",
    [B * s, B + s, -B, -B - s, 2 * B - 5, (2 * B - 5) * s, B * B - 2, 3 - 2 * s * B],
    ids=str,
)
def test_the_edges_are_those_of_the_quotient_whatever_the_sign_of_its_denominator(
    below: Polynomial, kind: Kind
) -> None:
    counter = quotient(2 * s + 1, below)
    value = counter.result.value
    limit = "Z_B" if kind is Kind.RESOURCE else "P_occ"
    tree = grown(replace(counter, limit=limit, kind=kind))
    for b, width, bound in product(range(1, 6), range(1, 4), range(-3, 5)):
        level = Fraction(bound, 4) if kind is Kind.PERFORMANCE else Fraction(bound)
        point: dict[str, Fraction | int] = {"B": b, "s": width, limit: level}
        exact = value.evaluate(point)
        if kind is Kind.RESOURCE:
            inside, accepted = exact >= 0 and bound >= 0, exact <= level
        else:
            inside, accepted = 0 <= level <= 1, level <= exact
        if inside:
            assert isinstance(leaf_for(tree, point), Leaf) == accepted
