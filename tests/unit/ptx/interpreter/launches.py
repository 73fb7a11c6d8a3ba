"""Kernels of a few lines for tests: a body, or one instruction on arrays, executed by the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.interpreter import Report, run
from comprehensive.ptx.module import Module, parse

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
REGISTER = {8: "b16", 16: "b16", 32: "b32", 64: "b64"}
THREAD = """
    mov.u32 %thread, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mad.lo.u32 %i, %cta, %size, %thread;
    cvt.u64.u32 %wide, %i;
"""


def module(body: str, parameters: Sequence[str] = (), before: str = "", registers: str = "") -> Module:
    """A kernel ``k`` whose registers are ``%r<32> %rd<32> %f<16> %fd<16> %h<16> %p<8>`` and ``registers``."""
    head = ", ".join(f".param .{type_} a{number}" for number, type_ in enumerate(parameters))
    text = f"""{HEAD}{before}
.visible .entry k({head})
{{
    .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<16>; .reg .f64 %fd<16>; .reg .b16 %h<16>; .reg .pred %p<8>;
    .reg .b32 %thread, %cta, %size, %i; .reg .b64 %wide; {registers}
{body}
}}
"""
    return parse(SourceFile("test.ptx", text))


def launch(
    body: str,
    arrays: Sequence[Any],
    *,
    grid: Any = 1,
    block: Any = 32,
    before: str = "",
    registers: str = "",
    **options: Any,
) -> Report:
    """Runs a body; pointers to the arrays are in ``%rd16`` and on, the thread's number in ``%i`` and ``%wide``."""
    loads = "".join(f"    ld.param.u64 %rd{16 + number}, [a{number}];\n" for number in range(len(arrays)))
    made = module(f"{loads}{THREAD}{body}\n    ret;", ["u64"] * len(arrays), before, registers)
    return run(made, "k", grid, block, arrays, **options)


def computed(
    instruction: str, result: int, sources: Sequence[tuple[int, Sequence[int]]], tail: str = ""
) -> list[int]:
    """One instruction for many threads: widths in bits and values in, results as unsigned numbers.

    ``instruction`` is an opcode; the sources are its operands in order, ``tail`` follows them.
    """
    count = len(sources[0][1])
    block = min(count, 128)
    arrays = [np.zeros(count, f"u{result // 8}")]
    arrays += [np.array(values, f"u{width // 8}") for width, values in sources]
    # A block that is not full must not read beyond the arrays.
    body = [f"    setp.ge.u32 %p7, %i, {count};", "    @%p7 exit;"]
    names: list[str] = []
    registers = f".reg .{REGISTER[result]} %result;"
    for number, (width, _) in enumerate(sources):
        body.append(f"    mad.lo.u64 %rd1, %wide, {width // 8}, %rd{17 + number};")
        registers += f" .reg .{REGISTER[width]} %s{number};"
        body.append(f"    ld.global.b{width} %s{number}, [%rd1];")
        names.append(f"%s{number}")
    body.append(f"    {instruction} {', '.join(['%result', *names])}{tail};")
    body.append(f"    mad.lo.u64 %rd1, %wide, {result // 8}, %rd16;")
    body.append(f"    st.global.b{result} [%rd1], %result;")
    launch("\n".join(body), arrays, grid=-(-count // block), block=block, registers=registers)
    return arrays[0].tolist()


def fault(error: CompileError) -> tuple[str, str]:
    """Code and message of the one diagnostic."""
    (diagnostic,) = error.diagnostics
    return diagnostic.code, diagnostic.message
