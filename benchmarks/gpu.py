"""Times generated kernels on the GPU at hand, beside the ceiling of a plain copy measured in the same run.

Run by ``make gpu-bench`` on a machine with nvcc, a GPU and a plain python3, after ``make gpu-prepare`` here.  For each
spec below a small program is built against the generated header; it runs a few block shapes, takes the median of
several launches for each, and reports the best.  Effective bytes count every array once, read or written.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Case:
    """``launch`` is the call with ``p`` as parameters; ``gigabytes`` what it has to move at least."""

    spec: str
    size: str
    arrays: tuple[tuple[str, str], ...]
    launch: str
    shapes: tuple[str, ...]
    gigabytes: float


N = 16384
CASES = (
    Case(
        "matadd",
        f"{N} x {N} int",
        (("int *a", f"{N}LL * {N}"), ("int *b", f"{N}LL * {N}"), ("int *c", f"{N}LL * {N}")),
        f"matadd_launch({N}, a, b, c, &p, nullptr)",
        ("{1, 256}", "{4, 64}", "{8, 32}", "{16, 32}"),
        3 * 4 * N * N / 1e9,
    ),
    Case(
        "transpose",
        f"{N} x {N} float",
        (("float *a", f"{N}LL * {N}"), ("float *c", f"{N}LL * {N}")),
        f"transpose_launch({N}, a, c, &p, nullptr)",
        ("{32, 32, 1}", "{32, 8, 4}", "{16, 32, 1}", "{32, 16, 2}"),
        2 * 4 * N * N / 1e9,
    ),
    Case(
        "blur5x5",
        f"{N} x {N} float",
        (("float *a", f"{N}LL * {N}"), ("float *c", f"{N}LL * {N}")),
        f"blur5x5_launch({N}, {N}, a, c, &p, nullptr)",
        ("{8, 32}", "{16, 32}", "{32, 32}", "{4, 64}"),
        2 * 4 * N * N / 1e9,
    ),
    Case(
        "matmul",
        "1024 x 1024 float",
        (("float *a", "1024 * 1024"), ("float *b", "1024 * 1024"), ("float *c", "1024 * 1024")),
        "matmul_launch(1024, a, b, c, &p, nullptr)",
        ("{8, 16, 4}", "{16, 32, 2}", "{32, 32, 1}", "{8, 32, 4}"),
        3 * 4 * 1024 * 1024 / 1e9,
    ),
)

PROGRAM = r"""#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <vector>
#include "{spec}.h"

template <typename Launch> double median_ms(Launch launch)
{{
  std::vector<float> times;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int run = 0; run < 12; run++) {{
    cudaEventRecord(begin);
    if (launch() != 0) return -1;
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (run >= 3) times.push_back(ms);
  }}
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}}

int main()
{{
{allocate}  const {spec}_params shapes[] = {{ {shapes} }};
  const char *const names[] = {{ {names} }};
  const size_t bytes = 1ull << 30;
  char *from, *to;
  cudaMalloc(&from, bytes);
  cudaMalloc(&to, bytes);
  const double copy = median_ms([&] {{ return (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice); }});
  double best = -1;
  const char *name = "none";
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {{
    const {spec}_params &p = shapes[i];
    const double ms = median_ms([&] {{ return {launch}; }});
    if (ms > 0 && (best < 0 || ms < best)) best = ms, name = names[i];
  }}
  std::printf("%.4f %s %.1f\n", best, name, 2.0 * bytes / copy / 1e6);
  return best < 0;
}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--write", type=Path, default=None)
    arguments = parser.parse_args()
    if shutil.which("nvcc") is None or shutil.which("nvidia-smi") is None:
        print("gpu-bench: skipped: needs nvcc and a GPU")
        return 0
    lines = [
        f"Generated kernels, best of a few block shapes, median of 9 launches, {datetime.date.today()}.",
        "",
        "| spec | size | ms | effective GB/s | share of copy | parameters |",
        "|---|---|---|---|---|---|",
    ]
    for case in CASES:
        lines.append(measure(case, arguments.build / case.spec))
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.write is not None:
        arguments.write.write_text(text, encoding="utf-8")
    return 0


def measure(case: Case, directory: Path) -> str:
    """The row of one spec."""
    allocate = "".join(
        f"  {declared};\n  cudaMalloc(&{declared.split('*')[1]}, sizeof(*{declared.split('*')[1]}) * ({count}));\n"
        for declared, count in case.arrays
    )
    names = ", ".join(f'"{shape}"' for shape in case.shapes).replace(", ", ",").replace('","', '", "')
    program = PROGRAM.format(
        spec=case.spec, allocate=allocate, shapes=", ".join(case.shapes), names=names, launch=case.launch
    )
    (directory / "bench.cu").write_text(program, encoding="utf-8")
    command = ["nvcc", "-arch=native", "-O3", f"{case.spec}.cu", "bench.cu", "-o", "bench"]
    built = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(built.stderr, file=sys.stderr)
        return f"| {case.spec} | {case.size} | does not compile | | | |"
    answer = subprocess.run(
        ["./bench"], cwd=directory, capture_output=True, text=True, check=False
    ).stdout.split()
    milliseconds, ceiling = float(answer[0]), float(answer[-1])
    rate = case.gigabytes / milliseconds * 1e3
    parameters = " ".join(answer[1:-1])
    return f"| {case.spec} | {case.size} | {milliseconds:.3f} | {rate:.0f} | {rate / ceiling:.2f} | {parameters} |"


if __name__ == "__main__":
    sys.exit(main())
