"""The problems of `tests/bank` by the portfolio, with and without z3, and by z3 alone, in one run.

    python -m benchmarks.bank [--write]

Prints a Markdown table: for each family how many are solved and how long all of them take, then each problem that not
all of them solve. Alone, z3 is asked once about the atoms as they are, with integers for integers and the limits of one
question of the portfolio; "more" is ten times the resources for either. A verdict counts as solved if it is the known
one, and the program ends where it is the opposite. ``--write`` also keeps the table in ``benchmarks/results/``.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from comprehensive.algebra import Consistent, Inconsistent, PortfolioSolver, System, smt
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.symbols import is_integer_symbol
from tests.bank import cad, inequalities, integers, triangular
from tests.bank.problem import Problem

ROOT = Path(__file__).resolve().parent.parent
BANK: Mapping[str, Sequence[Problem]] = {
    "cylindrical decomposition": cad.PROBLEMS,
    "triangular systems": triangular.PROBLEMS,
    "inequalities": inequalities.PROBLEMS,
    "integers": integers.PROBLEMS,
}
# z3 overruns its resources a hundredfold on some problems, so that there is a watchdog.
LIMITS = smt.Limits(resources=300_000, seconds=2)
MORE = smt.Limits(resources=3_000_000, seconds=10)


@dataclass(frozen=True, slots=True)
class Result:
    """The answer that was found ("point", "irrational point", "none", "undecided"), and its seconds."""

    word: str
    seconds: float

    @property
    def is_solved(self) -> bool:
        return self.word != "undecided"

    def __str__(self) -> str:
        marks = {"undecided": " ?", "irrational point": " ~"}
        return f"{self.seconds:.2f}{marks.get(self.word, '')}"


def by_portfolio(limits: smt.Limits, *, use_smt: bool = True) -> Callable[[System], str]:
    """A point that is none in integers leaves it open."""

    def answer(system: System) -> str:
        match PortfolioSolver(use_smt=use_smt, limits=limits).check(system):
            case Consistent(point) if is_integral(point):
                return "point"
            case Inconsistent():
                return "none"
            case _:
                return "undecided"

    return answer


def by_z3(limits: smt.Limits) -> Callable[[System], str]:
    """A point that is not rational counts, too, though nothing but z3 says that it is one."""

    def answer(system: System) -> str:
        match smt.solve(system.all_atoms, filter(is_integer_symbol, system.symbols), limits):
            case smt.Model(_, exact):
                return "point" if exact else "irrational point"
            case smt.Core():
                return "none"
            case smt.Undecided():
                return "undecided"

    return answer


WAYS: Mapping[str, Callable[[System], str]] = {
    "portfolio": by_portfolio(LIMITS),
    "portfolio, more": by_portfolio(MORE),
    "portfolio without z3": by_portfolio(LIMITS, use_smt=False),
    "z3 alone": by_z3(LIMITS),
    "z3 alone, more": by_z3(MORE),
}


def asked(name: str, problem: Problem) -> Result:
    system = problem.system
    start = time.perf_counter()
    found = WAYS[name](system)
    seconds = time.perf_counter() - start
    known = ("none",) if problem.witness is None else ("point", "irrational point")
    if found not in (*known, "undecided"):
        raise SystemExit(f"{problem.name}: {name} says {found}")
    return Result(found, seconds)


def table(results: Mapping[str, Mapping[str, Mapping[str, Result]]]) -> list[str]:
    """A row for each family; `results` by family, problem and way."""
    lines = [f"| family | problems | {' | '.join(WAYS)} |", "|---" * (len(WAYS) + 2) + "|"]
    whole = {name: row for found in results.values() for name, row in found.items()}
    for family, found in {**results, "all": whole}.items():
        cells = [family, str(len(found))]
        for way in WAYS:
            rows = [row[way] for row in found.values()]
            solved = sum(result.is_solved for result in rows)
            cells.append(f"{solved}, {sum(result.seconds for result in rows):.1f} s")
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", f"| not solved by all | {' | '.join(WAYS)} |", "|---" * (len(WAYS) + 1) + "|"]
    for name, row in whole.items():
        if not all(result.is_solved for result in row.values()):
            lines.append(f"| {name} | " + " | ".join(str(row[way]) for way in WAYS) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results/")
    arguments = parser.parse_args()
    first = BANK["cylindrical decomposition"][0]
    for name in WAYS:
        asked(name, first)  # libraries are loaded
    results = {
        family: {problem.name: {name: asked(name, problem) for name in WAYS} for problem in problems}
        for family, problems in BANK.items()
    }
    lines = [
        f"Bank, {datetime.date.today()}, Python {platform.python_version()}, z3 {version('z3-solver')}, "
        f"{os.cpu_count()} cores. Solved, and seconds for all, solved or not.",
        f"A question to z3 has {LIMITS.resources:,} resources and {LIMITS.seconds} s; with more, {MORE.resources:,} "
        f"and {MORE.seconds} s.",
        "All ways ask one context of z3, in turn: what it was asked before changes a few of its answers "
        "at the same limits.",
        "`?`: nothing is decided. `~`: z3's point is irrational; the portfolio gives rational ones only.",
        "",
        *table(results),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.write:
        path = ROOT / "benchmarks" / "results" / f"bank-{datetime.date.today()}.md"
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
