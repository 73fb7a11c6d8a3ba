"""cvt against fractions: between floats, between floats and integers, with rounding and saturation."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.unit.ptx.interpreter.launches import computed
from tests.unit.ptx.interpreter.oracle import CANONICAL, FORMATS
from tests.unit.ptx.interpreter.test_float_arithmetic import numbers
from tests.unit.ptx.interpreter.test_integers import signed, words

MODES = ("rn", "rz", "rm", "rp")
NARROWING = [
    *(("f32", "f64", mode) for mode in MODES),
    *(
        (to, source, mode)
        for to, source in (("f16", "f32"), ("f16", "f64"), ("bf16", "f32"))
        for mode in ("rn", "rz")
    ),
]
WHOLE = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


def rows(data: st.DataObject, strategy: st.SearchStrategy[int]) -> list[int]:
    return data.draw(st.lists(strategy, min_size=20, max_size=60))


def moved(bits: int, source: str, to: str) -> int:
    """A NaN of a double in a narrower format: its sign, its upper bits, quiet."""
    wide, short = FORMATS[source], FORMATS[to]
    payload = (bits & ((1 << wide.fraction) - 1)) >> (wide.fraction - short.fraction)
    sign = short.sign if wide.is_negative(bits) else 0
    return sign | short.infinity | 1 << (short.fraction - 1) | payload


@pytest.mark.parametrize(("to", "source", "mode"), NARROWING)
@settings(max_examples=examples(15))
@given(data=st.data())
def test_floats_to_narrower_ones(to: str, source: str, mode: str, data: st.DataObject) -> None:
    # Numbers of the narrow format and what lies beside them, besides any.
    wide, short = FORMATS[source], FORMATS[to]
    finite = numbers(to).filter(lambda b: not short.is_nan(b) and not short.is_infinite(b))
    beside = st.builds(
        lambda b, d: max(wide.rounded(short.value(b), "rn") + d, 0), finite, st.integers(-2, 2)
    )
    values = rows(data, st.one_of(numbers(source), beside))
    wanted = []
    for bits in values:
        if wide.is_nan(bits):
            wanted.append(moved(bits, source, to) if source == "f64" else CANONICAL[to])
        elif wide.is_infinite(bits):
            wanted.append(short.infinity | (short.sign if wide.is_negative(bits) else 0))
        else:
            wanted.append(short.rounded(wide.value(bits), mode, negative_zero=wide.is_negative(bits)))
    assert computed(f"cvt.{mode}.{to}.{source}", short.bits, [(wide.bits, values)]) == wanted


@pytest.mark.parametrize("to", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("source", ["f16", "f32", "f64"])
@pytest.mark.parametrize("mode", WHOLE)
@settings(max_examples=examples(8))
@given(data=st.data())
def test_floats_to_integers(to: str, source: str, mode: str, data: st.DataObject) -> None:
    form, bits = FORMATS[source], int(to[1:])
    limits = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if to[0] == "s" else (0, (1 << bits) - 1)
    edges = [form.rounded(Fraction(limit) + Fraction(d, 2), "rn") for limit in limits for d in range(-3, 4)]
    halves = [form.rounded(Fraction(k, 2), "rn") for k in range(-9, 10)]
    values = rows(data, st.one_of(numbers(source), st.sampled_from(edges + halves)))
    wanted = []
    for code in values:
        if form.is_nan(code):
            # PTX ISA, cvt.
            found = 0 if source != "f64" and bits < 64 else 1 << (bits - 1)
        elif form.is_infinite(code):
            found = limits[0] if form.is_negative(code) else limits[1]
        else:
            found = min(max(WHOLE[mode](form.value(code)), limits[0]), limits[1])
        wanted.append(found % (1 << bits))
    register = max(bits, 16)
    found = computed(f"cvt.{mode}.{to}.{source}", register, [(form.bits, values)])
    assert [value % (1 << bits) for value in found] == wanted


@pytest.mark.parametrize("source", ["s32", "u32", "s64", "u64", "s16", "u8"])
@pytest.mark.parametrize(
    ("to", "mode"), [("f32", m) for m in MODES] + [("f64", m) for m in MODES] + [("f16", "rn")]
)
@settings(max_examples=examples(10))
@given(data=st.data())
def test_integers_to_floats(to: str, mode: str, source: str, data: st.DataObject) -> None:
    bits = int(source[1:])
    form = FORMATS[to]
    # Ties: numbers of one bit more than the format has.
    half = st.builds(
        lambda k, s: ((2 * k + 1) << s) % (1 << bits), st.integers(1 << 23, 1 << 24), st.integers(0, 40)
    )
    values = rows(data, st.one_of(words(bits), half))
    read = (lambda v: signed(v, bits)) if source[0] == "s" else (lambda v: v)
    found = computed(f"cvt.{mode}.{to}.{source}", form.bits, [(max(bits, 16), values)])
    assert found == [form.rounded(Fraction(read(value)), mode) for value in values]


@pytest.mark.parametrize(
    ("opcode", "bits", "value", "result", "wanted"),
    [
        ("cvt.sat.u8.s32", 32, (1 << 32) - 5, 16, 0),
        ("cvt.sat.s8.s32", 32, 1000, 16, 127),
        ("cvt.sat.s32.u64", 64, 1 << 40, 32, (1 << 31) - 1),
        ("cvt.s32.s8", 32, 0x180, 32, 0xFFFFFF80),
        ("cvt.u16.u32", 32, 0x12345678, 16, 0x5678),
        ("cvt.s64.s16", 16, 0x8000, 64, 0xFFFFFFFFFFFF8000),
        ("cvt.sat.f32.f32", 32, 0x40000000, 32, 0x3F800000),
        ("cvt.rni.f32.f32", 32, 0xBF000000, 32, 0x80000000),
        ("cvt.ftz.f64.f32", 32, 0x80000001, 64, 0x8000000000000000),
        ("cvt.f32.f16", 16, 0x0001, 32, 0x33800000),
        ("cvt.f32.f32", 32, 0xFF800001, 32, 0xFF800001),
        ("cvt.f64.f64", 64, 0xFFF0000000000001, 64, 0xFFF0000000000001),
        ("cvt.f16.f16", 16, 0xFC01, 16, 0x7FFF),
        ("cvt.rna.tf32.f32", 32, 0x3F801000, 32, 0x3F802000),
    ],
)
def test_single_conversions(opcode: str, bits: int, value: int, result: int, wanted: int) -> None:
    assert computed(opcode, result, [(bits, [value])]) == [wanted]


def test_two_floats_to_a_pair() -> None:
    assert computed("cvt.rn.f16x2.f32", 32, [(32, [0x3F800000]), (32, [0x40000000])]) == [0x3C004000]
    assert computed("cvt.rn.bf16x2.f32", 32, [(32, [0x3F808000]), (32, [0x40000000])]) == [0x3F804000]


def test_floats_of_eight_bits_go_there_and_back() -> None:
    largest, big = 0x43E00000, 0x47000000
    pairs = computed(
        "cvt.rn.satfinite.e4m3x2.f32", 16, [(32, [largest, 0x3F800000]), (32, [big, 0xBF800000])]
    )
    assert pairs == [0x7E7E, 0x38B8]
    for kind, bias, bits in (("e4m3x2", 7, 3), ("e5m2x2", 15, 2)):
        codes = [code for code in range(256) if code & 0x7F <= (0x7E if bits == 3 else 0x7B)]
        halves = computed(f"cvt.rn.f16x2.{kind}", 32, [(16, codes)])
        for code, half in zip(codes, halves, strict=True):
            exponent, fraction = (code & 0x7F) >> bits, code & (1 << bits) - 1
            size = Fraction(fraction + (exponent > 0) * (1 << bits)) * Fraction(2) ** (
                max(exponent, 1) - bias - bits
            )
            assert abs(FORMATS["f16"].value(half & 0xFFFF)) == size
            assert bool(half & 0x8000) == bool(code & 0x80)
