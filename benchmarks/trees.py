"""Times the solver on synthetic decision trees, walked as the optimizer walks them, beside other solvers.

``python benchmarks/trees.py`` prints Markdown tables; ``--write`` also keeps them in ``benchmarks/results/``. A check
is `parent.add(atom)` and `PortfolioSolver.check` of the child; times are CPU times, since machines are shared, and a
loop of Python's is timed beside them. What is inconsistent is pruned, and trees are grown to
about the number of nodes that is asked for. Every walk is a process of its own, so that its peak memory is its own.
The other solvers get the same blocks of consecutive queries, with a limit for each and for all of them.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import tree_rivals
from tree_models import Adversarial, GpuLike, Model

from comprehensive.algebra import (
    Atom,
    Consistent,
    Inconsistent,
    PortfolioSolver,
    System,
    Unknown,
    Verdict,
    smt,
)
from comprehensive.algebra.certificate import proves_contradiction
from comprehensive.algebra.points import is_integral
from comprehensive.algebra.symbols import is_integer_symbol

ROOT = Path(__file__).resolve().parent.parent
MODELS = {"GPU-like": GpuLike, "adversarial": Adversarial}
SIZES = (100, 1_000, 10_000)
MOST_ATOMS = 45
# Queries for the other solvers come in so many blocks, spread evenly over the walk.
BLOCKS = 5
ATOM_COUNTS = ((1, 10), (11, 20), (21, 30), (31, MOST_ATOMS))


@dataclass(frozen=True, slots=True)
class Check:
    """One question of the walk, with so many atoms besides the assumptions."""

    atoms: int
    seconds: float
    verdict: str


@dataclass(frozen=True, slots=True)
class Walk:
    """The checks that a walk has met; `sampled` are some of them, each with the atoms from the root in order."""

    checks: tuple[Check, ...]
    sampled: tuple[tuple[Check, tree_rivals.Path], ...]
    finished: bool
    prunes: int
    proved: int
    leaves: int
    whole_leaves: int
    peak: float
    decided_by: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Step:
    """An edge of the tree, linked to the one above it."""

    above: _Step | None
    atom: Atom


@dataclass(frozen=True, slots=True)
class _Visit:
    system: System
    step: _Step | None
    state: Any
    budget: int
    is_whole: bool


def kind_of(verdict: Verdict | Exception) -> str:
    match verdict:
        case Consistent(point):
            return "integer point" if is_integral(point) else "real point"
        case Inconsistent():
            return "inconsistent"
        case Unknown():
            return "undecided"
        case Exception():
            return "failed"


def walk(model: Model[Any], size: int, sample: int, limit: float, seconds: float) -> Walk:
    """Grows the tree to `size` nodes, unless the seconds are used up before.

    A node hands its budget of nodes to its children, more to the refused one, and what a pruned or finished child
    leaves over goes to the next one.
    """
    solver = PortfolioSolver(limits=smt.Limits(resources=int(3_000_000 * limit), seconds=limit))
    random = Random(size)
    checks: list[Check] = []
    steps: list[_Step] = []
    refuted: list[Inconsistent] = []
    leaves = whole_leaves = spare = 0
    finished = True
    system, state = model.root
    waiting = [_Visit(system, None, state, size, True)]
    start = time.perf_counter()
    while waiting:
        visit = waiting.pop()
        budget = visit.budget + spare
        if time.perf_counter() - start > seconds:
            finished = False
            break
        if visit.state is None or budget < 2 or len(visit.system.atoms) >= MOST_ATOMS:
            spare = budget
            leaves += 1
            whole_leaves += visit.is_whole
            continue
        decision = model.decide(visit.state)
        children: list[_Visit] = []
        for atom, after in ((decision.accept, decision.accepted), (decision.refuse, decision.refused)):
            before = time.process_time()
            child = visit.system.add(atom)
            try:
                verdict = solver.check(child)
            except Exception as error:  # a walk goes on, and the table counts it
                verdict = error
            taken = time.process_time() - before
            step = _Step(visit.step, atom)
            steps.append(step)
            checks.append(Check(len(child.atoms), taken, kind_of(verdict)))
            if isinstance(verdict, Inconsistent):
                refuted.append(verdict)
            else:
                is_whole = isinstance(verdict, Consistent) and is_integral(verdict.point)
                children.append(_Visit(child, step, after, 0, is_whole))
        budget, spare = budget - 2, 0
        first = int(budget * random.uniform(0.1, 0.45)) if len(children) > 1 else budget
        parts = [first, budget - first][: len(children)]
        if not children:
            # A system without a point that was not seen to be one before.
            spare = budget
        waiting += [
            _Visit(child.system, child.step, child.state, part, child.is_whole)
            for child, part in reversed(list(zip(children, parts, strict=True)))
        ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    proved = sum(
        certificate is not None and proves_contradiction(certificate, verdict.core, is_integer_symbol)
        for verdict in refuted
        for certificate in [verdict.certificate]
    )
    return Walk(
        tuple(checks),
        tuple((checks[i], (*system.assumptions, *_atoms(steps[i]))) for i in _blocks(len(checks), sample)),
        finished,
        len(refuted),
        proved,
        leaves,
        whole_leaves,
        peak,
        dict(solver.decided_by),
    )


def _atoms(step: _Step) -> tuple[Atom, ...]:
    """The atoms on the way to the step, from the root."""
    found = [step.atom]
    while step.above is not None:
        step = step.above
        found.append(step.atom)
    return tuple(reversed(found))


def _blocks(count: int, sample: int) -> list[int]:
    """Return about `sample` of so many numbers, in blocks without gaps that are spread evenly."""
    if count <= sample:
        return list(range(count))
    return [block * count // BLOCKS + i for block in range(BLOCKS) for i in range(sample // BLOCKS)]


def _serve(kind: str, seed: int, variables: int, size: int, options: Options, remote: Connection) -> None:
    model = MODELS[kind](seed, variables)
    remote.send(walk(model, size, options.sample, options.limit, options.seconds))


@dataclass(frozen=True, slots=True)
class Options:
    """The options: `limit` seconds a query, `seconds` a walk or a rival, `sample` queries a rival."""

    limit: float
    seconds: float
    sample: int
    seed: int


def walked(kind: str, variables: int, size: int, options: Options) -> Walk:
    """The walk in a fresh process."""
    context = multiprocessing.get_context("spawn")
    connection, remote = context.Pipe()
    process = context.Process(target=_serve, args=(kind, options.seed, variables, size, options, remote))
    process.start()
    remote.close()
    found: Walk = connection.recv()
    process.join()
    return found


# --- tables


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f}" if seconds < 0.1 else f"{seconds * 1000:.0f}"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def p99(times: Sequence[float]) -> float:
    return sorted(times)[max(0, -(-99 * len(times) // 100) - 1)]


def walk_row(name: str, found: Walk) -> str:
    times = [check.seconds for check in found.checks]
    kinds = Counter(check.verdict for check in found.checks)
    cells = [
        name,
        f"{len(times) + 1}{'' if found.finished else ' (stopped)'}",
        str(len(times)),
        *(milliseconds(f(times)) for f in (statistics.fmean, statistics.median, p99, max)),
        f"{sum(times):.2f}",
        share(kinds["undecided"], len(times)),
        share(kinds["real point"], len(times)),
        str(kinds["failed"]),
        str(found.prunes),
        share(found.proved, found.prunes),
        share(found.whole_leaves, found.leaves),
        f"{found.peak:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


WALK_HEAD = """\
| tree | nodes | checks | mean ms | median ms | p99 ms | max ms | total s | undecided | real point only | failed \
| prunes | prunes with a proof | leaves with an integer point | peak MiB |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def growth_row(name: str, found: Walk) -> str:
    cells = [name]
    for low, high in ATOM_COUNTS:
        times = [check.seconds for check in found.checks if low <= check.atoms <= high]
        cells.append(f"{milliseconds(statistics.fmean(times))} ({len(times)})" if times else "-")
    tenth = max(1, len(found.checks) // 10)
    for part in (found.checks[:tenth], found.checks[-tenth:]):
        cells.append(milliseconds(statistics.fmean(check.seconds for check in part)))
    cells.append(", ".join(f"{step} {count}" for step, count in found.decided_by.items()))
    return "| " + " | ".join(cells) + " |"


GROWTH_HEAD = (
    "| tree | "
    + " | ".join(f"mean ms at {low} to {high} atoms (checks)" for low, high in ATOM_COUNTS)
    + " | first tenth | last tenth | decided by |\n|"
    + "---|" * (len(ATOM_COUNTS) + 4)
)


def rival_rows(name: str, found: Walk, options: Options) -> tuple[list[str], list[str]]:
    """Rows for all solvers on the queries that were kept, and a line for every contradiction."""
    asked = [check for check, _ in found.sampled]
    rows = [rival_row(name, "portfolio", [check.seconds for check in asked], [c.verdict for c in asked])]
    wrong: list[str] = []
    for rival in tree_rivals.available():
        given = tree_rivals.answers(
            rival, [path for _, path in found.sampled], options.limit, options.seconds
        )
        rows.append(rival_row(name, rival, [g.seconds for g in given], [g.verdict for g in given]))
        for (check, path), answer in zip(found.sampled, given, strict=False):
            if (check.verdict, answer.verdict) in (("inconsistent", "sat"), ("integer point", "unsat")):
                wrong.append(f"{name}: {check.verdict}, {rival} says {answer.verdict}: {System((), path)}")
    return rows, wrong


RIVAL_HEAD = """\
| tree | solver | queries | mean ms | median ms | p99 ms | max ms | total s | undecided | inconsistent |
|---|---|---|---|---|---|---|---|---|---|"""


def rival_row(name: str, solver: str, times: Sequence[float], verdicts: Sequence[str]) -> str:
    if not times:
        return f"| {name} | {solver} | 0 |" + " - |" * 7
    cells = [
        name,
        solver,
        str(len(times)),
        *(milliseconds(f(times)) for f in (statistics.fmean, statistics.median, p99, max)),
        f"{sum(times):.2f}",
        share(sum(verdict in ("undecided", "unknown", "failed") for verdict in verdicts), len(verdicts)),
        share(sum(verdict in ("inconsistent", "unsat") for verdict in verdicts), len(verdicts)),
    ]
    return "| " + " | ".join(cells) + " |"


def yardstick() -> float:
    """CPU seconds of ten million additions in Python: how fast the machine is at the moment."""
    before = time.process_time()
    total = 0
    for number in range(10_000_000):
        total += number
    return time.process_time() - before


def commit() -> str:
    answer = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return answer.stdout.strip() or "none"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=tuple(MODELS), default=tuple(MODELS))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="NODES")
    parser.add_argument("--huge", action="store_true", help="also trees of 100,000 nodes")
    parser.add_argument("--variables", nargs="+", type=int, default=(3, 6, 12), metavar="N")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds a query")
    parser.add_argument("--seconds", type=float, default=120.0, help="seconds a walk, and a rival on a tree")
    parser.add_argument("--sample", type=int, default=200, help="queries a rival on a tree")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-rivals", action="store_true", help="time the portfolio alone")
    parser.add_argument("--write", action="store_true", help="keep the tables in benchmarks/results/")
    arguments = parser.parse_args()
    options = Options(arguments.limit, arguments.seconds, arguments.sample, arguments.seed)
    sizes = (*arguments.sizes, 100_000) if arguments.huge else tuple(arguments.sizes)
    before = yardstick()
    walks, growth, rivals, wrong = [WALK_HEAD], [GROWTH_HEAD], [RIVAL_HEAD], list[str]()
    for kind in arguments.kinds:
        for size in sizes:
            for variables in arguments.variables:
                name = f"{kind}, {size}, {variables} variables"
                found = walked(kind, variables, size, options)
                walks.append(walk_row(name, found))
                growth.append(growth_row(name, found))
                print(walks[-1], file=sys.stderr, flush=True)
                if not arguments.no_rivals:
                    rows, contradictions = rival_rows(name, found, options)
                    rivals += rows
                    wrong += contradictions
    text = "\n".join(
        [
            f"Synthetic decision trees, {datetime.date.today()}, Python {platform.python_version()}, "
            f"commit {commit()}, seed {options.seed}, {options.limit:g} s a query, {options.seconds:g} s a walk. "
            f"CPU times; ten million additions in Python took {before:.2f} s before and {yardstick():.2f} s after.",
            "",
            *walks,
            "",
            *growth,
            *([] if arguments.no_rivals else ["", *rivals]),
            "",
            f"Contradictions between solvers: {len(wrong)}",
            *wrong,
            "",
        ]
    )
    print(text, end="")
    if arguments.write:
        path = ROOT / "benchmarks" / "results" / f"trees-{datetime.date.today()}.md"
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
