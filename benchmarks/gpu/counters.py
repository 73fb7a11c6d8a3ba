"""Hardware counters of single launches by Nsight Compute: ``python3 -m benchmarks.gpu.counters`` where ncu is, too.

``python3 -m benchmarks.gpu`` has to have built the libraries on this machine before.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gpu import native, peers
from benchmarks.gpu.cases import BY_NAME, CASES, COPY
from benchmarks.gpu.peers import CEILINGS, OURS
from benchmarks.gpu.table import markdown_table

TIME_LIMIT_S = 100
OF_OURS = ("transpose", "matvec", "jacobi2d 8192, 2 ", "blur5x5", "heat3d")
"""Beginnings of the cases whose launches of ours are looked at."""
BESIDE = (("triton", "matvec"), ("triton", "transpose"))
"""And other peers, for comparison."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A metric of ncu, and what one of its units is in ours."""

    title: str
    metric: str
    factor: float = 1
    digits: int = 0


COUNTERS = (
    Counter("us", "gpu__time_duration.sum", 1e-3, 1),
    Counter("read from memory, MB", "dram__bytes_read.sum", 1e-6),
    Counter("written, MB", "dram__bytes_write.sum", 1e-6),
    Counter("memory busy, %", "dram__cycles_active.avg.pct_of_peak_sustained_elapsed"),
    Counter("second-level to first-level cache, MB", "l1tex__m_xbar2l1tex_read_sectors.sum", 32e-6),
    Counter("tags of the second level, %", "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed"),
    Counter("first level, %", "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"),
    Counter("loads, million", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e-6, 1),
    Counter("instructions, million", "smsp__inst_executed.sum", 1e-6),
    Counter("issue slots, %", "smsp__issue_active.avg.pct_of_peak_sustained_active"),
    Counter("warps a multiprocessor", "sm__warps_active.avg.per_cycle_active", 1, 1),
    Counter(
        "warps waiting for memory, an issue",
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
        1,
        1,
    ),
    Counter("registers", "launch__registers_per_thread"),
)
HOW = """\
Counters of one launch each, by Nsight Compute with the clocks as they are and caches flushed before. Loads and
instructions are those of warps. MB are 10^6 bytes; what comes from the second-level cache is counted in sectors of 32
bytes."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.counters", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=native.LIBRARIES, help="directory for the report"
    )
    directory: Path = parser.parse_args().output
    if shutil.which("ncu") is None:
        print("gpu-counters: skipped: no ncu on the PATH")
        return 0
    rows: list[list[str]] = []
    for peer, case in launches():
        found = measured(peer, case, directory)
        rows.append([peers.BY_NAME[peer].title, case, *cells(found)])
        print(*rows[-1], sep="  ", file=sys.stderr)
    head = ("who", "case", *(counter.title for counter in COUNTERS))
    report = f"{HOW}\n\n{markdown_table(head, rows)}\n"
    (directory / "gpu-counters.md").write_text(report, encoding="utf-8")
    print(report, end="")
    return 0


def launches() -> list[tuple[str, str]]:
    """Return the launches to count, as peers and names of cases."""
    wanted = ((OURS.name, name) for name in OF_OURS)
    found = [(p, case.name) for p, name in (*wanted, *BESIDE) for case in CASES if case.name.startswith(name)]
    return [(CEILINGS.name, COPY.name), *found]


def measured(peer: str, case: str, directory: Path) -> Mapping[str, float] | str:
    """Values of the metrics, or why there are none."""
    assert case in BY_NAME
    log = directory / "ncu.csv"
    log.unlink(missing_ok=True)
    metrics = ",".join(counter.metric for counter in COUNTERS)
    options = (
        "--profile-from-start",
        "off",
        "--target-processes",
        "all",
        "--clock-control",
        "none",
        "-c",
        "1",
    )
    command = [
        "ncu",
        *options,
        "--metrics",
        metrics,
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--log-file",
        str(log),
    ]
    command += [sys.executable, "-m", "benchmarks.gpu.profiled", peer, case]
    try:
        done = subprocess.run(
            command, cwd=native.ROOT, capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"not done within {TIME_LIMIT_S} s"
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    log.unlink(missing_ok=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        return f"status {done.returncode}: {said[-1][:200] if said else 'no message'}"
    return read(text)


def read(text: str) -> Mapping[str, float] | str:
    """The metrics of the one launch in ncu's log; messages stand between the lines of the table."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    if len(lines) != 3:
        return "ncu has seen no launch"
    names, _, values = csv.reader(lines)
    found: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        if name in {counter.metric for counter in COUNTERS} and value not in ("", "n/a"):
            found[name] = float(value.replace(",", ""))
    return found


def cells(found: Mapping[str, float] | str) -> Iterable[str]:
    if isinstance(found, str):
        return [f"did not run: {found}", *("" for _ in COUNTERS[1:])]
    return [f"{found[c.metric] * c.factor:.{c.digits}f}" if c.metric in found else "" for c in COUNTERS]


if __name__ == "__main__":
    sys.exit(main())
