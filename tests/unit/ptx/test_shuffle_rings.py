"""The loads that go round in a ring, and what its edges load: nothing that the program does not."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.passes.shuffle_cost import architectures
from comprehensive.ptx.pipeline import rewrite

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .u32 n)
.reqntid 256
{
.reg .pred %p<9>; .reg .b32 %r<90>; .reg .f32 %f<90>; .reg .b64 %d<90>;
ld.param.u64 %d1, [a]; ld.param.u64 %d2, [out]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x;
"""
NO_ALIAS = "always=true shape=rings assume_noalias=true"
TAIL = "\nst.global.f32 [%d2], %f1;\nret;\n}\n"


def made(body: str, options: str = "always=true shape=rings") -> tuple[str, Sequence[Remark]]:
    text = HEAD + body + TAIL
    return rewrite(text, f"synthesize-shuffles{{{options}}}", name="k.ptx")


def rows(*offsets: int, each: int = 4, width: int = 1) -> str:
    """A load of so many words, and words at so many bytes from it; lanes are ``each`` bytes apart."""
    words = ", ".join(f"%f{n}" for n in range(1, width + 1))
    first = f"ld.global.nc.v{width}.f32 {{{words}}}" if width > 1 else "ld.global.nc.f32 %f1"
    lines = [f"mul.wide.u32 %d3, %r1, {each}; add.s64 %d4, %d1, %d3; {first}, [%d4];"]
    lines += [f"ld.global.nc.f32 %f{20 + n}, [%d4+{offset}];" for n, offset in enumerate(offsets)]
    return "\n".join(lines)


def edges(text: str) -> list[str]:
    return re.findall(r"@%shfl_pred_\d+ ld\.global\.nc\.((?:v\d\.)?f32)", text)


@pytest.mark.parametrize(
    ("offsets", "width", "wanted"),
    [
        ((-4, 4, -8, 8), 1, ["f32"]),
        ((4, 8, 12), 1, ["f32"]),
        # Beside a vector: what two lanes on either side have together, and what only one has.
        ((-8, -4, 16, 20), 4, ["v2.f32"]),
        ((-16, -12, -8, -4, 16, 20, 24, 28), 4, ["v4.f32"]),
        ((-12, -8, -4, 16, 20, 24), 4, ["v2.f32", "f32"]),
        ((-4,), 4, ["f32"]),
        # Of the pair that lies behind only the first word is loaded: no vector.
        ((-8, -4, 16), 4, ["v2.f32", "f32"]),
        # Two lanes away, the other word of the pair only one.
        ((-8, -4, -20), 4, ["f32", "f32"]),
    ],
)
def test_edges_load_what_the_program_loads(offsets: tuple[int, ...], width: int, wanted: list[str]) -> None:
    text, remarks = made(rows(*offsets, each=4 * width, width=width))
    assert sum(remark.kind.value == "applied" for remark in remarks) == len(offsets)
    assert sorted(edges(text)) == sorted(wanted)


def test_a_warp_is_asked_once_a_row_and_branches_come_with_many_words() -> None:
    body = "\n".join(
        f"ld.global.nc.f32 %f{row + 1}, [%d4+{4096 * row}]; ld.global.nc.f32 %f{row + 40}, [%d4+{4096 * row + 4}];"
        for row in range(20)
    )
    text, _ = made("mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3;\n" + body)
    assert text.count("activemask") == 1
    # Two words a row, sixteen between two branches.
    assert text.count("$shfl_loads_") // 2 == 3
    assert text.count("shfl.sync.idx") == 20


def test_sources_behind_a_store_that_may_overwrite_them_stay_behind_it() -> None:
    body = """mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d4+4];
st.global.f32 [%d5], %f1;
ld.global.f32 %f3, [%d4+4096]; ld.global.f32 %f4, [%d4+4100];"""
    text, _ = made(body)
    store, load = text.index("st.global.f32 [%d5]"), text.index("%f3, [%d4+4096]")
    assert store < load
    text, _ = made(body.replace("st.global.f32 [%d5], %f1", "fence.acq_rel.gpu"), NO_ALIAS)
    assert text.index("fence.acq_rel") < text.index("%f3, [%d4+4096]")
    # With arrays that do not overlap it may come before.
    text, _ = made(body, NO_ALIAS)
    assert "%f3, [%d4+4096]" not in text


def test_a_lane_that_has_waited_for_its_words_loads_them_itself() -> None:
    body = """mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; setp.ne.u32 %p1, %r1, 31; @%p1 bra READY;
WAIT: ld.acquire.gpu.global.u32 %r2, [%d2]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;
READY: ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d4+4];"""
    text, remarks = made(body, NO_ALIAS)
    assert "shfl.sync" not in text
    assert any("waited" in remark.text for remark in remarks)
    # Nobody waits for what is constant.
    assert "shfl.sync" in made(body.replace("ld.global.f32", "ld.global.nc.f32"), NO_ALIAS)[0]


def test_what_is_computed_of_a_load_stands_behind_the_branch() -> None:
    body = """mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3;
ld.global.nc.f32 %f1, [%d4]; mul.f32 %f9, %f1, %f1;
ld.global.nc.f32 %f2, [%d4+4];"""
    text, _ = made(body)
    assert text.index("bra $shfl_loads_0") < text.index("mul.f32 %f9")


