"""The cost of selection for the caller: nanoseconds in C and C++, a row a spec.

Run by ``make selection`` where compilers are.  Of every spec the choice of a tile and the choice of parameters for
callers without any, as functions of the header; and a launcher that is called without parameters, from the call to the
CUDA runtime: for the sizes of the last call, which it remembers, and for others.  The generated ``.cu`` is compiled
as it is, against the runtime on the CPU, in which a launch is counted and does nothing.  What a real runtime takes
comes on top.  Prints a Markdown table; ``--write`` keeps it in ``benchmarks/results/``.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.host import commit
from comprehensive.codegen.header_view import FunctionView, function_view
from comprehensive.data import spec_directory
from comprehensive.driver import Options, compile_file
from comprehensive.generate import source_texts
from comprehensive.machine.device import load_device
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.machine.speeds import SPEEDS
from comprehensive.plan.interface import Argument, interface
from comprehensive.plan.plan import ProgramPlan
from comprehensive.toolchain.host import cuda_on_cpu, find_c_compiler, find_cxx_compiler

ROOT = Path(__file__).resolve().parent.parent
SIZE, OTHER_SIZE = 1024, 1536
RUNS = 9
COLUMNS = (
    "spec",
    "choice of a tile, ns",
    "choice of parameters, ns",
    "parameters tried",
    "launch for sizes of the last call, ns",
    "launch for other sizes, ns",
    "launches of a call",
)
WORDS = """
A launch is what the launcher does without parameters from the caller, up to the CUDA runtime, whose functions are
those of the CPU here and do next to nothing. For sizes of the last call: a whole call, divided by its launches. For
other sizes: from a call to its first launch, with the choices of parameters and of a tile; {size} and {other} in turns.
"""


@dataclass(frozen=True)
class Row:
    """Medians of runs; times in nanoseconds."""

    spec: str
    tile: float
    parameters: float
    tried: int
    known: float
    new: float
    launches: int

    def __str__(self) -> str:
        times = (
            f"{self.tile:.0f}",
            f"{self.parameters:.0f}",
            self.tried,
            f"{self.known:.0f}",
            f"{self.new:.0f}",
        )
        return f"| {self.spec} | {' | '.join(map(str, times))} | {self.launches} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.selection", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results/")
    chosen = parser.parse_args()
    lines = [
        f"Commit {commit()}, {datetime.date.today()}; all sizes {SIZE}, speeds of the H200; medians of {RUNS} runs.",
        WORDS.format(size=SIZE, other=OTHER_SIZE),
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
    ]
    for path in sorted(spec_directory().glob("*.mf")):
        with tempfile.TemporaryDirectory() as folder:
            plan = compile_file(path, Options(registers="estimate")).plan
            lines.append(str(row(plan, Path(folder), RUNS)))
        print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if chosen.write:
        target = ROOT / "benchmarks" / "results" / f"selection-{datetime.date.today()}.md"
        target.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def row(plan: ProgramPlan, folder: Path, runs: int) -> Row:
    """Measure the row of a spec.

    SystemExit where there are no compilers, CalledProcessError where something fails.
    """
    c, cxx = find_c_compiler(), find_cxx_compiler()
    if c is None or cxx is None:
        raise SystemExit("no C and C++ compilers were found: set CC and CXX, or install gcc and g++")
    for name, text in source_texts(plan).items():
        (folder / name).write_text(text, encoding="utf-8")
    view = function_view(plan.functions[0])
    choices, launcher = folder / "choices", folder / "launcher"
    (folder / "choices.c").write_text(choices_text(plan.stem, view), encoding="utf-8")
    arguments = interface(plan.functions[0]).arguments
    (folder / "launcher.cpp").write_text(launcher_text(plan.stem, view.name, arguments), encoding="utf-8")
    _build((*c.command, "-std=c99", "-O2", "choices.c", "-o", "choices"), folder)
    _build(
        (*cxx.command, "-std=c++17", "-O2", "-w", *cuda_on_cpu(), "launcher.cpp", "-o", "launcher"), folder
    )
    tile, parameters = _medians(choices, runs)
    known, new, launches = _medians(launcher, runs)
    tried = view.candidates + view.neighbours
    return Row(plan.stem, tile, parameters, tried, known / launches, new, int(launches))


def choices_text(stem: str, view: FunctionView) -> str:
    """A program that prints how long the choices of the header take."""
    region = view.regions[0]
    assert region.tiles is not None
    sizes = "".join("size, " for _ in region.tiles.sizes)
    given = "".join(f"({a.type.value})size, " for a in view.sizes)
    return f"""#define _POSIX_C_SOURCE 199309L
