"""Generates what the benchmark of everyday kernels times: ``python -m benchmarks.gpu.everyday.prepare``.

Every kernel goes through the command ``gen``, as a user would do it, into ``build/gpu/<kernel>``.  A kernel that
``gen`` refuses leaves a file with the words of the refusal, which the report repeats.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.gpu import native
from benchmarks.gpu.everyday.programs import PROGRAMS, Program

KEPT = (".cu", ".h", ".json")
"""The ends of the names of files of ``gen`` that the benchmark needs, after the name of the kernel."""
LIMIT_S = 300


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.everyday.prepare", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", default="", help="beginnings of the names of kernels, as in matmul,mv")
    parser.add_argument("--jobs", type=int, default=2, help="kernels that are generated at a time")
    parser.add_argument("-o", "--output", type=Path, default=native.GENERATED)
    chosen = parser.parse_args()
    wanted = [p for p in PROGRAMS if any(p.name.startswith(word) for word in chosen.only.split(","))]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        refused = list(pool.map(lambda program: generated(program, chosen.output / program.name), wanted))
    for program, reason in zip(wanted, refused, strict=True):
        print(f"{program.name}: {reason or 'generated'}")
    return 0


def generated(program: Program, directory: Path) -> str:
    """Fills the directory of a kernel; the reason of the refusal, empty where there is none."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        reason = refusal([*GEN, str(program.path), "-o", scratch, *program.options])
        if reason:
            (directory / native.REFUSED).write_text(f"{reason}\n", encoding="utf-8")
        else:
            for suffix in KEPT:
                shutil.copy(Path(scratch) / f"{program.name}{suffix}", directory)
    return reason


GEN = (sys.executable, "-m", "comprehensive", "gen", "--json", "--registers", "estimate", "--single-file")


def refusal(command: Sequence[str]) -> str:
    """Runs the command; the code and the message of its first error, empty where it succeeds."""
    try:
        answer = subprocess.run(
            command, cwd=native.ROOT, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"no end after {LIMIT_S} s"
    if answer.returncode == 0:
        return ""
    return said(answer.stdout) or next(reversed(answer.stderr.splitlines()), f"status {answer.returncode}")


def said(document: str) -> str:
    """The first error of a JSON document of the command; empty where there is none."""
    try:
        diagnostics = json.loads(document)["diagnostics"]
    except (ValueError, KeyError):
        return ""
    errors = [each for each in diagnostics if each["severity"] == "error"]
    return f"{errors[0]['code']}: {errors[0]['message']}" if errors else ""


if __name__ == "__main__":
    sys.exit(main())
