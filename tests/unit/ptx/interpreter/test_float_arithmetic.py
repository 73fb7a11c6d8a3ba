"""Arithmetic of floating-point numbers against fractions: every format, every rounding mode, every kind of number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.unit.ptx.interpreter.launches import computed, launch
from tests.unit.ptx.interpreter.oracle import CANONICAL, FORMATS, arithmetic

MODES = ("rn", "rz", "rm", "rp")
SOURCES = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "div": 2, "sqrt": 1}
FORMS = [
    *((base, type_, mode) for base in SOURCES for type_ in ("f32", "f64") for mode in MODES),
    *((base, type_, "rn") for base in ("add", "sub", "mul", "fma") for type_ in ("f16", "bf16")),
]


def numbers(type_: str) -> st.SearchStrategy[int]:
    """Bits of all kinds: any, near a power of two, few digits, special, next to each other."""
    form = FORMATS[type_]
    edge = [
        0,
        1,
        form.infinity,
        form.infinity - 1,
        1 << form.fraction,
        (1 << form.fraction) - 1,
        form.infinity | 1,
    ]
    special = st.sampled_from([*edge, *(bits | form.sign for bits in edge)])
    middle = st.integers(form.bias - 3, form.bias + 3).flatmap(
        lambda e: st.integers(0, (1 << form.fraction) - 1).map(lambda f: e << form.fraction | f)
    )
    short = middle.map(lambda bits: bits & ~((1 << (form.fraction - 3)) - 1))
    spread = st.integers(0, (1 << form.exponent) - 2).map(lambda e: e << form.fraction)
    # Ties and what lies beside them come of sums of a number and a power of two.
    sign = st.sampled_from([0, form.sign])
    unsigned = st.one_of(middle, short, spread, middle.map(lambda bits: bits & ~1))
    return st.one_of(
        st.integers(0, (1 << form.bits) - 1), special, st.builds(lambda a, s: a | s, unsigned, sign)
    )


def expected(base: str, type_: str, mode: str, sources: tuple[int, ...]) -> int | None:
    found = arithmetic(base, type_, mode, *sources)
    return CANONICAL.get(type_) if found is None else found


@pytest.mark.parametrize(("base", "type_", "mode"), FORMS, ids=["-".join(form) for form in FORMS])
@settings(max_examples=examples(15))
@given(data=st.data())
def test_arithmetic_has_one_rounding(base: str, type_: str, mode: str, data: st.DataObject) -> None:
    count = SOURCES[base]
    rows = data.draw(st.lists(st.tuples(*[numbers(type_)] * count), min_size=20, max_size=60))
    bits = FORMATS[type_].bits
    columns = [(bits, [row[place] for row in rows]) for place in range(count)]
    found = computed(f"{base}.{mode}.{type_}", bits, columns)
    wanted = [expected(base, type_, mode, row) for row in rows]
    # Of doubles any NaN will do here.
    nan = FORMATS[type_].is_nan
    assert [(None if w is None and nan(f) else f) for f, w in zip(found, wanted, strict=True)] == wanted


def test_fma_is_not_rounded_by_way_of_a_double() -> None:
    # 1 + 2^-24 is a tie of f32; 2^-60 more lifts it, but not in a double.
    one, tiny = 0x3F800000, (127 - 30) << 23
    tie = (127 - 24) << 23
    found = computed("fma.rn.f32", 32, [(32, [tiny, tiny]), (32, [tiny, tiny | 1 << 31]), (32, [one, one])])
    assert found == [one, one]
    # Here the product brings the tie and what is beyond it.
    above = computed("fma.rn.f32", 32, [(32, [tie | 1]), (32, [one]), (32, [one])])
    assert above == [one + 1]


def test_a_double_is_fused_where_the_product_overflows_or_vanishes() -> None:
    largest, two, minus = 0x7FEFFFFFFFFFFFFF, 0x4000000000000000, 0xFFEFFFFFFFFFFFFF
    assert computed("fma.rn.f64", 64, [(64, [largest]), (64, [two]), (64, [minus])]) == [largest]
    infinity = 0x7FF0000000000000
    for mode in MODES:
        assert computed(f"fma.{mode}.f64", 64, [(64, [largest]), (64, [minus]), (64, [infinity])]) == [
            infinity
        ]
    smallest, half = 1, 0x3FE0000000000000
    assert computed("fma.rn.f64", 64, [(64, [smallest]), (64, [half]), (64, [smallest])]) == [2]
    assert computed("fma.rz.f64", 64, [(64, [smallest]), (64, [half]), (64, [smallest])]) == [1]


def test_flushes_and_saturation() -> None:
    subnormal, minus_subnormal, tiny, half = 1, 0x80000001, 0x00800000, 0x3F000000
    assert computed("add.ftz.f32", 32, [(32, [subnormal, minus_subnormal]), (32, [0, 0x80000000])]) == [
        0,
        0x80000000,
    ]
    assert computed("mul.ftz.f32", 32, [(32, [tiny]), (32, [half])]) == [0]
    assert computed("mul.f32", 32, [(32, [tiny]), (32, [half])]) == [tiny >> 1]
    two, nan = 0x40000000, 0x7FC00000
    assert computed("add.sat.f32", 32, [(32, [two, two | 1 << 31, nan]), (32, [0, 0, 0])]) == [
        0x3F800000,
        0,
        0,
    ]
    assert computed("fma.rn.relu.f16", 16, [(16, [0xBC00, 0x3C00]), (16, [0x3C00] * 2), (16, [0, 0])]) == [
        0,
        0x3C00,
    ]


@pytest.mark.parametrize(
    ("opcode", "a", "b", "result"),
    [
        ("min.f32", 0x7FC00000, 0x3F800000, 0x3F800000),
        ("max.f32", 0x3F800000, 0xFFC00001, 0x3F800000),
        ("max.f32", 0x7FC00000, 0xFFC00001, 0x7FFFFFFF),
        ("min.NaN.f32", 0x7FC00000, 0x3F800000, 0x7FFFFFFF),
        ("min.f32", 0x80000000, 0, 0x80000000),
        ("max.f32", 0x80000000, 0, 0),
        ("max.xorsign.abs.f32", 0xC0000000, 0x3F800000, 0xC0000000),
        ("max.f32", 0x3F800000, 0xBF800000, 0x3F800000),
    ],
)
def test_minimum_and_maximum_of_what_does_not_compare(opcode: str, a: int, b: int, result: int) -> None:
    assert computed(opcode, 32, [(32, [a]), (32, [b])]) == [result]


def test_pairs_are_computed_by_halves() -> None:
    one, two, three = 0x3C00, 0x4000, 0x4200
    assert computed("add.f16x2", 32, [(32, [one << 16 | two]), (32, [two << 16 | 0])]) == [three << 16 | two]
    bf_one, bf_two = 0x3F80, 0x4000
    assert computed(
        "fma.rn.bf16x2", 32, [(32, [bf_one << 16 | bf_two]), (32, [bf_two << 16 | bf_two]), (32, [0])]
    ) == [bf_two << 16 | 0x4080]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_a_product_beyond_the_largest_double_is_no_infinity(mode: str) -> None:
    large, infinity = 0xFFEFFFFFFFFFFFFE, 0x7FF0000000000000
    columns = [(64, [0x3FF0000000000001]), (64, [large]), (64, [infinity])]
    assert computed(f"fma.{mode}.f64", 64, columns) == [infinity]


@pytest.mark.parametrize(
    ("property_", "values"),
    [
        ("normal", [1, 1, 1, 1, 0, 0, 0, 0]),
        ("subnormal", [0, 0, 0, 0, 1, 1, 0, 0]),
        ("finite", [1, 1, 1, 1, 1, 1, 0, 0]),
        ("infinite", [0, 0, 0, 0, 0, 0, 1, 0]),
        ("number", [1, 1, 1, 1, 1, 1, 1, 0]),
        ("notanumber", [0, 0, 0, 0, 0, 0, 0, 1]),
    ],
)
def test_zeros_have_the_properties_of_normal_numbers(property_: str, values: list[int]) -> None:
    numbers = [0, 0x80000000, 0x00800000, 0x7F7FFFFF, 1, 0x807FFFFF, 0xFF800000, 0x7FC00000]
    body = f"""
        mad.lo.u64 %rd1, %wide, 4, %rd16;
        ld.global.f32 %f1, [%rd1];
        testp.{property_}.f32 %p1, %f1;
        selp.b32 %r1, 1, 0, %p1;
        st.global.b32 [%rd1], %r1;
    """
    array = np.array(numbers, np.uint32)
    launch(body, [array], block=len(numbers))
    assert array.tolist() == values
