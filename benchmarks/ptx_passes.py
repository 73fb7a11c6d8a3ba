"""The changes by each pass in the PTX that nvcc makes of the test kernels, and in what ptxas makes of that.

    python -m benchmarks.ptx_passes [-o benchmarks/results/ptx-passes-DATE.md]

In the manner of table 1 of Chakrabarti et al., CUDA compiler optimizations, 2012: all passes, and all but one.  Needs
nvcc, ptxas and cuobjdump; no GPU, so that nothing is said of times: :mod:`benchmarks.gpu.ptx_passes` has them.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.remark import Kind
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import Tool, assemble, load_tool
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.process import run as run_tool
from tests.ptx.corpus import compiled, sources

ARCH = "sm_90"
PASSES = ("memory-space", "vectorize-accesses{assume_pointer_align=16}", "pre", "dce")
COUNTED = ("LDG", "STG", "LDS", "STS", "LD", "ST", "LDL", "STL")


@dataclass(frozen=True)
class Measured:
    """Measurements of a module: registers and spills summed over kernels, instructions of SASS by name."""

    registers: int
    spills: int
    instructions: int
    by_name: Mapping[str, int]


@dataclass(frozen=True)
class Row:
    """The row of a source: what each pass applied, and measurements by the name of the pipeline."""

    source: str
    applied: Mapping[str, int]
    measured: Mapping[str, Measured]


def measured(ptxas: Tool, cuobjdump: Path, text: str) -> Measured:
    with tempfile.TemporaryDirectory() as directory:
        source, cubin = Path(directory) / "a.ptx", Path(directory) / "a.cubin"
        source.write_text(text)
        answer = assemble(ptxas, source, ARCH, ("--compile-only",))
        cubin.write_bytes(answer.output)
        sass = run_tool((cuobjdump, "-sass", cubin), timeout_s=120).stdout
    names = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)", sass, re.MULTILINE)
    counts = Counter(name for name in names if name != "NOP")
    usage = answer.usage.values()
    return Measured(
        sum(each.registers_per_thread for each in usage),
        sum(each.spill_store_bytes + each.spill_load_bytes for each in usage),
        sum(counts.values()),
        {name: counts[name] for name in COUNTED},
    )


def row(source: str, module: Module, ptxas: Tool, cuobjdump: Path) -> Row:
    stages = run(module, passes_of(",".join(PASSES)))
    applied = {
        stage.ptx_pass.name: sum(remark.kind is Kind.APPLIED for remark in stage.remarks) for stage in stages
    }
    before = print_module(module)
    found = {"none": measured(ptxas, cuobjdump, before)}
    if any(applied.values()):
        found["all"] = measured(ptxas, cuobjdump, print_module(stages[-1].after))
        for number, stage in enumerate(stages):
            if applied[stage.ptx_pass.name]:
                rest = run(module, passes_of(",".join((*PASSES[:number], *PASSES[number + 1 :]))))
                found[stage.ptx_pass.name] = measured(ptxas, cuobjdump, print_module(rest[-1].after))
    return Row(source, applied, found)


def report(rows: Sequence[Row]) -> str:
    changed = [each for each in rows if "all" in each.measured]
    names = [each.name for each in passes_of(",".join(PASSES))]
    lines = [
        f"{len(rows)} sources for {ARCH}; the passes change {len(changed)}. Remarks `applied`, by source:",
        "",
        f"| source | {' | '.join(names)} |",
        f"|---|{'---|' * len(names)}",
        *(f"| {each.source} | {' | '.join(str(each.applied[name]) for name in names)} |" for each in changed),
        f"| all | {' | '.join(str(sum(each.applied[name] for each in rows)) for name in names)} |",
        "",
        "Before and behind all passes: registers (sum over kernels), bytes spilled, instructions of SASS.",
        "",
        "| source | registers | spilled | instructions | " + " | ".join(COUNTED) + " |",
        f"|---|{'---|' * (3 + len(COUNTED))}",
        *(_before_and_after(each.source, each.measured["none"], each.measured["all"]) for each in changed),
        "",
        "One pass off, of the sources that it changes: how many have more, as many, or fewer instructions and "
        "registers without it (more means that the pass saves some).",
        "",
        "| pass | sources | instructions + = - | registers + = - | identical |",
        "|---|---|---|---|---|",
        *(_without(name, changed) for name in names),
        "",
    ]
    return "\n".join(lines)


def _before_and_after(source: str, one: Measured, other: Measured) -> str:
    pairs = [
        (one.registers, other.registers),
        (one.spills, other.spills),
        (one.instructions, other.instructions),
    ]
    pairs += [(one.by_name[name], other.by_name[name]) for name in COUNTED]
    return f"| {source} | {' | '.join(str(a) if a == b else f'{a} → {b}' for a, b in pairs)} |"


def _without(name: str, rows: Iterable[Row]) -> str:
    pairs = [(each.measured[name], each.measured["all"]) for each in rows if name in each.measured]
    same = sum(off == on for off, on in pairs)
    instructions = _signs(off.instructions - on.instructions for off, on in pairs)
    registers = _signs(off.registers - on.registers for off, on in pairs)
    return f"| {name} | {len(pairs)} | {instructions} | {registers} | {same} |"


def _signs(differences: Iterable[int]) -> str:
    found = list(differences)
    return f"{sum(d > 0 for d in found)} {sum(d == 0 for d in found)} {sum(d < 0 for d in found)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--ptx", type=Path, help="a folder that has the PTX of the sources already")
    arguments = parser.parse_args()
    ptxas, cuobjdump = find_tool("ptxas"), find_tool("cuobjdump")
    if not isinstance(ptxas, Found) or not isinstance(cuobjdump, Found):
        raise SystemExit("needs ptxas and cuobjdump")
    tool = load_tool(ptxas)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        for source in sources():
            if ARCH not in source.archs:
                continue
            path = arguments.ptx / ARCH / f"{source.name}.ptx" if arguments.ptx else None
            if path is None or not path.exists():
                path = compiled(source, ARCH, Path(directory))
            module = parse(SourceFile(path.name, path.read_text()))
            try:
                rows.append(row(source.name, module, tool, cuobjdump.path))
            except ToolError as error:
                print(f"{source.name}: {str(error).splitlines()[-1]}")
    text = report(rows)
    print(text) if arguments.output is None else arguments.output.write_text(text)


if __name__ == "__main__":
    main()
