"""Verdicts along a tree are those that the systems get on their own."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from comprehensive.algebra import (
    Atom,
    Consistent,
    Inconsistent,
    Polynomial,
    PortfolioSolver,
    System,
    at_least,
    at_most,
    less,
)
from comprehensive.algebra.certificate import proves_contradiction
from comprehensive.algebra.fourier import Fact
from comprehensive.algebra.inherited import Inherited
from comprehensive.algebra.pairs import Pairs, compared
from comprehensive.algebra.points import is_integral, moved
from comprehensive.algebra.symbols import is_integer_symbol
from tests.unit.algebra.random_systems import LIMITS, random_system

B, s, Z, R = (Polynomial.symbol(name) for name in ("B", "s", "Z_B", "R_B"))


@given(st.sampled_from(("tree", "boxed", "linear")), st.integers(0, 10_000))
def test_growing_a_system_gives_what_asking_once_gives(family: str, number: int) -> None:
    system = random_system(family, number)
    walking, fresh = PortfolioSolver(limits=LIMITS), PortfolioSolver(limits=LIMITS)
    grown = System(system.assumptions)
    for atom in system.atoms:
        grown = grown.add(atom)
        along = walking.check(grown)
        alone = fresh.check(System(grown.assumptions, grown.atoms))
        assert {type(along), type(alone)} != {Consistent, Inconsistent}
        if isinstance(along, Consistent):
            assert grown.holds(along.point)
        if isinstance(along, Inconsistent):
            assert set(along.core) <= set(grown.all_atoms)
            assert along.certificate is None or proves_contradiction(
                along.certificate, along.core, is_integer_symbol
            )


@given(st.sampled_from(("tree", "boxed", "linear", "free")), st.integers(0, 10_000))
def test_pairs_compared_one_by_one_find_what_all_at_once_finds(family: str, number: int) -> None:
    atoms = random_system(family, number).all_atoms
    grown = compared(())
    for atom in atoms:
        if isinstance(grown, Pairs):
            grown = grown.extended([atom])
    assert isinstance(grown, Fact) == isinstance(compared(atoms), Fact)


def test_half_of_the_branches_keep_the_parents_point() -> None:
    solver = PortfolioSolver(use_smt=False)
    root = System((at_least(B, 1), at_least(s, 1), at_least(Z, 0)))
    solver.check(root)
    accept, refuse = at_most(2 * s * B + 2, Z), less(Z, 2 * s * B + 2)
    points = [solver.check(root.add(atom)) for atom in (accept, refuse)]
    assert all(isinstance(found, Consistent) for found in points)
    assert solver.decided_by["parent"] == 1
    assert solver.decided_by["moved"] == 1


def test_what_contradicts_itself_stays_contradictory() -> None:
    solver = PortfolioSolver()
    system = System((at_least(B, 1),), (less(Z, 2 * B), at_least(Z, 2 * B)))
    below = system.add(at_least(R, 7))
    first, second = solver.check(system), solver.check(below)
    assert isinstance(first, Inconsistent)
    assert isinstance(second, Inconsistent)
    assert second.core == first.core
    assert solver.decided_by == {"parent": 1, "sign": 1}


def test_moving_changes_one_symbol_and_only_as_far_as_needed() -> None:
    atoms = [at_least(B, 1), at_most(2 * B + 2, Z), at_most(Z, 40), less(Z, 10 * B)]
    added = [at_least(Z, 11)]
    assert moved({"B": 3, "Z_B": 8, "R_B": 5}, [*atoms, *added], added) == {"B": 3, "Z_B": 11, "R_B": 5}
    assert moved({"B": 1, "Z_B": 4}, [*atoms, *added], added) is None


def test_a_long_chain_of_systems_needs_no_stack() -> None:
    system = System((at_least(B, 1),))
    for number in range(sys.getrecursionlimit() + 10):
        system = system.add(at_least(Z, number * B))
    verdict = PortfolioSolver(use_smt=False).check(system)
    assert isinstance(verdict, Consistent)
    assert is_integral(verdict.point)


def test_an_inherited_value_is_made_once_from_the_parents() -> None:
    made: list[int] = []

    def count(system: System, above: int | None) -> int:
        made.append(len(system.atoms))
        return 0 if above is None else above + len(system.added)

    memo = Inherited(count, most=3)
    root = System((at_least(B, 1),), (at_least(Z, 1),))
    child = root.add(at_least(Z, 2 * B), at_most(Z, 9 * B))
    assert memo.of(child) == 2
    assert made == [1, 3]
    assert memo.of(child) == 2
    assert made == [1, 3]
    for number in range(4):
        memo.of(System((), (at_least(Z, number),)))
    assert memo.of(child.add(at_least(R, B))) == 3


def test_adding_what_is_known_gives_the_same_system() -> None:
    system = System((at_least(B, 1),), (at_least(Z, 1),))
    assert system.add(at_least(B, 1), at_least(Z, 1), Atom.make(3, at_least(B, 1).relation)) is system
    child = system.add(at_most(Z, B))
    assert child.parent is system
    assert child.added == (at_most(Z, B),)
    assert child == System(system.assumptions, (*system.atoms, at_most(Z, B)))
    assert hash(child) == hash(System(system.assumptions, (*system.atoms, at_most(Z, B))))