#include "{stem}.h"
#include <stdio.h>
#include <time.h>
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e9 * t.tv_sec + t.tv_nsec; }}
int main(void)
{{
  const cf_machine machine = {{ {_machine()} }};
  volatile int size = {SIZE};
  volatile long long sink = 0;
  {view.params_type} params;
  int k;
  double begin = now();
  for (k = 0; k < 100000; k++) sink += {region.name}_tile(&machine, {sizes}4, 1, -1, CF_SATURATED).number;
  printf("%.1f ", (now() - begin) / 100000);
  begin = now();
  for (k = 0; k < 500; k++) sink += {view.name}_defaults(&machine, {given}&params);
  printf("%.1f\\n", (now() - begin) / 500);
  return 0;
}}
"""


def launcher_text(stem: str, function: str, arguments: Sequence[Argument]) -> str:
    """A program that prints how long a call for known sizes and one for new sizes takes, and launches of the first.

    A launch is a call of a function that the optimizer cannot leave out; one that is refused ends the call.
    """
    values = ", ".join(
        f"reinterpret_cast<{a.value_type}>(data)"
        if a.pointer
        else f"static_cast<{a.type.value}>({'size' if a.type.is_integer else '0.5'})"
        for a in arguments
    )
    return f"""static long long launches, most;

static cudaError_t count(const void *, dim3, dim3, void **arguments, size_t, cudaStream_t)
{{
  asm volatile("" : : "r"(arguments) : "memory");
  return ++launches < most ? cudaSuccess : cudaErrorInvalidValue;
}}
#define cudaLaunchKernel count
#include "{stem}.cu"

#include <cstdio>
#include <cstdlib>

static const cf_machine machine = {{ {_machine()} }};
alignas(16) static char data[16];

static double now() {{ timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e9 * t.tv_sec + t.tv_nsec; }}

static void call(int size, int expected)
{{
  if ({function}_launch_on(&machine, {values}, nullptr, nullptr) != expected) abort();
}}

int main()
{{
  volatile int size = {SIZE}, other = {OTHER_SIZE};
  most = -1ULL >> 1;
  call(size, CF_OK);
  const long long each = launches;
  const int calls = static_cast<int>(200000 / each) + 1;
  double begin = now();
  for (int k = 0; k < calls; k++) call(size, CF_OK);
  const double known = (now() - begin) / calls;
  if (launches != each * (calls + 1)) abort();
  most = 0;
  begin = now();
  for (int k = 0; k < 500; k++) call(k % 2 == 0 ? other : size, CF_ECUDA);
  printf("%.1f %.1f %lld\\n", known, (now() - begin) / 500, each);
  return 0;
}}
"""


def _machine() -> str:
    machine = load_device("h200").machine()
    return ", ".join(str(machine[name]) for name in (*MACHINE_PARAMETERS, *SPEEDS))


def _build(command: Sequence[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True)


def _medians(program: Path, runs: int) -> list[float]:
    """Return the median of each number that the program prints."""
    printed = [
        subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(runs)
    ]
    return [statistics.median(float(value) for value in column) for column in zip(*printed, strict=True)]


if __name__ == "__main__":
    raise SystemExit(main())
