"""Blocks as numbers: kernels compute the same in any parts, on any number of blocks, in any order of threads."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.diagnostics import CommandLineError, CompileError, SourceFile
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import demand_same_launches, passes_of
from comprehensive.ptx.passes.remark import GRID_PARAMETERS, Kind, fact_of
from comprehensive.ptx.pipeline import Stage, run
from comprehensive.ptx.statements import Statement
from comprehensive.ptx.validate import validated
from comprehensive.toolchain.cache import Cache
from tests.examples import quick_of, seeds
from tests.ptx.corpus import Source, compiled, sources
from tests.ptx.many_values import many_values
from tests.ptx.runs import DTYPES, Buffer, Run, drawn

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 .ptr .global .align 16 a, .param .u32 n)
{
.reg .pred %p<3>;
.reg .b32 %r<12>;
.reg .b64 %rd<3>;
.shared .align 4 .b8 row[256];
BODY
ret;
}
"""
# A thread reads what its neighbour wrote, and writes it to the place of its block along y, then z, then x.
NEIGHBOURS = """
ld.param.u64 %rd1, [a];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %nctaid.x;
mov.u32 %r4, %ctaid.y;
mov.u32 %r5, %nctaid.y;
mov.u32 %r6, %ctaid.z;
mad.lo.u32 %r7, %r2, 2, %r6;
mad.lo.u32 %r7, %r7, %r5, %r4;
setp.eq.u32 %p1, %r2, %r3;
@%p1 ret;
mov.u32 %r8, row;
shl.b32 %r9, %r1, 2;
add.u32 %r10, %r8, %r9;
mad.lo.u32 %r11, %r7, 1000, %r1;
st.shared.u32 [%r10], %r11;
bar.sync 0;
xor.b32 %r9, %r9, 4;
add.u32 %r10, %r8, %r9;
ld.shared.u32 %r11, [%r10];
mov.u32 %r10, %ntid.x;
mad.lo.u32 %r7, %r7, %r10, %r1;
mul.wide.u32 %rd2, %r7, 4;
add.s64 %rd1, %rd1, %rd2;
st.global.u32 [%rd1], %r11;
"""


def _strided(module: Module) -> Stage:
    (stage,) = run(module, passes_of("grid-stride"))
    return stage


def _in_parts(
    module: Module,
    kernel: str,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Any],
    draw: random.Random,
    **how: Any,
) -> None:
    """Launch all blocks in parts, each on some blocks."""
    count = prod(grid)
    cuts = sorted(draw.randrange(count + 1) for _ in range(draw.randrange(3)))
    for first, end in zip((0, *cuts), (*cuts, count), strict=True):
        extents = (*grid, 1, 1)[:3]
        interpret(module, kernel, draw.randrange(1, 4), block, [*arguments, first, end, *extents], **how)


@pytest.mark.parametrize("seed", seeds(40))
def test_random_kernels_compute_the_same_in_parts(seed: int) -> None:
    draw = random.Random(seed)
    module = parse(SourceFile("many.ptx", many_values(draw)))
    stage = _strided(module)
    assert fact_of(GRID_PARAMETERS, stage.remarks, "f") == 5
    block, grid = draw.choice(((32,), (7, 5), (3, 5, 4))), draw.randrange(1, 8)
    expected = np.zeros(1 << 17, np.uint8)
    found = expected.copy()
    interpret(module, "f", grid, block, [expected, prod(block)])
    _in_parts(stage.after, "f", (grid,), block, [found, prod(block)], draw, drawn=draw.choice((None, seed)))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("seed", range(6))
def test_blocks_in_three_directions_share_memory_one_after_the_other(seed: int) -> None:
    draw = random.Random(seed)
    module = parse(SourceFile("f.ptx", KERNEL.replace("BODY", NEIGHBOURS)))
    stage = _strided(module)
    assert stage.after is not module
    expected = np.zeros(64 * 3 * 4 * 2, np.uint32)
    found = expected.copy()
    interpret(module, "f", (3, 4, 2), 64, [expected, 0])
    assert np.count_nonzero(expected) == expected.size - 1
    _in_parts(stage.after, "f", (3, 4, 2), (64,), [found, 0], draw, drawn=draw.choice((None, seed)))
    assert np.array_equal(found, expected)


def test_without_the_barrier_between_blocks_the_test_above_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> Iterator[Statement]:
        return iter(())

    monkeypatch.setattr("comprehensive.ptx.passes.grid_stride._settled", nothing)
    module = parse(SourceFile("f.ptx", KERNEL.replace("BODY", NEIGHBOURS)))
    stage = _strided(module)
    expected = np.zeros(64 * 3 * 4 * 2, np.uint32)
    interpret(module, "f", (3, 4, 2), 64, [expected, 0])
    wrong = 0
    for seed in range(8):
        found = np.zeros_like(expected)
        interpret(stage.after, "f", 1, 64, [found, 0, 0, 24, 3, 4, 2], drawn=seed)
        wrong += not np.array_equal(found, expected)
    assert wrong


@pytest.mark.toolchain
@pytest.mark.parametrize(
    "source",
    quick_of(
        sources("shuffles")[:6] + sources("demotion"), {"divergence", "gradient", "planes"}, lambda s: s.name
    ),
    ids=lambda source: source.name,
)
def test_compiled_kernels_compute_the_same_in_parts(
    source: Source, tmp_path: Path, corpus_cache: Cache
) -> None:
    ptx = compiled(source, "sm_90", tmp_path, cache=corpus_cache)
    module = parse(SourceFile(ptx.name, ptx.read_text(encoding="utf-8")))
    stage = _strided(module)
    assert all(remark.kind is Kind.APPLIED for remark in stage.remarks)
    for each in source.runs:
        expected, found = _arguments(each), _arguments(each)
        interpret(module, each.kernel, each.grid, each.block, expected, shared_bytes=each.smem_bytes)
        _in_parts(
            stage.after,
            each.kernel,
            each.grid,
            each.block,
            found,
            random.Random(1),
            shared_bytes=each.smem_bytes,
        )
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one, other)


def _arguments(each: Run) -> list[Any]:
    return [
        np.frombuffer(bytearray(contents), DTYPES[argument.type])
        if isinstance(argument, Buffer)
        else contents
        for argument, contents in zip(each.arguments, drawn(each), strict=True)
    ]


def _one_less(extents: Iterable[int]) -> int:
    return max(0, prod(extents) - 1)


def test_validation_launches_parts_and_finds_a_block_that_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = parse(SourceFile("f.ptx", KERNEL.replace("BODY", NEIGHBOURS)))
    run(module, passes_of("grid-stride"), (validated(pointers={"f": (True, False)}.get),))
    monkeypatch.setattr("comprehensive.ptx.validate.prod", _one_less)
    with pytest.raises(CompileError) as raised:
        run(module, passes_of("grid-stride"), (validated(pointers={"f": (True, False)}.get),))
    assert raised.value.diagnostics[0].code == "CF1025"


@pytest.mark.parametrize("pipeline", ["grid-stride", "dce,demote-registers{dynamic=allow}"])
def test_launchers_of_others_cannot_have_passes_that_change_launches(pipeline: str) -> None:
    with pytest.raises(CommandLineError) as raised:
        demand_same_launches(passes_of(pipeline))
    assert raised.value.diagnostics[0].code == "CF1028"
    demand_same_launches(passes_of("demote-registers,dce"))
