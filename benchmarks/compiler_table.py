"""Table 1 of the CUDA compiler paper with the passes of ``comprehensive opt``: one optimization off at a time.

    python -m benchmarks.compiler_table [-o benchmarks/results/compiler-table-DATE.md]

Chakrabarti et al., CUDA: Compiling and optimizing for a GPU platform, 2012, disable one optimization at a time and say
how many of 521 kernels run faster, the same (within 3 %) or slower with it.  Here that is done with the kernels of
``tests/ptx`` that have runs, on the PTX of nvcc with little optimization and on its usual one.  Without the hardware
there are no times; what is counted is

- *executed*: PTX instructions that the threads of the runs execute, by the interpreter;
- *code*: instructions of the machine code that ptxas makes, as they stand;
- *registers* of a thread, by ptxas.

Each run's results are compared with those of the PTX as it was.  Needs nvcc and ptxas; no GPU.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.host import commit
from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.assembled import cubin_of
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.cubin import code_of
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import SourceRejectedError, Tool, load_tool
from comprehensive.toolchain.process import ToolError
from tests.ptx.corpus import Source, compiled, sources
from tests.ptx.runs import DTYPES, Buffer, Run, drawn

ARCH = "sm_90"
FOLDERS = ("cuda", "shuffles", "demotion", "frames")
BASES: Mapping[str, tuple[str, ...]] = {
    "O1": ("-Xcicc", "-O1"),
    "O0": ("-Xcicc", "-O0"),
    "usual": (),
}
TITLES: Mapping[str, str] = {
    "O1": "PTX of nvcc with little optimization (`-Xcicc -O1`): loops are as written",
    "O0": "PTX of nvcc with as little as cicc does (`-Xcicc -O0`): nothing is done yet, loops are of several blocks",
    "usual": "PTX of nvcc as usual, behind its own optimizer",
}
TOLERANCE = 3.0
"""Per cent; as in the paper."""
MOST_RUNS = 1
ALL = "all"
WORD_BYTES = 16
NO_OPERATION = 0x918
"""The low bits of a NOP since sm_70."""

OPTIMIZATIONS: Mapping[str, tuple[str, ...]] = {
    "EPRE": ("pre{loads=false parameters=true}", "propagate-copies"),
    "LPRE": ("pre{expressions=false}", "propagate-copies"),
    "Memory space analysis": (
        "memory-space{kernel_pointers_are_global=true}",
        "drop-conversions",
        "propagate-copies",
    ),
    "Unrolling": ("unroll",),
    "Memory access vectorization": (
        "raise-alignment",
        "vectorize-accesses{assume_pointer_align=16}",
    ),
}
"""The passes of each optimization of the paper, in the order in which they run; dead code goes at the end."""

PUBLISHED: Sequence[tuple[str, int, int, int, float, float]] = (
    ("Unrolling", 424, 90, 7, -6.10, 3109.84),
    ("EPRE", 417, 100, 4, -14.15, 1315.80),
    ("Memory space analysis", 213, 278, 30, -7.68, 107.59),
    ("LPRE", 47, 430, 44, -25.46, 29.37),
    ("Memory access vectorization", 21, 497, 3, -7.72, 75.41),
    ("Hoisting", 10, 504, 7, -6.50, 15.83),
)
"""The paper counts, of 521 kernels, those improved, unchanged and slower; the worst and best gain are in per cent."""


@dataclass(frozen=True, slots=True)
class Counts:
    """A kernel takes so many executed PTX instructions of threads, instructions of machine code, registers."""

    executed: int
    code: int
    registers: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a source, by variant: all optimizations, and all but the one that names it."""

    source: str
    name: str
    counts: Mapping[str, Counts]


def pipeline(without: str | None = None) -> str:
    """All optimizations, or all but one."""
    passes = [each for name, group in OPTIMIZATIONS.items() if name != without for each in group]
    return ",".join((*passes, "dce"))


