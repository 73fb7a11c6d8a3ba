"""The versions of kernels that are tried: at most five, along the direction of max-live, none that spills more."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from comprehensive.diagnostics import CommandLineError, SourceFile
from comprehensive.kernel_levels import of_ptx
from comprehensive.machine.device import load_device
from comprehensive.occupancy_tuning.candidates import MOST, candidates_of, full_occupancy_registers
from comprehensive.occupancy_tuning.level import Timed
from comprehensive.occupancy_tuning.subject import Subject
from comprehensive.ptx.module import parse
from comprehensive.records import replace
from comprehensive.report.levels_svg import to_svg
from comprehensive.report.levels_text import to_json, to_text
from comprehensive.sass.launch import Launch
from comprehensive.toolchain.assembler import find_assembler
from comprehensive.toolchain.nvcc import Tool

DEVICE = load_device("h200")


def sums(count: int, tuning: str = "") -> str:
    """A kernel with so many sums that are live through a loop."""
    numbers = range(count)
    lines = [
        ".version 8.0\n.target sm_90\n.address_size 64",
        f".visible .entry sums(.param .u64 a, .param .u32 n)\n{tuning}\n{{",
        f".reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<{2 * count + 1}>; .reg .b64 %rd<4>;",
        "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;",
        "mov.u32 %r4, %ntid.x; mad.lo.u32 %r2, %r3, %r4, %r2; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd1, %rd1, %rd2;",
        "mov.u32 %r5, 0;",
        *(f"mov.f32 %f{k}, 0f00000000;" for k in numbers),
        "$L:",
        *(f"ld.global.f32 %f{count + k}, [%rd1+{4096 * k}];" for k in numbers),
        *(f"fma.rn.f32 %f{k}, %f{k}, %f{k}, %f{count + k};" for k in numbers),
        "add.s64 %rd1, %rd1, 4; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra $L;",
        *(f"st.global.f32 [%rd1+{4096 * k}], %f{k};" for k in numbers),
        "ret;\n}",
    ]
    return "\n".join(lines).replace("\\\n", "\n") + "\n"


def subject(text: str) -> Subject:
    module = parse(SourceFile("sums.ptx", text))
    launches = {threads: Launch(threads, blocks=132_000 * 256 // threads) for threads in (256, 128, 64)}
    return Subject(module, "sums", find_assembler(), DEVICE, launches)


def test_the_threshold_of_the_paper_comes_out_of_the_device() -> None:
    assert full_occupancy_registers(DEVICE) == 32


@pytest.mark.toolchain
def test_threads_walk_through_memory_where_a_loop_asks_for_the_same_lines(nvcc: Tool) -> None:
    assert nvcc.path
    assert subject(sums(4)).walks
    assert not subject(sums(4).replace("%rd1, %rd1, 4", "%rd1, %rd1, 4096")).walks
    assert not subject(sums(4).replace("@%p1 bra $L;", "")).walks


@pytest.mark.toolchain
def test_persistent_blocks_are_tried_where_caches_can_make_up_for_them(nvcc: Tool) -> None:
    assert nvcc.path
    walking = candidates_of(subject(sums(1)))
    assert walking is not None
    assert [level.setting.resident for level in walking.levels[1:]] == [1, 2, 4]
    assert walking.along == 3
    # Without a loop only waiting could be hidden by other numbers of warps, and at full occupancy most of it is.
    striding = candidates_of(subject(sums(1).replace("%rd1, %rd1, 4", "%rd1, %rd1, 4096")))
    assert striding is not None
    assert (len(striding.levels), striding.along) == (1, 0)


@pytest.mark.slow
@pytest.mark.toolchain
def test_few_values_make_blocks_fewer_and_many_registers(nvcc: Tool) -> None:
    assert nvcc.path
    few = candidates_of(subject(sums(4)))
    many = candidates_of(subject(sums(60)))
    assert few is not None
    assert many is not None
    assert (few.direction, many.direction) == ("down", "up")
    assert few.max_live < 32 <= many.max_live
    for found in (few, many):
        original = found.levels[0]
        assert 1 < len(found.levels) <= MOST
        assert original.setting.pipeline == ""
        assert all(level.spill_bytes <= original.spill_bytes for level in found.levels)
        assert len({(level.setting, level.registers) for level in found.levels}) == len(found.levels)
        along = found.levels[1 : 1 + found.along]
        against = found.levels[1 + found.along :]
        if found.direction == "down":
            assert all(level.warps <= original.warps for level in along)
            assert any("grid-stride" in level.setting.pipeline for level in along)
        else:
            assert all(level.warps > original.warps for level in along)
            assert all(level.warps <= original.warps for level in against)


@pytest.mark.slow
@pytest.mark.toolchain
def test_a_bound_of_blocks_that_makes_a_kernel_spill_is_lifted(nvcc: Tool) -> None:
    assert nvcc.path
    found = candidates_of(subject(sums(60, ".maxntid 256\n.minnctapersm 8")))
    assert found is not None
    original = found.levels[0]
    assert original.registers == 32
    assert original.spill_bytes > 0
    assert any(level.spill_bytes == 0 and level.registers > 60 for level in found.levels)


@pytest.mark.toolchain
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_kernels_are_shown_as_text_data_and_picture(every: bool, nvcc: Tool, tmp_path: Path) -> None:
    assert nvcc.path
    path = tmp_path / "sums.ptx"
    path.write_text(sums(4))
    shown = of_ptx(path, DEVICE, (256, 128), ("sums",), None, every=every)
    text, document, picture = to_text(shown), to_json(shown), to_svg(shown)
    assert text.startswith("sums: ")
    assert text.count("\n* ") == 1
    (kernel,) = json.loads(json.dumps(document))
    assert sum(level["chosen"] for level in kernel["levels"]) == 1
    assert len(kernel["levels"]) > 40 if every else kernel["direction"] == "down"
    # As many warps in blocks of another size are no version to try.
    assert {level["threads_per_block"] for level in kernel["levels"]} == ({256, 128} if every else {256})
    assert picture.count("<circle") == len(kernel["levels"]) + 1
    assert to_svg(of_ptx(path, DEVICE, (256, 128), (), None, every=every)) == picture
    with pytest.raises(CommandLineError) as raised:
        of_ptx(path, DEVICE, (256,), ("summe",), None, every=False)
    assert raised.value.diagnostics[0].code == "CF0730"


@pytest.mark.toolchain
def test_measured_times_stand_beside_predicted_ones_and_decide(nvcc: Tool, tmp_path: Path) -> None:
    assert nvcc.path
    path = tmp_path / "sums.ptx"
    path.write_text(sums(1))
    (shown,) = of_ptx(path, DEVICE, (256,), (), None, every=False)
    assert shown.plateau is not None
    assert shown.plateau.chosen == 0
    timed = replace(shown, measured=(Timed(80.0), Timed(79.0), Timed(79.5), Timed(None, "crash: it ended")))
    text = to_text([timed])
    assert "predicted  measured" in text
    assert "80.0 us" in text
    assert "not measured: crash: it ended" in text
    (document,) = to_json([timed])
    rows = document["levels"]
    assert [row["measured_us"] for row in rows] == [80.0, 79.0, 79.5, None]
    assert [row["not_measured"] for row in rows] == [None, None, None, "crash: it ended"]
    assert [row["on_plateau"] for row in rows] == [True, True, True, False]
    # All three are within 2 %: the one with the fewest warps is kept.
    assert [row["chosen"] for row in rows] == [False, True, False, False]
    picture = to_svg([timed])
    ElementTree.fromstring(picture)
    assert "stroke-dasharray" in picture
    assert "stroke-dasharray" not in to_svg([shown])
    assert picture.count("<title>") == 3
