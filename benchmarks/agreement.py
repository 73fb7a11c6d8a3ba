"""The portfolio beside counting, z3, cvc5 and itself on another z3: a table of who decided what, and who disagreed.

    python -m benchmarks.agreement [--count 300] [--other PYTHON] [-o FILE]

Systems are those of `tests/unit/algebra/random_systems.py`, and those of the bank for the portfolio itself. Each is
decided here and by every `--other` interpreter, which may have another version of z3. A rival that gives up agrees
with everybody. Exit status 1 where a verdict contradicts another one.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path

from benchmarks import bank
from benchmarks.tree_rivals import answers, available
from comprehensive.algebra import Consistent, Inconsistent, PortfolioSolver, System, Verdict, smt
from comprehensive.algebra.certificate import proves_contradiction
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.symbols import is_integer_symbol
from tests.unit.algebra.random_systems import FAMILIES, HIGH, LIMITS, LOW, random_system
from tests.unit.algebra.strategies import all_hold, first_point

ROOT = Path(__file__).resolve().parent.parent
BOX = range(LOW, HIGH + 1)
SECONDS_OF_CVC5 = 0.2

Verdicts = dict[str, str]
"""Verdicts by the name of a system: "point" (in integers), "rational point", "none" or "undecided"."""


@dataclass(frozen=True, slots=True)
class Row:
    """One family beside one rival: how many each decided, and the systems on which the two contradict each other."""

    family: str
    rival: str
    systems: int
    here: int
    there: int
    both: int
    mismatches: tuple[str, ...]


def drawn(count: int) -> Iterator[tuple[str, str, System]]:
    """Yield family, name and system of the random ones."""
    for family in FAMILIES:
        for number in range(count):
            yield family, f"{family} {number}", random_system(family, number)


def systems(count: int) -> Iterator[tuple[str, str, System]]:
    """The random ones and the bank."""
    yield from drawn(count)
    for problem in chain.from_iterable(bank.BANK.values()):
        yield "bank", problem.name, problem.system


def decided(count: int) -> Verdicts:
    """Return the verdicts of the portfolio, each point, core and certificate looked at."""
    solvers = {family: PortfolioSolver(limits=LIMITS) for family in FAMILIES}
    found: Verdicts = {}
    for family, name, system in systems(count):
        solver = solvers.get(family) or PortfolioSolver(limits=bank.LIMITS)
        found[name] = word(system, solver.check(system))
    return found


def word(system: System, verdict: Verdict) -> str:
    match verdict:
        case Consistent(point):
            assert all_hold(system.all_atoms, point), system
            return "point" if is_integral(point) else "rational point"
        case Inconsistent(core):
            assert set(core) <= set(system.all_atoms), system
            if verdict.certificate is not None:
                assert proves_contradiction(verdict.certificate, core, is_integer_symbol), system
            return "none"
        case _:
            return "undecided"


def counted(count: int) -> Verdicts:
    """Return verdicts of counting in the box: all there is to a boxed system, and a point of any other."""
    found: Verdicts = {}
    for family, name, system in drawn(count):
        point = first_point(system.all_atoms, BOX)
        found[name] = "point" if point is not None else "none" if family == "boxed" else "undecided"
    return found


def z3_alone(count: int) -> Verdicts:
    """Return verdicts of z3 over the integers, on the atoms as they are."""
    found: Verdicts = {}
    for _, name, system in drawn(count):
        answer = smt.solve(system.all_atoms, system.symbols, LIMITS)
        found[name] = "undecided"
        if isinstance(answer, smt.Core):
            found[name] = "none"
        elif isinstance(answer, smt.Model) and answer.exact:
            found[name] = "point"
    return found


def cvc5_alone(count: int) -> Verdicts:
    """Return verdicts of cvc5 over the integers."""
    listed = list(drawn(count))
    given = answers("cvc5", [system.all_atoms for _, _, system in listed], SECONDS_OF_CVC5, budget=1e9)
    words = {"sat": "point", "unsat": "none"}
    return {
        name: words.get(answer.verdict, "undecided")
        for (_, name, _), answer in zip(listed, given, strict=True)
    }


def elsewhere(python: str, count: int) -> tuple[str, Verdicts]:
    """Return the versions and the verdicts of another interpreter's libraries."""
    command = [python, "-m", "benchmarks.agreement", "--count", str(count), "--verdicts"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    told = json.loads(run.stdout)
    return told["versions"], told["verdicts"]


def versions() -> str:
    """The libraries that a verdict may depend on."""
    names = ("z3-solver", "cvc5", "python-flint")
    found = [f"{name} {_version(name)}" for name in names if _version(name) is not None]
    return ", ".join([f"Python {platform.python_version()}", *found])


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def rows(ours: Verdicts, rival: str, theirs: Verdicts, count: int) -> list[Row]:
    """A row a family that the rival was asked about."""
    found: list[Row] = []
    for family in (*FAMILIES, "bank"):
        names = [name for its, name, _ in systems(count) if its == family and name in theirs]
        if not names:
            continue
        here = {name for name in names if ours[name] != "undecided"}
        there = {name for name in names if theirs[name] != "undecided"}
        # A rational point says nothing of integers, and "none" speaks of those.
        wrong = tuple(name for name in names if {ours[name], theirs[name]} == {"point", "none"})
        found.append(Row(family, rival, len(names), len(here), len(there), len(here & there), wrong))
    return found


def report(ours: Verdicts, found: Sequence[Row]) -> str:
    """The table, and the systems on which somebody is wrong."""
    totals = ", ".join(f"{number} {kind}" for kind, number in sorted(Counter(ours.values()).items()))
    lines = [
        f"{len(ours)} systems, the portfolio says: {totals}.",
        "",
        "| family | systems | decided by the portfolio | beside | decided by it | by both | contradictions |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found:
        cells = (row.family, row.systems, row.here, row.rival, row.there, row.both, len(row.mismatches))
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    wrong = [f"- {name}, beside {row.rival}" for row in found for name in row.mismatches]
    return "\n".join([*lines, "", *(wrong or ["No two of them contradict each other on any system."])])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=300, help="random systems of each family")
    parser.add_argument("--other", action="append", default=[], help="a python with another z3")
    parser.add_argument("-o", "--output", type=Path, help="where to write the table, too")
    parser.add_argument("--verdicts", action="store_true", help="only the portfolio's verdicts, as JSON")
    chosen = parser.parse_args()
    count: int = chosen.count
    ours = decided(count)
    if chosen.verdicts:
        print(json.dumps({"versions": versions(), "verdicts": ours}))
        return 0
    found = rows(ours, f"counting from {LOW} to {HIGH}", counted(count), count)
    found += rows(ours, "z3 over the integers", z3_alone(count), count)
    if "cvc5" in available():
        found += rows(ours, "cvc5 over the integers", cvc5_alone(count), count)
    differing: list[str] = []
    for number, python in enumerate(chosen.other, 2):
        its_versions, theirs = elsewhere(python, count)
        found += rows(ours, f"the portfolio ({number})", theirs, count)
        differing.append(f"({number}) is the portfolio with {its_versions}.")
        differing += [f"- {n}: {ours[n]} here, {theirs[n]} there" for n in ours if ours[n] != theirs[n]]
    text = "\n".join(["# Agreement", "", f"With {versions()}.", report(ours, found), "", *differing]) + "\n"
    print(text)
    if chosen.output is not None:
        chosen.output.write_text(text, encoding="utf-8")
    return 1 if any(row.mismatches for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
