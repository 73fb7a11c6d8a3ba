"""Generates what the paper's tables are timed with: ``python -m benchmarks.gpu.paper.prepare``.

In: the specs of figures 3, 7 and 8, and the points of ``published.json``.  Out, below ``build/gpu/paper``: generated
sources, ``figure4.cu`` with a kernel of figure 4 for each point (its macros are constants), ``points.h``, and copies of
the files that stand beside this one.  A machine with nvcc, a GPU and a plain python3 does the rest.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
OUTPUT = ROOT / "build" / "gpu" / "paper"
SPECS = ("paper/figure3.mf", "jacobi1d.mf", "transpose.mf")
COPIED = ("kernel0.h", "serial.h", "serial.c", "tables.cu", "published.json")
SERIAL_BLOCKS = ((8, 128), (8, 512), (16, 256), (32, 128), (32, 512), (64, 1024))
"""Rows and columns of the blocks among which the fastest serial product is taken."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.paper.prepare", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    output: Path = parser.parse_args().output
    prepare(output)
    print(f"{output}: run `make paper-tables` on a machine with nvcc and a GPU")
    return 0


def prepare(output: Path) -> None:
    """Write the directory anew."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    published = json.loads((HERE / "published.json").read_text(encoding="utf-8"))
    for spec in SPECS:
        compilation = compile_file(ROOT / "specs" / spec, Options(registers="estimate"))
        for name, text in outputs(compilation).items():
            if name.endswith((".cu", ".h", ".cuh")):
                (output / name).write_text(text, encoding="utf-8")
    for name in COPIED:
        shutil.copy(HERE / name, output / name)
    (output / "points.h").write_text(points(published), encoding="utf-8")
    (output / "figure4.cu").write_text(figure4(published), encoding="utf-8")


def points(published: Any) -> str:
    """The points of the tables as arrays of C."""
    parts = ["/* The points of the paper's tables, written by prepare.py. */"]
    for table in ("table1", "table2", "table3"):
        rows = published[table]["rows"]
        names = [name for name in rows[0] if name != "speedups"]
        values = (
            [*(row[name] for name in names), s] for row in rows for s in published[table]["granularities"]
        )
        parts.append(_array(f"int {', '.join([*names, 's'])};", table, values))
    parts.append(_array("int rows, columns;", "serial_blocks", SERIAL_BLOCKS))
    return "\n\n".join(parts) + "\n"


def figure4(published: Any) -> str:
    """The kernels of figure 4, one for each point of table 1, and the launcher that takes the one of a point."""
    every = [
        (row["ub1"], row["B0"], s)
        for row in published["table1"]["rows"]
        for s in published["table1"]["granularities"]
    ]
    parts = [
        "/* The kernel of the paper's figure 4 for each point of table 1, written by prepare.py. */",
        "#include <assert.h>\n\n#ifndef CF_KERNEL\n#define CF_KERNEL(...) (const void *)(__VA_ARGS__)\n#endif",
    ]
    for ub1, depth, s in every:
        defined = (f"KERNEL0 {_name(ub1, depth, s)}", f"B_0 {depth}", f"B_1 ({ub1} * {s})", f"S {s}")
        parts.append(
            "\n".join(
                [
                    *(f"#define {text}" for text in defined),
                    '#include "kernel0.h"',
                    *(f"#undef {text.split()[0]}" for text in defined),
                ]
            )
        )
    cases = "\n".join(
        f"  if (ub1 == {ub1} && B0 == {depth} && s == {s}) kernel = CF_KERNEL({_name(ub1, depth, s)});"
        for ub1, depth, s in every
    )
    parts.append(
        f"""/* Adds a * b to c; B0 and ub1*s divide n. Returns a CUDA error, -1 where no kernel is for the point. */
extern "C" int figure4_launch(int n, const int *a, const int *b, int *c, int B0, int ub1, int s)
{{
  const void *kernel = nullptr;
{cases}
  if (!kernel) return -1;
  int dim0 = n / B0, dim1 = n / (ub1 * s);
  void *arguments[] = {{ &a, &b, &c, &n, &dim0, &dim1, &B0, &ub1, &s }};
  const dim3 grid(dim1 < 256 ? dim1 : 256, dim0 < 256 ? dim0 : 256);
  return (int)cudaLaunchKernel(kernel, grid, dim3(ub1, B0), arguments, 0, nullptr);
}}"""
    )
    return "\n\n".join(parts) + "\n"


def _name(ub1: int, depth: int, s: int) -> str:
    return f"kernel0_{ub1}_{depth}_{s}"


def _array(members: str, name: str, rows: Iterable[Iterable[int]]) -> str:
    lines = "\n".join(f"  {{ {', '.join(str(value) for value in row)} }}," for row in rows)
    return f"static const struct {{ {members} }} {name}[] = {{\n{lines}\n}};"


if __name__ == "__main__":
    sys.exit(main())
