"""The cost of building the generated code: leaves and tiles, bytes, and seconds of the compilers, a row a spec.

Run by ``make sizes`` where nvcc and a C compiler are.  Prints a Markdown table; ``--write`` keeps it in
``benchmarks/results/``.  Seconds are medians of wall time; a C file that includes nothing is compiled beside the one
that includes the header, since most of a short compilation is its start.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.host import commit
from comprehensive.data import spec_directory
from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import outputs
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.host import find_c_compiler

ROOT = Path(__file__).resolve().parent.parent


def seconds(command: Sequence[str], runs: int) -> str:
    """The median of ``runs``; SystemExit where the command fails."""
    found: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        found.append(time.perf_counter() - start)
        if answer.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed:\n{answer.stderr}")
    return f"{statistics.median(found):.2f}"


def row(compilation: Compilation, directory: Path, nvcc: str, cc: Sequence[str], runs: int) -> str:
    stem = compilation.plan.stem
    texts = outputs(compilation)
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    user = directory / "user.c"
    user.write_text(f'#include "{stem}.h"\n', encoding="utf-8")
    regions = [region for function in compilation.plan.functions for region in function.regions]
    kinds = [region.kind_of(number) for region in regions for number in region.numbers]
    target = directory / f"{stem}.o"
    header = seconds([*cc, "-std=c99", "-O2", "-c", str(user), "-o", str(directory / "user.o")], runs)
    kernels = seconds(
        [nvcc, "-O3", "-arch=sm_90", "-c", str(directory / f"{stem}.cu"), "-o", str(target)], runs
    )
    cells = [
        stem,
        str(len(regions)),
        *(str(kinds.count(kind)) for kind in ("leaf", "register tile", "time tile")),
        f"{len(texts[f'{stem}.h']) // 1024}",
        header,
        f"{len(texts[f'{stem}.cu']) // 1024}",
        kernels,
        f"{target.stat().st_size // 1024}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results/")
    arguments = parser.parse_args()
    nvcc, cc = find_tool("nvcc"), find_c_compiler()
    if isinstance(nvcc, Missing) or cc is None:
        raise SystemExit("sizes: needs nvcc and a C compiler")
    said = subprocess.run([nvcc.path, "--version"], capture_output=True, text=True, check=True).stdout
    lines = [
        f"What the generated code takes to build, {datetime.date.today()}, commit {commit()}, "
        f"{said.splitlines()[-1]}, one architecture (sm_90), medians of {arguments.runs} runs on a shared machine.",
        "",
        "| spec | regions | leaves | register tiles | time tiles | header KiB | C file with it, s | .cu KiB "
        "| nvcc, s | object KiB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        empty = Path(scratch) / "empty.c"
        empty.write_text("int nothing;\n", encoding="utf-8")
        none = seconds(
            [*cc.command, "-O2", "-c", str(empty), "-o", str(empty.with_suffix(".o"))], arguments.runs
        )
        lines.append(f"| (an empty C file) | | | | | | {none} | | | |")
        for spec in sorted(spec_directory().glob("*.mf")):
            compilation = compile_file(spec, Options("estimate"))
            lines.append(row(compilation, Path(scratch), str(nvcc.path), cc.command, arguments.runs))
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.write:
        target = ROOT / "benchmarks" / "results" / f"sizes-{datetime.date.today()}.md"
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
