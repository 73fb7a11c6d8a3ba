"""Compares products of doubles on tensor cores with a chain of multiply-adds, bit for bit, on the device at hand.

    python -m benchmarks.gpu.everyday.prepare --only matmul_double_linear     # here
    python3 tests/gpu/tensor_cores.py                                         # on a machine with nvcc and a GPU

Normal numbers, other exponents, cancellation, signed zeros, infinities, NaN and overflow have to give the same bits in
every instance; of subnormal numbers it is told how many results differ, and by how much.  Compiled without contraction
(``-fmad=false``) the same kernels have to give what rounds twice, subnormal or not.  Exits 1 on a failure.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "matmul_double_linear"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, default=ROOT / "build" / "gpu" / NAME)
    parser.add_argument("--arch", default="native", help="architecture for nvcc")
    parser.add_argument("--compile-only", action="store_true")
    chosen = parser.parse_args()
    tiles = numbers(json.loads((chosen.directory / f"{NAME}.json").read_text(encoding="utf-8")))
    failed = not tiles
    for words in ((), ("-fmad=false", "-DCONTRACTED=0")):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "tensor_cores"
            sources = (Path(__file__).with_suffix(".cu"), chosen.directory / f"{NAME}.cu")
            flags = ("-std=c++17", "-O2", f"-arch={chosen.arch}", f"-I{chosen.directory}", *words)
            subprocess.run(["nvcc", *flags, *map(str, sources), "-o", str(program)], check=True)
            if chosen.compile_only:
                continue
            print(f"compiled with {' '.join(words) or 'contraction'}", flush=True)
            failed |= subprocess.run([str(program), *map(str, tiles)]).returncode != 0
    return int(failed)


def numbers(manifest: dict) -> list[int]:
    """The tiles on tensor cores, as launchers number them."""
    (function,) = manifest["functions"]
    (region,) = function["regions"]
    found = (
        tile for tile in region["tiles"] if tile["recipe"] == "tensor-core product" and not tile["because"]
    )
    return [instance["number"] for tile in found for instance in tile["instances"]]


if __name__ == "__main__":
    sys.exit(main())
