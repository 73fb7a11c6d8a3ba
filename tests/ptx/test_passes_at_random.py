"""Random kernels compute the same behind every pass: few registers and addresses, so that much is redundant."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.placing import Placed, Placer
from comprehensive.ptx.passes.remark import Kind
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.statements import Label
from tests.examples import seeds
from tests.ptx.nested import nested

REGISTERS = 6
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 .ptr .global .align 16 a, .param .u32 n)
{
.shared .align 16 .b8 tile[256];
.reg .pred %p<3>;
.reg .b32 %r<10>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [a];
ld.param.u32 %r7, [n];
mov.u32 %r8, %tid.x;
mul.wide.u32 %rd2, %r8, 64;
add.s64 %rd3, %rd1, %rd2;
mov.u64 %rd4, tile;
cvta.shared.u64 %rd5, tile;
cvta.global.u64 %rd6, %rd3;
st.shared.v4.u32 [tile], {%r7, %r7, %r7, %r7};
st.shared.v4.u32 [tile+16], {%r7, %r7, %r7, %r7};
"""
ADDRESSES = ("global|%rd3", "global|%rd3", "|%rd6", "shared|%rd4", "shared|tile", "|%rd5")


def kernel(draw: random.Random) -> str:
    """Loops that count down, branches forward on what lanes differ in or not, and at the end all registers stored."""
    lines = [f"add.u32 %r{i}, %r{draw.choice((7, 8))}, {i};" for i in range(REGISTERS)]
    lines += nested(draw, 3, [0], _statement)
    lines += [f"st.global.u32 [%rd3+{32 + 4 * i}], %r{i};" for i in range(REGISTERS)]
    return HEAD + "\n".join(lines) + "\nret;\n}\n"


def _statement(draw: random.Random) -> str:
    def r() -> str:
        return f"%r{draw.randrange(REGISTERS)}"

    space, base = draw.choice(ADDRESSES).split("|")
    space = f".{space}" if space else ""
    address = f"[{base}+{4 * draw.randrange(8)}]"
    guard = draw.choice(("", "", "", "@%p1 ", "@!%p2 "))
    match draw.randrange(9):
        case 0 | 1:
            return f"{guard}ld{space}.u32 {r()}, {address};"
        case 2:
            return f"{guard}st{space}.u32 {address}, {r()};"
        case 3:
            return f"{guard}mov.u32 {r()}, {r()};"
        case 4:
            return f"mad.lo.u32 {r()}, %r{draw.randrange(2)}, %r7, 3;"
        case 5:
            return f"setp.gt.u32 %p{draw.randrange(1, 3)}, {r()}, {r()};"
        case 6:
            return f"{guard}xor.b32 {r()}, %r{draw.randrange(2)}, %r8;"
        case 7:
            return f"{draw.choice(('div', 'rem'))}.u32 {r()}, %r{draw.choice((0, 1, 7))}, 7;"
        case _:
            return f"add.u32 {r()}, %r{draw.randrange(3)}, 5;"


def graph(draw: random.Random) -> str:
    """Blocks with branches to others, back to earlier ones 30 times; two registers of which everything is computed."""
    lines = ["mov.u32 %r0, %r8;", "mov.u32 %r1, %r7;", "mov.u32 %r9, 30;"]
    lines += [f"mov.u32 %r{i}, {i};" for i in range(2, REGISTERS)]
    count = draw.randrange(4, 12)
    for block in range(count):
        lines += [f"B{block}:", *(_of_few(draw) for _ in range(draw.randrange(1, 4)))]
        to = draw.randrange(count)
        if to <= block:
            lines += ["sub.u32 %r9, %r9, 1;", "setp.gt.s32 %p1, %r9, 0;", f"@%p1 bra B{to};"]
        else:
            lines += [f"setp.gt.u32 %p1, %r{draw.randrange(REGISTERS)}, {draw.randrange(9)};"]
            lines += draw.choice(([f"bra B{to};"], [f"@%p1 bra B{to};"], [f"@!%p1 bra B{to};"]))
    lines += [f"rem.u32 %r{2 + i}, %r{i % 2}, {5 + i // 2};" for i in range(4)]
    lines += [f"st.global.u32 [%rd3+{32 + 4 * i}], %r{i};" for i in range(REGISTERS)]
    return HEAD + "\n".join(lines) + "\nret;\n}\n"


def _of_few(draw: random.Random) -> str:
    target = f"%r{draw.randrange(2, REGISTERS)}"
    match draw.randrange(8):
        case 0:
            return f"add.u32 %r{draw.randrange(2)}, {target}, 1;"
        case 1:
            return f"st.global.u32 [%rd3+{4 * draw.randrange(2)}], {target};"
        case 2 | 3:
            return f"ld.global.u32 {target}, [%rd3+{4 * draw.randrange(2)}];"
        case _:
            return f"rem.u32 {target}, %r{draw.randrange(2)}, {draw.randrange(5, 7)};"


def labels(module: Module) -> int:
    return sum(isinstance(s, Label) for f in module.functions.values() for s in f.body)