def improvement(with_it: int, without: int) -> float:
    """Return how much more there is without an optimization, in per cent: positive where it improves."""
    return 100.0 * (without - with_it) / with_it if with_it else 0.0


def summary(kernels: Sequence[Kernel], name: str, counted: str) -> tuple[int, int, int, float, float]:
    """Return how many kernels an optimization improves, leaves alone and makes worse; the worst and the best of it."""
    found = [
        improvement(getattr(each.counts[ALL], counted), getattr(each.counts[name], counted))
        for each in kernels
    ]
    better = sum(value > TOLERANCE for value in found)
    worse = sum(value < -TOLERANCE for value in found)
    least, most = (min(found), max(found)) if found else (0.0, 0.0)
    return better, len(found) - better - worse, worse, least, most


def launched(module: Module, run_: Run) -> tuple[list[bytes], int]:
    """A run leaves these bytes in its arguments, and its threads execute so many instructions."""
    given: list[np.ndarray | int | float | bytes] = []
    for argument, contents in zip(run_.arguments, drawn(run_), strict=True):
        is_array = isinstance(argument, Buffer)
        given.append(np.frombuffer(bytearray(contents), DTYPES[argument.type]) if is_array else contents)
    report = interpret(module, run_.kernel, run_.grid, run_.block, given, shared_bytes=run_.smem_bytes)
    left = [each.tobytes() for each in given if isinstance(each, np.ndarray)]
    return left, report.thread_instructions


def instructions_in(code: bytes) -> int:
    """Return the number of instructions, without the no-operations that fill the end of a section."""
    words = [code[at : at + WORD_BYTES] for at in range(0, len(code), WORD_BYTES)]
    while words and int.from_bytes(words[-1][:2], "little") & 0xFFF == NO_OPERATION:
        words.pop()
    return len(words)


def counted(
    ptxas: Tool, module: Module, runs: Sequence[Run], expected: Mapping[Run, list[bytes]]
) -> dict[str, Counts]:
    """The counts of every kernel with a run; ValueError where a run leaves something else than expected."""
    code = code_of(cubin_of(ptxas, module).output)
    executed: dict[str, int] = {}
    for each in runs:
        left, instructions = launched(module, each)
        if left != expected[each]:
            raise ValueError(f"{each.kernel} computes something else")
        executed[each.kernel] = executed.get(each.kernel, 0) + instructions
    return {
        name: Counts(count, instructions_in(code[name].instructions), code[name].registers)
        for name, count in executed.items()
    }


def kernels_of(source: Source, base: str, ptxas: Tool, directory: Path) -> Iterator[Kernel]:
    """The kernels of a source; CompileError where the interpreter does not know what they do."""
    flags = (*source.flags, *BASES[base])
    ptx = compiled(replace(source, flags=flags), ARCH, directory / base)
    before = parse(SourceFile(ptx.name, ptx.read_text(encoding="utf-8")))
    chosen: dict[str, list[Run]] = {}
    for each in source.runs:
        if len(chosen.setdefault(each.kernel, [])) < MOST_RUNS:
            chosen[each.kernel].append(each)
    runs = [each for group in chosen.values() for each in group]
    expected = {each: launched(before, each)[0] for each in runs}
    by_variant: dict[str, dict[str, Counts]] = {}
    known: dict[str, dict[str, Counts]] = {}
    for variant in (ALL, *OPTIMIZATIONS):
        text = pipeline(None if variant == ALL else variant)
        after = run(before, passes_of(text))[-1].after
        printed = print_module(after)
        if printed not in known:
            known[printed] = counted(ptxas, after, runs, expected)
        by_variant[variant] = known[printed]
    for name in chosen:
        yield Kernel(source.name, name, {variant: each[name] for variant, each in by_variant.items()})


