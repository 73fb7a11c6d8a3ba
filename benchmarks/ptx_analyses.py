"""The cost of the analyses of PTX: processor time of each, on generated kernels of 100 to 10,000 instructions.

Run as ``python -m benchmarks.ptx_analyses``.  Prints a Markdown table, a row a kernel, in milliseconds; parsing and
the resolution of names are a column of their own.  Garbage is collected between kernels, not while one is measured.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Sequence

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import parse

PARTS = (
    ("cfg",),
    ("dominators", "frontiers"),
    ("postdominators", "control_dependence"),
    ("loops",),
    ("liveness",),
    ("ssa", "operand_values"),
    ("spaces",),
    ("variance",),
    ("affine",),
    ("accesses", "alias"),
    ("pressure",),
)
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u64 b, .param .u32 n)
{
.reg .pred %p<20000>;
.reg .b32 %r<40000>;
.reg .b32 %f<40000>;
.reg .b64 %rd<40000>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u32 %r1, [n];
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mov.u32 %r4, %tid.x;
mad.lo.s32 %r5, %r2, %r3, %r4;
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mov.u32 %r6, 0;
"""


class _Text:
    """Lines, and numbers of registers that are not used yet."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.fresh = 10

    def element(self, index: str) -> None:
        """Six instructions: ``b[index] = a[index] + a[index + 1]``."""
        n = self.fresh
        self.fresh += 4
        self.lines += [
            f"mul.wide.s32 %rd{n}, {index}, 4;",
            f"add.s64 %rd{n + 1}, %rd3, %rd{n};",
            f"ld.global.f32 %f{n}, [%rd{n + 1}+4];",
            f"add.f32 %f{n + 1}, %f{n}, %f{n};",
            f"add.s64 %rd{n + 2}, %rd4, %rd{n};",
            f"st.global.f32 [%rd{n + 2}], %f{n + 1};",
        ]


def straight(count: int) -> str:
    text = _Text()
    while len(text.lines) < count:
        n = text.fresh
        text.fresh += 1
        text.lines.append(f"add.s32 %r{n}, %r5, {n};")
        text.element(f"%r{n}")
    return text_of(text)


def looping(count: int) -> str:
    """Loops of three levels, one after the other."""
    text = _Text()
    while len(text.lines) < count:
        n = text.fresh
        text.fresh += 10
        for level in range(3):
            text.lines += [f"mov.u32 %r{n + level}, 0;", f"L{n + level}:"]
        text.element(f"%r{n + 2}")
        for level in (2, 1, 0):
            text.lines += [
                f"add.s32 %r{n + level}, %r{n + level}, 1;",
                f"setp.lt.s32 %p{n + level}, %r{n + level}, %r1;",
                f"@%p{n + level} bra L{n + level};",
            ]
    return text_of(text)


def branching(count: int) -> str:
    """Guards with an early exit, each after an `if` with two sides."""
    text = _Text()
    while len(text.lines) < count:
        n = text.fresh
        text.fresh += 10
        text.lines += [
            f"setp.lt.s32 %p{n}, %r6, %r4;",
            f"@%p{n} bra T{n};",
            "add.s32 %r6, %r6, 3;",
            f"bra.uni J{n};",
            f"T{n}:",
            "add.s32 %r6, %r6, 5;",
            f"J{n}:",
            f"setp.ge.s32 %p{n + 1}, %r6, %r1;",
            f"@%p{n + 1} bra DONE;",
        ]
        text.element("%r6")
    return text_of(text)


def live(count: int) -> str:
    """Many values live at once: all are loaded first and added up at the end, under many guards."""
    text = _Text()
    loads = [f"ld.global.f32 %f{k + 10}, [%rd3+{4 * k}];" for k in range(count // 3)]
    sums = [
        line
        for k in range(count // 3)
        for line in (f"@%p{k % 7} add.f32 %f1, %f1, %f{k + 10};", f"X{k}:" if k % 4 else f"@%p{k} bra X{k};")
    ]
    text.lines = [
        *loads,
        *(line for line in sums if not line.endswith(":")),
        *(f"X{k}:" for k in range(0, count // 3, 4)),
    ]
    return text_of(text)


def text_of(text: _Text) -> str:
    return text_of_lines(text.lines)


def text_of_lines(lines: Sequence[str]) -> str:
    """A kernel that does this."""
    return "\n".join([HEAD, *lines, "DONE:", "ret;", "}", ""])


KERNELS: dict[str, Callable[[int], str]] = {
    "straight": straight,
    "loops": looping,
    "branches": branching,
    "live": live,
}


def measured(text: str) -> list[float]:
    """Milliseconds of processor time: of parsing, and of each of :data:`PARTS`."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    module = parse(SourceFile("kernel.ptx", text))
    analyses = Analyses(module.functions["kernel"], module)
    instructions = len(analyses.flow.steps)
    times = [time.process_time() - start]
    for part in PARTS:
        start = time.process_time()
        for name in part:
            getattr(analyses, name)
        times.append(time.process_time() - start)
    gc.enable()
    return [instructions, *(1000 * t for t in times)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    sizes = parser.parse_args().sizes
    names = ["+".join(part) for part in PARTS]
    print(f"| kernel | instructions | parse and names | {' | '.join(names)} | all analyses |")
    print("|" + "---|" * (len(names) + 4))
    for kind, generate in KERNELS.items():
        for size in sizes:
            instructions, parsed, *times = measured(generate(size))
            cells = [f"{t:.1f}" for t in (parsed, *times, sum(times))]
            print(f"| {kind} | {instructions:.0f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
