"""Kernels of one instruction each, on numbers of all kinds: what the interpreter says of it, a device can judge.

next(instruction_cases()).ptx        # loads, the instruction, a store
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

COUNT = 2048
THREADS = 256
_REGISTER = {8: "b16", 16: "b16", 32: "b32", 64: "b64"}


@dataclass(frozen=True)
class InstructionCase:
    """``arrays`` are the result and the sources; a thread computes one element."""

    name: str
    ptx: str
    types: tuple[str, ...]
    arrays: tuple[np.ndarray, ...]
    blocks: int
    threads: int


def instruction_cases() -> Iterator[InstructionCase]:
    for instruction, result, sources, tail in _forms():
        generator = np.random.default_rng(abs(hash_of(instruction)))
        arrays = [np.zeros(COUNT, f"u{_bits(result) // 8}")]
        arrays += [_numbers(source, generator) for source in sources]
        yield InstructionCase(
            instruction + tail,
            _text(instruction, result, sources, tail),
            (result, *sources),
            tuple(arrays),
            COUNT // THREADS,
            THREADS,
        )


def hash_of(text: str) -> int:
    """The same in every process."""
    return int.from_bytes(text.encode(), "little") % (1 << 61)


def _bits(type_: str) -> int:
    return int("".join(c for c in type_.partition("x")[0] if c.isdigit())) if type_ != "bf16" else 16


def _numbers(type_: str, generator: np.random.Generator) -> np.ndarray:
    """Bits: any, special numbers, small integers, and floats of exponents that are near each other."""
    bits = _bits(type_)
    dtype = np.dtype(f"u{bits // 8}")
    anything = (
        generator.integers(0, 1 << 64, COUNT, np.uint64, endpoint=False)
        if bits < 64
        else generator.integers(0, (1 << 64) - 1, COUNT, np.uint64, endpoint=True)
    )
    values = anything.astype(dtype)
    kind = generator.integers(0, 4, COUNT)
    small = generator.integers(-40, 80, COUNT).astype(np.int64).astype(dtype)
    values = np.where(kind == 1, small, values)
    fraction = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}.get(type_)
    if fraction is None:
        edges = np.array([0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1], np.uint64).astype(
            dtype
        )
        return np.where(kind == 2, generator.choice(edges, COUNT), values)
    exponent = bits - 1 - fraction
    bias = (1 << (exponent - 1)) - 1
    near = (generator.integers(bias - 4, bias + 5, COUNT).astype(np.uint64) << np.uint64(fraction)).astype(
        dtype
    )
    mantissa = (anything & np.uint64((1 << fraction) - 1)).astype(dtype)
    short = mantissa & dtype.type(((1 << fraction) - 1) ^ ((1 << (fraction - 4)) - 1))
    sign = ((anything >> np.uint64(63 if bits == 64 else bits - 1)) & np.uint64(1)).astype(
        dtype
    ) << dtype.type(bits - 1)
    close = near | np.where(generator.integers(0, 2, COUNT) == 0, mantissa, short) | sign
    infinity = ((1 << exponent) - 1) << fraction
    special = np.array(
        [
            0,
            1,
            infinity,
            infinity | 1,
            infinity | 1 << (fraction - 1),
            infinity - 1,
            1 << fraction,
            (1 << fraction) - 1,
        ],
        np.uint64,
    )
    special = np.concatenate((special, special | np.uint64(1 << (bits - 1)))).astype(dtype)
    return np.where(kind == 2, generator.choice(special, COUNT), np.where(kind == 3, close, values))


def _text(instruction: str, result: str, sources: tuple[str, ...], tail: str) -> str:
    parameters = ", ".join(f".param .u64 a{number}" for number in range(len(sources) + 1))
    lines = [".version 8.0", ".target sm_90", ".address_size 64", f".visible .entry k({parameters})", "{"]
    lines += [
        ".reg .b32 %thread, %cta, %size, %i; .reg .b64 %at, %base;",
        f".reg .{_REGISTER[_bits(result)]} %result;",
    ]
    lines += [f".reg .{_REGISTER[_bits(source)]} %s{number};" for number, source in enumerate(sources)]
    lines += [
        "mov.u32 %thread, %tid.x; mov.u32 %cta, %ctaid.x; mov.u32 %size, %ntid.x;",
        "mad.lo.u32 %i, %cta, %size, %thread;",
    ]
    names: list[str] = []
    for number, source in enumerate(sources):
        lines.append(
            f"ld.param.u64 %base, [a{number + 1}]; mad.wide.u32 %at, %i, {_bits(source) // 8}, %base;"
        )
        lines.append(f"ld.global.b{_bits(source)} %s{number}, [%at];")
        names.append(f"%s{number}")
    if instruction.startswith("setp"):
        lines += [
            "{ .reg .pred %p;",
            f"{instruction} %p, {', '.join(names)}{tail};",
            "selp.b32 %result, 1, 0, %p; }",
        ]
    else:
        lines.append(f"{instruction} {', '.join(['%result', *names])}{tail};")
    lines.append(f"ld.param.u64 %base, [a0]; mad.wide.u32 %at, %i, {_bits(result) // 8}, %base;")
    lines += [f"st.global.b{_bits(result)} [%at], %result;", "ret;", "}", ""]
    return "\n".join(lines)


Form = tuple[str, str, tuple[str, ...], str]
"""Opcode, type of the result, types of the sources, and what follows them."""


def _forms() -> Iterator[Form]:
    yield from _float_forms()
    yield from _integer_forms()
    yield from _conversion_forms()
    yield from _comparison_forms()


def _float_forms() -> Iterator[Form]:
    for type_ in ("f32", "f64"):
        for mode in ("rn", "rz", "rm", "rp"):
            for base, count in (
                ("add", 2),
                ("sub", 2),
                ("mul", 2),
                ("div", 2),
                ("fma", 3),
                ("sqrt", 1),
                ("rcp", 1),
            ):
                yield f"{base}.{mode}.{type_}", type_, (type_,) * count, ""
                if type_ == "f32":
                    yield f"{base}.{mode}.ftz.f32", type_, (type_,) * count, ""
        for base in ("min", "max", "copysign"):
            yield f"{base}.{type_}", type_, (type_, type_), ""
        for base in ("abs", "neg"):
            yield f"{base}.{type_}", type_, (type_,), ""
    for base in ("add.sat", "mul.sat", "add.ftz.sat", "min.ftz", "max.NaN", "min.xorsign.abs", "max.ftz.NaN"):
        yield f"{base}.f32", "f32", ("f32", "f32"), ""
    yield "fma.rn.sat.f32", "f32", ("f32",) * 3, ""
    yield "abs.ftz.f32", "f32", ("f32",), ""
    yield "neg.ftz.f32", "f32", ("f32",), ""
    for base in (
        "add.rn",
        "sub.rn",
        "mul.rn",
        "min",
        "max",
        "max.NaN",
        "add.rn.ftz",
        "add.rn.sat",
        "mul.rn.ftz.sat",
    ):
        yield f"{base}.f16", "f16", ("f16", "f16"), ""
    for base in ("fma.rn", "fma.rn.sat", "fma.rn.relu", "fma.rn.ftz"):
        yield f"{base}.f16", "f16", ("f16",) * 3, ""
    for base in ("add.rn", "sub.rn", "mul.rn", "min", "max", "max.NaN", "min.xorsign.abs"):
        yield f"{base}.bf16", "bf16", ("bf16", "bf16"), ""
    yield "fma.rn.bf16", "bf16", ("bf16",) * 3, ""
    yield "fma.rn.relu.bf16", "bf16", ("bf16",) * 3, ""
    for type_ in ("f16", "bf16"):
        for base in ("add", "sub", "mul"):
            yield f"{base}.{type_}", type_, (type_, type_), ""
            yield f"{base}.rn.{type_}x2", "b32", ("b32", "b32"), ""
        for base in ("abs", "neg"):
            yield f"{base}.{type_}x2", "b32", ("b32",), ""
        yield f"abs.{type_}", type_, (type_,), ""
        yield f"neg.{type_}", type_, (type_,), ""
        yield f"fma.rn.{type_}x2", "b32", ("b32",) * 3, ""
    for base in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
        yield f"{base}.approx.f32", "f32", ("f32",), ""
        yield f"{base}.approx.ftz.f32", "f32", ("f32",), ""
    yield "tanh.approx.f32", "f32", ("f32",), ""
    yield "div.approx.f32", "f32", ("f32", "f32"), ""
    yield "div.full.f32", "f32", ("f32", "f32"), ""
    yield "rcp.approx.ftz.f64", "f64", ("f64",), ""
    yield "rsqrt.approx.ftz.f64", "f64", ("f64",), ""


def _integer_forms() -> Iterator[Form]:
    for bits in (16, 32, 64):
        for kind in "us":
            type_ = f"{kind}{bits}"
            for base in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
                yield f"{base}.{type_}", type_, (type_, type_), ""
            for part in ("lo", "hi"):
                yield f"mad.{part}.{type_}", type_, (type_,) * 3, ""
            if bits < 64:
                yield f"mul.wide.{type_}", f"{kind}{2 * bits}", (type_, type_), ""
            yield f"shr.{type_}", type_, (type_, "u32"), ""
        yield f"shl.b{bits}", f"b{bits}", (f"b{bits}", "u32"), ""
        yield f"abs.s{bits}", f"s{bits}", (f"s{bits}",), ""
        yield f"cnot.b{bits}", f"b{bits}", (f"b{bits}",), ""
    for bits in (32, 64):
        for base in ("popc", "clz"):
            yield f"{base}.b{bits}", "b32", (f"b{bits}",), ""
        yield f"brev.b{bits}", f"b{bits}", (f"b{bits}",), ""
        for kind in "us":
            yield f"bfind.{kind}{bits}", "b32", (f"b{bits}",), ""
            yield f"bfind.shiftamt.{kind}{bits}", "b32", (f"b{bits}",), ""
            yield f"bfe.{kind}{bits}", f"b{bits}", (f"b{bits}", "u32", "u32"), ""
        yield f"bfi.b{bits}", f"b{bits}", (f"b{bits}", f"b{bits}", "u32", "u32"), ""
    for base in ("add.sat", "sub.sat", "mul24.lo", "mul24.hi"):
        yield f"{base}.s32", "s32", ("s32", "s32"), ""
    yield "mul24.hi.u32", "u32", ("u32", "u32"), ""
    yield "mad.hi.sat.s32", "s32", ("s32",) * 3, ""
    yield "mad24.lo.s32", "s32", ("s32",) * 3, ""
    for way in ("l.wrap", "r.wrap", "l.clamp", "r.clamp"):
        yield f"shf.{way}.b32", "b32", ("b32", "b32", "u32"), ""
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield f"prmt.b32{mode}", "b32", ("b32",) * 3, ""
    for kinds in ("u32.u32", "u32.s32", "s32.u32", "s32.s32"):
        yield f"dp4a.{kinds}", "b32", ("b32",) * 3, ""
        yield f"dp2a.lo.{kinds}", "b32", ("b32",) * 3, ""
        yield f"dp2a.hi.{kinds}", "b32", ("b32",) * 3, ""
    for mode in ("clamp", "wrap"):
        yield f"bmsk.{mode}.b32", "b32", ("b32", "b32"), ""
        yield f"szext.{mode}.s32", "b32", ("b32", "u32"), ""
        yield f"szext.{mode}.u32", "b32", ("b32", "u32"), ""
    yield "sad.s32", "b32", ("b32",) * 3, ""
    yield "sad.u32", "b32", ("b32",) * 3, ""
    yield "fns.b32", "b32", ("b32", "u32", "s32"), ""
    yield "lop3.b32", "b32", ("b32",) * 3, ", 0x1b"


def _conversion_forms() -> Iterator[Form]:
    for to in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
        register = f"b{max(int(to[1:]), 16)}"
        for source in ("f16", "f32", "f64"):
            for mode in ("rni", "rzi", "rmi", "rpi"):
                yield f"cvt.{mode}.{to}.{source}", register, (source,), ""
            yield f"cvt.rzi.sat.{to}.{source}", register, (source,), ""
        yield f"cvt.rni.ftz.{to}.f32", register, ("f32",), ""
        for source in ("s8", "u16", "s32", "u64", "s64"):
            given = f"b{max(int(source[1:]), 16)}"
            yield f"cvt.{to}.{source}", register, (given,), ""
            if not _holds(to, source):
                yield f"cvt.sat.{to}.{source}", register, (given,), ""
        for mode in ("rn", "rz", "rm", "rp"):
            for float_ in ("f32", "f64"):
                yield f"cvt.{mode}.{float_}.{to}", float_, (register,), ""
        yield f"cvt.rn.f16.{to}", "f16", (register,), ""
    for mode in ("rn", "rz", "rm", "rp"):
        yield f"cvt.{mode}.f32.f64", "f32", ("f64",), ""
        yield f"cvt.{mode}.ftz.f32.f64", "f32", ("f64",), ""
    for mode in ("rn", "rz"):
        for source in ("f32",):
            yield f"cvt.{mode}.f16.{source}", "f16", (source,), ""
            yield f"cvt.{mode}.bf16.{source}", "bf16", (source,), ""
            yield f"cvt.{mode}.f16x2.f32", "b32", ("f32", "f32"), ""
            yield f"cvt.{mode}.bf16x2.f32", "b32", ("f32", "f32"), ""
    yield "cvt.rn.f16.f64", "f16", ("f64",), ""
    yield "cvt.rn.relu.f16.f32", "f16", ("f32",), ""
    yield "cvt.rn.relu.bf16.f32", "bf16", ("f32",), ""
    yield "cvt.f32.f16", "f32", ("f16",), ""
    yield "cvt.f32.bf16", "f32", ("bf16",), ""
    yield "cvt.f64.f32", "f64", ("f32",), ""
    yield "cvt.ftz.f64.f32", "f64", ("f32",), ""
    yield "cvt.f64.f16", "f64", ("f16",), ""
    yield "cvt.sat.f32.f32", "f32", ("f32",), ""
    yield "cvt.rna.tf32.f32", "b32", ("f32",), ""
    for way in ("rn", "rz", "rn.relu"):
        yield f"cvt.{way}.tf32.f32", "b32", ("f32",), ""
    for to, source in (("f32", "f32"), ("f64", "f64"), ("f16", "f16"), ("f64", "bf16")):
        yield f"cvt.{to}.{source}", to, (source,), ""
    for to, source in (("bf16", "f64"), ("bf16", "f16"), ("f16", "bf16")):
        yield f"cvt.rn.{to}.{source}", to, (source,), ""
    yield "cvt.rz.f16.f64", "f16", ("f64",), ""
    yield "cvt.ftz.f32.bf16", "f32", ("bf16",), ""
    yield "cvt.ftz.f32.f32", "f32", ("f32",), ""
    yield "cvt.rni.bf16.bf16", "bf16", ("bf16",), ""
    for mode in ("rni", "rzi", "rmi", "rpi"):
        for type_ in ("f16", "f32", "f64"):
            yield f"cvt.{mode}.{type_}.{type_}", type_, (type_,), ""
        yield f"cvt.{mode}.ftz.f32.f32", "f32", ("f32",), ""
    for kind in ("e4m3x2", "e5m2x2"):
        yield f"cvt.rn.satfinite.{kind}.f32", "b16", ("f32", "f32"), ""
        yield f"cvt.rn.satfinite.{kind}.f16x2", "b16", ("b32",), ""
        yield f"cvt.rn.f16x2.{kind}", "b32", ("b16",), ""


def _holds(to: str, source: str) -> bool:
    """Whether an integer type has all numbers of another: ptxas then takes no saturation."""
    more = int(to[1:]) - int(source[1:])
    return (to[0] == source[0] and more >= 0) or (to[0] == "s" and more > 0)


def _comparison_forms() -> Iterator[Form]:
    relations = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
    for relation in relations:
        for type_ in ("f32", "f64", "f16", "bf16"):
            yield f"setp.{relation}.{type_}", "b32", (type_, type_), ""
        yield f"setp.{relation}.ftz.f32", "b32", ("f32", "f32"), ""
        yield f"set.{relation}.f32.f32", "f32", ("f32", "f32"), ""
        yield f"set.{relation}.u32.f64", "b32", ("f64", "f64"), ""
    for relation in ("eq", "ne", "lt", "le", "gt", "ge"):
        for type_ in ("s16", "u16", "s32", "u32", "s64", "u64"):
            yield f"setp.{relation}.{type_}", "b32", (type_, type_), ""
        yield f"set.{relation}.f16x2.f16x2", "b32", ("b32", "b32"), ""
    yield "slct.b32.f32", "b32", ("b32", "b32", "f32"), ""
    yield "slct.ftz.b32.f32", "b32", ("b32", "b32", "f32"), ""
    yield "slct.b64.s32", "b64", ("b64", "b64", "s32"), ""
