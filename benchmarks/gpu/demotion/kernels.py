"""The kernels that are timed: their PTX, a small and a large launch, and how often their loops run.

In: nvcc.  Out: a :class:`Kernel` each::

    kernel = next(kernels(nvcc))
    kernel.name, kernel.ptx, kernel.timed.large, kernel.rounds

Those of `kernels.cu` say their launches themselves; the others are of the tests and of the generator.  Additions and
multiplications get ``.rn``, so that ptxas cannot contract them differently in different variants, and results are the
same to the bit; what nvcc contracts stays contracted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gpu.ptx_passes_prepare import ARCH, GENERATED, Timed, only, timed_of
from comprehensive.data import spec_directory
from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from tests.gpu.ptx_prepare import uncontracted

HERE = Path(__file__).resolve().parent
OF_TESTS = HERE.parents[2] / "tests" / "ptx" / "demotion"
ROUNDS: Mapping[str, tuple[int, ...]] = {
    "product16": (512,),
    "product8_double": (1280,),
    "sums128": (40,),
    "sums320": (32,),
    "box27": (318,),
    "forces": (512,),
    "fourier64": (),
    "accumulators": (80,),
    "planes": (240,),
    "planes_shared": (240,),
    "shorts": (128,),
    "matmul_tile": (255, 16),
}
"""Rounds of the loops of each kernel, in the order in which machine code has their headers."""
CORPUS: Mapping[str, tuple[str, ...]] = {
    "accumulators": (
        "// Of the tests: 64 sums that are live through a loop with two branches.",
        "// run: accumulators(in f32[2000], in f32[400], out f32[400], i32=400, i32=4) grid=(3) block=(128)",
        "// time: accumulators(in f32[43253760], in f32[5120], out f32[540672], i32=540672, i32=80) "
        "grid=(2112) block=(256)",
    ),
    "planes": (
        "// Of the tests: a stencil of order 16 that keeps 17 planes of four points in registers.",
        "// run: planes(in f32[15360], out f32[15360], i32=24, i32=20, i32=32) grid=(2,2) block=(16,8)",
        "// time: planes(in f32[134217728], out f32[134217728], i32=1024, i32=512, i32=256) "
        "grid=(64,64) block=(16,8)",
        "// Of the tests: the same with dynamic shared memory of its own.",
        "// run: planes_shared(in f32[15360], out f32[15360], i32=24, i32=20, i32=32) "
        "grid=(2,2) block=(16,8) smem=512",
        "// time: planes_shared(in f32[134217728], out f32[134217728], i32=1024, i32=512, i32=256) "
        "grid=(64,64) block=(16,8) smem=512",
    ),
    "products": (
        "// Of the tests: 48 integers of 16 bits that live long, and definitions under conditions.",
        "// run: shorts(in i16[4096], inout i32[512], i32=3) grid=(2) block=(48)",
        "// time: shorts(in i16[17301568], inout i32[1081344], i32=128) grid=(8448) block=(64)",
    ),
}
TILE = GENERATED[-3:]
"""The generator's own register tile of a product."""


@dataclass(frozen=True)
class Kernel:
    """A kernel alone in its PTX; ``rounds`` are those of its loops in the large launch."""

    ptx: str
    timed: Timed
    rounds: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.timed.name

    @property
    def symbol(self) -> str:
        return self.timed.large.kernel


def kernels(nvcc: Tool) -> Iterator[Kernel]:
    """All kernels, compiled."""
    yield from own_kernels(nvcc)
    yield from kernels_of_tests(nvcc)
    yield from generated_kernels(nvcc)


def own_kernels(nvcc: Tool) -> Iterator[Kernel]:
    """Return the kernels of `kernels.cu`."""
    own = HERE / "kernels.cu"
    yield from _kernels(_ptx(nvcc, own), own.read_text(encoding="utf-8"))


def kernels_of_tests(nvcc: Tool) -> Iterator[Kernel]:
    """Return the kernels of the tests of demotion that run in many blocks."""
    for name, lines in CORPUS.items():
        yield from _kernels(_ptx(nvcc, OF_TESTS / f"{name}.cu"), "\n".join(lines))


def generated_kernels(nvcc: Tool) -> Iterator[Kernel]:
    """The generator's own."""
    texts = outputs(compile_file(spec_directory() / "matmul.mf", Options("estimate")))
    with tempfile.TemporaryDirectory() as directory:
        for name, text in texts.items():
            (Path(directory) / name).write_text(text, encoding="utf-8")
        made = _ptx(nvcc, Path(directory) / "matmul.cu")
    yield from _kernels(made, "\n".join(TILE))


def _ptx(nvcc: Tool, source: Path) -> str:
    return uncontracted(compile_ptx(nvcc, source, ARCH).output.decode())


def _kernels(ptx: str, lines: str) -> Iterator[Kernel]:
    for timed in timed_of(lines):
        yield Kernel(only(ptx, {timed.large.kernel}), timed, ROUNDS[timed.name])
