"""Shuffles, votes, matches and reductions against loops over the threads of a warp; barriers of blocks."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.diagnostics import CompileError
from tests.examples import examples
from tests.unit.ptx.interpreter.launches import fault, launch

LOAD = "    mad.lo.u64 %rd1, %wide, 4, %rd17;\n    ld.global.b32 %r1, [%rd1];\n"
STORE = "    mad.lo.u64 %rd1, %wide, 4, %rd16;\n    st.global.b32 [%rd1], %r0;\n"
VALUES = st.lists(st.integers(0, 2**32 - 1), min_size=64, max_size=64)
FEW = st.lists(st.integers(0, 3), min_size=64, max_size=64)


def result(body: str, values: list[int]) -> list[int]:
    out = np.zeros(64, np.uint32)
    launch(LOAD + body + STORE, [out, np.array(values, np.uint32)], block=64)
    return out.tolist()


def shuffled(mode: str, values: list[int], lane: int, distance: int, control: int) -> tuple[int, bool]:
    """The pseudocode of the PTX ISA, shfl.sync."""
    segment, bound = control >> 8 & 31, control & 31
    highest = (lane & segment) | (bound & ~segment & 31)
    lowest = lane & segment
    if mode == "up":
        other, valid = lane - distance, lane - distance >= highest
    elif mode == "down":
        other, valid = lane + distance, lane + distance <= highest
    elif mode == "bfly":
        other, valid = lane ^ distance, lane ^ distance <= highest
    else:
        other = lowest | (distance & ~segment & 31)
        valid = other <= highest
    return values[other if valid else lane], valid


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@settings(max_examples=examples(12))
@given(values=VALUES, distance=st.integers(0, 31), width=st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_shuffles(mode: str, values: list[int], distance: int, width: int) -> None:
    control = (32 - width) << 8 | (0 if mode == "up" else 31)
    body = f"""
    shfl.sync.{mode}.b32 %r0|%p1, %r1, {distance}, {control}, 0xffffffff;
    @!%p1 xor.b32 %r0, %r0, -1;
"""
    wanted = []
    for thread in range(64):
        warp = values[thread // 32 * 32 :][:32]
        value, valid = shuffled(mode, warp, thread % 32, distance, control)
        wanted.append(value if valid else value ^ 0xFFFFFFFF)
    assert result(body, values) == wanted


def test_what_comes_from_a_thread_that_does_not_take_part_is_poison() -> None:
    body = """
    mov.u32 %r0, 0; setp.ge.u32 %p1, %thread, 16;
    @!%p1 shfl.sync.idx.b32 %r0, %r1, 20, 31, 0xffff;
"""
    assert result(body, [1] * 64) == [0xFFFFFFFF] * 16 + [0] * 48


@settings(max_examples=examples(12))
@given(values=FEW)
def test_votes_matches_and_reductions(values: list[int]) -> None:
    def by_warp(function):
        return [function(values[w * 32 :][:32], lane) for w in (0, 1) for lane in range(32)]

    yes = "    setp.ne.u32 %p1, %r1, 0;\n"
    ballot = by_warp(lambda warp, _: sum((v != 0) << i for i, v in enumerate(warp)))
    assert result(f"{yes}    vote.sync.ballot.b32 %r0, %p1, -1;\n", values) == ballot
    for mode, check in (
        ("all", lambda warp: all(warp)),
        ("any", lambda warp: any(warp)),
        ("uni", lambda warp: all(warp) or not any(warp)),
    ):
        body = f"{yes}    vote.sync.{mode}.pred %p2, %p1, -1;\n    selp.u32 %r0, 1, 0, %p2;\n"
        assert result(body, values) == by_warp(lambda warp, _, check=check: int(check(warp)))
    same = by_warp(lambda warp, lane: sum((v == warp[lane]) << i for i, v in enumerate(warp)))
    assert result("    match.any.sync.b32 %r0, %r1, -1;\n", values) == same
    everywhere = by_warp(lambda warp, _: 0xFFFFFFFF if len(set(warp)) == 1 else 0)
    assert result("    match.all.sync.b32 %r0|%p1, %r1, -1;\n", values) == everywhere
    for name, function in (("add", operator.add), ("min", min), ("max", max)):
        found = result(f"    redux.sync.{name}.u32 %r0, %r1, -1;\n", values)
        assert found == by_warp(lambda warp, _, f=function: functools.reduce(f, warp))


def test_threads_of_a_mask_wait_for_each_other() -> None:
    body = """
    setp.lt.u32 %p1, %thread, 7;
    @%p1 bra slow;
    vote.sync.ballot.b32 %r0, 1, 0xffffffff;
    bra done;
slow:
    add.u32 %r2, %r1, 1;
    bar.warp.sync 0x7f;
    vote.sync.ballot.b32 %r0, 1, 0xffffffff;