POINTERS = 4
SHARED_HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 .ptr .global .align 16 a, .param .u32 n)
{
.shared .align 128 .b8 tile[32768];
.reg .pred %p<3>;
.reg .b32 %r<10>;
.reg .b64 %rd<4>;
.reg .b64 %q<5>;
ld.param.u64 %rd3, [a];
ld.param.u32 %r7, [n];
mov.u32 %r8, %tid.x;
"""


def shared_kernel(draw: random.Random) -> str:
    """Pointers into shared memory that are added to, chosen, aligned and copied, on all ways."""
    lines = [f"cvta.shared.u64 %q{i}, tile;" for i in range(POINTERS)]
    lines += [f"add.s64 %q{i}, %q{i}, {16384 + 64 * i};" for i in range(POINTERS)]
    lines += [f"st.u32 [%q{i}+{4 * j}], %r7;" for i in range(POINTERS) for j in range(-8, 8)]
    lines += [f"add.u32 %r{i}, %r{draw.choice((7, 8))}, {i};" for i in range(REGISTERS)]
    lines += ["setp.gt.u32 %p1, %r1, %r2;", "setp.gt.u32 %p2, %r4, %r3;", "mov.u64 %rd1, 4;"]
    lines += nested(draw, 3, [0], _pointer_statement)
    lines += [f"st.global.u32 [%rd3+{32 + 4 * i}], %r{i};" for i in range(REGISTERS)]
    return SHARED_HEAD + "\n".join(lines) + "\nret;\n}\n"


def _pointer_statement(draw: random.Random) -> str:
    def q() -> str:
        return f"%q{draw.randrange(POINTERS)}"

    register = f"%r{draw.randrange(REGISTERS)}"
    guard = draw.choice(("", "", "@%p1 ", "@!%p2 "))
    match draw.randrange(13):
        case 0 | 1 | 2:
            return f"{guard}st.u32 [{q()}+{4 * draw.randrange(-4, 4)}], {register};"
        case 3 | 4 | 5:
            return f"{guard}ld.u32 {register}, [{q()}+{4 * draw.randrange(-4, 4)}];"
        case 6:
            return f"{guard}add.s64 {q()}, {q()}, {draw.choice(('4', '-4', '%rd1'))};"
        case 7:
            return f"{guard}sub.s64 {q()}, {q()}, %rd1;"
        case 8:
            return f"{guard}{draw.choice(('mov.u64', 'mov.b64'))} {q()}, {q()};"
        case 9:
            return f"{guard}selp.b64 {q()}, {q()}, {q()}, %p1;"
        case 10:
            return f"{guard}and.b64 {q()}, {q()}, {draw.choice((-8, -64))};"
        case 11:
            return f"{guard}mad.wide.u32 {q()}, %r8, 4, {q()};"
        case _:
            return f"{guard}xor.b64 {q()}, {q()}, {draw.choice((4, 64))};"


def results(module: Module, threads: int = 1) -> np.ndarray:
    """Return results, with one thread where others would race for what is in shared memory."""
    array = np.arange(40 * 16, dtype=np.uint32)
    interpret(module, "f", 1, threads, [array, 3])
    return array


@pytest.mark.parametrize("seed", seeds(25))
@pytest.mark.parametrize(
    "pipeline",
    [
        "dce",
        "memory-space",
        "vectorize-accesses",
        "pre",
        "memory-space,vectorize-accesses,pre,dce,vectorize-accesses",
        "unroll{full=3},pre{parameters=true},propagate-copies,dce,memory-space,drop-conversions,vectorize-accesses",
    ],
)
def test_random_kernels_compute_the_same(pipeline: str, seed: int) -> None:
    text = kernel(random.Random(seed))
    module = parse(SourceFile("random.ptx", text))
    after = run(module, passes_of(pipeline))[-1].after
    assert (results(after) == results(module)).all(), text


def test_edges_are_split_and_forks_compute_whatever_it_is_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    def worth(*_: object) -> float:
        return 1.0

    def is_uniform(*_: object) -> bool:
        return True

    monkeypatch.setattr("comprehensive.ptx.passes.pre._Plan._gain", worth)

    def may_leave(*_: object) -> bool:
        return False

    placed = Placer.placed
    forks = holders = 0

    def counted(*arguments: Any) -> Placed:
        nonlocal forks, holders
        found = placed(*arguments)
        forks += len(found.forks)
        holders += found.holder is not None
        return found

    monkeypatch.setattr("comprehensive.ptx.passes.pre._Plan._stays_uniform", is_uniform)
    monkeypatch.setattr("comprehensive.ptx.passes.pre._Plan._must_stay_in_loop", may_leave)
    monkeypatch.setattr(Placer, "placed", counted)
    split = 0
    for seed in range(60):
        text = graph(random.Random(seed))
        module = parse(SourceFile("random.ptx", text))
        after = run(module, passes_of("pre"))[-1].after
        split += labels(after) - labels(module)
        assert (results(after, threads=8) == results(module, threads=8)).all(), text
    assert split > 30
    assert forks > 30
    assert holders > 30


@pytest.mark.parametrize("seed", seeds(40))
def test_pointers_into_shared_memory_lead_where_they_led(seed: int) -> None:
    text = shared_kernel(random.Random(seed))
    module = parse(SourceFile("random.ptx", text))
    after = run(module, passes_of("memory-space,pre,dce"))[-1].after
    assert (results(after) == results(module)).all(), text


@pytest.mark.slow
def test_every_pass_finds_something_in_random_kernels() -> None:
    applied: set[str] = set()
    for seed in range(25):
        module = parse(SourceFile("random.ptx", kernel(random.Random(seed))))
        for stage in run(module, passes_of("memory-space,vectorize-accesses,pre,dce")):
            applied |= {remark.pass_name for remark in stage.remarks if remark.kind is Kind.APPLIED}
    assert applied == {"memory-space", "vectorize-accesses", "pre", "dce"}
