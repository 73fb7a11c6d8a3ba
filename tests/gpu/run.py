"""Builds and runs what ``make gpu-prepare`` left in ``build/gpu``; needs nvcc, a GPU and this Python, nothing else.

Every point runs once, compiled with ``-fmad=false`` so that results must equal the serial C bit for bit (without it
nvcc contracts ``a * b + c``, which rounds once where C rounds twice); one point a leaf runs again under
``compute-sanitizer`` memcheck and racecheck.  Prints a table, writes it to ``--write FILE``, exits 1 on any failure.
"""

from __future__ import annotations

import argparse
import datetime
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NO_END = 124
"""The exit status of what is stopped when its time is over."""
SANITIZERS = 8
"""The number of runs under a sanitizer that share the GPU: most of their time is that of one processor core."""
RESULT = re.compile(r"^region (\d+) leaf (\d+): (ok|FAIL)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--arch", default="native")
    parser.add_argument("--write", type=Path, default=None)
    parser.add_argument("--commit", default=commit())
    arguments = parser.parse_args()
    if reason := missing(arguments.build):
        print(f"gpu-test: skipped: {reason}")
        return 0
    specs = sorted(p.parent for p in arguments.build.glob("*/main.cu"))
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(build, spec, arguments.arch) for spec in specs]
    built = [each.result() for each in waiting]
    rows: list[str] = []
    for spec, error in zip(specs, built, strict=True):
        rows += test(spec, error)
        print(f"{spec.name}: done", file=sys.stderr, flush=True)
    text = table(rows, arguments.commit)
    print(text, end="")
    if arguments.write is not None:
        arguments.write.parent.mkdir(parents=True, exist_ok=True)
        arguments.write.write_text(text, encoding="utf-8")
    return int(any("FAIL" in row for row in rows))


def missing(build: Path) -> str | None:
    if shutil.which("nvcc") is None:
        return "no nvcc on the PATH"
    if shutil.which("nvidia-smi") is None or run(["nvidia-smi", "-L"], Path(".")).returncode != 0:
        return "no GPU on this machine"
    if not any(build.glob("*/main.cu")):
        return f"nothing in {build}: run `make gpu-prepare` first"
    return None


def run(command: list[str], directory: Path, timeout_s: int = 300) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(
            command, NO_END, str(error.stdout or ""), f"no end after {timeout_s} s"
        )


def build(spec: Path, arch: str) -> str | None:
    """Compiles the test program; returns what went wrong."""
    flags = [f"-arch={arch}", "-O2", "-fmad=false", "-Werror", "all-warnings"]
    serial = [
        "gcc",
        "-std=gnu99",
        "-O1",
        "-ffp-contract=off",
        "-I",
        "on_cpu",
        "-c",
        "serial.c",
        "-o",
        "serial.o",
    ]
    embedded = next(spec.glob("*_embedded.c"), None)
    if embedded is None:
        steps = [
            serial,
            ["nvcc", *flags, f"{spec.name}.cu", "main.cu", "serial.o", "-o", "test", "-lm"],
        ]
    else:
        # Only the test program needs nvcc.
        includes = ["-I", str(toolkit() / "include")]
        strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"]
        steps = [
            serial,
            ["gcc", *strict, *includes, "-c", embedded.name, "-o", "kernels.o"],
            ["nvcc", *flags, "main.cu", "kernels.o", "serial.o", "-o", "test", "-lm"],
        ]
    for step in steps:
        answer = run(step, spec)
        if answer.returncode != 0:
            return (answer.stdout + answer.stderr).strip()
    return None


def toolkit() -> Path:
    """The directory of the CUDA toolkit that nvcc belongs to."""
    nvcc = shutil.which("nvcc")
    assert nvcc is not None
    return Path(nvcc).resolve().parents[1]


def test(spec: Path, error: str | None) -> list[str]:
    """Rows of the table for one spec."""
    if error is not None:
        print(f"{spec.name}: {error}", file=sys.stderr)
        return [f"| {spec.name} | | | FAIL: does not compile | | |"]
    answer = run(["./test"], spec)
    outcomes: dict[tuple[int, int], list[bool]] = {}
    for line in answer.stdout.splitlines():
        if found := RESULT.match(line):
            outcomes.setdefault((int(found[1]), int(found[2])), []).append(found[3] == "ok")
    lines = (spec / "points.txt").read_text(encoding="utf-8").splitlines()
    expected: dict[tuple[int, int], int] = {}
    for line in lines:
        region, leaf = line.split()[:2]
        expected[int(region), int(leaf)] = expected.get((int(region), int(leaf)), 0) + 1
    tools = ("memcheck", "racecheck")
    points: dict[tuple[int, int], str] = {}
    for region, leaf in expected:
        point = largest(line for line in lines if line.split()[:2] == [str(region), str(leaf)])
        points[region, leaf] = f"point{region}_{leaf}.txt"
        (spec / points[region, leaf]).write_text(point + "\n", encoding="utf-8")
    with ThreadPoolExecutor(SANITIZERS) as pool:
        checks = {key: [pool.submit(sanitize, spec, tool, points[key]) for tool in tools] for key in expected}
    rows: list[str] = []
    for (region, leaf), count in sorted(expected.items()):
        passed = sum(outcomes.get((region, leaf), []))
        verdict = "ok" if passed == count else "FAIL"
        found = " | ".join(check.result() for check in checks[region, leaf])
        rows.append(f"| {spec.name} | {region} | {leaf} | {verdict} {passed}/{count} | {found} |")
    if answer.returncode != 0:
        print(f"{spec.name}:\n{answer.stdout[-2000:]}{answer.stderr[-2000:]}", file=sys.stderr)
    return rows


def largest(points: Iterable[str]) -> str:
    """The point with the most elements in its arrays, among those that keep the sanitizer quick."""
    ranked = sorted(points, key=lambda line: int(line.split()[-1]))
    quick = [line for line in ranked if int(line.split()[-1]) <= 301_000]
    return quick[-1] if quick else ranked[0]


def sanitize(spec: Path, tool: str, points: str) -> str:
    if shutil.which("compute-sanitizer") is None:
        return "skipped: no compute-sanitizer"
    answer = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", "./test", points], spec)
    if answer.returncode != 0:
        print(f"{spec.name} {tool}:\n{answer.stdout[-3000:]}{answer.stderr[-1000:]}", file=sys.stderr)
        return f"FAIL: {answer.stderr}" if answer.returncode == NO_END else "FAIL"
    return "ok"


def table(rows: list[str], revision: str) -> str:
    device = run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], Path(".")).stdout.strip()
    version = run(["nvcc", "--version"], Path(".")).stdout.splitlines()[-1].strip()
    head = [
        f"Generated kernels against the serial C, bit for bit: {device}, {version}, {datetime.date.today()}, "
        f"commit {revision}.",
        "",
        "| spec | region | leaf | points | memcheck | racecheck |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def commit() -> str:
    answer = run(["git", "rev-parse", "--short", "HEAD"], ROOT)
    return answer.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
