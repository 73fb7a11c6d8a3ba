"""Times the PTX interpreter: thread-instructions a second for kernels of several kinds.

    python -m benchmarks.ptx_interpreter

The PTX is written here, so that no nvcc is needed.  Machines are shared and noisy: the best of three runs is shown, in
CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.interpreter import Report, run
from comprehensive.ptx.interpreter.arguments import Argument
from comprehensive.ptx.module import Module, parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
DECLARED = ".reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<16>; .reg .f64 %fd<8>; .reg .pred %p<4>;\n"
INDEX = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
"""

SAXPY = f"""{HEAD}.visible .entry k(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{{ {DECLARED} {INDEX}
    ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 bra done;
    ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
    mul.wide.u32 %rd3, %r4, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.f32 %f2, [%rd1]; ld.global.f32 %f3, [%rd2]; fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%rd2], %f4;
done: ret; }}"""

INTEGERS = f"""{HEAD}.visible .entry k(.param .u64 out)
{{ {DECLARED} {INDEX}
    mov.u32 %r5, 0; mov.u32 %r6, %r4;
loop:
    mad.lo.u32 %r6, %r6, 1664525, 1013904223; xor.b32 %r7, %r6, %r5; shr.u32 %r8, %r7, 3; add.u32 %r6, %r6, %r8;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 100; @%p1 bra loop;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r6; ret; }}"""

DIVERGENT = f"""{HEAD}.visible .entry k(.param .u64 out)
{{ {DECLARED} {INDEX}
    mul.lo.u32 %r5, %r4, 40503; and.b32 %r5, %r5, 255; add.u32 %r5, %r5, 1; mov.u32 %r6, 0;
loop:
    setp.eq.u32 %p1, %r5, 1; @%p1 bra done;
    and.b32 %r7, %r5, 1; setp.eq.u32 %p2, %r7, 0; add.u32 %r6, %r6, 1; @%p2 bra even;
    mad.lo.u32 %r5, %r5, 3, 1; bra loop;
even:
    shr.u32 %r5, %r5, 1; bra loop;
done:
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r6; ret; }}"""

REDUCTION = f"""{HEAD}.visible .entry k(.param .u64 in, .param .u64 out)
{{ {DECLARED} .shared .align 4 .b8 tile[1024]; {INDEX}
    ld.param.u64 %rd1, [in]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2; ld.global.f32 %f1, [%rd1];
    mov.u32 %r9, tile; shl.b32 %r10, %r1, 2; add.u32 %r9, %r9, %r10; st.shared.f32 [%r9], %f1;
    mov.u32 %r11, 128;
loop:
    bar.sync 0;
    setp.ge.u32 %p1, %r1, %r11; @%p1 bra skip;
    shl.b32 %r12, %r11, 2; add.u32 %r12, %r9, %r12; ld.shared.f32 %f2, [%r12]; ld.shared.f32 %f3, [%r9];
    add.f32 %f3, %f3, %f2; st.shared.f32 [%r9], %f3;
skip:
    shr.u32 %r11, %r11, 1; setp.ne.u32 %p2, %r11, 0; @%p2 bra loop;
    setp.ne.u32 %p3, %r1, 0; @%p3 bra done;
    ld.shared.f32 %f4, [tile]; ld.param.u64 %rd3, [out]; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd3, %rd3, %rd4;
    st.global.f32 [%rd3], %f4;
done: ret; }}"""

DOUBLES = f"""{HEAD}.visible .entry k(.param .u64 out)
{{ {DECLARED} {INDEX}
    mov.u32 %r5, 0; cvt.rn.f64.u32 %fd1, %r4; mov.f64 %fd2, 0d3FEFFFFDE7210BE9; mov.f64 %fd3, 0d3FF0000000000000;
loop:
    fma.rn.f64 %fd1, %fd1, %fd2, %fd3; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 50; @%p1 bra loop;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 8; add.s64 %rd1, %rd1, %rd2;
    st.global.f64 [%rd1], %fd1; ret; }}"""

SHUFFLES = f"""{HEAD}.visible .entry k(.param .u64 out)
{{ {DECLARED} {INDEX}
    mov.u32 %r5, 0; mov.u32 %r6, %r4;
loop:
    shfl.sync.bfly.b32 %r7, %r6, 16, 31, -1; add.u32 %r6, %r6, %r7; shfl.sync.bfly.b32 %r7, %r6, 8, 31, -1;
    add.u32 %r6, %r6, %r7; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 20; @%p1 bra loop;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r6; ret; }}"""

THREADS = 1 << 16


def cases() -> list[tuple[str, Module, Callable[[Module], Report]]]:
    x, y = np.ones(THREADS, np.float32), np.ones(THREADS, np.float32)
    words, doubles = np.zeros(THREADS, np.uint32), np.zeros(THREADS)
    blocks = THREADS // 256

    def on(*arguments: Argument) -> Callable[[Module], Report]:
        return lambda module: run(module, "k", blocks, 256, arguments)

    texts = [
        ("integers in a loop", INTEGERS, on(words)),
        ("divergent loop", DIVERGENT, on(words)),
        ("saxpy", SAXPY, on(THREADS - 5, 2.0, x, y)),
        ("reduction in shared memory", REDUCTION, on(x, y)),
        ("fma of doubles in a loop", DOUBLES, on(doubles)),
        ("shuffles in a loop", SHUFFLES, on(words)),
    ]
    return [(name, parse(SourceFile(f"{name}.ptx", text)), call) for name, text, call in texts]


def main() -> None:
    print(f"| kernel, {THREADS} threads | thread-instructions | million a second |")
    print("|---|---|---|")
    for name, module, call in cases():
        best, count = float("inf"), 0
        for _ in range(3):
            start = time.process_time()
            count = call(module).thread_instructions
            best = min(best, time.process_time() - start)
        print(f"| {name} | {count:,} | {count / best / 1e6:.1f} |")


if __name__ == "__main__":
    main()
