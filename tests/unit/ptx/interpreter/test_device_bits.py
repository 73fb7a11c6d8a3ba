"""The results of one NVIDIA H200 on 2026-11-22, with the code of ptxas 13.0, where the PTX ISA leaves them open."""

from __future__ import annotations

import pytest

from tests.unit.ptx.interpreter.launches import computed

REMAINDERS = [
    ("rem.u16", 16, [0xFFDC, 0], 0xFFFF),
    ("rem.s16", 16, [0xC2E8, 0], 0xFFFF),
    ("rem.u32", 32, [0xFFFFFFF4, 0], 0xFFFFFFFF),
    ("rem.s32", 32, [0x2577807D, 0], 0xFFFFFFFF),
    ("rem.u64", 64, [0xE011E82DBBD95C5C, 0], 0xFFFFFFFFFFFFFFFF),
    ("rem.s64", 64, [0xFFFFFFFFFFFFFFF3, 0], 0xFFFFFFFFFFFFFFFF),
]
SIGNS = [
    ("abs.f32", 32, [0x7FC00000], 0x7FFFFFFF),
    ("neg.f32", 32, [0xFFC00000], 0x7FFFFFFF),
    ("abs.ftz.f32", 32, [0x7F800001], 0x7FFFFFFF),
    ("neg.ftz.f32", 32, [0xFFFFFFF1], 0x7FFFFFFF),
    ("abs.f16", 16, [0xFC01], 0x7FFF),
    ("neg.f16", 16, [0xFC01], 0x7FFF),
    ("abs.bf16", 16, [0xFFFE], 0x7FFF),
    ("neg.bf16", 16, [0xFFFC], 0x7FFF),
    ("abs.f64", 64, [0xFFFFFFFFFFFFFFDF], 0xFFFFFFFFFFFFFFDF),
    ("neg.f64", 64, [0xFFFFFFFFFFFFFFDE], 0xFFFFFFFFFFFFFFDE),
]
DOUBLES = [
    ("add.rn.f64", 64, [0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFDA], 0xFFFFFFFFFFFFFFDA),
    ("add.rz.f64", 64, [0xFFF0000000000001, 0xFFFFFFFFFFFFFFE1], 0xFFFFFFFFFFFFFFE1),
    ("add.rm.f64", 64, [0xFFF8000000000000, 0x7FF0000000000001], 0x7FF8000000000001),
    ("add.rp.f64", 64, [0xFFFFFFFFFFFFFFD8, 0xFFF8000000000000], 0xFFF8000000000000),
    ("sub.rn.f64", 64, [0xFE6F15CCF4F3E6A9, 0x7FF0000000000001], 0x7FF8000000000001),
    ("sub.rz.f64", 64, [0xFFFFFFFFFFFFFFDA, 0x7FF748868B708DE6], 0x7FFF48868B708DE6),
    ("sub.rm.f64", 64, [0x3FEC000000000000, 0x7FF0000000000001], 0x7FF8000000000001),
    ("sub.rp.f64", 64, [0x000000000000003E, 0xFFFFFFFFFFFFFFE6], 0xFFFFFFFFFFFFFFE6),
    ("mul.rn.f64", 64, [0xFFF0000000000001, 0x7FF0000000000001], 0x7FF8000000000001),
    ("mul.rz.f64", 64, [0xFFFFFFFFFFFFFFFE, 0xFFF0000000000001], 0xFFF8000000000001),
    ("mul.rm.f64", 64, [0x7FF0000000000001, 0xFFFFFFFFFFFFFFE0], 0xFFFFFFFFFFFFFFE0),
    ("mul.rp.f64", 64, [0xFFFFFFFFFFFFFFEF, 0xFFF0000000000001], 0xFFF8000000000001),
    ("fma.rn.f64", 64, [0x7FF0000000000001, 0x0010000000000000, 0xFFFFFFFFFFFFFFDB], 0xFFFFFFFFFFFFFFDB),
    ("fma.rz.f64", 64, [0xFFFFFFFFFFFFFFFB, 0xFFF0000000000001, 0x3FC0000000000000], 0xFFF8000000000001),
    ("fma.rm.f64", 64, [0xFFF0000000000001, 0xFFFFFFFFFFFFFFEC, 0x000000000000003F], 0xFFFFFFFFFFFFFFEC),
    ("fma.rp.f64", 64, [0xFFFFFFFFFFFFFFEE, 0xED75FDA68804E741, 0xFFFFFFFFFFFFFFF8], 0xFFFFFFFFFFFFFFF8),
    # Of three that are NaN the second; said by how many of 2048 results differed from those of other orders.
    ("fma.rn.f64", 64, [0xFFFFFFFFFFFFFFDB, 0xFFFFFFFFFFFFFFFC, 0xFFFFFFFFFFFFFFDD], 0xFFFFFFFFFFFFFFFC),
    ("fma.rp.f64", 64, [0x0000000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFDD], 0x7FF8000000000001),
    ("div.rn.f64", 64, [0x7FF0000000000001, 0xFFFFFFFFFFFFFFDA], 0x7FF8000000000001),
    ("min.f64", 64, [0xFFFFFFFFFFFFFFDE, 0xFFFFFFFFFFFFFFEC], 0xFFFFFFFFFFFFFFEC),
    ("max.f64", 64, [0xFFFFFFFFFFFFFFEC, 0xFFF0000000000001], 0xFFF8000000000001),
]
TF32 = {
    "rn": (0xFFFFFFE9, 0xFFFFFFE6, 0xFFFFFFFB, 0xFF800001, 0xFFFFFFDD, 0xFFFFFFEF),
    "rz": (0xFFFFFFDB, 0xFFFFFFEE, 0xFFFFFFF5, 0xFFFFFFEA, 0xFFFFFFF8),
    "rn.relu": (0x7F800001, 0xFFFFFFEC, 0xFF800001, 0xFFFFFFF7),
}
"""The NaN whose conversion is tested, by rounding."""
FLUSHES = [
    # The sum is below the smallest normal number by more, then by less than a step of 24 bits.
    ("fma.rp.ftz.f32", 32, [0x04E3CEAE, 0xAF15FC62, 0x00800000], 0),
    ("fma.rn.ftz.f32", 32, [0x00800000, 0x17051CC8, 0x80800000], 0x80800000),
    ("fma.rz.ftz.f32", 32, [0x80800000, 0x0E69F7BF, 0x00800000], 0),
    ("fma.rn.ftz.f16", 16, [0x0449, 0x0400, 0x8400], 0x8400),
]


