"""Has two threads on every visible GPU look for the best version of a function at once.

``python3 -m tests.gpu.adapt_at_once``, where ``python -m benchmarks.gpu.adaptation.prepare`` has left its programs;
needs gcc, the CUDA toolkit beside nvcc and this Python, nothing else.  Each thread has a stream and arrays of its own.
Its last adapted launch must compute what a launch of the original computes: nvcc contracts ``a * b + c`` in some
versions and not in others, so that numbers may differ in the last bits, and in no others.  The same is done under the
sanitizers.  Exits 1 on a failure, and where there are fewer GPUs than ``--gpus``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.gpu.adaptation.__main__ import BUILD, LIMIT_S, built, lines_of

THREADS, LAUNCHES, CHECKED_LAUNCHES = 2, 50, 6
SANITIZERS = ("memcheck", "racecheck")
CLOSE = 1e-6
"""The largest relative difference of numbers that are rounded once here and twice there."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.gpu.adapt_at_once", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--build", type=Path, default=BUILD)
    parser.add_argument("--gpus", type=int, default=1, help="GPUs that there must be at least")
    parser.add_argument("--only", default="", help="beginnings of the names of programs, as in cfd,softmax")
    parser.add_argument("--no-sanitizers", action="store_true")
    chosen = parser.parse_args()
    wanted = tuple(chosen.only.split(","))
    directories = sorted(path.parent / "adapt" for path in chosen.build.glob("*/plan.json"))
    directories = [each for each in directories if each.parent.name.startswith(wanted)]
    if not directories:
        print(f"adapt_at_once: nothing in {chosen.build}: prepare the benchmark of adaptation first")
        return 1
    failures = 0
    for directory in directories:
        words = _failure(directory, chosen.gpus, sanitizers=not chosen.no_sanitizers)
        failures += bool(words)
        print(f"{directory.parent.name}: {words or 'ok'}", flush=True)
    return int(failures > 0)


def _failure(directory: Path, gpus: int, *, sanitizers: bool) -> str:
    """Run one program; return what is wrong, or nothing."""
    if words := built(directory)[1]:
        return words
    try:
        lines = lines_of(directory, "together", str(THREADS), str(LAUNCHES))
    except (ValueError, subprocess.SubprocessError) as problem:
        return str(problem)
    seen = {line["gpu"] for line in lines}
    if len(seen) < gpus:
        return f"{len(seen)} GPUs, {gpus} are wanted"
    for line in lines:
        if line["original"] != 0:
            return f"GPU {line['gpu']}: launches of the original differ by {line['original']}"
        if not line["adapted"] <= CLOSE:
            return f"GPU {line['gpu']}: candidate {line['candidate']} differs by {line['adapted']}"
    print(f"  {directory.parent.name}: {'; '.join(_said(line) for line in lines)}")
    found = [_checked(directory, tool) for tool in SANITIZERS] if sanitizers else []
    return "; ".join(words for words in found if words)


def _said(line: dict[str, object]) -> str:
    return f"GPU {line['gpu']} candidate {line['candidate']}, {line['state']}"


def _checked(directory: Path, tool: str) -> str:
    """Return what a sanitizer finds; nothing where it finds nothing."""
    found = shutil.which("compute-sanitizer")
    if found is None:
        return f"{tool}: compute-sanitizer is not on the PATH"
    command = (found, "--tool", tool, "--error-exitcode", "9", "./bench", "together", "2")
    try:
        done = subprocess.run(
            (*command, str(CHECKED_LAUNCHES)),
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{tool}: no end after {LIMIT_S} s"
    return "" if done.returncode == 0 else f"{tool}: ended with {done.returncode}: {done.stdout[-300:]}"


if __name__ == "__main__":
    sys.exit(main())
