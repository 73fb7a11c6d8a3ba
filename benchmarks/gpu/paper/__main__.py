"""Runs the paper's tables 1 to 3 on the machine at hand: ``python3 -m benchmarks.gpu.paper``, or ``make paper-tables``.

Needs nvcc, a GPU, a plain python3, and ``build/gpu/paper`` as :mod:`benchmarks.gpu.paper.prepare` writes it.  Prints
the report and writes it, with the measurements, to ``build/paper-tables`` (``-o``).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.gpu import about
from benchmarks.gpu.paper.report import parsed, registers_of, report

ROOT = Path(__file__).resolve().parents[3]
GENERATED = ROOT / "build" / "gpu" / "paper"
OUTPUT = ROOT / "build" / "paper-tables"
HOST_FLAGS = "-O3,-march=native"
"""The flags with which nvcc's host compiler translates the serial C."""
LIMIT_S = 500


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.paper", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("directory", nargs="?", type=Path, default=GENERATED, help="what prepare has written")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    parser.add_argument("--arch", default="native", help="of the device, as nvcc names it")
    parser.add_argument("--commit", default=about.commit())
    parser.add_argument("--milliseconds", type=int, default=20, help="for each kernel")
    parser.add_argument(
        "--build-only", action="store_true", help="compile, and print the registers of figure 4"
    )
    chosen = parser.parse_args()
    lacking = about.missing_tools(needs_gpu=not chosen.build_only)
    if lacking is None and not (chosen.directory / "tables.cu").exists():
        lacking = f"nothing in {chosen.directory}: run `make gpu-prepare` first"
    if lacking is not None:
        print(f"paper-tables: {lacking}", file=sys.stderr)
        return 3
    output: Path = chosen.output
    output.mkdir(parents=True, exist_ok=True)
    failures, log = build(chosen.directory, output, chosen.arch)
    if failures:
        print("\n".join(failures), file=sys.stderr)
        return 1
    published = json.loads((chosen.directory / "published.json").read_text(encoding="utf-8"))
    registers = registers_of(log)
    if chosen.build_only:
        for point, used in sorted(registers.items()):
            print(f"ub1 = {point[0]}, B0 = {point[1]}, s = {point[2]}: {used} registers")
        return 0
    command = [str(output / "tables"), *arguments(published, chosen.milliseconds)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    (output / "paper-tables.jsonl").write_text(answer.stdout, encoding="utf-8")
    text = report(published, parsed(answer.stdout.splitlines()), registers, about.line(chosen.commit))
    (output / "paper-tables.md").write_text(text, encoding="utf-8")
    print(text)
    if answer.returncode != 0:
        print(f"tables ended with {answer.returncode}: {answer.stderr.strip()}", file=sys.stderr)
    return 1 if answer.returncode != 0 else 0


def arguments(published: object, milliseconds: int) -> list[str]:
    """The sizes of the tables, as ``tables`` takes them."""
    tables = json.loads(json.dumps(published))
    one, two, three = (tables[f"table{number}"] for number in (1, 2, 3))
    numbers = [*one["sizes"], "-", two["steps"], two["size"], "-", three["size"], "-", milliseconds]
    return [str(number) for number in numbers]


def build(directory: Path, output: Path, arch: str) -> tuple[list[str], str]:
    """Compile everything at once and link it: what compilers say against it, and the words of ptxas on figure 4."""
    common = ["nvcc", f"-arch={arch}", "-O3", "-std=c++17"]
    figure4 = [*common, "--maxrregcount=40", "-DNDEBUG", "-Xptxas", "-v"]
    commands = {
        "figure4.cu": figure4,
        **dict.fromkeys(("figure3.cu", "jacobi1d.cu", "transpose.cu", "tables.cu"), common),
        "serial.c": ["nvcc", "-O3", "-Xcompiler", HOST_FLAGS],
    }
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        answers = list(
            pool.map(lambda item: _compiled(item[1], directory / item[0], output), commands.items())
        )
    failures = [words for status, words in answers if status != 0]
    log = answers[0][1]
    if failures:
        return failures, log
    objects = [str(output / f"{Path(name).stem}.o") for name in commands]
    linked = subprocess.run(
        ["nvcc", *objects, "-o", str(output / "tables")], capture_output=True, text=True, check=False
    )
    return ([linked.stderr] if linked.returncode != 0 else []), log


def _compiled(command: Sequence[str], source: Path, output: Path) -> tuple[int, str]:
    target = output / f"{source.stem}.o"
    answer = subprocess.run(
        [*command, "-c", str(source), "-o", str(target)], capture_output=True, text=True, check=False
    )
    return answer.returncode, answer.stderr + answer.stdout


if __name__ == "__main__":
    sys.exit(main())
