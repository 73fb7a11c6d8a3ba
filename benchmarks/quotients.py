"""Quotient symbols beside a case split over their values and beside z3, on systems of occupancy calculations.

``python -m benchmarks.quotients`` prints a Markdown table.  Each problem is written once, over an arithmetic with
floors, ceilings and numbers of blocks, and answered by

- the portfolio with ``floor_of``, ``ceiling_of`` and ``least_of``: a system for each value that may be the least;
- the same with a symbol for a minimum: at most each of the values, and the product of the differences is 0;
- the portfolio with a system for each number of blocks, 0 to 31 and "at least 32", and quotient symbols elsewhere;
- z3 over the integers on the systems of the first;
- z3 with its own ``div`` and ``If``.

A point counts if the problem holds there in Python's integers.  Where all parameters are bounded and the box is small,
it is gone through, and the answer that stands at the problem must be the right one; so must every verdict.
``--write`` also keeps the table in ``benchmarks/results/``.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.least import least_of
from benchmarks.quotient_problems import BLOCKS, PROBLEMS, Limit, Problem, Value, gone_through, holds
from comprehensive.algebra import (
    Atom,
    Consistent,
    Inconsistent,
    Polynomial,
    PortfolioSolver,
    RationalFunction,
    System,
    at_least,
    at_most,
    ceiling_of,
    equal,
    floor_of,
    less,
    product_of,
    smt,
)
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.sign_sets import Signs

ROOT = Path(__file__).resolve().parent.parent
LIMITS = smt.Limits(resources=1_000_000, seconds=5)
# Of one problem, for all its systems.
MOST_SECONDS = 20


# --- arithmetics


@dataclass
class Choices:
    """Runs a function once for every way to choose in it."""

    path: list[int] = field(default_factory=list[int])
    counts: list[int] = field(default_factory=list[int])

    def pick(self, options: Sequence[Any]) -> Any:
        at = len(self.counts)
        self.counts.append(len(options))
        if at == len(self.path):
            self.path.append(0)
        return options[self.path[at]]

    def following(self) -> Choices | None:
        path = list(self.path)
        while path and path[-1] + 1 == self.counts[len(path) - 1]:
            path.pop()
        return Choices([*path[:-1], path[-1] + 1]) if path else None


@dataclass
class Symbols:
    """Polynomials with symbols for quotients; a system for each of several values that may be the least."""

    atoms: list[Atom]
    choices: Choices

    def floor(self, above: Value, below: Value) -> Value:
        return self._defined(floor_of(RationalFunction(above, below), self._signs))

    def ceiling(self, above: Value, below: Value) -> Value:
        return self._defined(ceiling_of(RationalFunction(above, below), self._signs))

    def least(self, *values: Value) -> Value:
        case = self.choices.pick(least_of(values))
        self.atoms += case.atoms
        return case.value

    def blocks(self, *limits: Limit) -> Value:
        return self.least(*(self.floor(*limit) for limit in limits), Polynomial(BLOCKS))

    def _defined(self, found: Any) -> Value:
        self.atoms += found.definition
        return found.value

    def _signs(self, polynomial: Polynomial) -> frozenset[int]:
        return Signs(self.atoms).of(polynomial)


class SymbolsForMinima(Symbols):
    """A symbol for the minimum as well, so that there is one system."""

    def least(self, *values: Value) -> Value:
        found = Polynomial.symbol(f"min({', '.join(map(str, values))})")
        self.atoms += [at_most(found, value) for value in values]
        self.atoms.append(equal(product_of(found - value for value in values), 0))
        return found


class Split(Symbols):
    """A system for each number of blocks and each first limit that allows no further one."""

    def blocks(self, *limits: Limit) -> Value:
        count = self.choices.pick(range(BLOCKS + 1))
        self.atoms += [at_most(count * taken, available) for available, taken in limits]
        if count < BLOCKS:
            first = self.choices.pick(range(len(limits)))
            fits = [at_most((count + 1) * taken, available) for available, taken in limits[: first + 1]]
            self.atoms += [*fits[:first], fits[first].negate()]
        return Polynomial(count)


class Expressions:
    """The arithmetic of z3's own expressions."""

    def floor(self, above: Value, below: Value) -> Value:
        return self._term(above) / below

    def ceiling(self, above: Value, below: Value) -> Value:
        return -((-self._term(above)) / below)

    def blocks(self, *limits: Limit) -> Value:
        import z3

        found = z3.IntVal(BLOCKS)
        for limit in limits:
            count = self.floor(*limit)
            found = z3.If(found <= count, found, count)
        return found

    def _term(self, value: Value) -> Value:
        import z3

        return z3.IntVal(value) if isinstance(value, int) else value


# --- the ways to an answer


def systems(problem: Problem, kind: type[Symbols]) -> Iterator[System]:
    """Yield a system for each way to choose."""
    make = {
        "==": equal,
        "<=": at_most,
        ">=": at_least,
        "<": less,
        ">": lambda left, right: less(right, left),
    }
    given = {name: Polynomial.symbol(name) for name in problem.most}
    assumptions = [at_least(symbol, 1) for symbol in given.values()]
    assumptions += [at_most(given[name], most) for name, most in problem.most.items() if most is not None]
    choices: Choices | None = Choices()
    while choices is not None:
        arithmetic = kind(list(assumptions), choices)
        conditions = problem.conditions(arithmetic, **given)
        atoms = [make[relation](left, right) for left, relation, right in conditions]
        yield System(tuple(arithmetic.atoms), tuple(atoms))
        choices = choices.following()


