"""The number of loads that become shuffles in the kernels of `tests/ptx/shuffles`, and what the pass takes; no GPU.

    python -m benchmarks.shuffles [--write]

Prints tables in Markdown, or writes them to `benchmarks/results/shuffles-DATE.md`: counts beside those that Matsumura
et al. (2023) have published, processor time a kernel, memory, how the time grows with generated kernels, and why other
loads stay.  Needs nvcc.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import re
import statistics
import tempfile
import time
import tomllib
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gpu.table import markdown_table
from benchmarks.host import commit
from benchmarks.ptx_analyses import text_of_lines
from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.remark import Kind
from comprehensive.ptx.pipeline import Stage, run
from tests.ptx.corpus import FOLDER, compiled, sources

ARCH = "sm_90"
SOUND = "always=true"
NO_ALIAS = "always=true assume_noalias=true"
BEST_OF = 3
ENOUGH_S = 5.0
"""The time of all runs together from which on they are not repeated."""
RESULTS = Path(__file__).resolve().parent / "results"
SIZES = (100, 1000, 10_000)


@dataclass(frozen=True)
class Found:
    """The answer of a run of the pass about a kernel, and its processor time."""

    deltas: tuple[int, ...]
    reasons: Mapping[str, int]
    seconds: float

    @property
    def told(self) -> str:
        return _counted(len(self.deltas), statistics.fmean(map(abs, self.deltas)) if self.deltas else None)


@dataclass(frozen=True)
class Row:
    """A kernel: loads of global memory, and what is found by options of the pass."""

    name: str
    loads: int
    by: Mapping[str, Found]


def stage_of(module: Module, options: str) -> tuple[Stage, float]:
    """The pass, and the least processor time of some runs; without the parser, with the check of what it makes."""
    passes = passes_of(f"synthesize-shuffles{{{options}}}")
    times: list[float] = []
    while True:
        gc.collect()
        begin = time.process_time()
        (stage,) = run(module, passes)
        times.append(time.process_time() - begin)
        if len(times) == BEST_OF or sum(times) > ENOUGH_S:
            return stage, min(times)


def found(module: Module, options: str) -> Found:
    stage, seconds = stage_of(module, options)
    applied = [each.text for each in stage.remarks if each.kind is Kind.APPLIED]
    missed = [each.text for each in stage.remarks if each.kind is Kind.MISSED]
    deltas = tuple(int(match[1]) for text in applied if (match := re.match(r"delta (-?\d+):", text)))
    return Found(deltas, Counter(reason(text) for text in missed), seconds)


def reason(text: str) -> str:
    """Return the reason that a remark gives, without the instruction and with its numbers as N."""
    return re.sub(r"-?\d+(\.\d+)?", "N", text.partition(" stays a load: ")[2])


def rows(facts: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as directory:
        for source in sources("shuffles"):
            text = compiled(source, ARCH, Path(directory)).read_text(encoding="utf-8")
            module = parse(SourceFile(f"{source.name}.ptx", text))
            options = [SOUND, NO_ALIAS]
            if "within_1" in facts[source.name]:
                options.append(f"{NO_ALIAS} max_delta=1")
            loads = len(re.findall(r"\bld\.global", text))
            yield Row(source.name, loads, {each: found(module, each) for each in [*options, ""]})


def counts(rows: Sequence[Row], facts: Mapping[str, Mapping[str, Any]]) -> str:
    head = ("kernel", "loads", "sound", "no alias", "|N| <= 1", "published: loads", "published", "ms")
    return markdown_table(head, (_counts(row, facts[row.name].get("published")) for row in rows))


def _counts(row: Row, published: Mapping[str, Any] | None) -> list[str]:
    within_1 = row.by.get(f"{NO_ALIAS} max_delta=1")
    return [
        row.name,
        str(row.loads),
        row.by[SOUND].told,
        row.by[NO_ALIAS].told,
        "" if within_1 is None else within_1.told,
        "" if published is None else str(published["loads"]),
        "" if published is None else _counted(published["shuffles"], published.get("mean_delta")),
        f"{1000 * max(each.seconds for each in row.by.values()):.0f}",
    ]


def _counted(shuffles: int, mean_delta: float | None) -> str:
    return str(shuffles) if mean_delta is None else f"{shuffles}, {mean_delta:.2f}"


def times(rows: Sequence[Row]) -> str:
    seconds = [each.seconds for row in rows for each in row.by.values()]
    worst = max(rows, key=lambda row: max(each.seconds for each in row.by.values()))
    return (
        f"Processor time of the pass, best of {BEST_OF}: median {statistics.median(seconds):.3f} s, worst "
        f"{max(seconds):.3f} s (`{worst.name}`)."
    )


def reasons(rows: Sequence[Row]) -> str:
    """Return a table of how often loads stay for each reason, over all kernels."""
    names = {SOUND: "sound", NO_ALIAS: "no alias", "": "by cost"}
    by = {options: Counter[str]() for options in names}
    for row in rows:
        for options, counter in by.items():
            counter.update(row.by[options].reasons)
    every = sorted({text for counter in by.values() for text in counter})
    return markdown_table(
        ("why a load stays", *names.values()),
        ([text, *(str(counter[text]) for counter in by.values())] for text in every),
    )


def memory(text: str, options: str) -> float:
    """MB at the peak of the pass, over what the parsed module takes."""
    module = parse(SourceFile("kernel.ptx", text))
    passes = passes_of(f"synthesize-shuffles{{{options}}}")
    gc.collect()
    tracemalloc.start()
    try:
        run(module, passes)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _index(n: int) -> list[str]:
    return [f"mul.wide.s32 %rd{n}, %r5, 4;", f"add.s64 %rd{n}, %rd3, %rd{n};"]


def unrolled(count: int) -> str:
    """Rows of five points along x, the middle first, and their sums."""
    lines = [*_index(10)]
    for n in range(20, 20 + count, 10):
        lines += [f"add.s64 %rd{n}, %rd10, {4096 * n};"]
        for k, at in enumerate((0, 4, -4, 8, -8)):
            lines += [
                f"ld.global.f32 %f{n + k}, [%rd{n}+{at}];",
                f"add.f32 %f{n + k + 1}, %f{n + k}, %f{n + k};",
            ]
    return text_of_lines(lines[:count])


def joining(count: int) -> str:
    """An `if` with two sides between any two of the loads; no thread knows its neighbour's way."""
    lines = [*_index(10)]
    for n in range(20, 20 + count // 6):
        lines += [
            f"ld.global.f32 %f{n}, [%rd10+{4 * (n % 16)}];",
            f"setp.lt.f32 %p{n}, %f{n}, 0f00000000;",
            f"@%p{n} bra T{n};",
            f"add.f32 %f1, %f1, %f{n};",
            f"bra.uni J{n};",
            f"T{n}:",
            f"sub.f32 %f1, %f1, %f{n};",
            f"J{n}:",
        ]
    return text_of_lines(lines)


def storing(count: int) -> str:
    """A store to another pointer, which may be the same, behind each load."""
    lines = [*_index(10), "mul.wide.s32 %rd11, %r5, 4;", "add.s64 %rd11, %rd4, %rd11;"]
    for n in range(20, 20 + count):
        lines += [
            f"ld.global.f32 %f{n}, [%rd10+{4 * n}];",
            f"add.f32 %f1, %f1, %f{n};",
            f"st.global.f32 [%rd11+{4 * n}], %f1;",
        ]
    return text_of_lines(lines[:count])


def distant(count: int) -> str:
    """Loads of one array through indices of their own, none near another."""
    lines: list[str] = []
    for n in range(20, 20 + count):
        lines += [
            f"mad.lo.s32 %r{n}, %r1, {n}, %r5;",
            f"mul.wide.s32 %rd{n}, %r{n}, 4;",
            f"add.s64 %rd{n}, %rd3, %rd{n};",
            f"ld.global.f32 %f{n}, [%rd{n}];",
            f"add.f32 %f1, %f1, %f{n};",
        ]
    return text_of_lines(lines[:count])


GENERATED: Mapping[str, Callable[[int], str]] = {
    "unrolled": unrolled,
    "distant": distant,
    "joins": joining,
    "stores": storing,
}


def growth(sizes: Sequence[int] = SIZES) -> str:
    """Milliseconds by size, with the exponent of the last step: 1 is linear."""
    lines: list[list[str]] = []
    for name, generate in GENERATED.items():
        for options in (SOUND, NO_ALIAS):
            modules = [parse(SourceFile("kernel.ptx", generate(size))) for size in sizes]
            stages = [stage_of(module, options) for module in modules]
            seconds = [each for _, each in stages]
            shuffles = sum(remark.kind is Kind.APPLIED for remark in stages[-1][0].remarks)
            lines.append(
                [
                    name,
                    "no alias" if options == NO_ALIAS else "sound",
                    *(f"{1000 * each:.0f}" for each in seconds),
                    f"{seconds[-1] / seconds[-2]:.1f}",
                    str(shuffles),
                ]
            )
    ways = f"{sizes[-1]:,} / {sizes[-2]:,}"
    return markdown_table(("kernel", "aliases", *(f"{size:,}" for size in sizes), ways, "shuffles"), lines)


def report() -> str:
    facts: dict[str, dict[str, Any]] = tomllib.loads(
        (FOLDER / "shuffles" / "expected.toml").read_text("utf-8")
    )
    measured = list(rows(facts))
    largest = unrolled(SIZES[-1])
    return "\n\n".join(
        (
            "# Shuffles in place of loads",
            f"Commit {commit()}, {datetime.date.today()}, `{ARCH}`; `python -m benchmarks.shuffles`. No GPU was used.",
            "Shuffles, and the mean of |N| where there are any; `always=true`. Published: Matsumura et al., A "
            "symbolic emulator for shuffle synthesis on the NVIDIA PTX code, 2023, of other PTX of the same "
            "benchmarks. Milliseconds: the slowest of the options.",
            counts(measured, facts),
            times(measured),
            "Generated kernels: milliseconds by number of instructions, and how many times longer the last takes.",
            growth(),
            f"Memory at most for `unrolled` of {SIZES[-1]:,} instructions: {memory(largest, NO_ALIAS):.0f} MB over "
            "the parsed module.",
            "By reason, over all kernels; N stands for numbers.",
            reasons(measured),
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--write", action="store_true", help="to benchmarks/results instead of standard output"
    )
    is_written = parser.parse_args().write
    text = report() + "\n"
    if is_written:
        target = RESULTS / f"shuffles-{datetime.date.today()}.md"
        target.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
