"""Degree 40, numbers of 200 digits, products of eight shifted symbols: an answer or none, never a hang."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from comprehensive.algebra import (
    Atom,
    Consistent,
    Inconsistent,
    Polynomial,
    PortfolioSolver,
    System,
    Unknown,
    at_least,
    at_most,
    box,
    equal,
    feasible,
    less,
    product_of,
    smt,
)
from comprehensive.algebra.notation import Term
from tests.unit.algebra.strategies import all_hold

B, s, Z = (Polynomial.symbol(name) for name in ("B", "s", "Z_B"))
ASSUMED = (at_least(B, 1), at_least(s, 1), at_least(Z, 0))
DIGITS = 10**200


def large(seed: int) -> Polynomial:
    """A dozen terms of degree 40 in B and s, and a constant."""
    random = Random(seed)
    powers = [random.randint(1, 39) for _ in range(12)]
    terms = [Term(Fraction(random.randint(-DIGITS, DIGITS)), (("B", p), ("s", 40 - p))) for p in powers]
    return Polynomial.from_terms([*terms, Term(Fraction(random.randint(-DIGITS, DIGITS)), ())])


def check(system: System) -> None:
    """Whatever the verdict is, it is true of a small box and of itself."""
    match PortfolioSolver().check(system):
        case Consistent(point):
            assert all_hold(system.all_atoms, point)
        case Inconsistent(core):
            for b, width in product(range(1, 9), repeat=2):
                values = {"B": b, "s": width}
                bounds = [atom for atom in core if "Z_B" in atom.symbols]
                ends = {
                    abs(int(atom.substitute(values).polynomial.coefficient("Z_B", 0).constant_value()))
                    for atom in bounds
                }
                near = {end + step for end in ends for step in (-1, 0, 1)}
                assert not any(all_hold(core, {**values, "Z_B": z}) for z in {0, 1, *near})
        case Unknown(reason):
            assert reason


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 0])
def test_large_bounds_on_a_machine_parameter_are_decided_rightly_or_not_at_all(seed: int) -> None:
    p, q = large(seed), large(seed + 100)
    check(System(ASSUMED, (at_most(p, Z), less(Z, q))))
    check(System(ASSUMED, (at_most(p, Z), less(Z, q), at_least(p, q))))
    check(System(ASSUMED, (equal(p, Z), equal(q, Z), less(Z, B**3))))


def test_a_contradiction_among_large_polynomials_is_found_where_it_is_plain() -> None:
    p = large(1)
    assert isinstance(PortfolioSolver().check(System(ASSUMED, (at_most(p, Z), less(Z, p)))), Inconsistent)


def test_a_product_that_would_have_a_million_terms_is_not_expanded() -> None:
    symbols = [Polynomial.symbol(name) for name in "abcdefgh"]
    a = symbols[0]
    assumed = [at_least(symbol, 3) for symbol in symbols]
    tall = product_of(symbol**5 for symbol in symbols)
    verdict = PortfolioSolver().check(
        System(tuple(assumed), (less(tall, 3 * Z * Z - a), at_most(Z, 2), at_least(Z, 0)))
    )
    assert not isinstance(verdict, Consistent)


@pytest.mark.parametrize(
    "atom",
    [at_least(B**25 - s, 0), at_least(B * s * 10**160 + 1, 0)],
    ids=["degree", "digits"],
)
def test_z3_is_not_asked_about_what_its_budget_does_not_count(atom: Atom) -> None:
    answer = smt.solve([atom])
    assert isinstance(answer, smt.Undecided)
    assert "too large for z3" in answer.reason


def test_z3_is_asked_about_large_numbers_in_linear_atoms() -> None:
    assert isinstance(smt.solve([at_least(B, DIGITS), at_most(B, DIGITS - 1)]), smt.Core)


def test_points_are_counted_exactly_where_values_have_hundreds_of_digits() -> None:
    p = large(3)
    limit = DIGITS * 10**30
    found = feasible(System((), (at_most(p, limit),)), {"B": box(1, 12), "s": box(1, 12)}, {})
    wanted = {
        (b, width)
        for b, width in product(range(1, 13), repeat=2)
        if p.evaluate({"B": b, "s": width}) <= limit
    }
    assert 0 < len(wanted) < 144
    assert set(found) == wanted
