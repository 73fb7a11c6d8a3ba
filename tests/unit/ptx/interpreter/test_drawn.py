"""Runs in a drawn order with late writes: what is right gives the same, what relies on lockstep does not."""

from __future__ import annotations

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.interpreter import run
from comprehensive.ptx.module import parse

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 4 o)
{
.shared .align 4 .b8 tile[512];
.reg .pred %p<9>;
.reg .b32 %r<20>;
.reg .b64 %rd<9>;
ld.param.u64 %rd1, [o];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd1, %rd1, %rd2;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.s32 %r4, %r3, %r2;
"""
SEEDS = range(6)


def result(body: str, threads: int = 64, drawn: int | None = None) -> list[int]:
    module = parse(SourceFile("k.ptx", f"{HEAD}{body}\nst.global.u32 [%rd1], %r9;\nret;\n}}\n"))
    out = np.zeros(threads, np.uint32)
    run(module, "k", 1, threads, [out], drawn=drawn, max_turns=20_000)
    return out.tolist()


def results(body: str, threads: int = 64) -> set[tuple[int, ...]]:
    return {tuple(result(body, threads, seed)) for seed in (None, *SEEDS)}


EXCHANGE = "st.shared.u32 [%r4], %r1;\n{}xor.b32 %r5, %r4, {};\nld.shared.u32 %r9, [%r5];"


@pytest.mark.parametrize(("order", "distance"), [("bar.warp.sync -1;\n", 4), ("bar.sync 0;\n", 128)])
def test_what_is_synchronised_is_the_same_in_every_order(order: str, distance: int):
    assert len(results(EXCHANGE.format(order, distance))) == 1


@pytest.mark.parametrize("order", ["", "shfl.sync.idx.b32 %r6, %r1, 0, 31, -1;\n"])
def test_another_thread_of_the_warp_does_not_see_what_was_not_synchronised(order: str):
    assert len(results(EXCHANGE.format(order, 4))) > 1


def test_own_writes_are_seen_at_once_byte_by_byte():
    body = "st.shared.u32 [%r4], %r1;\nst.shared.u8 [%r4+1], 7;\nld.shared.u32 %r9, [%r4];"
    assert results(body) == {tuple(t & 0xFF | 7 << 8 for t in range(64))}
    generic = (
        "cvt.u64.u32 %rd3, %r4;\ncvta.shared.u64 %rd3, %rd3;\nst.u32 [%rd3], %r1;\nld.shared.u32 %r9, [%r4];"
    )
    assert results(generic) == {tuple(range(64))}


def test_threads_that_have_parted_do_not_meet_again_by_themselves():
    body = "setp.lt.u32 %p1, %r1, 5;\n@%p1 bra A;\nadd.u32 %r5, %r1, 1;\nA: {}activemask.b32 %r9;"
    assert len(results(body.format(""), threads=32)) > 1
    assert results(body.format("bar.warp.sync -1;\n"), threads=32) == {(0xFFFFFFFF,) * 32}


# Thread 0 gives a number to thread 40, of another warp, which waits for a flag.
PASSED = """setp.ne.u32 %p1, %r1, 0;
mov.u32 %r9, 0;
st.shared.u32 [%r4], 0;
bar.sync 0;
@%p1 bra WAIT;
st.shared.u32 [tile+256], 77;
{release}st.volatile.shared.u32 [tile], 1;
bra END;
WAIT: setp.ne.u32 %p1, %r1, 40;
@%p1 bra END;
SPIN: ld.volatile.shared.u32 %r5, [tile];
setp.eq.u32 %p1, %r5, 0;
@%p1 bra SPIN;
{acquire}ld.shared.u32 %r9, [tile+256];
END:
"""


def test_a_flag_without_a_fence_may_come_before_what_it_says_is_there():
    fenced = PASSED.format(release="membar.cta;\n", acquire="membar.cta;\n")
    assert results(fenced) == {(*[0] * 40, 77, *[0] * 23)}
    assert len(results(PASSED.format(release="", acquire=""))) > 1


def test_atomics_are_there_for_all_and_behind_own_writes():
    body = "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], 5;\nbar.sync 0;\n"
    body += (
        "st.shared.u32 [%r4+256], 1;\natom.shared.add.u32 %r5, [%r4+256], 2;\nld.shared.u32 %r9, [%r4+256];\n"
    )
    body += "red.shared.add.u32 [tile], 1;\nbar.sync 0;\nld.shared.u32 %r6, [tile];\nadd.u32 %r9, %r9, %r6;"
    assert results(body) == {(72,) * 64}


def test_the_same_seed_gives_the_same_order():
    body = EXCHANGE.format("", 4)
    assert [result(body, 64, 3) for _ in range(3)] == [result(body, 64, 3)] * 3


def test_a_launch_that_is_too_large_for_late_writes_is_refused():
    text = f"{HEAD}ret;\n}}\n"
    out = np.zeros(1 << 20, np.uint32)
    with pytest.raises(CompileError, match="late writes"):
        run(parse(SourceFile("k.ptx", text)), "k", 1, 1024, [out], drawn=1)


def test_what_the_grid_before_writes_is_seen_behind_the_wait_for_it():
    body = "ld.global.nc.u32 %r5, [%rd1];\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 griddepcontrol.wait;\n"
    module = parse(SourceFile("k.ptx", f"{HEAD}{body}ld.global.u32 %r9, [%rd1];\nadd.u32 %r9, %r9, %r5;\n"
                              "st.global.u32 [%rd1], %r9;\nret;\n}\n"))  # fmt: skip
    out = np.full(5, 8, np.uint32)
    run(module, "k", 1, 5, [out], from_before=(0,))
    assert out.tolist() == [7, 7, 7, 0xFFFFFFFE, 0xFFFFFFFE]
