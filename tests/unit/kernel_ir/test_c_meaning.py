"""Expressions mean in emitted C++ what they mean in C, where calls have one prototype and no overloads.

Every function of the language is called with every combination of argument types, on values that tell results apart
(negative numbers, infinities, NaN, what a float cannot hold).  C, C++ and the reference interpreter have to agree.
"""

from __future__ import annotations

import ctypes
import math
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from comprehensive.data import template_directory
from comprehensive.loops.interpreter import UndefinedBehaviour, c_value
from comprehensive.metafork.ast import Declare, Expr, ScalarType
from comprehensive.metafork.functions import MATH, TRUTHS
from comprehensive.metafork.printer import print_expr
from tests.examples import quick_of
from tests.unit.loops.c_oracle import compile_c, needs_gcc
from tests.unit.loops.nests import body_of

LETTERS = {
    ScalarType.INT: "i",
    ScalarType.UNSIGNED: "u",
    ScalarType.LONG: "l",
    ScalarType.UNSIGNED_CHAR: "c",
    ScalarType.FLOAT: "f",
    ScalarType.DOUBLE: "d",
    ScalarType.BOOL: "b",
    ScalarType.CHAR: "k",
    ScalarType.SIGNED_CHAR: "s",
    ScalarType.SHORT: "h",
    ScalarType.UNSIGNED_SHORT: "w",
    ScalarType.UNSIGNED_LONG: "z",
    ScalarType.LONG_LONG: "x",
    ScalarType.UNSIGNED_LONG_LONG: "y",
}
"""Each type has three names: ``f0 f1 f2`` are floats."""
NAMES = {f"{letter}{k}": type for type, letter in LETTERS.items() for k in range(3)}
PARAMETERS = ", ".join(f"{type.value} {name}" for name, type in NAMES.items())

CORE = frozenset(list(LETTERS)[:6])
"""Types that are combined with each other; the others with float alone."""

CALLS = [
    f"{function}({', '.join(f'{LETTERS[type]}{k}' for k, type in enumerate(types))}) / 3"
    for function, signature in MATH.items()
    if not signature.of_any_width and not function.startswith("ll")
    for types in product(LETTERS, repeat=len(signature.arguments))
    if CORE.issuperset(types) or {*types[1:]} <= {ScalarType.FLOAT}
    if len(types) < 3 or types.count(ScalarType.FLOAT) > 1 or types[0] is types[2]
]
"""A division by 3 tells an integer, a float and a double from each other."""
KINDS = [
    f"({function}({argument}){' != 0' * (function in TRUTHS)}) * 1.5"
    for function, signature in MATH.items()
    if signature.of_any_width
    for argument in ("f0", "d1", "-f1 / 3", "d0 * f2", "(double)f1", "(float)d0")
]
"""The macros that take a float or a double as it is."""
AROUND = [
    *("llrint(d0) / 3", "llrintf(d1) / 3", "llround(i0) / 3", "llroundf(f1) / 3"),
    "(int)sqrt(c0) + i0 / 2",
    "(float)fmax(f0, d1) * 0.1f",
    "(i0 < i1 ? f0 : d0) / 3",
    "(i0 < i1 ? c0 : l0) / 3",
    "(i0 < 0 ? f0 : i1) / 3",
    "(c0 + c1) << 3",
    "(c0 - c1) / 2",
    "~c0 + -c1",
    "c0 - c1 < u0",
    "i0 < u0",
    "u0 - u1 > 0",
    "(i0 < i1) % 3 + (f0 == f0) / 1.5f",
    "(i0 < i1) << 2",
    "!f0 * 3.5f - !i0 % 2",
    "(l0 && d0) * 7 / 2",
    "abs(i0 < i1) / 3",
    "abs(c0 - c1) / 3",
    "sqrt(i0 < i1) / 3",
    "fmin(f0, c1 ? d2 : f1) / 3",
    "sqrtf(sqrt(f0) * 0.1)",
    "fabs(sqrtf(d0) / 3) + labs(i0 - u1)",
    "s0 * w0 - k0",
    "z0 + h0",
    "z0 - z1 > l0",
    "(z0 >> 3) / (u0 | 1)",
    "x0 % (h0 | 1) + y1 / (z2 | 1)",
    "(s0 << 1) - ~w0",
    "b0 + b1 * 3 - !b2",
    "(bool)f0 + (bool)z0",
    "(short)i0 / 3 + (signed char)i1",
    "(size_t)h0 / 3",
    "(uint8_t)l0 - (int16_t)z0",
    "(i0 < i1 ? h0 : z0) / 3",
    "x0 < z0",
    "z0 * 0.5f - (float)y0",
    "(h0 < w0) + (l0 < u0) * 2 + (h0 < u0) * 4",
    "18446744073709551615u / 3 + 1ull + 0x80000000",
]
TEXTS = CALLS + KINDS + AROUND

