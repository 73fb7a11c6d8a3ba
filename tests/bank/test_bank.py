"""The solver on classic systems with known answers: never a wrong verdict; how many are decided is printed with -s."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from comprehensive.algebra import Consistent, Inconsistent, PortfolioSolver, Unknown, smt
from comprehensive.algebra.certificate import proves_contradiction
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.symbols import is_integer_symbol
from tests.bank import cad, inequalities, integers, triangular
from tests.bank.problem import Problem
from tests.examples import quick_of

PROBLEMS = (*cad.PROBLEMS, *triangular.PROBLEMS, *inequalities.PROBLEMS, *integers.PROBLEMS)
# The watchdog is short, since z3 overruns its resources a hundredfold on some of these.
quick = smt.Limits(resources=300_000, seconds=2)


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    expected: str
    found: str
    proved: bool
    step: str
    seconds: float

    @property
    def is_decided(self) -> bool:
        return self.expected == self.found

    def __str__(self) -> str:
        proof = "proof" if self.proved else ""
        mark = " " if self.is_decided else "?"
        return (
            f"{mark} {self.name:42} {self.expected:12} {self.found:14} {proof:5} "
            f"{self.step:12} {self.seconds * 1000:9.1f} ms"
        )


@pytest.fixture(scope="module")
def table() -> Iterator[list[Row]]:
    rows: list[Row] = []
    yield rows
    decided = sum(row.is_decided for row in rows)
    print(f"\n{decided} of {len(rows)} decided", *rows, sep="\n")


def decide(problem: Problem, solver: PortfolioSolver) -> Row:
    """The verdict on a problem, checked against what is known."""
    start = time.perf_counter()
    verdict = solver.check(problem.system)
    seconds = time.perf_counter() - start
    proved = False
    match verdict:
        case Consistent(point):
            assert problem.system.holds(point)
            # Where whole numbers are given up, the reals decide; the theorem may speak of integers only.
            found = "consistent" if is_integral(point) else "over the reals"
            assert problem.witness is not None or not is_integral(point)
        case Inconsistent(core):
            assert problem.witness is None
            assert set(core) <= set(problem.atoms)
            found = "inconsistent"
            if verdict.certificate is not None:
                proved = proves_contradiction(verdict.certificate, core, is_integer_symbol)
                assert proved
        case Unknown(reason):
            assert reason
            found = "unknown"
    expected = "inconsistent" if problem.witness is None else "consistent"
    step = next(iter(solver.decided_by), "")
    return Row(problem.name, expected, found, proved, step, seconds)


# Problems of one kind stand together: every fourth is one of each.
@pytest.mark.parametrize("problem", quick_of(PROBLEMS, PROBLEMS[::4]), ids=lambda problem: problem.name)
def test_no_verdict_is_wrong(problem: Problem, table: list[Row]) -> None:
    table.append(decide(problem, PortfolioSolver(limits=quick)))


@pytest.mark.slow
def test_as_many_as_ever_are_decided_without_z3() -> None:
    rows = [decide(problem, PortfolioSolver(use_smt=False)) for problem in PROBLEMS]
    assert sum(row.is_decided for row in rows) >= 45


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_no_verdict_is_wrong_with_the_default_limits(problem: Problem, table: list[Row]) -> None:
    table.append(decide(problem, PortfolioSolver()))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_the_witness_satisfies_every_atom(problem: Problem) -> None:
    if problem.witness is not None:
        assert problem.system.holds(problem.witness)
        assert set(problem.witness) == set(problem.system.symbols)
        assert is_integral(problem.witness)


def test_every_problem_has_a_name_of_its_own_and_a_source_with_a_year() -> None:
    names = [problem.name for problem in PROBLEMS]
    assert len(set(names)) == len(names) >= 30
    assert all(any(word.strip("(),").isdigit() for word in problem.source.split()) for problem in PROBLEMS)