done:
"""
    # Two instructions, one mask: on this model a thread waits at its own instruction, for ever.
    with pytest.raises(CompileError) as caught:
        result(body, [0] * 64)
    code, message = fault(caught.value)
    assert code == "CF1012"
    assert "the mask is 0xffffffff" in message


def test_a_thread_is_elected() -> None:
    body = """
    mov.u32 %r0, 0; setp.lt.u32 %p1, %thread, 5; @%p1 bra done;
    activemask.b32 %r2;
    elect.sync %r3|%p2, %r2;
    selp.u32 %r0, 100, 1, %p2; add.u32 %r0, %r0, %r3;
done:
"""
    assert result(body, [0] * 64)[:34] == [0] * 5 + [105] + [6] * 26 + [100, 1]


def test_a_barrier_lets_all_see_what_was_written_before() -> None:
    body = """
    mov.u32 %r2, tile; mad.lo.u32 %r3, %thread, 4, %r2;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    sub.u32 %r4, 63, %thread; mad.lo.u32 %r3, %r4, 4, %r2;
    ld.shared.u32 %r0, [%r3];
"""
    out, values = np.zeros(64, np.uint32), np.arange(64, dtype=np.uint32)
    launch(LOAD + body + STORE, [out, values], block=64, before=".shared .align 4 .b8 tile[256];\n")
    assert out.tolist() == values[::-1].tolist()


def test_a_barrier_counts_those_who_say_yes() -> None:
    body = """
    setp.lt.u32 %p1, %thread, 20; bar.red.popc.u32 %r0, 1, %p1;
    barrier.red.or.pred %p2, 2, !%p1; @!%p2 mov.u32 %r0, 0;
"""
    assert result(body, [0] * 64) == [20] * 64


def test_threads_arrive_and_others_wait() -> None:
    body = """
    setp.lt.u32 %p1, %thread, 32; mov.u32 %r0, 0;
    @%p1 bra consumer;
    st.shared.u32 [word], 42; bar.arrive 3, 64; bra done;
consumer:
    bar.sync 3, 64; ld.shared.u32 %r0, [word];
done:
"""
    out = np.zeros(64, np.uint32)
    launch(LOAD + body + STORE, [out, out.copy()], block=64, before=".shared .u32 word;\n")
    assert out.tolist() == [42] * 32 + [0] * 32


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "setp.lt.u32 %p1, %thread, 5; @%p1 exit; bar.sync 0;",
            "59 of 64 threads of the block have come, 5 have ended",
        ),
        (
            "setp.lt.u32 %p1, %thread, 32; @%p1 bar.sync 1; bar.sync 2;",
            "waits for ever at barrier 1: 32 of 64",
        ),
    ],
)
def test_a_barrier_that_not_all_reach_is_an_error(body: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        launch(f"    {body}\n", [], block=64)
    assert fault(caught.value)[0] == "CF1012"
    assert message in fault(caught.value)[1]
    assert caught.value.diagnostics[0].span is not None


def test_a_barrier_in_memory_completes_its_phase() -> None:
    body = """
    mov.u32 %r2, word; setp.ne.u32 %p1, %thread, 0;
    @!%p1 mbarrier.init.shared.b64 [%r2], 64;
    bar.sync 0;
    mad.lo.u32 %r3, %thread, 4, tile; st.shared.u32 [%r3], %thread;
    mbarrier.arrive.shared.b64 %rd3, [%r2];
again:
    mbarrier.try_wait.shared.b64 %p2, [%r2], %rd3;
    @!%p2 bra again;
    sub.u32 %r4, 63, %thread; mad.lo.u32 %r3, %r4, 4, tile; ld.shared.u32 %r0, [%r3];
"""
    out = np.zeros(64, np.uint32)
    before = ".shared .align 8 .b64 word;\n.shared .align 4 .b8 tile[256];\n"
    launch(LOAD + body + STORE, [out, out.copy()], block=64, before=before)
    assert out.tolist() == list(range(63, -1, -1))


def test_threads_that_have_ended_are_not_waited_for() -> None:
    body = "    setp.ge.u32 %p1, %thread, 40; @%p1 exit;\n    vote.sync.ballot.b32 %r0, 1, -1;\n"
    assert result(body, [0] * 64) == [0xFFFFFFFF] * 32 + [0xFF] * 8 + [0] * 24
    # Here they end only after the others have come there.
    late = """
    setp.lt.u32 %p1, %thread, 40;
    @%p1 bra vote;
    bra ends;
vote:
    vote.sync.ballot.b32 %r0, 1, -1;
    bra done;
ends:
    exit;
done:
"""
    assert result(late, [0] * 64) == [0xFFFFFFFF] * 32 + [0xFF] * 8 + [0] * 24
