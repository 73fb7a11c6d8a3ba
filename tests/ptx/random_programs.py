"""Random kernels of PTX for the tests of analyses: a seed in, text out."""

from __future__ import annotations

from random import Random

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import parse

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u32 n){tuning}
{{
.shared .align 8 .b8 tile[64];
.reg .pred %p<9>;
.reg .b16 %h<9>;
.reg .b32 %r<40>;
.reg .b64 %rd<40>;
"""


def analysed(body: str, tuning: str = "", **options: bool) -> Analyses:
    """Return the analyses of a kernel with parameters ``a`` (a pointer) and ``n``, and registers %r, %rd, %p."""
    text = f"{HEAD.format(tuning=tuning)}{body}\n}}\n"
    module = parse(SourceFile("kernel.ptx", text))
    return Analyses(module.functions["kernel"], module, **options)


def random_graph(random: Random, blocks: int, defines_first: bool = True) -> str:
    """Blocks with any branches between them, and a few instructions on five registers."""
    lines = [f"mov.u32 %r{i}, {i * 7};" for i in range(5)] if defines_first else []
    lines += ["setp.lt.u32 %p0, %r0, 9;", "setp.lt.u32 %p1, %r1, 3;"] if defines_first else []
    for block in range(blocks):
        lines.append(f"B{block}:")
        for _ in range(random.randrange(4)):
            lines.append(_small(random))
        target = f"B{random.randrange(blocks)}"
        guard = random.choice(["", "@%p0 ", "@!%p1 "])
        lines += random.choice(
            [
                [],
                [],
                [f"{guard}bra {target};"],
                [f"@%p0 bra {target};"],
                [f"@!%p1 bra {target};"],
                [f"{guard}ret;"],
            ]
        )
    return "\n".join([*lines, "st.global.u32 [%rd0], %r2;", "ret;"])


def _small(random: Random) -> str:
    a, b, c = (random.randrange(5) for _ in range(3))
    p = random.randrange(2)
    guard = random.choice(["", "", "@%p0 ", "@!%p1 "])
    return random.choice(
        [
            f"{guard}add.u32 %r{a}, %r{b}, %r{c};",
            f"{guard}xor.b32 %r{a}, %r{b}, {random.randrange(99)};",
            f"{guard}mov.u32 %r{a}, %r{b};",
            f"{guard}setp.lt.u32 %p{p}, %r{b}, %r{c};",
            f"st.global.u32 [%rd0+{4 * a}], %r{b};",
        ]
    )


def random_program(random: Random, length: int) -> str:
    """Structured: nested ifs and loops with breaks, on values of threads and of the launch."""
    return _Program(random).text(length)


class _Program:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.labels = 0
        self.lines = [
            "ld.param.u64 %rd0, [a];",
            "ld.param.u32 %r0, [n];",
            "mov.u32 %r1, %tid.x;",
            "mov.u32 %r2, %ctaid.x;",
            "mov.u32 %r3, %ntid.x;",
            "mad.lo.s32 %r4, %r2, %r3, %r1;",
            "mov.u32 %r5, 3;",
            "mov.u32 %r6, 100;",
            "mov.u64 %rd1, %rd0;",
            "mov.u64 %rd2, 16;",
            "mov.u64 %rd3, %rd0;",
            "setp.lt.s32 %p0, %r1, 5;",
            "setp.lt.s32 %p1, %r0, 50;",
        ]

    def text(self, length: int) -> str:
        self.statements(length, 3)
        return "\n".join([*self.lines, "END:", "st.global.u32 [%rd1], %r6;", "ret;"])

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def statements(self, length: int, depth: int, leave: str | None = None) -> None:
        for _ in range(length):
            kind = self.random.randrange(10)
            if kind == 0 and depth:
                self.branch(depth, leave)
            elif kind == 1 and depth:
                self.loop(depth)
            elif kind == 2 and leave is not None and self.random.randrange(3) == 0:
                self.lines.append(f"@%p{self.random.randrange(2)} bra {leave};")
            elif kind == 3 and self.random.randrange(4) == 0:
                self.lines.append(f"@%p{self.random.randrange(2)} bra END;")
            else:
                self.simple()

    def branch(self, depth: int, leave: str | None) -> None:
        other, join = self.label(), self.label()
        self.compare(0)
        self.lines.append(f"@{self.random.choice(['', '!'])}%p0 bra {other};")
        self.statements(3, depth - 1, leave)
        self.lines += [f"bra.uni {join};", f"{other}:"]
        self.statements(self.random.randrange(3), depth - 1, leave)
        self.lines.append(f"{join}:")

    def loop(self, depth: int) -> None:
        """The counter has a register of its own depth."""
        head, leave = self.label(), self.label()
        counter = f"%r{30 + depth}"
        step = self.random.choice([1, 2, 3, "%r5", "%r0"])
        begin = self.random.choice([0, "%r1", 5, "%r0"])
        self.lines += [f"mov.u32 {counter}, {begin};", f"mov.u32 %r{20 + depth}, 0;", f"{head}:"]
        self.statements(3, depth - 1, leave)
        self.lines.append(f"add.s32 %r{self.random.randrange(6, 9)}, {counter}, {self.random.randrange(9)};")
        # A second counter ends it.
        relation, bound = self.random.choice(["lt", "ne"]), self.random.choice([2, 3, 4, "%r5"])
        self.lines += [
            f"add.s32 {counter}, {counter}, {step};",
            f"add.s32 %r{20 + depth}, %r{20 + depth}, 1;",
            f"setp.{relation}.s32 %p{4 + depth}, %r{20 + depth}, {bound};",
            f"@%p{4 + depth} bra {head};",
            f"{leave}:",
        ]

    def compare(self, predicate: int) -> None:
        relation = self.random.choice(["lt", "le", "gt", "ge", "eq", "ne"])
        type_ = self.random.choice(["s32", "u32"])
        other = self.random.choice([f"%r{self.random.randrange(9)}", str(self.random.randrange(40))])
        self.lines.append(f"setp.{relation}.{type_} %p{predicate}, %r{self.random.randrange(9)}, {other};")

    def simple(self) -> None:
        random = self.random
        d, a, b = random.randrange(5, 9), random.randrange(9), random.randrange(9)
        w, x = random.randrange(1, 4), random.randrange(1, 4)
        number = random.choice([1, 2, 3, 4, 8, 31, -1, -4, 255, 1 << 30, 1 << 31])
        guard = random.choice(["", "", "", "@%p0 ", "@!%p1 "])
        either = random.choice([f"%r{b}", str(number)])
        self.lines.append(
            random.choice(
                [
                    f"{guard}add.s32 %r{d}, %r{a}, {either};",
                    f"sub.s32 %r{d}, %r{a}, {either};",
                    f"mul.lo.s32 %r{d}, %r{a}, {either};",
                    f"mad.lo.s32 %r{d}, %r{a}, {either}, %r{b};",
                    f"shl.b32 %r{d}, %r{a}, {random.randrange(1, 6)};",
                    f"shr.{random.choice('us')}32 %r{d}, %r{a}, {random.randrange(1, 6)};",
                    f"and.b32 %r{d}, %r{a}, {random.choice([31, 7, -8, -32, 12, 65535])};",
                    f"or.b32 %r{d}, %r{a}, {random.choice([1, 3, f'%r{b}'])};",
                    f"xor.b32 %r{d}, %r{a}, {either};",
                    f"not.b32 %r{d}, %r{a};",
                    f"neg.s32 %r{d}, %r{a};",
                    f"{random.choice(['min', 'max'])}.{random.choice('us')}32 %r{d}, %r{a}, {either};",
                    f"rem.u32 %r{d}, %r{a}, {random.choice([3, 8, 10])};",
                    f"div.{random.choice('us')}32 %r{d}, %r{a}, {random.choice([3, 8])};",
                    f"selp.b32 %r{d}, %r{a}, {either}, %p{random.randrange(2)};",
                    f"{guard}mov.u32 %r{d}, %r{a};",
                    f"ld.global.u32 %r{d}, [%rd0+{4 * a}];",
                    f"mul.wide.{random.choice('us')}32 %rd{w}, %r{a}, {random.choice([4, 8, 1, f'%r{b}'])};",
                    f"mad.wide.s32 %rd{w}, %r{a}, 4, %rd{x};",
                    f"cvt.{random.choice(['s64.s32', 'u64.u32', 's64.u32'])} %rd{w}, %r{a};",
                    f"cvt.u32.u64 %r{d}, %rd{x};",
                    f"cvt.u16.u32 %h1, %r{a};",
                    f"cvt.{random.choice(['u32.u16', 's32.s16', 'u32.u8', 's32.s8'])} %r{d}, "
                    f"{random.choice(['%h1', '%h2'])};",
                    f"shl.b64 %rd{w}, %rd{x}, 2;",
                    f"add.s64 %rd{w}, %rd{x}, %rd0;",
                    f"add.s64 %rd{w}, %rd0, %rd{x};",
                    f"add.s64 %rd{w}, %rd{x}, {random.choice([4, -4, 128])};",
                    f"ld.global.nc.u32 %r{d}, [%rd{x}+{random.choice([0, 4, 8])}];",
                    f"{guard}st.global.u32 [%rd{x}+{random.choice([0, 4, 8])}], %r{a};",
                    f"{guard}st.global.u64 [%rd{x}], %rd{w};",
                    f"{guard}setp.lt.s32 %p{random.randrange(2)}, %r{a}, {either};",
                ]
            )
        )