ODD = [1.5, -2.25, 0.1, 0.0, -0.0, 1e-42, -7e9, 123456.789, math.inf, -math.inf, math.nan]
VALUES: dict[ScalarType, list[float]] = {
    ScalarType.INT: [7, -40, 0, 1, -1, 16777217, 2**31 - 1, -(2**31) + 1],
    ScalarType.UNSIGNED: [3, 16777217, 0, 1, 2**31 - 1],
    ScalarType.LONG: [9, -(2**24) - 1, 0, 1, -1, -(2**31) - 5, 2**40],
    ScalarType.UNSIGNED_CHAR: [200, 255, 0, 1, 7],
    ScalarType.BOOL: [0, 1],
    ScalarType.CHAR: [65, -128, 127, 0, -1],
    ScalarType.SIGNED_CHAR: [-77, -128, 127, 0, 1],
    ScalarType.SHORT: [300, -(2**15), 2**15 - 1, 0, -1],
    ScalarType.UNSIGNED_SHORT: [2**16 - 1, 40000, 0, 1],
    ScalarType.UNSIGNED_LONG: [9, 2**63 + 2**40, 0, 1, 2**32, 2**64 - 2**11],
    ScalarType.LONG_LONG: [-(2**62), 5, 2**53, 0, -1],
    ScalarType.UNSIGNED_LONG_LONG: [2**63, 7, 2**40 + 1, 0],
    ScalarType.FLOAT: [float(np.float32(value)) for value in ODD],
    ScalarType.DOUBLE: [0.30000000000000004, *ODD],
}
POINTS = [
    {name: VALUES[type][n * (2 * int(name[1]) + 1) % len(VALUES[type])] for name, type in NAMES.items()}
    for n in range(60)
]
"""The three names of a type run through its values at different paces."""


HEADERS = "#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"


@pytest.fixture(scope="module")
def emitted() -> list[Expr]:
    """The expressions after what is done to those of a region."""
    declared = "".join(f"double t{n} = {text};" for n, text in enumerate(TEXTS))
    nest = body_of(f"{declared} a[u] = t0;", f"int n, int B, double *a, {PARAMETERS}")
    found = [s.initial for s in nest.bands[0].body if isinstance(s, Declare)]
    assert len(found) == len(TEXTS)
    return [expression for expression in found if expression is not None]


def unit(texts: list[str]) -> str:
    """A function that computes all of them at a point."""
    locals_ = "".join(
        f"  volatile {type.value} {name} = ({type.value})v[{n}];\n"
        for n, (name, type) in enumerate(NAMES.items())
    )
    stored = "".join(f"  *out++ = {text};\n" for text in texts)
    return f"void all(const double *v, double *out)\n{{\n{locals_}{stored}}}\n"


def bits(library: ctypes.CDLL) -> list[np.ndarray]:
    """Return for each point the results of all expressions; all NaN are one."""
    found: list[np.ndarray] = []
    for point in POINTS:
        given, out = np.array(list(point.values()), "float64"), np.zeros(len(TEXTS), "float64")
        library.all(ctypes.c_void_p(given.ctypes.data), ctypes.c_void_p(out.ctypes.data))
        out[np.isnan(out)] = math.nan
        found.append(out.view("uint64"))
    return found


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> list[np.ndarray]:
    return bits(compile_c(f"{HEADERS}{unit(TEXTS)}", tmp_path_factory.mktemp("c")))


@needs_gcc
def test_emitted_expressions_are_those_of_c_bit_for_bit(
    emitted: list[Expr], in_c: list[np.ndarray], tmp_path: Path
) -> None:
    source, target = tmp_path / "emitted.cpp", tmp_path / "emitted.so"
    source.write_text(f'extern "C" {unit(list(map(print_expr, emitted)))}')
    shim = template_directory() / "host" / "cuda_on_cpu.h"
    flags = (
        "-std=c++17",
        "-O0",
        "-w",
        "-fwrapv",
        "-ffp-contract=off",
        "-shared",
        "-fPIC",
        "-include",
        str(shim),
    )
    subprocess.run(["g++", *flags, str(source), "-o", str(target)], check=True)
    for point, wanted, found in zip(POINTS, in_c, bits(ctypes.CDLL(str(target))), strict=True):
        different = [TEXTS[n] for n in np.flatnonzero(wanted != found)]
        assert not different, point


@needs_gcc
@pytest.mark.parametrize("number", quick_of((0, 1, 5), {1}))
def test_the_interpreter_computes_them_too(number: int, emitted: list[Expr], in_c: list[np.ndarray]) -> None:
    arguments = {
        name: int(value) if NAMES[name].is_integer else value for name, value in POINTS[number].items()
    }
    for expression, wanted in zip(emitted, in_c[number].view("float64"), strict=True):
        try:
            found = float(c_value(expression, arguments, NAMES))
        except UndefinedBehaviour:
            continue  # an integer that overflows, or that cannot hold a floating-point number
        # Functions of float are computed in double there, and rounded.
        assert found == pytest.approx(wanted, rel=1e-6, nan_ok=True), print_expr(expression)


def test_conversions_are_written_only_where_types_differ(emitted: list[Expr]) -> None:
    assert [print_expr(e) for e in emitted if print_expr(e).startswith("sqrt(")][:6] == [
        "sqrt((double)i0) / 3",
        "sqrt((double)u0) / 3",
        "sqrt((double)l0) / 3",
        "sqrt((double)c0) / 3",
        "sqrt((double)f0) / 3",
        "sqrt(d0) / 3",
    ]
