"""Hundreds of seeded random systems: the portfolio against plain counting, z3 and cvc5, and against itself.

Many more with `-m slow`. A solver may give up; two that decide must agree.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.tree_rivals import answers, available
from comprehensive.algebra import Consistent, Inconsistent, PortfolioSolver, System, Unknown, Verdict, smt
from comprehensive.algebra.certificate import proves_contradiction
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.symbols import is_integer_symbol
from tests.unit.algebra.random_systems import FAMILIES, HIGH, LIMITS, LOW, random_system
from tests.unit.algebra.strategies import all_hold, first_point

ROOT = Path(__file__).resolve().parents[3]
FEW, MANY = 20, 1000
BOX = range(LOW, HIGH + 1)


def sized(few: int, many: int) -> pytest.MarkDecorator:
    """The first `few` numbers always, those up to `many` where slow tests run."""
    return pytest.mark.parametrize(
        "numbers",
        [
            pytest.param(range(few), id="few"),
            pytest.param(range(few, many), id="many", marks=pytest.mark.slow),
        ],
    )


def checked(system: System, solver: PortfolioSolver) -> Verdict:
    """The verdict, after a look at its point, core and certificate by itself."""
    verdict = solver.check(system)
    match verdict:
        case Consistent(point):
            assert set(point) == set(system.symbols)
            assert all_hold(system.all_atoms, point)
        case Inconsistent(core):
            assert set(core) <= set(system.all_atoms)
            if verdict.certificate is not None:
                assert proves_contradiction(verdict.certificate, core, is_integer_symbol)
        case Unknown(reason):
            assert reason
    return verdict


@pytest.mark.parametrize("family", FAMILIES)
@sized(FEW, MANY)
def test_no_verdict_contradicts_counting_or_z3_over_the_integers(family: str, numbers: range) -> None:
    solver = PortfolioSolver(limits=LIMITS)
    for number in numbers:
        system = random_system(family, number)
        verdict = checked(system, solver)
        # z3 can overrun its resources; that it has no answer in that time proves nothing and fails nothing. Almost all
        # systems take it some milliseconds.
        seconds = 0.3 if numbers.stop <= FEW else 10
        answer = smt.solve(system.all_atoms, system.symbols, smt.Limits(LIMITS.resources, seconds))
        if isinstance(verdict, Inconsistent):
            assert first_point(system.all_atoms, BOX) is None, (number, system)
            assert first_point(verdict.core, BOX) is None, (number, verdict.core)
            assert not isinstance(answer, smt.Model), (number, system, answer)
        elif isinstance(verdict, Consistent) and is_integral(verdict.point):
            assert family != "boxed" or first_point(system.all_atoms, BOX) is not None, (number, system)
            assert not isinstance(answer, smt.Core), (number, system, verdict)


@pytest.mark.skipif("cvc5" not in available(), reason="needs cvc5, which is not installed here")
@pytest.mark.parametrize("family", FAMILIES)
@sized(FEW // 2, MANY)
def test_cvc5_never_says_the_opposite(family: str, numbers: range) -> None:
    solver = PortfolioSolver(limits=LIMITS)
    systems = [random_system(family, number) for number in numbers]
    given = answers("cvc5", [system.all_atoms for system in systems], limit=0.2, budget=20 + len(numbers) / 4)
    assert given
    for system, answer in zip(systems, given, strict=False):
        verdict = checked(system, solver)
        if isinstance(verdict, Inconsistent):
            assert answer.verdict != "sat", system
        elif isinstance(verdict, Consistent) and is_integral(verdict.point):
            assert answer.verdict != "unsat", (system, verdict)


def transcript(count: int, seed: str) -> str:
    program = f"from tests.unit.algebra.random_systems import transcript; print(transcript({count}))"
    environment = os.environ | {"PYTHONHASHSEED": seed}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, cwd=ROOT
    )
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, pytest.param(300, marks=pytest.mark.slow)])
def test_three_processes_with_different_hash_seeds_say_the_same(count: int) -> None:
    first = transcript(count, "0")
    assert len(first.splitlines()) == count * len(FAMILIES) + 1
    for seed in ("1", "987654"):
        assert transcript(count, seed) == first
