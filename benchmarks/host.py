"""Times the generator: the main job as a cold process, and each stage inside one process.

Run by ``make bench``.  Prints a Markdown table; ``--write`` also keeps it in ``benchmarks/results/``.  Machines are
shared and noisy, so that every figure is the median of several runs with the smallest and largest beside it, CPU time
stands beside wall time, and a plain loop of Python, timed in the same run, says how fast the machine was just then.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Byte code is kept, as on any installation.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
SPECS = sorted((ROOT / "specs").glob("*.mf"))


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of each run, and the largest peak memory in MiB."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]
    peak: float


def cold(arguments: list[str], runs: int) -> Times:
    """Time ``comprehensive ARGUMENTS`` as a fresh process, from start to exit."""
    wall: list[float] = []
    cpu: list[float] = []
    peak = 0.0
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "comprehensive", *arguments],
            cwd=ROOT,
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall.append(time.perf_counter() - start)
        cpu.append(usage.ru_utime + usage.ru_stime)
        if os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit(f"comprehensive {' '.join(arguments)} failed")
        peak = max(peak, usage.ru_maxrss / 1024)
    return Times(tuple(wall), tuple(cpu), peak)


def stage(code: str, runs: int) -> Times:
    """Return the times that ``code`` prints of itself, from fresh processes: nothing memoised before helps."""
    found: list[list[float]] = []
    for _ in range(runs):
        command = [sys.executable, "-c", code]
        run = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=True, capture_output=True, text=True)
        found.append([float(word) for word in run.stdout.split()])
    return Times(tuple(f[0] for f in found), tuple(f[1] for f in found), max(f[2] for f in found))


CLOCKS = """
import resource, time
start = time.perf_counter(), time.process_time()
def report():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.perf_counter() - start[0], time.process_time() - start[1], peak)
"""

YARDSTICK = (
    CLOCKS
    + """
x = 0
for i in range(10_000_000):
    x += i
report()
"""
)

TREE = """
from pathlib import Path
from comprehensive import driver
from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.metafork.parse import parse
from comprehensive.metafork.read import read_source
sink = DiagnosticSink()
nests = build(parse(read_source(Path({path!r})), sink), sink)
{clocks}
for nest in nests:
    driver.grow(nest, driver.Options(registers="estimate"))
report()
"""

FOOTPRINTS = """
from pathlib import Path
from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.loops.unswitch import unswitch
from comprehensive.metafork.parse import parse
from comprehensive.metafork.read import read_source
from comprehensive.poly.footprint import footprint
from comprehensive.poly.model import Level
sink = DiagnosticSink()
nests = [unswitch(nest) for nest in build(parse(read_source(Path({path!r})), sink), sink)]
{clocks}
for nest in nests:
    for band in range(len(nest.bands)):
        for array in nest.arrays:
            footprint(nest, band, array.name, Level.BLOCK)
report()
"""


def row(name: str, times: Times, extra: str) -> str:
    wall, cpu = statistics.median(times.wall), statistics.median(times.cpu)
    return (
        f"| {name} | {wall:.3f} | {min(times.wall):.3f} | {max(times.wall):.3f} | {cpu:.3f} "
        f"| {times.peak:.0f} | {extra} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results/")
    arguments = parser.parse_args()
    runs = arguments.runs
    lines = [
        f"Generator timings, {datetime.date.today()}, commit {commit()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, {runs} runs. Seconds: median, least and most of wall time, median of CPU time.",
        "",
        "| what | wall | min | max | CPU | peak MiB | note |",
        "|---|---|---|---|---|---|---|",
        row("ten million steps of a Python loop", stage(YARDSTICK, runs), "how fast this machine is now"),
        row("--help", cold(["--help"], runs), "cold process"),
    ]
    with tempfile.TemporaryDirectory() as scratch:
        command = ["gen", "specs/matmul.mf", "-o", scratch, "--registers", "estimate"]
        cold(command, 1)  # writes the byte code of whatever was never imported here
        lines.append(row("gen specs/matmul.mf, no nvcc", cold(command, runs), "cold process"))
    paths = [str(spec.relative_to(ROOT)) for spec in SPECS]
    for path in paths:
        times = stage(TREE.format(path=path, clocks=CLOCKS), runs)
        lines.append(row(f"tree of {path}", times, "all regions, imports of strategies included"))
    for path in paths:
        times = stage(FOOTPRINTS.format(path=path, clocks=CLOCKS), runs)
        lines.append(row(f"footprints of {path}", times, "all arrays, bands and regions"))
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.write:
        (ROOT / "benchmarks" / "results" / f"host-{datetime.date.today()}.md").write_text(
            text, encoding="utf-8"
        )


def commit() -> str:
    answer = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return answer.stdout.strip() or "none"


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
