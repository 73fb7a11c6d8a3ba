"""Times one launch in parts that run several versions, on one device.

    python3 -m benchmarks.gpu.adaptation.split --commit ID -o OUT

Needs what ``prepare --split`` has generated, gcc, the CUDA toolkit beside nvcc and plain Python.  Out:
``gpu-split-DATE.md`` and the numbers as JSON: for each program one divided call beside a default one and the best of
all versions, whether results are the same to the bit, and what memcheck says.  Ends with 1 where a divided call, or a
version as a whole that it tried, computed something else, or memcheck found something.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.gpu.adaptation.__main__ import BUILD, LIMIT_S, built, lines_of
from benchmarks.gpu.table import markdown_table

CALLS = 3
"""Processes of which each divides one launch; the median counts."""


@dataclass(frozen=True)
class Row:
    """A program: times in milliseconds."""

    name: str
    default: float
    best: float
    divided: float
    settled: float
    kept: str
    state: str
    bytes: int
    """The bytes that differ from the default's result after a divided call."""
    of_versions: int
    """The most that differ after a whole call of one version."""
    memcheck: str

    @property
    def is_right(self) -> bool:
        """Versions may differ from each other in the last bit, a divided call then from each of them."""
        return (self.bytes == 0 or self.of_versions > 0) and self.memcheck in ("clean", "not run")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.adaptation.split", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--build", type=Path, default=BUILD)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--no-memcheck", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("."))
    chosen = parser.parse_args()
    directories = sorted(path.parent for path in chosen.build.glob("*/split/plan.json"))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        failed = dict(pool.map(built, directories))
    rows: list[Row] = []
    left_out: list[str] = []
    answers: dict[str, Any] = {}
    for directory in directories:
        name = directory.parent.name
        try:
            if failed[directory]:
                raise ValueError(failed[directory])
            row, answers[name] = _row(directory, with_memcheck=not chosen.no_memcheck)
            rows.append(row)
            print(f"{name}: {row.divided / row.default:.3f} of the default's time, {row.state}", flush=True)
        except (ValueError, subprocess.SubprocessError) as problem:
            left_out.append(f"- {name}: {problem}")
            print(left_out[-1], flush=True)
    stem = f"gpu-split-{datetime.date.today():%Y-%m-%d}"
    chosen.output.mkdir(parents=True, exist_ok=True)
    (chosen.output / f"{stem}.md").write_text(_report(rows, left_out, chosen.commit), encoding="utf-8")
    (chosen.output / f"{stem}.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    return 0 if rows and all(row.is_right for row in rows) else 1


def _row(directory: Path, *, with_memcheck: bool) -> tuple[Row, Mapping[str, Any]]:
    plan = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
    calls = [lines_of(directory, "split") for _ in range(CALLS)]
    *versions, last = calls[0]
    times = {line["version"]: median(_time(call, line["version"]) for call in calls) for line in versions}
    kept = plan["candidates"][last["candidate"]] if plan["candidates"] else {"pipelines": []}
    row = Row(
        plan["name"],
        times[0],
        min(times.values()),
        median(call[-1]["split_ms"] for call in calls),
        median(call[-1]["settled_ms"] for call in calls),
        ", ".join(kept["pipelines"]) or "as compiled",
        last["state"],
        max(call[-1]["bytes"] for call in calls),
        max(line["bytes"] for line in versions),
        _memcheck(directory) if with_memcheck else "not run",
    )
    return row, {"plan": plan, "calls": calls}


def _time(call: list[dict[str, Any]], version: int) -> float:
    return next(line["ms"] for line in call if line.get("version") == version)


def _memcheck(directory: Path) -> str:
    found = shutil.which("compute-sanitizer")
    if found is None:
        return "not run"
    command = (found, "--tool", "memcheck", "--error-exitcode", "9", "./bench", "once")
    try:
        done = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "not run"
    return "clean" if done.returncode == 0 else f"ended with {done.returncode}"


def _report(rows: list[Row], left_out: list[str], commit: str) -> str:
    command = ("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    device = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    columns = (
        "program",
        "default ms",
        "best",
        "divided",
        "settled",
        "kept",
        "what the call says",
        "bytes",
        "bytes of versions",
        "memcheck",
    )
    parts = [
        f"# One launch in parts that run several versions\n\n{device}, {datetime.date.today():%Y-%m-%d}, commit "
        f"{commit}; of a divided call the median of {CALLS} processes, of others that of seven samples in each.",
        markdown_table(columns, (_cells(row) for row in rows)),
        'Times are over the default\'s. "divided" is one call whose parts try versions, waits included; "settled" a '
        'later call; "best" the fastest of all versions as whole launches. "bytes" differ from the default\'s result '
        'after the divided call, "bytes of versions" after whole calls of the versions themselves.',
        *(("Not timed:", "\n".join(left_out)) if left_out else ()),
    ]
    return "\n\n".join(parts) + "\n"


def _cells(row: Row) -> Iterator[str]:
    yield row.name
    yield f"{row.default:.4f}"
    yield from (f"{each / row.default:.3f}" for each in (row.best, row.divided, row.settled))
    yield row.kept
    yield row.state
    yield str(row.bytes)
    yield str(row.of_versions)
    yield row.memcheck


if __name__ == "__main__":
    sys.exit(main())
