"""Lines ``// run:`` say exactly what is launched, and their data is the same on every machine."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.ptx.corpus import assemblies, sources
from tests.ptx.runs import Buffer, Bytes, Run, Scalar, Struct, agree, drawn, parse_run, runs_of

LINE = "// run: k(in f32[10] -1..1, i32=-3, inout u8[7], struct(u8=1, f64=0.5, bytes=3)) grid=(3) block=(8,4) smem=96"


def one_argument(text: str) -> Run:
    return parse_run(f"// run: k({text}) grid=(1) block=(1)")


def first_bytes(text: str) -> bytes:
    return drawn(one_argument(text))[0]


def test_a_line_gives_kernel_arguments_and_shape():
    assert parse_run(LINE) == Run(
        "k",
        (
            Buffer("in", "f32", 10, "uniform", -1.0, 1.0),
            Scalar("i32", -3),
            Buffer("inout", "u8", 7),
            Struct((Scalar("u8", 1), Scalar("f64", 0.5), Bytes(3))),
        ),
        (3, 1, 1),
        (8, 4, 1),
        96,
    )


def test_words_after_the_shape_are_conditions():
    run = parse_run("// run: $k_2() grid=(2,3,4) block=(1) cooperative approx=1e-3")
    assert run == Run("$k_2", (), (2, 3, 4), (1, 1, 1), cooperative=True, tolerance=1e-3)


@pytest.mark.parametrize(
    "line",
    [
        "// run: k(i32=1)",
        "// run: k(i32) grid=(1) block=(1)",
        "// run: k(i33=1) grid=(1) block=(1)",
        "// run: k(in f80[4]) grid=(1) block=(1)",
        "// run: k(i32=1) grid=(1) block=(1) shared=3",
    ],
)
def test_a_line_that_is_none_is_refused_with_its_text(line: str):
    with pytest.raises(ValueError, match="// run: k"):
        runs_of(f"text\n  {line}\n")


def test_only_lines_that_say_run_are_runs():
    assert runs_of("// runs: k(\n/* // run: no */\nint x; // run: neither\n") == ()


# From an own program in integers of Python: a change of these numbers is a change of every recorded result.
def test_the_data_is_pinned():
    assert first_bytes("in u32[3]").hex() == "f395bb61308bd97bb2b4262b"
    third = np.frombuffer(first_bytes("in f32[3]"), "f4")[2]
    assert third == 1.944549560546875


def test_arguments_of_one_run_differ_and_seeds_differ():
    run = one_argument("in u64[9], in u64[9]")
    first, second = drawn(run)
    assert len({first, second, drawn(run, seed=1)[0]}) == 3


@pytest.mark.parametrize(
    ("text", "low", "high", "dtype"),
    [
        ("in i8[1000] -3..5", -3, 5, "i1"),
        ("in i64[1000] -3000000000..3000000000", -3000000000, 3000000000, "i8"),
        ("in u8[1000] 0..3", 0, 3, "u1"),
        ("in f32[1000] whole -9..9", -9, 9, "f4"),
        ("in f16[1000] 0.25..2", 0.25, 2, "f2"),
        ("in f64[1000] -5e9..5e9", -5e9, 5e9, "f8"),
    ],
)
def test_values_keep_to_their_range_and_fill_it(text: str, low: float, high: float, dtype: str):
    values = np.frombuffer(first_bytes(text), dtype).astype(float)
    assert low <= values.min() < low + 0.1 * (high - low)
    assert high - 0.1 * (high - low) < values.max() <= high


def test_whole_floats_are_whole():
    values = np.frombuffer(first_bytes("in f64[100] whole -9..9"), "f8")
    assert np.array_equal(values, np.round(values))


def test_special_floats_hold_every_kind():
    values = np.frombuffer(first_bytes("in f32[1000] special"), "f4")
    subnormal = (values != 0) & (np.abs(values) < np.finfo("f4").tiny)
    assert all(kind.any() for kind in (np.isnan(values), np.isinf(values), values == 0, subnormal))


def test_bfloat_is_rounded_to_nearest_even():
    values = np.frombuffer(first_bytes("in bf16[500]"), "u2").astype(np.uint32) << 16
    exact = np.frombuffer(first_bytes("in f32[500]"), "f4")
    error = np.abs(values.view("f4") - exact)
    assert (error <= np.abs(exact) * 2.0**-8).all()
    assert first_bytes("bf16=1.00390625") == struct.pack("<H", 0x3F80)
    assert first_bytes("bf16=1.01171875") == struct.pack("<H", 0x3F82)


def test_out_begins_unwritten():
    assert first_bytes("out i16[3]") == b"\xa5" * 6


def test_a_struct_lies_as_in_c():
    laid_out = first_bytes("struct(u8=1, i32=-2, u8=3, f64=0.5, u16=4)")
    assert laid_out == struct.pack("<BxxxiBxxxxxxxdHxxxxxx", 1, -2, 3, 0.5, 4)
    assert len(first_bytes("struct(i32=5, bytes=7)")) == 12


def test_bits_must_agree_unless_the_run_is_approximate():
    one, other = struct.pack("<f", 1.0), struct.pack("<f", 1.0000001)
    exact = one_argument("out f32[1]")
    approximate = parse_run("// run: k(out f32[1]) grid=(1) block=(1) approx=1e-5")
    assert agree(exact, 0, one, one)
    assert not agree(exact, 0, one, other)
    assert agree(approximate, 0, one, other)
    assert not agree(approximate, 0, one, struct.pack("<f", 1.1))


def test_integers_of_an_approximate_run_must_agree():
    run = parse_run("// run: k(out i32[1]) grid=(1) block=(1) approx=1")
    assert not agree(run, 0, struct.pack("<i", 100), struct.pack("<i", 101))


def test_most_sources_can_be_run():
    assert sum(bool(source.runs) for source in sources()) >= 60
    assert sum(len(source.runs) for source in (*sources(), *assemblies())) >= 250


def test_launches_are_small_enough_for_an_interpreter():
    for source in (*sources(), *assemblies()):
        for run in source.runs:
            assert np.prod(run.block) <= 1024
            assert np.prod(run.grid) * np.prod(run.block) <= 4096, run