@pytest.mark.parametrize(
    ("offsets", "first"),
    [
        # The middle one where it may be.
        ((-4, 4), 16),
        ((-64, 64), 16),
        # Of twenty lanes that load what lies before the warp, or behind it.
        ((-80, 4), 12),
        ((-4, 80), 20),
        ((-124, 4), 1),
        ((-4, 124), 31),
    ],
)
def test_ends_of_different_depth_load_each_what_is_its(offsets: tuple[int, ...], first: int) -> None:
    text, remarks = made(rows(*offsets))
    assert sum(remark.kind.value == "applied" for remark in remarks) == 2
    high = re.search(r"selp\.b64 %shfl_b64_\d+, -128, 128, (%shfl_pred_\d+);", text)
    assert high is not None
    assert f"setp.gt.u32 {high[1]}, %shfl_b32_0, {first - 1};" in text


def test_what_a_source_loaded_early_needs_is_computed_before() -> None:
    body = """mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3;
ld.global.nc.f32 %f9, [%d4+4096]; mov.b64 %d8, 0x14F0000000000000;
ld.global.nc.L2::cache_hint.f32 %f1, [%d4], %d8; ld.global.nc.L2::cache_hint.f32 %f2, [%d4+4], %d8;"""
    text, _ = made(body)
    early = re.search(r"mov\.b64 (%shfl_b64_\d+), 0x14F0000000000000;", text)
    assert early is not None
    assert re.search(rf"ld\.global\.nc\.L2::cache_hint\.f32 %shfl_b32_\d+, \[%d4\], {early[1]};", text)


def test_the_lane_is_known_before_a_row_that_begins_with_the_first_instruction() -> None:
    first = "ld.shared.f32 %f9, [buffer];\n"
    text = HEAD.replace(".visible", ".shared .f32 buffer[4];\n.visible").replace(
        "ld.param", first + "ld.param", 1
    )
    text, _ = rewrite(text + rows(4) + TAIL, f"synthesize-shuffles{{{NO_ALIAS}}}", name="k.ptx")
    lane = text.index("mov.u32 %shfl_b32_0, %laneid;")
    assert lane == text.index("%laneid") - len("mov.u32 %shfl_b32_0, ")
    assert text.count("%laneid") == 1
    assert (
        lane < text.index("%shfl_b32_0, 1;") < text.index("bra $shfl_loads_0") < text.index("%f9, [buffer]")
    )


def test_halves_of_type_f16_are_the_target_of_no_conversion_to_integers() -> None:
    body = """.reg .f16 %h<9>; mul.wide.u32 %d3, %r1, 2; add.s64 %d4, %d1, %d3;
ld.global.nc.b16 %h1, [%d4]; ld.global.nc.b16 %h2, [%d4+2];"""
    text, _ = made(body)
    assert re.search(r"mov\.b32 \{%h2, %shfl_b16_\d+\}, %shfl_b32_\d+;", text)


def test_edges_have_no_hint_that_only_loads_of_32_bytes_may_have() -> None:
    words = [", ".join(f"%f{8 * row + n}" for n in range(1, 9)) for row in (0, 1)]
    body = "mul.wide.u32 %d3, %r1, 32; add.s64 %d4, %d1, %d3;\n"
    body += "".join(
        f"ld.global.nc.L1::evict_last.L2::evict_first.v8.b32 {{{each}}}, [%d4+{32 * row}];"
        for row, each in enumerate(words)
    )
    text, _ = made(body)
    found = re.findall(r"@%shfl_pred_\d+ (ld\.[\w.:]+)", text)
    assert found == ["ld.global.nc.L1::evict_last.v4.b32"] * 2


def test_a_function_with_rings_is_left_as_it_is() -> None:
    # The last load lies too far away for the ring of the others, and behind their row.
    far = "".join(f"ld.global.nc.f32 %f{60 + n}, [%d4+{4096 * n}];" for n in range(1, 20))
    body = rows(-80, 4) + far + "ld.global.nc.f32 %f50, [%d4+80];"
    text, remarks = made(body)
    assert any("the first and the last lanes would be the same" in remark.text for remark in remarks)
    again, remarks = rewrite(text, "synthesize-shuffles{always=true shape=rings}", name="k.ptx")
    assert again == text
    assert any("the pass has been here before" in remark.text for remark in remarks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("shape=squares", "shape is one of"),
        ("max_delta=32", "max_delta"),
        ("variant=wrong", "variant is one of"),
    ],
)
def test_bad_options_are_named(options: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        made("", options)


def test_only_measured_architectures_choose() -> None:
    assert set(architectures()) == {90}
    text = (HEAD + rows(*(s * 4 * n for n in range(1, 9) for s in (1, -1))) + TAIL).replace("sm_90", "sm_100")
    output, remarks = rewrite(text, "synthesize-shuffles", name="k.ptx")
    assert output == text
    assert any("what it costs on sm_100 has not been measured" in remark.text for remark in remarks)
    assert parse(SourceFile("k.ptx", output)).kernels
