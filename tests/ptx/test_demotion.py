"""Demoted values: kernels compute what they did, in every block, and ptxas no longer spills."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.analysis.liveness import Liveness
from comprehensive.ptx.build import Build, Limits
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.demotion_values import Value
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.remark import Kind, Remark
from comprehensive.ptx.passes.slot_coloring import Coloring
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.printer import print_module
from comprehensive.ptx.validate import validated
from comprehensive.toolchain.assembler import find_assembler
from comprehensive.toolchain.cache import Cache
from tests.examples import quick_of, seeds
from tests.ptx.corpus import Source, compiled, sources
from tests.ptx.grudging import Grudging
from tests.ptx.launched import launched as launched_run
from tests.ptx.many_values import launched, many_values

BLOCKS = ((1,), (32,), (40,), (7, 5), (33, 2), (3, 5, 4), (4, 4, 8), (100,))
STRATEGIES = ("pressure", "static", "liverange", "conflicts")


def _demoted(
    text: str, options: str, block: Sequence[int], grudging: Grudging | None = None
) -> tuple[Module, Module, tuple[Remark, ...]]:
    build = Build(grudging or Grudging(), limits=Limits(block=tuple(block)))
    module = parse(SourceFile("many.ptx", text))
    (stage,) = run(module, passes_of(f"demote-registers{{{options}}}"), (), build)
    return module, stage.after, stage.remarks


def _facts(remarks: Sequence[Remark]) -> Mapping[str, int]:
    return dict(next((remark.facts for remark in remarks if remark.facts), ()))


@pytest.mark.parametrize("seed", seeds(30))
def test_demoted_kernels_compute_the_same_in_blocks_of_all_shapes(seed: int) -> None:
    draw = random.Random(seed)
    text, block, grid = many_values(draw), draw.choice(BLOCKS), draw.randrange(1, 4)
    dynamic = draw.random() < 0.4
    options = f"target={draw.choice((24, 28, 32, 40))} strategy={draw.choice(STRATEGIES)}"
    if dynamic:
        # The size of the block is not stated, so that only the end of dynamic memory is left.
        before, after, remarks = _demoted(text, f"{options} dynamic=allow", ())
    else:
        before, after, remarks = _demoted(text, options, block)
    assert (after is before) == all(remark.kind is Kind.MISSED for remark in remarks)
    warps = -(-int(np.prod(block)) // 32)
    more = warps * _facts(remarks).get("dynamic_shared_bytes_per_warp", 0)
    assert bool(more) == (dynamic and after is not before)
    expected = launched(before, grid, block, 0)
    for drawn in (None, seed):
        assert np.array_equal(launched(after, grid, block, more, drawn), expected), text


def test_values_of_every_width_are_demoted_in_random_kernels() -> None:
    types: set[str] = set()
    guarded = 0
    for seed in range(8):
        _, after, remarks = _demoted(many_values(random.Random(seed)), "target=24", (64,))
        types |= {remark.text[1] for remark in remarks if "goes to slot" in remark.text}
        guarded += len(re.findall(r"%p\d st\.(?:volatile\.)?shared", print_module(after)))
    assert types >= set("rfdwh")
    assert guarded > 8


def test_one_slot_for_all_values_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def one(values: Sequence[Value], live: Liveness, most: int) -> Coloring:
        return Coloring({value.register.number: (0,) * value.words for value in values}, ())

    monkeypatch.setattr("comprehensive.ptx.passes.demotion_plan.slots_of", one)
    wrong = 0
    for seed in range(10):
        before, after, _ = _demoted(many_values(random.Random(seed)), "target=24", (40,))
        try:
            wrong += not np.array_equal(launched(after, 1, (40,), 0), launched(before, 1, (40,), 0))
        except CompileError:  # an address was among the values
            wrong += 1
    assert wrong >= 8


SOURCES = sources("demotion")


@pytest.mark.toolchain
@pytest.mark.parametrize("arch", ["sm_90", pytest.param("sm_100", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "target", ["48", *(pytest.param(t, marks=pytest.mark.slow) for t in ("64", "next-cliff"))]
)
@pytest.mark.parametrize(
    "source", quick_of(SOURCES, {"planes"}, lambda s: s.name), ids=lambda source: source.name
)
def test_kernels_with_many_values_no_longer_spill_and_compute_the_same(
    source: Source, target: str, arch: str, tmp_path: Path, corpus_cache: Cache
) -> None:
    ptx = compiled(source, arch, tmp_path, cache=corpus_cache)
    build = Build(find_assembler())
    module = parse(SourceFile(ptx.name, ptx.read_text(encoding="utf-8")))
    (stage,) = run(module, passes_of(f"demote-registers{{target={target} dynamic=allow}}"), (), build)
    assert stage.after is not module
    usages = build.usages(stage.after)
    assert usages.keys() == module.kernels.keys()
    if target != "next-cliff":
        assert all(usage.registers_per_thread <= int(target) for usage in usages.values())
    assert all(usage.spill_store_bytes + usage.spill_load_bytes == 0 for usage in usages.values())
    path = tmp_path / "demoted.ptx"
    path.write_text(print_module(stage.after), encoding="utf-8")
    for each in source.runs:
        facts = _facts([remark for remark in stage.remarks if remark.function == each.kernel])
        warps = -(-int(np.prod(each.block)) // 32)
        more = warps * facts.get("dynamic_shared_bytes_per_warp", 0)
        assert launched_run(each, path, more) == launched_run(each, ptx)


HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
LIVE = """.reg .b32 %r<3>;
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [a];
mov.u32 %r1, %tid.x;
BETWEEN
bar.sync 0;
st.global.b32 [%rd1], %r1;
ret;
}
"""


def _why(between: str, build: Build) -> str:
    body = LIVE.replace("BETWEEN", between)
    text = f"{HEAD}.visible .entry f(.param .u64 .ptr .global .align 16 a)\n.maxntid 64\n{{\n{body}"
    module = parse(SourceFile("f.ptx", text))
    (stage,) = run(module, passes_of("demote-registers{target=64}"), (), build)
    assert stage.after is module
    (remark,) = stage.remarks
    assert remark.kind is Kind.MISSED
    return remark.text


@pytest.mark.parametrize(
    ("between", "grudging", "why"),
    [
        ("", None, "there is no assembler"),
        (
            "setmaxnreg.inc.sync.aligned.u32 64;",
            Grudging(),
            "'setmaxnreg.inc.sync.aligned.u32' decides over registers",
        ),
        (
            "proto: .callprototype _ ();\ncall %rd2, proto;",
            Grudging(),
            "it calls a function through a pointer",
        ),
        ("", Grudging(shared_bytes=48 * 1024), "leave no room for one slot of 2 warps"),
        ("", Grudging(registers=40), "it takes 40, not more than 64"),
        ("mov.u32 %r2, %dynamic_smem_size;", Grudging(), "it asks how much shared memory it has"),
    ],
)
def test_kernels_that_must_stay_as_they_are_are_named_with_the_reason(
    between: str, grudging: Grudging | None, why: str
) -> None:
    assert why in _why(between, Build(grudging))


def test_dynamic_memory_is_declared_once_for_all_kernels() -> None:
    kernels = (many_values(random.Random(seed)) for seed in range(2))
    one, other = (text[text.index(".visible") :] for text in kernels)
    text = HEAD.replace("sm_90a", "sm_90") + one + other.replace(".entry f(", ".entry g(")
    _, after, remarks = _demoted(text, "target=24 dynamic=allow", ())
    assert {remark.function for remark in remarks if remark.facts} == {"f", "g"}
    assert print_module(after).count(".extern .shared") == 1
    again = parse(SourceFile("again.ptx", print_module(after)))
    assert list(again.variables) == ["demoted_at_the_end"]


@pytest.mark.parametrize("options", ["dynamic=allow", ""])
def test_validation_launches_with_the_memory_that_is_asked_for(
    options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("comprehensive.ptx.validate._SHARED_BYTES", 0)
    block = () if options else (64,)
    told: list[Remark] = []
    text = many_values(random.Random(5)).replace(".param .u32 n)", ".param .u32 n)\n.reqntid 64")
    if options:
        text = text.replace("\n.reqntid 64", "")
    build = Build(Grudging(), limits=Limits(block=block))
    module = parse(SourceFile("many.ptx", text))
    passes = passes_of(f"demote-registers{{target=24 {options}}}")
    (stage,) = run(module, passes, (validated(told=told.append),), build)
    assert stage.after is not module
    assert told == []
