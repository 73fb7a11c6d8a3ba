"""Storage types: the conversions that are said, and what those of the CPU make of every kind of number.

The oracles: numpy has `float16`; `bfloat16` is rounded here in exact fractions.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pytest

from comprehensive.codegen.conversions import converted, storage_headers
from comprehensive.data import template_directory
from comprehensive.loops.arithmetic import as_bfloat16, as_half
from comprehensive.loops.bfloat16 import from_bits, to_bits
from comprehensive.metafork.ast import FloatLiteral, MetaFor, ScalarType, Stmt
from comprehensive.metafork.literals import stored_literal
from comprehensive.metafork.printer import print_stmts
from tests.unit.loops.c_oracle import needs_gcc
from tests.unit.loops.nests import program_of

INFINITY, NAN = 0x7F80, 0x7FFF
Functions: TypeAlias = Callable[[str], Callable[[float], float]]


def exact_bfloat16(value: float) -> int:
    """The bits of the nearest `bfloat16`, ties to even, found by comparing exact numbers."""
    if np.isnan(value):
        return NAN
    sign = 0x8000 if np.signbit(value) else 0
    if np.isinf(value):
        return sign | INFINITY
    exact = abs(Fraction(value))

    def number(bits: int) -> Fraction:
        exponent, fraction = bits >> 7, bits & 127
        if exponent == 0:
            return Fraction(fraction) / 2**133
        return Fraction(128 + fraction) * Fraction(2) ** (exponent - 134)

    low, high = 0, INFINITY
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if number(middle) <= exact else (low, middle)
    below, above = exact - number(low), number(high) - exact
    return sign | (low if below < above or (below == above and low % 2 == 0) else high)


def awkward(random: np.random.Generator) -> Iterator[float]:
    """Random bits of doubles and floats, and numbers about ties and about the smallest and largest ones."""
    yield from (0.0, -0.0, np.inf, -np.inf, np.nan, 65504.0, 65519.99, 65520.0, 3.3895e38, 3.4e38, 2.0**-25)
    yield from (2.0**-24, 2.0**-25 * 1.0000001, 2.0**-14, 2.0**-133, 2.0**-134, 2.0**-134 * 1.001, 5e-324)
    for _ in range(400):
        yield float(np.frombuffer(random.bytes(8), np.float64)[0])
        yield float(np.frombuffer(random.bytes(4), np.float32)[0])
        digits = float(random.integers(0, 1 << 13)) + float(random.choice([0.0, 0.5, 0.25, 0.5 + 2.0**-30]))
        for least in (-140, -30):
            yield float(np.ldexp(digits, int(random.integers(least, least + 45)))) * float(
                random.choice([-1, 1])
            )


SOURCE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
unsigned half_of_double(double x) { return __double2half(x).bits; }
unsigned half_of_float(float x) { return __float2half_rn(x).bits; }
unsigned brain_of_double(double x) { return __double2bfloat16(x).bits; }
unsigned brain_of_float(float x) { return __float2bfloat16_rn(x).bits; }
float of_half(unsigned bits) { __half x; x.bits = (unsigned short)bits; return __half2float(x); }
float of_brain(unsigned bits) { __nv_bfloat16 x; x.bits = (unsigned short)bits; return __bfloat162float(x); }
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    folder = tmp_path_factory.mktemp("conversions")
    (folder / "unit.c").write_text(SOURCE)
    include = ("-I", str(template_directory() / "host" / "on_cpu"))
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Werror")
    for language in ("c99", "c11", "c++11", "c++20"):
        kind = "c++" if "+" in language else "c"
        subprocess.run(
            ["gcc", f"-std={language}", *strict, *include, "-x", kind, "-fsyntax-only", folder / "unit.c"],
            check=True,
        )
    command = ["gcc", "-std=c99", "-O1", "-shared", "-fPIC", *include, folder / "unit.c", "-o"]
    subprocess.run([*command, folder / "unit.so"], check=True)
    library = ctypes.CDLL(str(folder / "unit.so"))

    def function(name: str) -> Callable[[float], float]:
        found = library[name]
        widens = name.startswith("of_")
        single = ctypes.c_float if widens or name.endswith("_float") else ctypes.c_double
        found.argtypes, found.restype = ([ctypes.c_uint], single) if widens else ([single], ctypes.c_uint)
        return found

    return function


@needs_gcc
def test_conversions_on_the_cpu_are_those_of_numpy_and_exact_fractions(functions: Functions) -> None:
    for value in awkward(np.random.default_rng(1)):
        with np.errstate(all="ignore"):
            single = float(np.float32(value))
            half = [int(np.float16(x).view(np.uint16)) for x in (value, single)]
        if np.isnan(value):
            half = [NAN, NAN]
        assert [functions("half_of_double")(value), functions("half_of_float")(single)] == half, value
        brain = [exact_bfloat16(x) for x in (value, single)]
        assert [functions("brain_of_double")(value), functions("brain_of_float")(single)] == brain, value
        # The interpreter, and arrays of numpy.
        with np.errstate(all="ignore"):
            interpreted = (as_half(value), as_bfloat16(value))
        expected = (functions("of_half")(half[0]), functions("of_brain")(brain[0]))
        assert np.isnan(value) or interpreted == expected, value
        assert int(to_bits(np.array([single]))[0]) == brain[1]


@needs_gcc
def test_every_value_of_16_bits_becomes_the_float_that_it_is(functions: Functions) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(all="ignore"):
        halves = bits.view(np.float16).astype(np.float32)
    for name, expected in (("of_half", halves), ("of_brain", from_bits(bits))):
        found = np.array([functions(name)(int(b)) for b in bits], np.float32)
        same = (found == expected) & (np.signbit(found) == np.signbit(expected))
        assert (same | (np.isnan(found) & np.isnan(expected))).all(), name
        back = functions("half_of_float" if name == "of_half" else "brain_of_float")
        assert all(back(float(x)) == b for x, b in zip(found, bits, strict=True) if not np.isnan(x))


TYPES = {
    **dict.fromkeys(("h", "g"), ScalarType.HALF),
    "b": ScalarType.BFLOAT16,
    **{"f": ScalarType.FLOAT, "d": ScalarType.DOUBLE, "i": ScalarType.INT, "k": ScalarType.LONG},
}
PARAMETERS = "int n, int B, half *h, half *g, bfloat16 *b"
LOCALS = "float f = 1.0f; double d = 1.0; int i = u; long k = 1;"


def body_of(statements: str) -> tuple[Stmt, ...]:
    """Statements of a region as trees."""
    loops = "meta_for (int v = 0; v < n; v++) meta_for (int u = 0; u < B; u++)"
    text = f"void t({PARAMETERS}) {{ meta_schedule {{ {loops} {{ {LOCALS} {statements} }} }} }}"
    (outer,) = program_of(text).functions[0].regions[0].body
    assert isinstance(outer, MetaFor)
    (inner,) = outer.body
    assert isinstance(inner, MetaFor)
    return inner.body[LOCALS.count(";") :]


SAID = {
    "h[i] = g[i + 1];": "h[i] = g[i + 1];",
    "h[i] = b[i];": "h[i] = __float2half_rn(__bfloat162float(b[i]));",
    "h[i] = (half)g[i];": "h[i] = g[i];",
    "h[i] += f * g[i];": "h[i] = __float2half_rn(__half2float(h[i]) + f * __half2float(g[i]));",
    "h[i] = d;": "h[i] = __double2half(d);",
    "b[i] = i;": "b[i] = __float2bfloat16_rn((float)i);",
    "h[i]++;": "h[i] = __float2half_rn(__half2float(h[i]) + 1);",
    "f = -g[(int)h[i]];": "f = -__half2float(g[(int)__half2float(h[i])]);",
    "f = (half)(f * 2.0f) + (float)g[i];": "f = __half2float(__float2half_rn(f * 2.0f)) + __half2float(g[i]);",
    "h[i] = f > 0.0f ? g[i] : f;": "h[i] = f > 0.0f ? g[i] : __float2half_rn(f);",
    "if (h[i] < g[i]) f = d;": "if (__half2float(h[i]) < __half2float(g[i]))\n  f = d;",
    "half t = f; f = t; { float w = t; f = w; }": (
        "__half t = __float2half_rn(f);\nf = __half2float(t);\n{\n  float w = __half2float(t);\n  f = w;\n}"
    ),
    "f += g[i] * d;": "f += __half2float(g[i]) * d;",
    "f = sqrtf(g[i]);": "f = sqrtf(__half2float(g[i]));",
    "f = d + i;": "f = d + i;",
}


@pytest.mark.parametrize("statement", SAID)
def test_conversions_are_said(statement: str) -> None:
    body = body_of(statement)
    assert print_stmts(converted(body, TYPES)).rstrip("\n") == SAID[statement]


def test_what_has_no_storage_types_stays_the_same() -> None:
    body = body_of("float t = f * 2; for (int z = 0; z < i; z++) { t += d; if (t > 3) t = -t; }")
    assert converted(body, TYPES) == body


def test_headers_are_those_of_the_types_that_are_mentioned() -> None:
    assert storage_headers(("float f", "int half_")) == ()
    assert storage_headers(("__half h", "x")) == ("cuda_fp16.h",)
    assert storage_headers(("f(__bfloat162float(x))", "__double2half(d)")) == ("cuda_fp16.h", "cuda_bf16.h")


def test_constants_of_tables_are_rounded_once_and_exactly() -> None:
    for text, type in (("0.1", ScalarType.DOUBLE), ("0.1", ScalarType.FLOAT), ("1e-3", ScalarType.DOUBLE)):
        given = float(text) if type is ScalarType.DOUBLE else float(np.float32(text))
        number = FloatLiteral(text, type)
        half, brain = (stored_literal(number, kind) for kind in (ScalarType.HALF, ScalarType.BFLOAT16))
        assert isinstance(half, FloatLiteral)
        assert isinstance(brain, FloatLiteral)
        assert half.type is brain.type is ScalarType.FLOAT
        assert np.float32(half.text) == np.float32(np.float16(given))
        assert np.float32(brain.text) == from_bits(np.array([exact_bfloat16(given)]))[0]
    # What is no number of `float`, or a tiny one, is left to the conversion at run time.
    assert not isinstance(
        stored_literal(FloatLiteral("1e9", ScalarType.DOUBLE), ScalarType.HALF), FloatLiteral
    )
