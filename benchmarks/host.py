"""Times the generator: the main job as a cold process, and each stage inside one process.

Run by ``make bench``.  Prints a Markdown table; ``--write`` also keeps it in ``benchmarks/results/``.  Wall times on
shared machines are noisy, so every figure is the median of several runs, with the smallest and largest beside it.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECS = sorted((ROOT / "specs").glob("*.mf"))


def cold(arguments: list[str], runs: int) -> tuple[list[float], float]:
    """Wall seconds of each run of ``comprehensive ARGUMENTS``, and the peak memory in MiB of the largest."""
    seconds: list[float] = []
    peak = 0.0
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "comprehensive", *arguments],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - start)
        if os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit(f"comprehensive {' '.join(arguments)} failed")
        peak = max(peak, usage.ru_maxrss / 1024)
    return seconds, peak


def fresh_process(code: str, runs: int) -> list[float]:
    """Seconds that ``code`` prints, from fresh processes: nothing memoised by an earlier run helps."""
    return [
        float(subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout)
        for _ in range(runs)
    ]  # fmt: skip


TREE = """
import time
from pathlib import Path
from comprehensive import driver
from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.metafork.parse import parse
from comprehensive.metafork.read import read_source
sink = DiagnosticSink()
nests = build(parse(read_source(Path({path!r})), sink), sink)
start = time.perf_counter()
for nest in nests:
    driver.grow(nest, driver.Options(registers="estimate"))
print(time.perf_counter() - start)
"""

FOOTPRINTS = """
import time
from pathlib import Path
from comprehensive.diagnostics import DiagnosticSink
from comprehensive.loops.build import build
from comprehensive.loops.rewrite import unswitch
from comprehensive.metafork.parse import parse
from comprehensive.metafork.read import read_source
from comprehensive.poly.footprint import footprint
from comprehensive.poly.model import Level
sink = DiagnosticSink()
nests = [unswitch(nest) for nest in build(parse(read_source(Path({path!r})), sink), sink)]
start = time.perf_counter()
for nest in nests:
    for band in range(len(nest.bands)):
        for array in nest.arrays:
            footprint(nest, band, array.name, Level.BLOCK)
print(time.perf_counter() - start)
"""


def row(name: str, seconds: list[float], extra: str = "") -> str:
    median = statistics.median(seconds)
    return f"| {name} | {median:.3f} | {min(seconds):.3f} | {max(seconds):.3f} | {extra} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results/")
    arguments = parser.parse_args()
    lines = [
        f"Generator timings, {datetime.date.today()}, commit {commit()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, median of {arguments.runs} runs, seconds of wall time.",
        "",
        "| what | median | min | max | note |",
        "|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        for label, command in (
            ("--help", ["--help"]),
            (
                "gen specs/matmul.mf, no nvcc",
                ["gen", "specs/matmul.mf", "-o", scratch, "--registers", "estimate"],
            ),
        ):
            seconds, peak = cold(command, arguments.runs)
            lines.append(row(label, seconds, f"cold process, peak {peak:.0f} MiB"))
    for spec in SPECS:
        path = str(spec.relative_to(ROOT))
        lines.append(
            row(f"tree of {path}", fresh_process(TREE.format(path=path), arguments.runs), "all regions")
        )
    for spec in SPECS:
        path = str(spec.relative_to(ROOT))
        seconds = fresh_process(FOOTPRINTS.format(path=path), arguments.runs)
        lines.append(row(f"footprints of {path}", seconds, "all arrays, bands and regions"))
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
