"""How far the launcher's own choice is from the best one there is: ``python3 -m benchmarks.gpu.regret``.

Every spec at six sizes or more, among them some that nothing divides.  The choice and all candidates (each register and
time tile, leaves with powers of two as block sizes) are run, compared with the reference, and timed as graphs of
launches, so that what the host does does not count.  Regret is the time of the choice over the best time, less one.
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
"""How long the launches of a graph take together."""
REPLAYS = 7
HOPELESS = 3.0
"""A candidate that takes so many times the best one is not timed well."""


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

    @property
    def regret(self) -> float:
        return self.chosen_ms / self.best_ms - 1


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.regret", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", default="", help="beginnings of the names of cases")
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
    wanted = [case for case in CASES if any(case.name.startswith(word) for word in chosen.only.split(","))]
    for name, said in native.build_all({launch_of(case).spec for case in wanted}, "native").items():
        print(f"{name} does not compile:\n{said}", file=sys.stderr)
    found: list[Found] = []
    failed: list[str] = []
    for case in wanted:
        if time.monotonic() - begin > chosen.minutes * 60:
            failed.append(f"{case.name}: the time of the whole run was over")
            continue
        try:
            found.append(measured(case))
            print(json.dumps(asdict(found[-1])), file=sys.stderr)
        except Exception as error:  # a case that fails is a finding, and the others go on
            failed.append(f"{case.name}: {words(error)}")
            print(failed[-1], file=sys.stderr)
        torch.cuda.empty_cache()
    chosen.output.mkdir(parents=True, exist_ok=True)
    text = report(found, failed, f"{torch.cuda.get_device_name()}, commit {chosen.commit}.")
    (chosen.output / "gpu-regret.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


def launch_of(case: Case) -> Launch:
    assert isinstance(case.ours, Launch)
    return case.ours


def measured(case: Case) -> Found:
    """PeerError where the choice is wrong or refused."""
    posed = problem(case)
    launch = launch_of(case)
    native.load(launch.spec)
    best, best_ms, right, tried = "", math.inf, 0, 0
    tiles: dict[int, float] = {}
    for point in candidates(launch):
        tried += 1
        try:
            label, milliseconds = timed(posed, launch, point, best_ms * HOPELESS)
        except PeerError:
            continue
        right += 1
        if tile := point["tile"]:
            tiles[tile] = min(milliseconds, tiles.get(tile, math.inf))
        if milliseconds < best_ms:
            best, best_ms = label, milliseconds
    chosen, chosen_ms = own_choice(posed, launch)
    if chosen_ms < best_ms:
        best, best_ms = chosen, chosen_ms
    return Found(launch.spec, case.name, chosen, chosen_ms, best, best_ms, right, tried, tiles)


def own_choice(posed: Problem, launch: Launch) -> tuple[str, float]:
    """Without parameters; where blocks have to divide the size, with those that do, and no tile asked for."""
    try:
        return timed(posed, launch, None, math.inf)
    except PeerError:
        for block in launch.blocks:
            try:
                return timed(posed, launch, {**block, "tile": -1}, math.inf)
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


def timed(posed: Problem, launch: Launch, point: Point | None, hopeless: float) -> tuple[str, float]:
    """What ran, and milliseconds of a launch; PeerError where it is refused or wrong."""
    posed.reset()
    run, what = ours.launching(posed, launch, point)
    run(None)
    error = posed.error(posed.result())
    if not error <= posed.kind.tolerance:
        raise PeerError("wrong result")
    single = per_run(run, 1)
    if single > hopeless:
        return what(), single
    return what(), per_run(run, max(1, min(500, math.ceil(GRAPH_MS / single))))


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
    for _ in range(REPLAYS if launches > 1 else 2):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / launches)
    return statistics.median(times)


def report(found: Sequence[Found], failed: Iterable[str], about: str) -> str:
    """The whole text, ending in a newline."""
    specs = dict.fromkeys(each.spec for each in found)
    parts = [
        about,
        "The launcher's own choice beside the best of all candidates. " + HOW,
        markdown_table(
            ("spec", "sizes", "regret, geometric mean", "worst", "at"), map(_row_of(found), specs)
        ),
        markdown_table(
            ("case", "chosen", "us", "best", "us", "regret", "us of tiles", "candidates right of tried"),
            (
                [
                    each.case,
                    each.chosen,
                    f"{1000 * each.chosen_ms:.2f}",
                    each.best,
                    f"{1000 * each.best_ms:.2f}",
                    f"{100 * each.regret:.0f} %",
                    " ".join(f"{number}: {1000 * ms:.2f}" for number, ms in sorted(each.tiles.items())),
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
block sizes in powers of two."""


def _row_of(found: Sequence[Found]) -> Callable[[str], list[str]]:
    def row(spec: str) -> list[str]:
        own = [each for each in found if each.spec == spec]
        worst = max(own, key=lambda each: each.regret)
        mean = math.exp(statistics.fmean(math.log1p(each.regret) for each in own)) - 1
        return [spec, str(len(own)), f"{100 * mean:.1f} %", f"{100 * worst.regret:.0f} %", worst.case]

    return row


if __name__ == "__main__":
    sys.exit(main())
