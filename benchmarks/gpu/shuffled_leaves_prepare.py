"""Writes what :mod:`benchmarks.gpu.shuffled_leaves` times on a machine with a GPU: leaves with the strategy `shuffle`.

    python -m benchmarks.gpu.shuffled_leaves_prepare -o build/shuffled-leaves

A line a launch: the leaf without the strategy, the leaf with it, arguments, grid and block.  Additions and
multiplications get ``.rn``, as in :mod:`benchmarks.gpu.shuffles_prepare`.  Needs nvcc; no GPU.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gpu.ptx_passes_prepare import ARCH, launch, only, prepared, written_files
from benchmarks.gpu.shuffled_leaves import STRATEGY
from benchmarks.gpu.variants import UNCHANGED
from comprehensive.data import spec_directory
from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.gpu.ptx_prepare import uncontracted
from tests.ptx.runs import parse_run

VARIANTS: Mapping[str, str] = {
    UNCHANGED: "",
    STRATEGY: "gen --counters intensity",
}


class Leaves(NamedTuple):
    """The leaves of a specification: names of kernels, and launches of the first in blocks of several shapes."""

    plain: str
    shuffled: str
    runs: tuple[str, ...]


LEAVES: Mapping[str, Leaves] = {
    "jacobi2d": Leaves(
        "jacobi2d_1_leaf1",
        "jacobi2d_1_leaf2",
        tuple(
            f"in f32[268435456], out f32[268435456], i64=16384, i64=16384, i32=16384, i32={y}, i32={x}, "
            f"i32={-(-16382 // y)}) grid=({-(-16382 // x)},{-(-16382 // y)}) block=({x},{y})"
            for x, y in ((256, 1), (64, 4))
        ),
    ),
    "blur5x5": Leaves(
        "blur5x5_leaf1",
        "blur5x5_leaf2",
        tuple(
            f"in f32[268435456], out f32[268435456], i32=16384, i32=16384, i32={y}, i32={x}, "
            f"i32={-(-16380 // y)}) grid=({-(-16380 // x)},{-(-16380 // y)}) block=({x},{y})"
            for x, y in ((256, 1), (64, 4))
        ),
    ),
    "heat3d": Leaves(
        "heat3d_1_leaf2",
        "heat3d_1_leaf3",
        tuple(
            "in f32[134217728], out f32[134217728], i64=262144, i64=512, i64=262144, i64=512, i32=512, f32=0.1, "
            f"i32=1, i32={y}, i32={x}, i32=510, i32={-(-510 // y)}) "
            f"grid=({-(-510 // x)},{-(-510 // y)},510) block=({x},{y})"
            for x, y in ((256, 1), (64, 4))
        ),
    ),
}


def texts_of(name: str, nvcc: Tool) -> dict[str, str]:
    """Return the PTX of a specification by variant, with one name for the kernel."""
    compilation = compile_file(
        spec_directory() / f"{name}.mf", Options(registers="estimate", counters=("intensity",))
    )
    texts = outputs(compilation, levels={"P_intensity": Fraction(1, 2)})
    with tempfile.TemporaryDirectory() as directory:
        for file in (f"{name}.cu", f"{name}.h"):
            (Path(directory) / file).write_text(texts[file], encoding="utf-8")
        made = uncontracted(compile_ptx(nvcc, Path(directory) / f"{name}.cu", ARCH).output.decode())
    leaves = LEAVES[name]
    plain = only(made, {leaves.plain})
    return {
        UNCHANGED: plain,
        STRATEGY: only(made, {leaves.shuffled}).replace(leaves.shuffled, leaves.plain),
    }


def written_by(names: Iterable[str], nvcc: Tool, output: Path) -> Mapping[str, Any]:
    """What is timed of some specifications, as the other machine reads it; the PTX goes into ``output``."""
    launches: list[dict[str, Any]] = []
    for name in names:
        leaves = LEAVES[name]
        files = written_files(name, texts_of(name, nvcc), output)
        for text in leaves.runs:
            run = parse_run(f"// run: {leaves.plain}({text}")
            shape = "x".join(map(str, run.block[:2]))
            launches.append({"name": f"{name} {shape}", "ptx": files, **launch(run)})
    return {"launches": launches}


def _written(nvcc: Tool, output: Path) -> Mapping[str, Any]:
    return written_by(LEAVES, nvcc, output)


if __name__ == "__main__":
    prepared("shuffled-leaves", VARIANTS, _written)
