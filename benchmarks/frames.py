"""Demoted values of programs with calls: slots and moves without compression of the stack, and with it.

    python -m benchmarks.frames [-o benchmarks/results/frames-DATE.md] [--ptx DIRECTORY]

The table stands beside figure 5 of Hayes et al., Orion: A framework for GPU occupancy tuning, 2016, on the programs of
``tests/ptx/frames``: ``none`` is its "no space minimization", ``direct`` its "unoptimized data movement", ``least``
what section 3.2 proposes.  The benchmark needs nvcc and ptxas, but no GPU: moves are counted (by the interpreter, on
the launches that the programs name), and nothing is said of times.  ``--ptx`` writes the versions that were counted,
for a GPU, as KERNEL.REGISTERS.FRAMES.ptx; ``cap`` in the place of FRAMES is the limit of registers alone.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.build import Build, only_kernel
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.assembler import find_assembler
from tests.ptx.corpus import compiled, sources
from tests.ptx.runs import DTYPES, Buffer, Run, drawn

ARCH = "sm_90"
TARGETS = (32, 24)
FRAMES = ("none", "direct", "least")


@dataclass(frozen=True)
class Counted:
    """The counts of a version of a kernel, which computes what the kernel does.

    ``moves`` are those before calls in the text, ``executed`` those that a thread executes on the average;
    ``spilled_bytes`` are those of the kernel and of the functions that it calls.
    """

    slots: int
    moves: int
    executed: float
    spilled_bytes: int
    registers: int
    accesses: int
    """The number of loads and stores of slots in the text that are no moves."""


@dataclass(frozen=True)
class Row:
    """The versions of a kernel at a limit of registers, and what it spills with the limit alone."""

    kernel: str
    target: int
    capped_spilled_bytes: int
    versions: Mapping[str, Counted]


def rows(directory: Path | None) -> Iterator[Row]:
    build = Build(find_assembler())
    if build.assembler is None:
        raise SystemExit("there is no ptxas: see 'comprehensive doctor'")
    for source in sources("frames"):
        with tempfile.TemporaryDirectory() as folder:
            ptx = compiled(source, ARCH, Path(folder)).read_text(encoding="utf-8")
        whole = parse(SourceFile(f"{source.name}.ptx", ptx))
        for launch in source.runs:
            for target in TARGETS:
                yield _row(only_kernel(whole, launch.kernel), launch, target, build, directory)


def _row(module: Module, launch: Run, target: int, build: Build, directory: Path | None) -> Row:
    expected, _ = _executed(module, launch)
    capped = _rewritten(module, f"register-cap{{registers={target}}}", build)[0]
    found: dict[str, Counted] = {}
    uncompressed = 0
    for frames in FRAMES:
        after, facts = _rewritten(module, f"demote-registers{{target={target} frames={frames}}}", build)
        contents, instructions = _executed(after, launch)
        assert contents == expected, f"{launch.kernel} computes something else with {frames}"
        uncompressed = uncompressed or instructions
        threads = prod(launch.grid) * prod(launch.block)
        usage = build.usages(after)[launch.kernel]
        found[frames] = Counted(
            facts["slots"],
            facts["moves_at_calls"],
            # A load and a store before the call, and behind it.
            (instructions - uncompressed) / (4 * threads),
            usage.spill_bytes + usage.called_spill_bytes,
            usage.registers_per_thread,
            facts["slot_accesses"],
        )
        if directory is not None:
            (directory / f"{launch.kernel}.{target}.{frames}.ptx").write_text(print_module(after))
    assert len({each.accesses for each in found.values()}) == 1, "versions differ in more than moves"
    if directory is not None:
        (directory / f"{launch.kernel}.{target}.cap.ptx").write_text(print_module(capped))
    usage = build.usages(capped)[launch.kernel]
    return Row(launch.kernel, target, usage.spill_bytes + usage.called_spill_bytes, found)


def _rewritten(module: Module, pipeline: str, build: Build) -> tuple[Module, Mapping[str, int]]:
    (stage,) = run(module, passes_of(pipeline), (), build)
    return stage.after, dict(next((remark.facts for remark in stage.remarks if remark.facts), ()))


def _executed(module: Module, launch: Run) -> tuple[list[bytes], int]:
    """Return what a launch leaves in its arguments, and how many instructions its threads execute."""
    given: list[Any] = [
        np.frombuffer(bytearray(contents), DTYPES[argument.type])
        if isinstance(argument, Buffer)
        else contents
        for argument, contents in zip(launch.arguments, drawn(launch), strict=True)
    ]
    report = interpret(
        module, launch.kernel, launch.grid, launch.block, given, shared_bytes=launch.smem_bytes
    )
    contents = [argument if isinstance(argument, bytes) else argument.tobytes() for argument in given]
    return contents, report.thread_instructions


def table(found: Sequence[Row]) -> str:
    head = ["kernel", "registers", "spills with the limit alone", "spills"]
    head += [f"slots, {frames}" for frames in FRAMES]
    head += [f"moves, {frames}: text / thread" for frames in FRAMES[1:]]
    lines = [head, ["---"] * 2 + ["---:"] * (len(head) - 2)]
    for row in found:
        versions = [row.versions[frames] for frames in FRAMES]
        lines.append(
            [
                f"`{row.kernel}`",
                f"{row.target}",
                f"{row.capped_spilled_bytes}",
                " / ".join(dict.fromkeys(str(each.spilled_bytes) for each in versions)),
                *(str(each.slots) for each in versions),
                *(f"{each.moves} / {each.executed:.3g}" for each in versions[1:]),
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--ptx", type=Path)
    arguments = parser.parse_args()
    if arguments.ptx is not None:
        arguments.ptx.mkdir(parents=True, exist_ok=True)
    text = (
        "# Programs with calls: slots and moves\n\n"
        f"`python -m benchmarks.frames`, {ARCH}. Spills are bytes of the kernel and of what it calls, stored and "
        "loaded; slots are words a thread. Moves are words moved before a call, and back behind it: in the text, "
        "and executed by a thread on the average. Every version computes the same as the kernel does, in the "
        "interpreter.\n\n"
        f"{table(list(rows(arguments.ptx)))}\n"
    )
    if arguments.output is None:
        print(text, end="")
    else:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
