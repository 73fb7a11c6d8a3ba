"""Times the enumeration of feasible points beside brute force, in one run.

``python benchmarks/enumeration.py`` prints a Markdown table: for each problem the candidates, the feasible points,
and the medians of the pruned descent (``algebra.feasible``), of numpy on all candidates (one value of the first
variable at a time) and of a plain loop in Python, the last only where that ends soon.  All must agree on the points.
``--write`` also keeps the table in ``benchmarks/results/``.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path

import numpy as np

from comprehensive.algebra import (
    Polynomial,
    System,
    at_least,
    at_most,
    box,
    divisors,
    feasible,
    less,
    multiples,
    powers_of_two,
)

ROOT = Path(__file__).resolve().parent.parent
MOST_IN_PYTHON = 2_000_000

B0, B1, s, Z, T = (Polynomial.symbol(name) for name in ("B0", "B1", "s", "Z_B", "T_B"))
SPACE = System(tuple(at_least(symbol, 1) for symbol in (B0, B1, s)))
# The first two leaves of specs/matmul.mf, and the first of specs/jacobi1d.mf.
KEPT = SPACE.add(at_most(B0 * B1, T), at_most(s * B0 * B1 + B0**2, Z))
REDUCED = SPACE.add(at_most(B0 * B1, T), at_most(B0**2 + B0 * B1, Z), less(Z, s * B0 * B1 + B0**2))
JACOBI = SPACE.add(at_most(B0, T), at_most(2 * s * B0 + 2, Z))
DEVICE = {"Z_B": 12288, "T_B": 1024}


@dataclass(frozen=True)
class Problem:
    name: str
    system: System
    domains: Mapping[str, range | tuple[int, ...]]


PROBLEMS = (
    Problem(
        "matmul 0, all B0, B1 to 1024, s to 64",
        KEPT,
        dict.fromkeys(("B0", "B1"), box(1, 1024)) | {"s": box(1, 64)},
    ),
    Problem(
        "matmul 1, all B0, B1 to 1024, s to 64",
        REDUCED,
        dict.fromkeys(("B0", "B1"), box(1, 1024)) | {"s": box(1, 64)},
    ),
    Problem(
        "matmul 0, B0 to 1024, 14 powers B1, s to 64",
        KEPT,
        {"B0": box(1, 1024), "B1": powers_of_two(8192), "s": box(1, 64)},
    ),
    Problem("matmul 0, divisors of 2^14", KEPT, dict.fromkeys(("B0", "B1", "s"), divisors(1 << 14))),
    Problem(
        "matmul 0, multiples of 32 and powers of two",
        KEPT,
        {"B0": multiples(32, 1024), "B1": powers_of_two(1024), "s": powers_of_two(64)},
    ),
    Problem(
        "jacobi1d 0, all B0 to 1024, s to 6143", JACOBI, {"B1": (1,), "B0": box(1, 1024), "s": box(1, 6143)}
    ),
)


def condition(problem: Problem) -> Callable[..., object]:
    """The system as one expression of Python, for numbers and for columns."""
    fixed = {name: value for name, value in DEVICE.items() if name in problem.system.symbols}
    atoms = [atom.substitute(fixed) for atom in problem.system.all_atoms]
    parts = [f"({str(atom.polynomial).replace('^', '**')} {atom.relation.value} 0)" for atom in atoms]
    return eval(f"lambda {', '.join(problem.domains)}: {' & '.join(parts)}")


def descend(problem: Problem) -> int:
    return len(feasible(problem.system, problem.domains, DEVICE))


def all_columns(problem: Problem) -> int:
    holds = condition(problem)
    first, *rest = (np.array(domain) for domain in problem.domains.values())
    others = [column.ravel() for column in np.meshgrid(*rest, indexing="ij")]
    return sum(int(np.count_nonzero(holds(value, *others))) for value in first)


def loop(problem: Problem) -> int:
    holds = condition(problem)
    return sum(1 for point in product(*problem.domains.values()) if holds(*point))


def median(call: Callable[[Problem], int], problem: Problem, runs: int, expected: int) -> str:
    seconds: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        size = call(problem)
        seconds.append(time.perf_counter() - start)
        if size != expected:
            raise SystemExit(f"{problem.name}: {call.__name__} finds {size} points, not {expected}")
    return f"{statistics.median(seconds) * 1000:,.2f}"


def row(problem: Problem, runs: int) -> str:
    candidates = prod(len(domain) for domain in problem.domains.values())
    size = descend(problem)
    slow = max(1, runs // 5)
    cells = [problem.name, f"{candidates:,}", f"{size:,}", median(descend, problem, runs, size)]
    cells.append(median(all_columns, problem, slow, size))
    cells.append(median(loop, problem, slow, size) if candidates <= MOST_IN_PYTHON else "-")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--runs", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results/")
    arguments = parser.parse_args()
    lines = [
        f"Enumeration, {datetime.date.today()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"{os.cpu_count()} cores. Milliseconds: medians of {arguments.runs} runs, a fifth of that for brute force.",
        "",
        "| problem | candidates | feasible | descent | numpy on all | Python on all |",
        "|---|---|---|---|---|---|",
        *(row(problem, arguments.runs) for problem in PROBLEMS),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.write:
        path = ROOT / "benchmarks" / "results" / f"enumeration-{datetime.date.today()}.md"
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
