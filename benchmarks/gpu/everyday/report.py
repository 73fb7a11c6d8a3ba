"""Outcomes as Markdown: the means, every kernel beside its fastest peer, and what did not run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.gpu.everyday.computation import Size, label
from benchmarks.gpu.everyday.computations import GROUP_OF, GROUPS
from benchmarks.gpu.everyday.programs import SPELLINGS
from benchmarks.gpu.everyday.timed import Task
from benchmarks.gpu.outcome import Outcome
from benchmarks.gpu.table import markdown_table

PEERS: Mapping[str, str] = {"torch": "torch", "plain": "plain kernel"}
DECLARED = next(iter(SPELLINGS))

HOW = """\
Kernels are in `benchmarks/gpu/everyday/kernels`, launched without parameters. Times are medians in milliseconds, per
run in graphs of launches (runs over 5 ms: between two events), on warm data; nothing empties the second-level cache
between runs. Every result was compared with a reference in double precision (integers: exactly), element by element,
before it was timed. Ratios are our time over that of the fastest peer: 1 is level, more is slower. Peers are torch
(cuBLAS and cuDNN, no TF32) and one plain kernel for each computation, a thread for each point. The share of the ceiling
is the longer one of the least traffic at the rate of the best copy and the operations at the rate of single
multiply-adds, over our time; above 1, data stayed in the cache from one run to the next, or tensor cores computed in
double precision."""


@dataclass(frozen=True)
class Row:
    """A kernel at a size, with what was found."""

    task: Task
    ours: Outcome
    peers: Mapping[str, Outcome]
    floor: float | None
    """Milliseconds that the ceilings leave at least, where they were measured."""

    @property
    def best(self) -> Outcome | None:
        ran = [outcome for outcome in self.peers.values() if outcome.ran]
        return min(ran, key=lambda outcome: outcome.median, default=None)

    @property
    def ratio(self) -> float | None:
        """Our time over that of the fastest peer, where both ran."""
        return self.ours.median / self.best.median if self.ours.ran and self.best else None

    @property
    def share(self) -> float | None:
        return self.floor / self.ours.median if self.floor is not None and self.ours.ran else None

    @property
    def has_tile(self) -> bool:
        """Whether what ran last was a tile."""
        return self.ours.what.startswith("tile")

    @property
    def spelling(self) -> str:
        assert self.task.program is not None
        return self.task.program.spelling


@dataclass(frozen=True)
class Ceilings:
    """Rates of the best copy in bytes, and of multiply-adds in operations, a millisecond."""

    bytes: float
    operations: float

    @property
    def words(self) -> str:
        gigabytes, teraflops = self.bytes / 1e6, self.operations / 1e9
        return f"Ceilings: {gigabytes:.0f} GB/s for the best copy, {teraflops:.2f} TFLOP/s for multiply-adds."

    def floor(self, task: Task) -> float:
        traffic = task.computation.traffic_at(task.size) / self.bytes
        return max(traffic, task.computation.operations_at(task.size) / self.operations)


def rows(
    tasks: Iterable[Task], outcomes: Mapping[tuple[str, str], Outcome], ceilings: Ceilings | None
) -> list[Row]:
    """Return rows for the tasks of which ours has an outcome; outcomes are by task and peer."""
    return [
        Row(
            task,
            outcomes[task.name, "ours"],
            {peer: found for peer in PEERS if (found := outcomes.get((task.for_peers.name, peer)))},
            ceilings and ceilings.floor(task),
        )
        for task in tasks
        if (task.name, "ours") in outcomes
    ]


def report(about: str, found: Sequence[Row], ceilings: Ceilings | None) -> str:
    """The whole text, ending in a newline."""
    parts = [
        about,
        HOW,
        "No ceilings were measured." if ceilings is None else ceilings.words,
        summary(found),
        markdown_table(("which", "points", "ratio, geometric mean", "worst", "of ceiling"), _means(found)),
        "The same computation at the same size, beside the kernel with declared dimensions:",
        markdown_table(
            ("spelling", "points", "time over declared, geometric mean", "least", "most"), _pairs(found)
        ),
        "Every kernel:",
        markdown_table(
            (
                "kernel",
                "size",
                "ours, ms",
                "torch, ms",
                "plain kernel, ms",
                "ratio",
                "of ceiling",
                "what ran",
            ),
            [_row(row) for row in found],
        ),
        "Did not run:",
        markdown_table(("kernel", "who", "why"), _silent(found)),
    ]
    return "\n\n".join(parts) + "\n"


def summary(found: Sequence[Row]) -> str:
    """The one mean, and what is not in it."""
    ratios = _ratios(found)
    names = {row.task.program.name for row in found if row.task.program and row.ratio is not None}
    refused = {row.task.program.name for row in found if row.task.program and _is_refused(row.ours)}
    silent = [row for row in found if not row.ours.ran and not _is_refused(row.ours)]
    mean = f"{geometric_mean(ratios):.2f}" if ratios else "none"
    return (
        f"**Geometric mean of ours over the fastest peer: {mean}**, over {len(ratios)} points of {len(names)} kernels. "
        f"Not in it: {len(refused)} kernels that `gen` refuses, {len(silent)} points that did not run or were wrong."
    )


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def _ratios(found: Iterable[Row]) -> list[float]:
    return [row.ratio for row in found if row.ratio is not None]


def _is_refused(outcome: Outcome) -> bool:
    return outcome.reason.startswith("refused")


def _means(found: Sequence[Row]) -> list[list[str]]:
    chosen: dict[str, Callable[[Row], bool]] = {
        "all": lambda row: True,
        "a tile ran": lambda row: row.has_tile,
        "no tile ran": lambda row: not row.has_tile,
    }
    for group in GROUPS:
        chosen[group] = lambda row, group=group: GROUP_OF[row.task.computation.name] == group
    for spelling, words in SPELLINGS.items():
        chosen[words] = lambda row, spelling=spelling: row.spelling == spelling
    lines: list[list[str]] = []
    for words, belongs in chosen.items():
        these = [row for row in found if belongs(row) and row.ratio is not None]
        if these:
            worst = max(these, key=lambda row: row.ratio or 0.0)
            shares = [row.share for row in these if row.share is not None]
            lines.append(
                [
                    words,
                    str(len(these)),
                    f"{geometric_mean(_ratios(these)):.2f}",
                    f"{_number(worst.ratio)} ({worst.task.name})",
                    f"{geometric_mean(shares):.2f}" if shares else "",
                ]
            )
    return lines


def _pairs(found: Sequence[Row]) -> list[list[str]]:
    declared = {
        row.task.for_peers.name: row.ours.median for row in found if row.spelling == DECLARED and row.ours.ran
    }
    lines: list[list[str]] = []
    for spelling, words in SPELLINGS.items():
        quotients = [
            row.ours.median / declared[row.task.for_peers.name]
            for row in found
            if row.spelling == spelling and row.ours.ran and row.task.for_peers.name in declared
        ]
        if spelling != DECLARED and quotients:
            least, most = min(quotients), max(quotients)
            lines.append(
                [
                    words,
                    str(len(quotients)),
                    f"{geometric_mean(quotients):.2f}",
                    f"{least:.2f}",
                    f"{most:.2f}",
                ]
            )
    return lines


def _row(row: Row) -> list[str]:
    assert row.task.program is not None
    return [
        row.task.program.name,
        _size(row.task.size),
        _time(row.ours),
        _time(row.peers.get("torch")),
        _time(row.peers.get("plain")),
        _number(row.ratio),
        _number(row.share),
        row.ours.what or row.ours.reason,
    ]


def _silent(found: Sequence[Row]) -> list[list[str]]:
    lines = {
        (row.task.for_peers.name, PEERS[peer], outcome.reason): None
        for row in found
        for peer, outcome in row.peers.items()
        if not outcome.ran
    }
    ours = [[row.task.name, "ours", row.ours.reason] for row in found if not row.ours.ran]
    return ours + [list(line) for line in lines]


def _size(size: Size) -> str:
    return label(size)


def _time(outcome: Outcome | None) -> str:
    if outcome is None:
        return ""
    return _milliseconds(outcome.median) if outcome.ran else "-"


def _milliseconds(value: float) -> str:
    """Return the time with four digits that count."""
    return f"{value:.{max(0, 3 - math.floor(math.log10(value)))}f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
