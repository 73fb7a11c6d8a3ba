"""Which loads go round in a ring, and what its edges load: nothing that the program does not."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.passes.shuffle_cost import architectures
from comprehensive.ptx.passes.synthesize_shuffles import SynthesizeShuffles
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


def test_what_is_computed_of_a_load_stands_behind_the_branch() -> None:
    body = """mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3;
ld.global.nc.f32 %f1, [%d4]; mul.f32 %f9, %f1, %f1;
ld.global.nc.f32 %f2, [%d4+4];"""
    text, _ = made(body)
    assert text.index("bra $shfl_loads_0") < text.index("mul.f32 %f9")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("shape=squares", "shape is one of"),
        ("max_delta=32", "max_delta"),
        ("variant=wrong", "variant is one of"),
    ],
)
def test_bad_options_are_named(options: str, message: str) -> None:
    names = dict(each.split("=") for each in options.split())
    given = {name: int(value) if value.isdigit() else value for name, value in names.items()}
    with pytest.raises(ValueError, match=message):
        SynthesizeShuffles(**given)  # type: ignore[arg-type]


def test_only_measured_architectures_choose() -> None:
    assert set(architectures()) == {90}
    text = (HEAD + rows(*(s * 4 * n for n in range(1, 9) for s in (1, -1))) + TAIL).replace("sm_90", "sm_100")
    output, remarks = rewrite(text, "synthesize-shuffles", name="k.ptx")
    assert output == text
    assert any("what it costs on sm_100 has not been measured" in remark.text for remark in remarks)
    assert parse(SourceFile("k.ptx", output)).kernels
