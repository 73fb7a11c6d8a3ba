"""Writes what :mod:`benchmarks.gpu.shuffles` times on a machine with a GPU: kernels with shuffles in place of loads.

    python -m benchmarks.gpu.shuffles_prepare -o build/shuffles-bench

The kernels are those of `tests/ptx/shuffles`: a line ``// time:`` says what is timed, lines ``// run:`` what
``--check`` runs, in other blocks, too.  Additions and multiplications get ``.rn``, so that ptxas cannot contract them
differently where other code stands around them, and results are the same to the bit.  Needs nvcc; no GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.gpu.ptx_passes_prepare import ARCH, Source, launch, prepared, timed_of, variant, written_files
from benchmarks.gpu.shuffles import (
    CHOSEN,
    CORNERS,
    CORNERS_NO_WRAP,
    NO_CORNER,
    NO_LOAD,
    RINGS,
    RINGS_NO_WRAP,
    WRONG,
)
from benchmarks.gpu.variants import UNCHANGED
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.gpu.ptx_prepare import uncontracted
from tests.ptx.corpus import Source as Kernel
from tests.ptx.corpus import sources
from tests.ptx.runs import Run

_ASSUMED = "assume_noalias=true assume_nowrap"
VARIANTS: Mapping[str, str] = {
    UNCHANGED: "",
    CORNERS: f"synthesize-shuffles{{always=true {_ASSUMED}=false}}",
    RINGS: f"synthesize-shuffles{{always=true shape=rings {_ASSUMED}=false}}",
    CHOSEN: f"synthesize-shuffles{{{_ASSUMED}=false}}",
    NO_LOAD: f"synthesize-shuffles{{always=true {_ASSUMED}=false variant=no_load}}",
    NO_CORNER: f"synthesize-shuffles{{always=true {_ASSUMED}=false variant=no_corner}}",
    CORNERS_NO_WRAP: f"synthesize-shuffles{{always=true {_ASSUMED}=true}}",
    RINGS_NO_WRAP: f"synthesize-shuffles{{always=true shape=rings {_ASSUMED}=true}}",
}
ODD = (96, 2, 1)
"""A block whose warps are whole, and whose number is none that divides a size; where a kernel has blocks with rows."""


def source_of(kernel: Kernel, nvcc: Tool) -> Source:
    ptx = uncontracted(compile_ptx(nvcc, kernel.path, ARCH, kernel.flags).output.decode())
    (timed,) = timed_of(kernel.path.read_text(encoding="utf-8"))
    return Source(kernel.name, ptx, (timed,))


def texts_of(source: Source) -> dict[str, tuple[str, int]]:
    """Return by variant the PTX, and how many loads are shuffles in it."""
    found = {name: variant(source, pipeline) for name, pipeline in VARIANTS.items()}
    return {name: (each.text, sum(each.applied.values())) for name, each in found.items()}


def checks(kernel: Kernel) -> Iterator[Run]:
    """Small launches with warps that are not whole, and sizes that blocks do not divide."""
    yield from kernel.runs
    if any(run.block[1] > 1 for run in kernel.runs):
        # More blocks than needed: the kernels leave out what lies outside.
        yield replace(kernel.runs[0], block=ODD)


def written_by(kernels: Iterable[Kernel], nvcc: Tool, output: Path) -> Mapping[str, Any]:
    """Return the launches to time and to check, as the other machine reads them; the PTX goes into ``output``."""
    launches: list[dict[str, Any]] = []
    small: list[dict[str, Any]] = []
    for kernel in kernels:
        source = source_of(kernel, nvcc)
        texts = texts_of(source)
        files = written_files(kernel.name, {name: text for name, (text, _) in texts.items()}, output)
        common = {"ptx": files, "wrong": WRONG}
        (timed,) = source.timed
        launches.append(
            {
                "name": kernel.name,
                "about": timed.about,
                "applied": {name: count for name, (_, count) in texts.items()},
                **common,
                **launch(timed.large),
            }
        )
        small += [
            {"name": f"{kernel.name} {run.block[0]}x{run.block[1]}", **common, **launch(run)}
            for run in checks(kernel)
        ]
    return {"launches": launches, "checks": small}


def _written(nvcc: Tool, output: Path) -> Mapping[str, Any]:
    return written_by(sources("shuffles"), nvcc, output)


if __name__ == "__main__":
    prepared("shuffles-bench", VARIANTS, _written)
