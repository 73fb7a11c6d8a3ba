"""Names of types stand for their words; the words have the widths and the conversions that gcc gives them."""

from __future__ import annotations

import ctypes
from itertools import product
from pathlib import Path

import pytest

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.parse import parse
from comprehensive.metafork.read import read_source
from comprehensive.metafork.scalar_types import INTEGER_TYPES, common_type, promote
from tests.unit.loops.c_oracle import compile_c, needs_gcc
from tests.unit.metafork.trees import parse_text

TYPES = [type for type in ScalarType if not type.is_storage]
"""The types that C has; one computes with storage types as with ``float``."""
KIND = "_Generic((e), " + ", ".join(f"{type.value}: {k}" for k, type in enumerate(TYPES)) + ")"


@needs_gcc
def test_types_are_those_of_gcc(tmp_path: Path) -> None:
    lines = [
        "#include <stdbool.h>",
        f"#define kind(e) {KIND}",
        "int at(int k) { static const int found[] = {",
    ]
    for type in TYPES:
        is_signed = f"({type.value})-1 < ({type.value})0"
        lines.append(f"(int)sizeof({type.value}), {is_signed}, kind(+({type.value})1),")
    lines += [f"kind(({a.value})1 + ({b.value})1)," for a, b in product(TYPES, TYPES)]
    at = compile_c("\n".join((*lines, "}; return found[k]; }")), tmp_path).at
    at.restype = ctypes.c_int
    types = TYPES
    for k, type in enumerate(types):
        assert at(3 * k) == type.size_bytes
        assert bool(at(3 * k + 1)) is type.is_signed
        assert types[at(3 * k + 2)] is promote(type)
    for k, (left, right) in enumerate(product(types, types)):
        assert types[at(3 * len(types) + k)] is common_type(left, right), (left, right)


def test_ranges_are_those_of_the_widths() -> None:
    for type in INTEGER_TYPES:
        assert type.wrapped(type.lowest) == type.lowest
        assert type.wrapped(type.highest) == type.highest
        assert type.wrapped(type.highest + 1) == (1 if type is ScalarType.BOOL else type.lowest)
        assert type.wraps == (type.wrapped(-1) == type.highest and type.bits >= 32)


HEAD = (
    "typedef float real;\ntypedef real value;\ntypedef unsigned char byte, octet;\ntypedef const long far;\n"
    "typedef _Float16 brief;\n"
)
BODY = "meta_schedule block(B) { meta_for (int i = 0; i < n; i++) { %s } }"


@pytest.mark.parametrize(
    ("words", "type"),
    [
        ("value", ScalarType.FLOAT),
        ("octet", ScalarType.UNSIGNED_CHAR),
        ("far", ScalarType.LONG),
        ("size_t", ScalarType.UNSIGNED_LONG),
        ("ptrdiff_t", ScalarType.LONG),
        ("int8_t", ScalarType.SIGNED_CHAR),
        ("uint16_t", ScalarType.UNSIGNED_SHORT),
        ("uint_least32_t", ScalarType.UNSIGNED),
        ("uint64_t", ScalarType.UNSIGNED_LONG),
        ("char", ScalarType.CHAR),
        ("short int", ScalarType.SHORT),
        ("long unsigned", ScalarType.UNSIGNED_LONG),
        ("int long signed long", ScalarType.LONG_LONG),
        ("unsigned long long int", ScalarType.UNSIGNED_LONG_LONG),
        ("_Bool", ScalarType.BOOL),
    ],
)
def test_a_name_of_a_type_is_read_everywhere(words: str, type: ScalarType) -> None:
    serial = f"for ({words} q = 0; q < 3; q++) a[i] = q;" if type.is_integer else ""
    body = BODY % f"const {words} t = ({words})(i + k + h); a[i] = t; {serial}"
    program, sink = parse_text(
        f"{HEAD}void f(int n, {words} *a, {words} k, int B) {{ {words} h = k; {body} }}"
    )
    assert sink.diagnostics == ()
    (function,) = program.functions
    assert [p.type for p in function.parameters][1:3] == [type, type]
    assert [s.type for s in function.regions[0].scalars] == [type]
    assert repr(function.regions[0].body).count(f"'{type.value}'") >= 2