def report(kernels: Mapping[str, Sequence[Kernel]], left_out: Mapping[str, Sequence[str]], about: str) -> str:
    """The table beside the published one, for each base and each count."""
    lines = [
        "# Table 1 of the CUDA compiler paper, by counts",
        "",
        about,
        "",
        "Chakrabarti et al., CUDA: Compiling and optimizing for a GPU platform, 2012, table 1: each optimization off "
        "once, the others on; how many kernels are better with it, the same within 3 %, and worse, with the worst and "
        "the best improvement in per cent. The published columns are times on a GeForce GTX 560 Ti, which cannot be "
        "had here; ours are counts, which say nothing of latency, memory or occupancy: *executed* are PTX instructions "
        "of all threads of a small run, *code* those of the machine code, *registers* those of a thread by ptxas. The "
        "optimizations of the paper are these passes:",
        "",
        *(f"- {name}: `{','.join(passes)}`" for name, passes in OPTIMIZATIONS.items()),
        "- Hoisting: a part of `pre`, which computes before a branch what all its ways compute; it has no switch.",
        "",
        "Memory space analysis changes which memory an instruction names and not how many there are, so that the "
        "counts hardly see it; unrolling makes code longer for fewer executed tests. ptxas optimizes behind the "
        "passes, so that *code* and *registers* show only what it does not find itself. Every result was the same "
        "to the bit.",
        "",
    ]
    for base, found in kernels.items():
        lines += [f"## {TITLES[base]}: {len(found)} kernels", ""]
        if left_out.get(base):
            lines += [f"Left out: {'; '.join(left_out[base])}.", ""]
        lines += [
            "| optimization | published of 521: + = - | worst, best % | executed: + = - | worst, best % "
            "| code: + = - | worst, best % | registers: + = - | worst, best % |",
            f"|{'---|' * 9}",
        ]
        for name, *numbers in PUBLISHED:
            cells = [_cells(*numbers)]  # type: ignore[arg-type]
            cells += [
                _cells(*summary(found, name, counted)) if name in OPTIMIZATIONS else "- | -"
                for counted in ("executed", "code", "registers")
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _cells(better: int, same: int, worse: int, least: float, most: float) -> str:
    every = better + same + worse
    shares = (f"{count} ({100 * count / max(every, 1):.1f} %)" for count in (better, same, worse))
    return f"{', '.join(shares)} | {least:.1f}, {most:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compiler_table", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("-o", "--output", type=Path, default=None)
    parser.add_argument("--only", default="", help="beginnings of the names of sources, as in saxpy,loops")
    parser.add_argument("--bases", default=",".join(BASES), help=f"of {', '.join(BASES)}")
    chosen = parser.parse_args()
    search = find_tool("ptxas")
    if not isinstance(search, Found):
        print(search.explain(), file=sys.stderr)
        return 3
    ptxas = load_tool(search)
    kernels: dict[str, list[Kernel]] = {}
    left_out: dict[str, list[str]] = {}
    about = f"{datetime.date.today()}, commit {commit()}, nvcc 13.0, {ARCH}. `python -m benchmarks.compiler_table`"
    every = [source for folder in FOLDERS for source in sources(folder) if ARCH in source.archs]
    wanted = [s for s in every if s.runs and any(s.name.startswith(word) for word in chosen.only.split(","))]
    with tempfile.TemporaryDirectory() as directory:
        for base in chosen.bases.split(","):
            kernels[base], left_out[base] = [], []
            for source in wanted:
                try:
                    kernels[base] += kernels_of(source, base, ptxas, Path(directory))
                except CompileError as error:
                    left_out[base].append(f"{source.name} ({error.diagnostics[0].message})")
                except (SourceRejectedError, ToolError):
                    left_out[base].append(f"{source.name} (its flags do not go with {' '.join(BASES[base])})")
                print(f"{base} {source.name}: {len(kernels[base])} kernels so far", file=sys.stderr)
            if chosen.output is not None:  # what there is, if a run is cut off
                chosen.output.write_text(report(kernels, left_out, f"{about}."), encoding="utf-8")
    if chosen.output is None:
        print(report(kernels, left_out, f"{about}."))
    return 0


if __name__ == "__main__":
    sys.exit(main())
