"""Random kernels with many values of all widths that live long, for launches in any block of one to three dimensions.

In: a source of random numbers.  Out: the text of a module, and what its kernel computes::

    text = many_values(Random(1))
    launched(parse(SourceFile("a.ptx", text)), grid=2, block=(3, 5, 4), shared_bytes=0)
    text = many_calls(Random(1))          # the same with functions that call each other, in loops and branches

Every thread writes a row of its own with all its values at the end, so that no order of threads shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from comprehensive.ptx.interpreter import run
from comprehensive.ptx.module import Module
from tests.ptx.nested import nested

Statement = Callable[[Random], str]
_ROW = 256
_INTEGERS, _FLOATS, _DOUBLES, _WIDE, _SHORTS = 9, 6, 5, 4, 4
_THREADS = 512

_REGISTERS = f"""{{
.reg .pred %p<3>;
.reg .b32 %r<{_INTEGERS + 5}>;
.reg .f32 %f<{_FLOATS}>;
.reg .f64 %d<{_DOUBLES}>;
.reg .b64 %w<{_WIDE + 2}>;
.reg .b16 %h<{_SHORTS}>;
"""
_MODULE = """.version 8.0
.target sm_90
.address_size 64
"""
_KERNEL = f""".visible .entry f(.param .u64 .ptr .global .align 16 a, .param .u32 n)
{_REGISTERS}ld.param.u64 %w{_WIDE}, [a];
ld.param.u32 %r9, [n];
mov.u32 %r10, %tid.z;
mov.u32 %r11, %ntid.y;
mov.u32 %r12, %tid.y;
mad.lo.u32 %r10, %r10, %r11, %r12;
mov.u32 %r11, %ntid.x;
mov.u32 %r12, %tid.x;
mad.lo.u32 %r10, %r10, %r11, %r12;
mov.u32 %r11, %ctaid.x;
mad.lo.u32 %r10, %r11, %r9, %r10;
mul.wide.u32 %w{_WIDE + 1}, %r10, {_ROW};
add.s64 %w{_WIDE}, %w{_WIDE}, %w{_WIDE + 1};
"""


def many_values(draw: Random) -> str:
    """Definitions under guards, vectors, values in loops and on both ways of branches."""
    return _MODULE + _kernel(draw, 3, _statement)


def many_calls(draw: Random) -> str:
    """The same, with calls of functions that are made in the same way: each calls those before it."""
    functions: list[tuple[str, bool]] = []

    def statement(draw: Random) -> str:
        if functions and draw.random() < 0.2:
            return _call(draw, *draw.choice(functions))
        return _statement(draw)

    text = _MODULE
    for number in range(draw.randrange(1, 4)):
        name, returns = f"g{number}", draw.random() < 0.7
        text += _function(draw, name, returns, statement)
        functions.append((name, returns))
    return text + _kernel(draw, 2, statement)


def _kernel(draw: Random, depth: int, statement: Statement) -> str:
    at = f"%w{_WIDE}"
    lines = [*_definitions(), *nested(draw, depth, [0], statement)]
    lines += [f"st.global.b32 [{at}+{32 + 4 * i}], %r{i};" for i in range(_INTEGERS)]
    lines += [f"st.global.f32 [{at}+{80 + 4 * i}], %f{i};" for i in range(_FLOATS)]
    lines += [f"st.global.f64 [{at}+{112 + 8 * i}], %d{i};" for i in range(_DOUBLES)]
    lines += [f"st.global.b64 [{at}+{160 + 8 * i}], %w{i};" for i in range(_WIDE)]
    lines += [f"st.global.b16 [{at}+{200 + 2 * i}], %h{i};" for i in range(_SHORTS)]
    return _KERNEL + "\n".join(lines) + "\nret;\n}\n"


def _function(draw: Random, name: str, returns: bool, statement: Statement) -> str:
    """A function of a row, an integer and a double, which gives all its values in one or stores them to the row."""
    at = f"%w{_WIDE}"
    result = "(.param .b64 out) " if returns else ""
    head = f".func {result}{name}(.param .b64 at, .param .b32 x, .param .f64 y)\n{_REGISTERS}"
    lines = [f"ld.param.b64 {at}, [at];", "ld.param.b32 %r10, [x];", *_definitions()]
    lines += [f"ld.param.f64 %d{_DOUBLES - 1}, [y];", *nested(draw, 1, [0], statement)]
    lines += [f"add.u32 %r0, %r0, %r{i};" for i in range(1, _INTEGERS)]
    lines += [f"mov.b32 %r1, %f{i};\nxor.b32 %r0, %r0, %r1;" for i in range(_FLOATS)]
    lines += [f"cvt.u32.u16 %r1, %h{i};\nadd.u32 %r0, %r0, %r1;" for i in range(_SHORTS)]
    lines += [f"xor.b64 %w0, %w0, %w{i};" for i in range(1, _WIDE)]
    lines += [f"mov.b64 %w1, %d{i};\nadd.s64 %w0, %w0, %w1;" for i in range(_DOUBLES)]
    lines += ["cvt.u64.u32 %w1, %r0;", "xor.b64 %w0, %w0, %w1;"]
    lines.append("st.param.b64 [out], %w0;" if returns else f"st.global.b64 [{at}+216], %w0;")
    return head + "\n".join(lines) + "\nret;\n}\n"


def _call(draw: Random, name: str, returns: bool) -> str:
    guard = "" if returns else draw.choice(("", "@%p1 ", "@!%p2 "))
    return "\n".join(
        (
            "{",
            ".param .b64 row; .param .b32 number; .param .f64 real; .param .b64 got;",
            f"st.param.b64 [row], %w{_WIDE};",
            f"st.param.b32 [number], %r{draw.randrange(_INTEGERS)};",
            f"st.param.f64 [real], %d{draw.randrange(_DOUBLES)};",
            f"{guard}call {'(got), ' if returns else ''}{name}, (row, number, real);",
            *([f"ld.param.b64 %w{draw.randrange(_WIDE)}, [got];"] if returns else ()),
            "}",
        )
    )


def _definitions() -> list[str]:
    """Return the instructions that give every register a value, from what is in ``%r10``."""
    return [
        "setp.lt.u32 %p1, %r10, 7;",
        "setp.gt.u32 %p2, %r10, 30;",
        *(f"mad.lo.u32 %r{i}, %r10, {2 * i + 1}, {i};" for i in range(_INTEGERS)),
        *(f"cvt.rn.f32.u32 %f{i}, %r{i};" for i in range(_FLOATS)),
        *(f"cvt.rn.f64.u32 %d{i}, %r{i};" for i in range(_DOUBLES)),
        *(f"mul.wide.u32 %w{i}, %r{i}, {77 * i + 5};" for i in range(_WIDE)),
        *(f"cvt.u16.u32 %h{i}, %r{i};" for i in range(_SHORTS)),
    ]


def _statement(draw: Random) -> str:
    def of(letter: str, count: int) -> str:
        return f"%{letter}{draw.randrange(count)}"

    def r() -> str:
        return of("r", _INTEGERS)

    def f() -> str:
        return of("f", _FLOATS)

    def d() -> str:
        return of("d", _DOUBLES)

    def w() -> str:
        return of("w", _WIDE)

    def h() -> str:
        return of("h", _SHORTS)

    def several(letter: str, count: int, of_them: int) -> str:
        return ", ".join(f"%{letter}{i}" for i in draw.sample(range(count), of_them))

    guard = draw.choice(("", "", "@%p1 ", "@!%p1 ", "@%p2 "))
    at = f"[%w{_WIDE}+{16 * draw.randrange(2)}]"
    return guard + draw.choice(
        (
            f"mad.lo.u32 {r()}, {r()}, {r()}, {r()};",
            f"add.u32 {r()}, {r()}, {r()};",
            f"fma.rn.f32 {f()}, {f()}, {f()}, {f()};",
            f"add.rn.f32 {f()}, {f()}, {f()};",
            f"fma.rn.f64 {d()}, {d()}, {d()}, {d()};",
            f"xor.b64 {w()}, {w()}, {w()};",
            f"add.s64 {w()}, {w()}, 12345678901;",
            f"add.u16 {h()}, {h()}, {h()};",
            f"cvt.u32.u16 {r()}, {h()};",
            f"cvt.u16.u32 {h()}, {r()};",
            f"mov.b64 {{{several('r', _INTEGERS, 2)}}}, {w()};",
            f"mov.b64 {w()}, {{{r()}, {r()}}};",
            f"mov.b32 {r()}, {{{h()}, {h()}}};",
            f"mov.b32 {f()}, {r()};",
            f"ld.global.v4.b32 {{{several('r', _INTEGERS, 4)}}}, {at};",
            f"st.global.v2.f32 {at}, {{{f()}, {f()}}};",
            f"ld.global.v2.f64 {{{several('d', _DOUBLES, 2)}}}, {at};",
            f"selp.b32 {r()}, {r()}, {r()}, %p1;",
            f"setp.lt.u32 %p{draw.randrange(1, 3)}, {r()}, {r()};",
        )
    )


def launched(
    module: Module, grid: int, block: Sequence[int], shared_bytes: int, drawn: int | None = None
) -> NDArray[np.uint8]:
    """The rows of all threads; ``drawn`` is the seed of an order of threads."""
    rows = np.arange(_THREADS * _ROW, dtype=np.uint32).astype(np.uint8)
    threads = int(np.prod(block))
    assert grid * threads <= _THREADS
    run(module, "f", grid, block, [rows, threads], shared_bytes=shared_bytes, drawn=drawn)
    return rows
