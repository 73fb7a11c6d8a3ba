"""What selection costs the caller: nanoseconds in C, a row a spec.

Run by ``make selection`` where a C compiler is.  Of every spec the choice of a tile (what a launch does when sizes are
new to its thread; for the same sizes again it compares memory), and the choice of parameters for callers without any.
Prints a Markdown table; ``--write`` keeps it in ``benchmarks/results/``.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.host import commit
from comprehensive.codegen.header_view import function_view
from comprehensive.codegen.host import header_text
from comprehensive.data import spec_directory
from comprehensive.driver import Options, compile_file
from comprehensive.machine.device import load_device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.machine.speeds import SPEEDS
from comprehensive.toolchain.host import find_c_compiler

ROOT = Path(__file__).resolve().parent.parent
SIZE = 1024
RUNS = 9


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.selection", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results/")
    chosen = parser.parse_args()
    compiler = find_c_compiler()
    if compiler is None:
        raise SystemExit("no C compiler was found: set CC, or install gcc")
    lines = [
        f"Commit {commit()}, {datetime.date.today()}; all sizes {SIZE}, speeds of the H200; medians of {RUNS} runs.",
        "",
        "| spec | choice of a tile, ns | choice of parameters, ns | parameters tried |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(spec_directory().glob("*.mf")):
            lines.append(row(path, Path(folder), compiler.command))
            print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if chosen.write:
        target = ROOT / "benchmarks" / "results" / f"selection-{datetime.date.today()}.md"
        target.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def row(spec: Path, folder: Path, compiler: Sequence[str]) -> str:
    plan = compile_file(spec, Options(registers="estimate")).plan
    view = function_view(plan.functions[0])
    (folder / f"{plan.stem}.h").write_text(header_text(plan, "0"), encoding="utf-8")
    program, source = folder / "selection", folder / "selection.c"
    region = view.regions[0]
    assert region.tiles is not None
    machine = load_device("h200").machine()
    numbers = ", ".join(str(machine[name]) for name in (*MACHINE_PARAMETERS, *SPEEDS))
    sizes = "".join("size, " for _ in region.tiles.sizes)
    given = "".join(f"({a.type.value})size, " for a in view.sizes)
    source.write_text(
        f"""#define _POSIX_C_SOURCE 199309L
#include "{plan.stem}.h"
#include <stdio.h>
#include <time.h>
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e9 * t.tv_sec + t.tv_nsec; }}
int main(void)
{{
  const cf_machine machine = {{ {numbers} }};
  volatile int size = {SIZE};
  volatile long long sink = 0;
  {view.params_type} params;
  int k;
  double begin = now();
  for (k = 0; k < 100000; k++) sink += {region.name}_tile(&machine, {sizes}4, 1, -1).number;
  printf("%.1f ", (now() - begin) / 100000);
  begin = now();
  for (k = 0; k < 500; k++) sink += {view.name}_defaults(&machine, {given}&params);
  printf("%.1f\\n", (now() - begin) / 500);
  return 0;
}}
""",
        encoding="utf-8",
    )
    subprocess.run([*compiler, "-std=c99", "-O2", str(source), "-o", str(program)], check=True)
    found = [
        subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(RUNS)
    ]
    tile, defaults = (statistics.median(float(run[column]) for run in found) for column in (0, 1))
    return f"| {plan.stem} | {tile:.0f} | {defaults:.0f} | {view.candidates} |"


if __name__ == "__main__":
    raise SystemExit(main())
