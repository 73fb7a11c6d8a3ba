"""Contradictions that rest on the order of quotients, each with a proof from atoms of the system alone."""

from __future__ import annotations

import pytest

from comprehensive.algebra import (
    Polynomial,
    PortfolioSolver,
    Quotient,
    RationalFunction,
    System,
    at_least,
    at_most,
    ceiling_of,
    floor_of,
    less,
)
from comprehensive.algebra.certificate import proves_contradiction
from comprehensive.algebra.sign_sets import Signs
from comprehensive.algebra.symbols import is_integer_symbol
from comprehensive.optimize.orders import Orders
from comprehensive.records import replace

R, U, W, P = (Polynomial.symbol(name) for name in ("R", "U", "W", "P_x"))
GIVEN = (at_least(R, 1), at_least(U, 1), at_least(W, 4), at_least(P, 0), at_most(P, 1))


def blocks(registers: int) -> tuple[Polynomial, tuple[Quotient, ...]]:
    """Blocks that fit where each takes a rounded-up number of registers."""
    taken = ceiling_of(RationalFunction(Polynomial(registers), U), Signs(GIVEN).of)
    atoms = (*GIVEN, *taken.definition)
    fitting = floor_of(RationalFunction(R, taken.value * U), Signs(atoms).of)
    return fitting.value, (*taken.quotients, *fitting.quotients)


FEW, FEW_QUOTIENTS = blocks(700)
MANY, MANY_QUOTIENTS = blocks(900)
QUOTIENTS = (*FEW_QUOTIENTS, *MANY_QUOTIENTS)
SPACE = System((*GIVEN, *(atom for quotient in QUOTIENTS for atom in quotient.definition)))


def test_more_registers_leave_room_for_fewer_blocks() -> None:
    system = SPACE.add(at_most(P * W, MANY)).add(less(FEW, P * W))
    found = Orders().refuted(system, QUOTIENTS)
    assert found is not None
    assert set(found.core) <= set(system.all_atoms)
    assert found.certificate is not None
    assert proves_contradiction(found.certificate, found.core, is_integer_symbol)


def test_what_can_be_true_is_not_refuted() -> None:
    system = SPACE.add(at_most(P * W, FEW)).add(less(MANY, P * W))
    assert Orders().refuted(system, QUOTIENTS) is None
    assert Orders().refuted(System(GIVEN).add(at_most(P * W, R)), ()) is None


def test_nothing_is_said_of_quotients_whose_definitions_the_system_lacks() -> None:
    system = System(GIVEN).add(at_most(P * W, MANY)).add(less(FEW, P * W))
    assert Orders().refuted(system, QUOTIENTS) is None


def test_a_solver_believes_no_contradiction_without_a_proof_from_the_system() -> None:
    system = SPACE.add(at_most(P * W, MANY)).add(less(FEW, P * W))
    found = Orders().refuted(system, QUOTIENTS)
    assert found is not None
    solver = PortfolioSolver()
    solver.enter_contradiction(system, found)
    assert solver.check(system) == found
    assert solver.minimal(found) is found
    for wrong in (replace(found, derivation=None), replace(found, core=found.core[1:])):
        with pytest.raises(ValueError, match="no proof"):
            solver.enter_contradiction(system, wrong)
    with pytest.raises(ValueError, match="no proof"):
        solver.enter_contradiction(SPACE, found)
