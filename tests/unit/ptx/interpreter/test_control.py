"""Threads part and meet again; calls, recursion, jumps through tables and pointers; the order of parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comprehensive.diagnostics import CompileError
from comprehensive.ptx.interpreter.order import weak_order
from tests.unit.ptx.interpreter.launches import fault, launch

STORE = "    mad.lo.u64 %rd1, %wide, 4, %rd16;\n    st.global.b32 [%rd1], %r0;\n"


def result(body: str, *, block: int = 32, grid: int = 1, before: str = "", **options: int) -> list[int]:
    """Return what is left in ``%r0`` of each thread."""
    array = np.zeros(block * grid, np.uint32)
    launch(body + STORE, [array], block=block, grid=grid, before=before, **options)
    return array.tolist()


def test_the_branches_of_a_condition_meet_behind_it() -> None:
    body = """
    and.b32 %r1, %i, 1; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra even;
    activemask.b32 %r2;
    bra join;
even:
    activemask.b32 %r2;
join:
    activemask.b32 %r3;
    xor.b32 %r0, %r2, %r3;
"""
    assert result(body) == [0xAAAAAAAA if i % 2 == 0 else 0x55555555 for i in range(32)]


def test_threads_that_leave_a_loop_early_wait_behind_it() -> None:
    body = """
    mov.u32 %r1, 0; mov.u32 %r0, 0;
loop:
    add.u32 %r1, %r1, 1;
    setp.gt.u32 %p1, %r1, %i;
    @%p1 bra behind;
    and.b32 %r2, %r1, 3; setp.eq.u32 %p2, %r2, 0;
    @!%p2 bra loop;
    add.u32 %r0, %r0, 1;
    bra loop;
behind:
    activemask.b32 %r3; popc.b32 %r3, %r3;
    mad.lo.u32 %r0, %r3, 1000, %r0;
"""
    assert result(body) == [32000 + i // 4 for i in range(32)]


def test_a_guarded_exit_ends_only_those_threads() -> None:
    assert result("    mov.u32 %r0, 7; setp.lt.u32 %p1, %i, 5; @%p1 exit; mov.u32 %r0, 9;\n")[3:7] == [
        0,
        0,
        9,
        9,
    ]


def test_a_function_that_calls_itself_keeps_its_registers_and_locals() -> None:
    before = """
.func (.param .b32 out) fib (.param .b32 n)
{
    .local .align 4 .b8 kept[4];
    .reg .b32 %a<4>; .reg .pred %q;
    ld.param.u32 %a0, [n];
    mov.u32 %a3, %a0;
    st.local.u32 [kept], %a0;
    setp.lt.u32 %q, %a0, 2;
    @%q bra done;
    sub.u32 %a1, %a0, 1;
    { .param .b32 p; .param .b32 r;
      st.param.b32 [p], %a1; call (r), fib, (p); ld.param.b32 %a2, [r]; }
    ld.local.u32 %a0, [kept];
    sub.u32 %a1, %a0, 2;
    { .param .b32 p; .param .b32 r;
      st.param.b32 [p], %a1; call (r), fib, (p); ld.param.b32 %a3, [r]; }
    add.u32 %a3, %a2, %a3;
done:
    st.param.b32 [out], %a3;
    ret;
}
"""
    body = """
    and.b32 %r1, %i, 7;
    { .param .b32 p; .param .b32 r; st.param.b32 [p], %r1; call (r), fib, (p); ld.param.b32 %r0, [r]; }
"""
    fibonacci = [0, 1, 1, 2, 3, 5, 8, 13]
    assert result(body, before=before) == [fibonacci[i % 8] for i in range(32)]
    with pytest.raises(CompileError) as caught:
        result(body, before=before, recursion=3)
    code, message = fault(caught.value)
    assert code == "CF1018"
    assert "'fib' in itself more than 3 times" in message


POINTERS = """
.func (.reg .b32 out) twice (.reg .b32 n) { add.u32 out, n, n; ret; }
.func (.reg .b32 out) square (.reg .b32 n) { mul.lo.u32 out, n, n; ret; }
.global .align 8 .u64 table[2] = {twice, square};
"""
INDIRECT = """
    and.b32 %r1, %i, 1; mov.u64 %rd1, table; mad.wide.u32 %rd2, %r1, 8, %rd1;
    ld.global.u64 %rd3, [%rd2];
    call (%r0), %rd3, (%i), type;
type: .callprototype (.reg .b32 _) _ (.reg .b32 _);
"""


def test_a_pointer_to_a_function_leads_each_thread_its_way() -> None:
    assert result(INDIRECT, before=POINTERS) == [i * i if i % 2 else 2 * i for i in range(32)]
    with pytest.raises(CompileError) as caught:
        result(INDIRECT.replace("ld.global.u64 %rd3, [%rd2]", "mov.u64 %rd3, 12345"), before=POINTERS)
    assert fault(caught.value)[0] == "CF1018"


def test_a_table_of_labels_leads_each_thread_its_way() -> None:
    body = """
    and.b32 %r1, %i, 3;
list: .branchtargets A, B, C, A;
    brx.idx %r1, list;
A:  mov.u32 %r0, 10; bra done;
B:  mov.u32 %r0, 20; bra done;
C:  mov.u32 %r0, 30;
done:
"""
    assert result(body) == [(10, 20, 30, 10)[i % 4] for i in range(32)]
    with pytest.raises(CompileError) as caught:
        result(body.replace("3;", "7;"))
    assert fault(caught.value) == (
        "CF1018",
        "kernel 'k': thread (4, 0, 0) of block (0, 0, 0) branches to number 4 of 4 labels",
    )


LOCK = """
    mov.u64 %rd2, lock;
again:
    atom.global.cas.b32 %r1, [%rd2], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra again;
    ld.global.u32 %r0, [%rd2+4];
    add.u32 %r0, %r0, 1;
    st.global.u32 [%rd2+4], %r0;
    atom.global.exch.b32 %r1, [%rd2], 0;
"""


def test_a_lock_is_let_go_although_others_spin() -> None:
    found = result(LOCK, before=".global .align 8 .u32 lock[2];\n", block=8, grid=2)
    assert sorted(found) == list(range(1, 17))


def test_threads_that_do_not_end_are_an_error() -> None:
    with pytest.raises(CompileError) as caught:
        result("again: bra again;\n", max_turns=1000)
    assert fault(caught.value)[0] == "CF1013"


def test_results_do_not_depend_on_the_size_of_batches() -> None:
    body = "    mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 100, %thread;\n"
    wanted = [100 * b + t for b in range(5) for t in range(40)]
    assert result(body, block=40, grid=5) == wanted
    assert result(body, block=40, grid=5, lanes=64) == wanted


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
    )
)
def test_the_order_of_parts_holds_all_that_are_reached_and_goes_along_edges_but_in_loops(
    edges: list[list[int]],
) -> None:
    order = weak_order(edges, 0)
    reached = _reached(edges, 0)
    assert sorted(order) == sorted(reached)
    assert order[0] == 0
    place = {node: number for number, node in enumerate(order)}
    for node in order:
        for target in edges[node]:
            if node not in _reached(edges, target):
                assert place[node] < place[target]
            else:
                # All between them are in a loop with them.
                between = order[min(place[node], place[target]) : max(place[node], place[target])]
                assert all(node in _reached(edges, other) for other in between)


def _reached(edges: list[list[int]], start: int) -> set[int]:
    found: set[int] = set()
    left = [start]
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += edges[node]
    return found
