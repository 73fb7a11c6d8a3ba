"""Demoted values of functions that are called: programs compute what they did, however their stack is compressed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError, SourceFile
from comprehensive.ptx.build import Build, Limits
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.remark import Remark
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.assembler import find_assembler
from comprehensive.toolchain.cache import Cache
from tests.examples import quick_of, seeds
from tests.ptx.corpus import Source, compiled, sources
from tests.ptx.grudging import Grudging
from tests.ptx.launched import launched as launched_run
from tests.ptx.many_values import launched, many_calls

BLOCKS = ((1,), (32,), (40,), (7, 5), (33, 2), (3, 5, 4))
FRAMES = ("none", "direct", "least", "room")


def _demoted(
    text: str, options: str, build: Build
) -> tuple[Module, Module, tuple[Remark, ...], Mapping[str, int]]:
    module = parse(SourceFile("many.ptx", text))
    (stage,) = run(module, passes_of(f"demote-registers{{{options}}}"), (), build)
    facts = next((remark.facts for remark in stage.remarks if remark.facts), ())
    return module, stage.after, stage.remarks, dict(facts)


@pytest.mark.parametrize("seed", seeds(16))
def test_demoted_programs_with_calls_compute_the_same_in_blocks_of_all_shapes(seed: int) -> None:
    draw = random.Random(seed)
    text, block = many_calls(draw), draw.choice(BLOCKS)
    warps = -(-int(np.prod(block)) // 32)
    dynamic = draw.random() < 0.3
    # Room for few slots, so that the stack is compressed, and then holds less.
    slots = draw.choice((5, 15, 25, 1000))
    grudging = Grudging(shared_bytes=max(0, 48 * 1024 - 128 * warps * slots))
    options = f"target={draw.choice((24, 32, 40))} frames={draw.choice(FRAMES)}"
    if dynamic:
        before, after, _, facts = _demoted(text, f"{options} dynamic=allow", Build(grudging))
    else:
        before, after, _, facts = _demoted(text, options, Build(grudging, limits=Limits(block=block)))
        assert facts.get("slots", 0) <= slots
    # So few slots may be none for each of several functions.
    assert after is not before or slots == 5
    more = warps * facts.get("dynamic_shared_bytes_per_warp", 0)
    assert bool(more) == (dynamic and after is not before)
    expected = launched(before, 1, block, 0)
    for drawn in (None, seed):
        assert np.array_equal(launched(after, 1, block, more, drawn), expected), text


def test_words_that_are_not_moved_out_of_the_way_of_a_callee_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("comprehensive.ptx.passes.stack_frames.moves", lambda _call, _places: ())
    wrong = 0
    for seed in range(6):
        build = Build(Grudging(), limits=Limits(block=(3,)))
        before, after, _, _ = _demoted(many_calls(random.Random(seed)), "target=24 frames=direct", build)
        try:
            wrong += not np.array_equal(launched(after, 1, (3,), 0), launched(before, 1, (3,), 0))
        except CompileError:  # an address was among the words
            wrong += 1
    assert wrong >= 2


SOURCES = sources("frames")


@pytest.mark.toolchain
@pytest.mark.parametrize(
    "frames", ["least", *(pytest.param(f, marks=pytest.mark.slow) for f in FRAMES if f != "least")]
)
@pytest.mark.parametrize("arch", ["sm_90", pytest.param("sm_100", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "source", quick_of(SOURCES, {"tree"}, lambda s: s.name), ids=lambda source: source.name
)
def test_programs_with_calls_spill_less_than_with_a_limit_alone_and_compute_the_same(
    source: Source, arch: str, frames: str, tmp_path: Path, corpus_cache: Cache
) -> None:
    ptx = compiled(source, arch, tmp_path, cache=corpus_cache)
    build = Build(find_assembler())
    options = f"target=32 frames={frames}"
    module, after, _, facts = _demoted(ptx.read_text(encoding="utf-8"), options, build)
    assert facts["slots"]
    before = build.usages(parse(SourceFile("capped.ptx", _capped(module))))
    usages = build.usages(after)
    assert usages.keys() == module.kernels.keys()
    for name, usage in usages.items():
        assert usage.registers_per_thread <= 32
        spilled = usage.spill_bytes + usage.called_spill_bytes
        assert spilled < before[name].spill_bytes + before[name].called_spill_bytes
    path = tmp_path / "demoted.ptx"
    path.write_text(print_module(after), encoding="utf-8")
    for each in source.runs:
        assert launched_run(each, path) == launched_run(each, ptx)


def _capped(module: Module) -> str:
    (stage,) = run(module, passes_of("register-cap{registers=32}"), (), Build(find_assembler()))
    return print_module(stage.after)
