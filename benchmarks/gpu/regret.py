"""The regret of the launcher's own choice beside the best one there is: ``python3 -m benchmarks.gpu.regret``.

Every spec at six sizes or more, among them some that nothing divides; with ``--everyday`` the everyday kernels at
theirs.  The choice and all candidates (each register and time tile, leaves with powers of two as block sizes) are run,
compared with the reference, and timed as graphs of launches, so that what the host does does not count.  Regret is the
time of the choice over the best time, less one.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import torch

from benchmarks.gpu import native, ours
from benchmarks.gpu.cases import (
    Case,
    Launch,
    Point,
    addition,
    blur,
    heat,
    jacobi1d,
    jacobi2d,
    matvec,
    rectangle,
    reversal,
    square,
    transposition,
)
from benchmarks.gpu.contest import words
from benchmarks.gpu.everyday import timed as everyday_tasks
from benchmarks.gpu.everyday.posed import posed as everyday_problem
from benchmarks.gpu.outcome import PeerError
from benchmarks.gpu.problems import Problem, problem
from benchmarks.gpu.table import markdown_table

CASES = (
    *(square(n) for n in (64, 256, 1000, 1024, 1536, 2048, 4095)),
    *(
        rectangle("", m, n, k)
        for m, n, k in (
            (100, 5000, 300),
            (1000, 2000, 500),
            (4096, 4096, 64),
            (16384, 512, 1024),
            (512, 16384, 1024),
            (512, 512, 16384),
        )
    ),
    *(transposition(n) for n in (64, 512, 1024, 2048, 6144, 16384)),
    *(addition(n) for n in (64, 512, 1024, 2048, 6144, 16384)),
    *(
        matvec(m, n)
        for m, n in (
            (100, 100),
            (1000, 3000),
            (5000, 5001),
            (512, 65536),
            (65536, 512),
            (262144, 64),
            (16384, 16384),
        )
    ),
    *(reversal(n) for n in (1000, 30000, 1 << 20, 5000001, 1 << 25, 1 << 28)),
    *(jacobi1d(n + 2, t) for n in (1 << 14, 1 << 20, 1 << 26) for t in (1, 5, 20)),
    *(jacobi2d(n, t) for n in (258, 1026, 2050, 8192) for t in (2, 20)),
    *(blur(n) for n in (100, 516, 1000, 2052, 5001, 16384)),
    *(heat(n, t) for n in (34, 66, 101, 130, 258, 512) for t in (2,)),
)
MOST_CANDIDATES = 120
GRAPH_MS = 0.5
"""The time of the launches of a graph together."""
REPLAYS = 7
HOPELESS = 3.0
"""A candidate that takes so many times the best one is not timed well."""
TOP = 5
"""Tiles that tuning measures."""
GRAPH_OVERHEAD_MS = 0.015
"""A graph takes about ten microseconds, whatever is in it."""
FEW = 8
"""The least number of launches in a graph that is timed."""


@dataclass(frozen=True, slots=True)
class Found:
    """Times in ms; ``chosen`` and ``best`` say what ran."""

    spec: str
    case: str
    chosen: str
    chosen_ms: float
    best: str
    best_ms: float
    right: int
    tried: int
    tiles: Mapping[int, float]
    """The best time of each tile, by its number."""
    expected: Mapping[int, int]
    """The cycles that the launcher expects of each tile."""
    clock_ghz: float

    @property
    def regret(self) -> float:
        return self.chosen_ms / self.best_ms - 1

    @property
    def tuned_regret(self) -> float:
        """The regret of the best among the few tiles that are expected to be fastest, which tuning would try."""
        few = sorted(self.tiles, key=lambda number: (self.expected[number], number))[:TOP]
        return min((self.tiles[number] for number in few), default=self.chosen_ms) / self.best_ms - 1

    @property
    def correlation(self) -> float | None:
        """Spearman's, of expected and measured times of tiles; None for fewer than three."""
        numbers = sorted(self.tiles)
        if len(numbers) < 3:
            return None
        return spearman([self.expected[n] for n in numbers], [self.tiles[n] for n in numbers])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.regret", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", default="", help="beginnings of the names of cases")
    parser.add_argument("--everyday", action="store_true", help="everyday kernels in the place of specs")
    parser.add_argument("--minutes", type=float, default=8.0, help="when to stop")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument(
        "-o", "--output", type=Path, default=native.LIBRARIES, help="directory for the report"
    )
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        print("gpu-regret: skipped: no GPU on this machine")
        return 0
    begin = time.monotonic()
    every = everyday_subjects() if chosen.everyday else spec_subjects()
    wanted = [each for each in every if any(each.name.startswith(word) for word in chosen.only.split(","))]
    for name, said in native.build_all({each.spec for each in wanted}, "native").items():
        print(f"{name} does not compile:\n{said}", file=sys.stderr)
    found: list[Found] = []
    failed: list[str] = []
    for each in wanted:
        if time.monotonic() - begin > chosen.minutes * 60:
            failed.append(f"{each.name}: the time of the whole run was over")
            continue
        try:
            found.append(measured(each.pose()))
            print(json.dumps(asdict(found[-1])), file=sys.stderr)
        except Exception as error:  # a case that fails is a finding, and the others go on
            failed.append(f"{each.name}: {words(error)}")
            print(failed[-1], file=sys.stderr)
        torch.cuda.empty_cache()
    chosen.output.mkdir(parents=True, exist_ok=True)
    (chosen.output / "gpu-regret.json").write_text(
        json.dumps([asdict(each) for each in found], indent=1), encoding="utf-8"
    )
    text = report(found, failed, f"{torch.cuda.get_device_name()}, commit {chosen.commit}.")
    (chosen.output / "gpu-regret.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


@dataclass(frozen=True, slots=True)
class Subject:
    """A generated program at a size, and how its arrays come to be."""

    name: str
    spec: str
    pose: Callable[[], Problem]


def spec_subjects() -> list[Subject]:
    return [Subject(case.name, launch_of(case).spec, partial(problem, case)) for case in CASES]


def everyday_subjects() -> list[Subject]:
    """Return everyday kernels at their sizes; leaves are tried with blocks in powers of two."""
    tasks = [task for task in everyday_tasks.OURS if task.program is not None]
    return [Subject(task.name, task.program.name, partial(_everyday, task)) for task in tasks if task.program]


def _everyday(task: everyday_tasks.Task) -> Problem:
    assert task.program is not None
    names = [name for name in ours.parameter_names(task.program.name) if name != "tile"]
    block = dict.fromkeys(names, {1: 256, 2: 16}.get(len(names), 8))
    launch = Launch(task.program.name, {**task.size, **(task.computation.scalars or {})}, (block,))
    return everyday_problem(task.computation, task.size, task.name, launch)


def launch_of(case: Case) -> Launch:
    assert isinstance(case.ours, Launch)
    return case.ours


def measured(posed: Problem) -> Found:
    """Measure the choice and all candidates of a problem. PeerError where the choice is wrong or refused."""
    case, launch = posed.case, launch_of(posed.case)
    native.load(launch.spec)
    best, best_ms, right, tried = "", math.inf, 0, 0
    tiles: dict[int, float] = {}
    expected: dict[int, int] = {}
    for point in candidates(launch):
        tried += 1
        try:
            label, milliseconds, cycles = timed(posed, launch, point, best_ms * HOPELESS)
        except PeerError:
            continue
        right += 1
        if tile := point["tile"]:
            tiles[tile] = min(milliseconds, tiles.get(tile, math.inf))
            expected[tile] = cycles
        if milliseconds < best_ms:
            best, best_ms = label, milliseconds
    chosen, chosen_ms = own_choice(posed, launch)
    if chosen_ms < best_ms:
        best, best_ms = chosen, chosen_ms
    clock = getattr(torch.cuda.get_device_properties(0), "clock_rate", 1980000) / 1e6
    return Found(
        launch.spec, case.name, chosen, chosen_ms, best, best_ms, right, tried, tiles, expected, clock
    )


def own_choice(posed: Problem, launch: Launch) -> tuple[str, float]:
    """Time the launcher's own choice, called without parameters.

    Where it then refuses or is wrong, blocks that divide the size are passed, and no tile is asked for.
    PeerError where nothing is right.
    """
    try:
        return timed(posed, launch, None, math.inf)[:2]
    except PeerError:
        for block in launch.blocks:
            try:
                return timed(posed, launch, {**block, "tile": -1}, math.inf)[:2]
            except PeerError:
                continue
    raise PeerError("nothing that the launcher chooses is right")


def candidates(launch: Launch) -> Iterator[Point]:
    """Each tile with every block size of the case (that has to divide the size, perhaps), then leaves."""
    tiles = range(1, len(ours.instances(launch.spec)) + 1)
    yield from ({**block, "tile": tile} for tile in tiles for block in launch.blocks[:1])
    yield from ({**block, "tile": tile} for tile in tiles for block in launch.blocks[1:2])
    yield from ({**block, "tile": 0} for block in launch.blocks)
    names = list(launch.blocks[0])
    values: Sequence[int] = (1, 4, 16, 64, 256) if len(names) > 2 else (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
    several = (dict(zip(names, each, strict=True)) for each in product(values, repeat=len(names)))
    leaves = [point for point in several if 32 <= math.prod(point.values()) <= 4096]
    yield from ({**point, "tile": 0} for point in leaves[:MOST_CANDIDATES])


def timed(posed: Problem, launch: Launch, point: Point | None, hopeless: float) -> tuple[str, float, int]:
    """Return what ran, milliseconds of a launch, and the cycles expected of it; PeerError if refused or wrong."""
    posed.reset()
    run, what, cycles = ours.launching(posed, launch, point)
    run(None)
    error = posed.error(posed.result())
    if not error <= posed.kind.tolerance:
        raise PeerError("wrong result")
    single = per_run(run, 1)
    if single - GRAPH_OVERHEAD_MS > hopeless:
        return what(), single, cycles()
    few = per_run(run, FEW)
    return what(), per_run(run, max(FEW, min(500, math.ceil(GRAPH_MS / few)))), cycles()


def per_run(run: Callable[[int | None], None], launches: int) -> float:
    """Milliseconds of a launch in a graph of so many, the median of some replays."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        stream = torch.cuda.current_stream().cuda_stream
        for _ in range(launches):
            run(stream)
    graph.replay()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times: list[float] = []
    for _ in range(REPLAYS if launches > FEW else 2):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / launches)
    return statistics.median(times)


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """The correlation of ranks; equal values have the mean of their ranks. 0 where one side is all equal."""
    a, b = ranks(left), ranks(right)
    return statistics.correlation(a, b) if len(set(a)) > 1 and len(set(b)) > 1 else 0.0


def geometric_mean(regrets: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log1p, regrets))) - 1


def ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) - 1) / 2 for v in values]


def report(found: Sequence[Found], failed: Iterable[str], about: str) -> str:
    """The whole text, ending in a newline."""
    specs = dict.fromkeys(each.spec for each in found)
    parts = [
        about,
        "The launcher's own choice beside the best of all candidates. " + HOW,
        markdown_table(
            (
                "spec",
                "sizes",
                "regret, geometric mean",
                "worst",
                "at",
                f"tuned, best of {TOP}",
                "worst",
                "rank correlation",
                "expected/measured",
            ),
            [*map(_row_of(found), specs), _row("all", found)],
        ),
        markdown_table(
            (
                "case",
                "chosen",
                "us",
                "best",
                "us",
                "regret",
                "us of tiles (expected)",
                "candidates right of tried",
            ),
            (
                [
                    each.case,
                    each.chosen,
                    f"{1000 * each.chosen_ms:.2f}",
                    each.best,
                    f"{1000 * each.best_ms:.2f}",
                    f"{100 * each.regret:.0f} %",
                    " ".join(
                        f"{number}: {1000 * ms:.2f} ({each.expected[number] / each.clock_ghz / 1000:.2f})"
                        for number, ms in sorted(each.tiles.items())
                    ),
                    f"{each.right} of {each.tried}",
                ]
                for each in found
            ),
        ),
        *(f"Did not run: {line}" for line in failed),
    ]
    return "\n\n".join(parts) + "\n"


HOW = """Regret is its time over the best time, less one. Times are per launch in graphs of launches, medians; every
candidate's result was compared with a reference first. Candidates are all register and time tiles, and leaves with
block sizes in powers of two. The rank correlation is Spearman's, of the cycles that the launcher expects of the tiles
of a case and of their times, where there are three or more, and its mean; beside it the median and the quartiles of
expected over measured times. "tuned" is the best of the five tiles that are expected to be the fastest."""


def _row_of(found: Sequence[Found]) -> Callable[[str], list[str]]:
    return lambda spec: _row(spec, [each for each in found if each.spec == spec])


def _row(name: str, found: Sequence[Found]) -> list[str]:
    worst = max(found, key=lambda each: each.regret)
    mean = geometric_mean([each.regret for each in found])
    tuned = [each.tuned_regret for each in found]
    correlations = [each.correlation for each in found if each.correlation is not None]
    ratios = [
        each.expected[n] / each.clock_ghz / 1e6 / each.tiles[n]
        for each in found
        for n in each.tiles
        if each.expected[n]
    ]
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [math.nan] * 3
    return [
        name,
        str(len(found)),
        f"{100 * mean:.1f} %",
        f"{100 * worst.regret:.0f} %",
        worst.case,
        f"{100 * geometric_mean(tuned):.1f} %",
        f"{100 * max(tuned):.0f} %",
        f"{statistics.fmean(correlations):.2f}" if correlations else "-",
        f"{quartiles[1]:.2f} ({quartiles[0]:.2f} to {quartiles[2]:.2f})",
    ]


if __name__ == "__main__":
    sys.exit(main())
