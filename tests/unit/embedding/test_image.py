"""The names of launchers for what is in an image, and what a launch of it adds for a pass."""

from __future__ import annotations

from comprehensive.codegen.image import EmbeddedKernel, Image
from comprehensive.embedding.compiled import CompiledKernels
from comprehensive.ptx.passes.remark import DYNAMIC_BYTES_PER_WARP, Kind, Remark


def test_data_is_numbers_of_64_bits_filled_up_with_zeros() -> None:
    image = Image("f_embedded.c", "sm_90", bytes(range(1, 12)), {})
    assert image.bytes == 11
    assert image.lines == ("0x807060504030201ULL, 0xb0a09ULL,",)


def test_a_kernel_is_its_symbol_and_the_memory_that_a_pass_adds() -> None:
    copy = EmbeddedKernel("cf_version1__Z1gILi8ELi4EEvPf")
    kernels = {
        ("f", ()): (EmbeddedKernel("f"), None),
        ("g", (8, 4)): (EmbeddedKernel("_Z1gILi8ELi4EEvPf", 256), copy),
    }
    image = Image("f_embedded.c", "sm_90", b"", kernels)
    assert image.kernel("f", ()) == ('{ .symbol = "f" }', "{ .symbol = 0 }")
    assert image.kernel("g", (8, 4)) == (
        '{ .symbol = "_Z1gILi8ELi4EEvPf", .bytes_of_a_warp = 256 }',
        '{ .symbol = "cf_version1__Z1gILi8ELi4EEvPf" }',
    )


def test_what_a_launch_adds_is_told_by_the_remarks_of_that_kernel() -> None:
    facts = ((DYNAMIC_BYTES_PER_WARP, 128), ("slots", 1))
    remarks = tuple(
        Remark(Kind.APPLIED, "demote-registers", name, None, "", facts) for name in ("f", "g", "f")
    )
    kernels = CompiledKernels("sm_90", "", b"", {}, remarks)
    assert [kernels.bytes_of_a_warp(name) for name in "fgh"] == [256, 128, 0]