def by_portfolio(kind: type[Symbols]) -> Callable[[Problem], str]:
    def answer(problem: Problem) -> str:
        solver = PortfolioSolver(limits=LIMITS)
        return over(systems(problem, kind), problem, lambda system: _word(problem, solver.check(system)))

    return answer


def by_z3_on_symbols(problem: Problem) -> str:
    def asked(system: System) -> str:
        match smt.solve(system.all_atoms, system.symbols, LIMITS):
            case smt.Model(values, True):
                return "point" if holds(problem, values) else "wrong point"
            case smt.Core():
                return "none"
            case _:
                return "undecided"

    return over(systems(problem, Symbols), problem, asked)


def by_z3(problem: Problem) -> str:
    import z3

    solver = z3.Solver()
    solver.set("timeout", int(LIMITS.seconds * 1000))
    given = {name: z3.Int(name) for name in problem.most}
    for name, most in problem.most.items():
        solver.add(given[name] >= 1, *([] if most is None else [given[name] <= most]))
    for left, relation, right in problem.conditions(Expressions(), **given):
        solver.add(
            {
                "==": left == right,
                "<=": left <= right,
                ">=": left >= right,
                "<": left < right,
                ">": left > right,
            }[relation]
        )
    verdict = solver.check()
    if verdict != z3.sat:
        return "none" if verdict == z3.unsat else "undecided"
    model = solver.model()
    values = {name: model.eval(symbol, model_completion=True).as_long() for name, symbol in given.items()}
    return "point" if holds(problem, values) else "wrong point"


def over(found: Iterator[System], problem: Problem, answer: Callable[[System], str]) -> str:
    """A point of one of the systems, or none of any."""
    start, words = time.perf_counter(), set[str]()
    for system in found:
        words.add(answer(system))
        if "point" in words or "wrong point" in words:
            break
        if time.perf_counter() - start > MOST_SECONDS:
            words.add("undecided")
            break
    return next(word for word in ("wrong point", "point", "undecided", "none") if word in words)


def _word(problem: Problem, verdict: Any) -> str:
    match verdict:
        case Consistent(point) if is_integral(point):
            return "point" if holds(problem, point) else "wrong point"
        case Inconsistent():
            return "none"
        case _:
            return "undecided"


WAYS: Mapping[str, Callable[[Problem], str]] = {
    "quotient symbols, a system for each least value": by_portfolio(Symbols),
    "symbols for minima, too": by_portfolio(SymbolsForMinima),
    "a system for each number of blocks": by_portfolio(Split),
    "z3 on the symbols": by_z3_on_symbols,
    "z3 with div": by_z3,
}


# --- the table


def timed(way: Callable[[Problem], str], problem: Problem, runs: int) -> tuple[str, float]:
    seconds: list[float] = []
    word = ""
    for _ in range(runs):
        start = time.perf_counter()
        word = way(problem)
        seconds.append(time.perf_counter() - start)
        if word not in ("undecided", "point" if problem.has_point else "none"):
            raise SystemExit(f"{problem.name}: {word}")
    return word, statistics.median(seconds)


def table(runs: int) -> list[str]:
    lines = [f"| problem | point | {' | '.join(WAYS)} |", "|---" * (len(WAYS) + 2) + "|"]
    decided, spent = dict.fromkeys(WAYS, 0), dict.fromkeys(WAYS, 0.0)
    for problem in PROBLEMS:
        known = gone_through(problem)
        if known is not None and known != problem.has_point:
            raise SystemExit(f"{problem.name}: the box says otherwise")
        cells = [problem.name, ("yes" if problem.has_point else "no") + ("" if known is None else " *")]
        for name, way in WAYS.items():
            word, seconds = timed(way, problem, runs)
            decided[name] += word != "undecided"
            spent[name] += seconds
            cells.append(f"{seconds * 1000:,.1f}" + (" ?" if word == "undecided" else ""))
        lines.append("| " + " | ".join(cells) + " |")
    lines.append(f"| decided of {len(PROBLEMS)} | | " + " | ".join(map(str, decided.values())) + " |")
    lines.append("| seconds in all | | " + " | ".join(f"{value:.2f}" for value in spent.values()) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results/")
    arguments = parser.parse_args()
    for way in WAYS.values():
        way(PROBLEMS[-1])  # libraries are loaded
    lines = [
        f"Quotients, {datetime.date.today()}, Python {platform.python_version()}, z3 {version('z3-solver')}, "
        f"{os.cpu_count()} cores. Milliseconds: medians of {arguments.runs} runs; "
        "`?` where nothing is decided. `*`: the box was gone through.",
        "",
        *table(arguments.runs),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.write:
        path = ROOT / "benchmarks" / "results" / f"quotients-{datetime.date.today()}.md"
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
