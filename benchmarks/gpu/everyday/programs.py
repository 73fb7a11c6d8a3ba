"""The kernels of this benchmark: a file each, named after what it computes and how it is written.

``kernels/matmul_linear.mf`` is the computation ``matmul`` in the spelling ``linear``; a new kernel needs its file, and
a row of :data:`benchmarks.gpu.everyday.computations.COMPUTATIONS` where it computes something new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.gpu.everyday.computation import Computation, Size
from benchmarks.gpu.everyday.computations import COMPUTATIONS

KERNELS = Path(__file__).resolve().parent / "kernels"

SPELLINGS: Mapping[str, str] = {
    "declared": "dimensions declared",
    "linear": "linearised subscripts",
    "memory": "linearised, added up in memory",
    "from1": "loops from 1",
    "firstout": "first term outside the loop",
    "macro": "macros",
    "types": "types by their typedefs",
    "helper": "functions of the file",
    "literal": "blocks of constant size",
    "triangular": "a triangular parallel loop",
    "swap": "pointers swapped in a time loop",
    "columns": "columns in the outer loop",
    "omp": "OpenMP",
    "anyorder": "sums in any order",
}
"""The spellings of a kernel; the others are compared with the first one."""

_OPTIONS = re.compile(r"^// gen: (.*)$", re.MULTILINE)
_MACRO = re.compile(r"^#define (\w+) (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """One kernel: a computation in one spelling."""

    computation: Computation
    spelling: str
    path: Path

    @property
    def name(self) -> str:
        """The name of the file, of its function, and of what is generated from it."""
        return self.path.stem

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def options(self) -> tuple[str, ...]:
        """The options of ``gen`` for the kernel: those of a line ``// gen:``, and the pragmas of a C file."""
        pragmas = ("--pragma", "omp") if self.path.suffix == ".c" else ()
        return (*pragmas, *(word for line in _OPTIONS.findall(self.text) for word in line.split()))

    @property
    def fixed(self) -> Size:
        """The sizes that are macros: ``#define N 2048`` fixes ``n``."""
        return {name.lower(): int(value) for name, value in _MACRO.findall(self.text)}

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes of the computation that the macros of the kernel allow."""
        return tuple(size for size in self.computation.sizes if self.fixed.items() <= size.items())

    def at(self, size: Size) -> str:
        """The text with macros that fit a size."""
        return _MACRO.sub(lambda found: f"#define {found[1]} {size[found[1].lower()]}", self.text)


def program(path: Path) -> Program:
    """Return the program of a file. ValueError where its name is none of a computation and a spelling."""
    computation, _, spelling = path.stem.rpartition("_")
    if computation not in COMPUTATIONS or spelling not in SPELLINGS:
        raise ValueError(f"{path.name} is not <computation>_<spelling>")
    return Program(COMPUTATIONS[computation], spelling, path)


def programs() -> tuple[Program, ...]:
    """All kernels: computations in their order, then spellings in theirs."""
    found = [program(path) for path in KERNELS.iterdir() if path.suffix in (".mf", ".c")]
    computations, spellings = list(COMPUTATIONS), list(SPELLINGS)
    return tuple(
        sorted(found, key=lambda p: (computations.index(p.computation.name), spellings.index(p.spelling)))
    )


PROGRAMS = programs()
BY_NAME: Mapping[str, Program] = {each.name: each for each in PROGRAMS}
