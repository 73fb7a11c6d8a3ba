"""Unrolled loops run exactly the rounds that they had, with counters at the ends of their range, too."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.remark import Kind
from comprehensive.ptx.pipeline import run
from tests.examples import seeds

MOST_ROUNDS = 60
STORED = MOST_ROUNDS + 8


@dataclass(frozen=True)
class Counted:
    """A loop ``do a[k++] = i; while ((i += step) RELATION bound)`` with numbers that are signed or not."""

    first: int
    step: int
    bound: int
    relation: str
    signed: bool
    opposite: bool
    immediate: bool

    @property
    def rounds(self) -> int | None:
        """The number of rounds; None where they are too many."""
        value, rounds = self.first, 0
        while True:
            rounds += 1
            value = self._wrapped(value + self.step)
            stays = value < self.bound if self.relation == "lt" else value <= self.bound
            if not stays:
                return rounds
            if rounds == MOST_ROUNDS:
                return None

    def _wrapped(self, value: int) -> int:
        value %= 1 << 32
        return value - (1 << 32) if self.signed and value >= 1 << 31 else value

    @property
    def text(self) -> str:
        kind = "s32" if self.signed else "u32"
        bound = str(self.bound) if self.immediate else "%r2"
        back = {"lt": "ge", "le": "gt"}[self.relation] if self.opposite else self.relation
        return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 .ptr .global .align 16 a, .param .u32 first, .param .u32 bound)
{{
.reg .pred %p<3>;
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [first];
ld.param.u32 %r2, [bound];
mov.u32 %r4, 0;
LOOP:
mul.wide.u32 %rd2, %r4, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.u32 %r5, [%rd3];
add.s32 %r6, %r1, %r5;
st.global.u32 [%rd3], %r6;
add.s32 %r4, %r4, 1;
add.{kind} %r1, %r1, {self.step};
setp.{back}.{kind} %p1, %r1, {bound};
@{"!" if self.opposite else ""}%p1 bra LOOP;
st.global.u32 [%rd1+{4 * (STORED - 1)}], %r1;
st.global.u32 [%rd1+{4 * (STORED - 2)}], %r4;
ret;
}}
"""

    def result(self, module: Module) -> np.ndarray:
        array = np.arange(STORED, dtype=np.uint32)
        interpret(module, "f", 1, 1, [array, self.first % (1 << 32), self.bound % (1 << 32)])
        return array


def drawn(draw: random.Random) -> Counted:
    """Near the ends of the range as often as near 0, with loops that end after one round among them."""
    while True:
        signed = draw.random() < 0.5
        low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)
        step = draw.choice((1, 1, 2, 3, 7))
        base = draw.choice((0, low, high, 100))
        first, bound = (min(high, max(low, base + draw.randrange(-70, 70))) for _ in range(2))
        found = Counted(
            first, step, bound, draw.choice(("lt", "le")), signed, draw.random() < 0.5, draw.random() < 0.3
        )
        if found.rounds is not None:
            return found


@pytest.mark.parametrize("factor", [2, 3, 4, 8])
@pytest.mark.parametrize("seed", seeds(5))
def test_unrolled_loops_run_the_rounds_that_they_had(factor: int, seed: int) -> None:
    draw = random.Random(seed * 16 + factor)
    for _ in range(4):
        loop = drawn(draw)
        module = parse(SourceFile("loop.ptx", loop.text))
        (stage,) = run(module, passes_of(f"unroll{{factor={factor}}}"))
        assert any(remark.kind is Kind.APPLIED for remark in stage.remarks), loop
        before, after = loop.result(module), loop.result(stage.after)
        assert before[STORED - 2] == loop.rounds
        assert (before == after).all(), loop


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 6, 8, 9, 17])
@pytest.mark.parametrize("relation", ["ne", "lt"])
def test_loops_with_a_constant_number_of_rounds_keep_it(rounds: int, relation: str) -> None:
    text = Counted(0, 1, rounds, "lt", True, False, True).text.replace("setp.lt", f"setp.{relation}")
    module = parse(SourceFile("loop.ptx", text.replace("ld.param.u32 %r1, [first];", "mov.u32 %r1, 0;")))
    for pipeline in ("unroll", "unroll{factor=3 full=0}", "unroll{full=4}"):
        after = run(module, passes_of(pipeline))[-1].after
        array, expected = np.arange(STORED, dtype=np.uint32), np.arange(STORED, dtype=np.uint32)
        interpret(module, "f", 1, 1, [expected, 0, 0])
        interpret(after, "f", 1, 1, [array, 0, 0])
        assert (array == expected).all()
        assert array[STORED - 2] == rounds