@pytest.mark.parametrize(("opcode", "bits", "sources", "result"), [*REMAINDERS, *SIGNS, *DOUBLES, *FLUSHES])
def test_sources_of_one_width(opcode: str, bits: int, sources: list[int], result: int) -> None:
    found = computed(opcode, bits, [(bits, [source]) for source in sources])
    assert [hex(word) for word in found] == [hex(result)]


@pytest.mark.parametrize(
    ("opcode", "sources", "result"),
    [
        ("bfe.u64", [(64, 0x8000000000000000), (32, 0xA0F2E42F), (32, 0x94738CCD)], (64, 0)),
        ("bfe.s64", [(64, 0x8000000000000000), (32, 0xDAF07127), (32, 0x19B63716)], (64, 0xFFFFFFFFFFFFFFFF)),
        (
            "bfi.b64",
            [(64, 0xFFFFFFFFFFFFFFFF), (64, 0xD5139C6EE305EE1A), (32, 0x3D758C22), (32, 0x649701D9)],
            (64, 0xD5139C6EE305EE1A),
        ),
        ("fns.b32", [(32, 0x1DF90EA1), (32, 0xD47C79DF), (32, 0x80000000)], (32, 0)),
        ("cvt.rn.f32.f64", [(64, 0xFFF8000000000000)], (32, 0xFFC00000)),
        ("cvt.rm.f32.f64", [(64, 0xFFFFFFFFFFFFFFFD)], (32, 0xFFFFFFFF)),
        ("cvt.rp.ftz.f32.f64", [(64, 0x7FF8000000000000)], (32, 0x7FC00000)),
        ("cvt.rn.f16.f64", [(64, 0xFFF8000000000000)], (16, 0xFE00)),
        ("cvt.f32.bf16", [(16, 0x7F81)], (32, 0x7F810000)),
        ("cvt.ftz.f64.f32", [(32, 0xFFC00000)], (64, 0x7FFFFFFFE0000000)),
        ("cvt.f64.f16", [(16, 0x7C01)], (64, 0x7FF8040000000000)),
        ("cvt.rna.tf32.f32", [(32, 0xFFFFFFF5)], (32, 0xFFFFE000)),
        *(
            (f"cvt.{mode}.tf32.f32", [(32, nan)], (32, 0x7FFFE000))
            for mode, nans in TF32.items()
            for nan in nans
        ),
        *(("cvt.rn.bf16.f16", [(16, nan)], (16, 0x7FFF)) for nan in (0xFFF4, 0xFFE5, 0xFE00, 0xFFE0, 0xFC01)),
        *(
            ("cvt.rn.f16.bf16", [(16, nan)], (16, 0x7FFF))
            for nan in (0xFFC0, 0xFFF0, 0x7FC0, 0xFFDD, 0xFFDB, 0xFFE3)
        ),
        *(
            ("cvt.ftz.f32.bf16", [(16, nan)], (32, 0x7FFFFFFF))
            for nan in (0xFFC0, 0xFFEB, 0xFFE2, 0xFFE8, 0xFF81)
        ),
    ],
)
def test_sources_of_several_widths(
    opcode: str, sources: list[tuple[int, int]], result: tuple[int, int]
) -> None:
    found = computed(opcode, result[0], [(width, [value]) for width, value in sources])
    assert [hex(word) for word in found] == [hex(result[1])]


def test_a_literal_of_a_single_is_taken_by_its_bits_where_a_double_is_wanted() -> None:
    assert computed("add.f64", 64, [(64, [0])], ", 0f3F800000") == [0x3F800000]
    assert computed("mul.f32", 32, [(32, [0x40000000])], ", 0d3FF0000000000000") == [0x40000000]