@pytest.mark.parametrize(
    ("word", "type"),
    [
        *((name, ScalarType.HALF) for name in ("half", "_Float16", "__half", "brief")),
        *((name, ScalarType.BFLOAT16) for name in ("bfloat16", "__bf16", "nv_bfloat16", "__nv_bfloat16")),
    ],
)
def test_a_storage_type_has_many_names(word: str, type: ScalarType) -> None:
    body = BODY % f"const {word} t = ({word})i, s[2] = {{1, t}}; a[i] = t + s[1];"
    program, sink = parse_text(f"{HEAD}void f(int n, {word} a[n], const {word} *b, int B) {{ {body} }}")
    assert sink.diagnostics == ()
    (function,) = program.functions
    assert [p.type for p in function.parameters][1:3] == [type, type]
    assert repr(function.regions[0].body).count(f"'{type.value}'") >= 3


def test_a_typedef_name_may_be_that_of_a_variable() -> None:
    program, sink = parse_text(
        f"{HEAD}void f(int n, float *a, int B) {{ int byte = n; {BODY % 'a[i] = 1;'} s.octet = 1; }}"
    )
    assert sink.diagnostics == ()
    assert [s.name for s in program.functions[0].regions[0].scalars] == ["byte"]


@pytest.mark.parametrize(
    "definition",
    [
        "typedef struct { float *x, y; } vec;",
        "typedef float *vec;",
        "typedef float vec[];",
        "typedef long double vec;",
        "typedef float (*vec)(float);",
    ],
)
def test_a_typedef_of_anything_else_is_pointed_at(definition: str) -> None:
    _, sink = parse_text(f"{definition}\nvoid f(int n, vec *a, int B) {{ {BODY % 'a[i] = 1;'} }}")
    (found,) = sink.diagnostics
    assert found.code == "CF0117"
    assert found.notes[0].span is not None
    assert found.notes[0].span.text == "vec"


def test_literals_have_the_first_type_that_holds_them() -> None:
    program, sink = parse_text(
        "void f(int n, float *a, int B) { "
        + BODY
        % "a[i] = 1 + 3000000000 + 0xffffffff + 1u + 1lu + 18446744073709551615u + 2ll + 3ull + 0x8000000000000000;"
        + " }"
    )
    assert sink.diagnostics == ()
    text = repr(program.functions[0].regions[0].body)
    for value, type in (
        (3000000000, ScalarType.LONG),
        (0xFFFFFFFF, ScalarType.UNSIGNED),
        (18446744073709551615, ScalarType.UNSIGNED_LONG),
        (2, ScalarType.LONG_LONG),
        (3, ScalarType.UNSIGNED_LONG_LONG),
        (2**63, ScalarType.UNSIGNED_LONG),
    ):
        assert f"IntLiteral(value={value}, type={type!r}" in text


def test_a_name_of_a_header_may_be_that_of_a_variable() -> None:
    region = BODY % "a[i] = size_t[i] + int8_t;"
    program, sink = parse_text(
        f"void f(int n, float *const size_t, float a[n], int B) {{ int int8_t = n; {region} }}"
    )
    assert sink.diagnostics == ()
    assert [p.name for p in program.functions[0].parameters] == ["n", "size_t", "a", "B"]


def test_half_is_a_name_like_any_other_where_it_is_declared() -> None:
    program, sink = parse_text(
        f"void f(int n, int half, float a[n], int B) {{ {BODY % 'a[i] = half * 2;'} }}"
    )
    assert sink.diagnostics == ()
    assert [p.name for p in program.functions[0].parameters] == ["n", "half", "a", "B"]


def test_storage_types_are_narrower_than_what_one_computes_in() -> None:
    storage = [type for type in ScalarType if type.is_storage]
    assert [type.size_bytes for type in storage] == [2, 2]
    for left, right in product(storage, ScalarType):
        wide = promote(right)
        assert common_type(left, right) is (ScalarType.FLOAT if wide.is_integer else wide)


def test_names_come_from_macros_and_included_files(tmp_path: Path) -> None:
    (tmp_path / "types.h").write_text("typedef bfloat16 brain;\n#define SMALL half\n")
    (tmp_path / "f.mf").write_text(
        '#include <cuda_fp16.h>\n#include "types.h"\n#define LONG size_t\ntypedef SMALL element;\n'
        f"void f(int n, const element *a, SMALL *b, brain *c, LONG k, int B) {{ {BODY % 'b[i] = a[i]; c[i] = k;'} }}"
    )
    sink = DiagnosticSink()
    program = parse(read_source(tmp_path / "f.mf"), sink)
    assert sink.diagnostics == ()
    assert [p.type for p in program.functions[0].parameters][1:5] == [
        ScalarType.HALF,
        ScalarType.HALF,
        ScalarType.BFLOAT16,
        ScalarType.UNSIGNED_LONG,
    ]
