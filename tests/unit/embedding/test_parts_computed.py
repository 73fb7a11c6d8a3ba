"""A launch in parts of several versions computes what one whole launch does, in the PTX interpreter."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comprehensive.codegen.cuda import program_unit
from comprehensive.diagnostics import SourceFile
from comprehensive.driver import compile_file
from comprehensive.embedding.adaptive import adaptive
from comprehensive.embedding.compiled import CompiledKernels, KernelCompiler
from comprehensive.embedding.parts import NUMBERED, in_parts, of_one_size
from comprehensive.embedding.subjects import subjects_of
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.machine.device import load_device
from comprehensive.plan.versions import ORIGINAL, Adaptation, Candidate, Version, version_symbol
from comprehensive.ptx.interpreter import run as interpret
from comprehensive.ptx.module import Module, parse
from comprehensive.records import replace
from tests import compiled_specs
from tests.examples import quick_of

pytestmark = pytest.mark.toolchain
CAP = "register-cap{registers=24}"
PERSISTENT = "grid-stride{warps=8}"
# Each block stages what it reads in shared memory, and writes what it has read.
STAGED = """
void f(int n, float a[n], const float b[n], int B) {
  int dim = n / B;
  meta_schedule cache(a) {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++) {
        a[i * B + u] = a[i * B + u] * 0.5f + b[i * B + u];
        a[i * B + u] = a[i * B + u] + b[i * B + u] * a[i * B + u];
      }
  }
}
"""
# What a second run of a block would change again: to each element one is added, and it is doubled.
IN_PLACE = """
void f(int n, int a[n], int B) {
  int dim = (n + B - 1) / B;
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++)
        if (i * B + u < n) a[i * B + u] = 2 * a[i * B + u] + 1;
  }
}
"""
# Blocks in two directions, with a slice that is cut at both ends.
TURNED = """
void f(int n, int m, const float a[n][m], float b[m][n], int B0, int B1) {
  int rows = (n + B0 - 1) / B0, columns = (m + B1 - 1) / B1;
  meta_schedule {
    meta_for (int i = 0; i < rows; i++)
      meta_for (int j = 0; j < columns; j++)
        meta_for (int u = 0; u < B0; u++)
          meta_for (int v = 0; v < B1; v++)
            if (i * B0 + u < n && j * B1 + v < m) b[j * B1 + v][i * B0 + u] = a[i * B0 + u][j * B1 + v];
  }
}
"""
# Threads walk through lines of memory, for which persistent blocks are tried.
WALKING = """
void f(int n, int m, int a[n][m], int B) {
  int dim = (n + B - 1) / B;
  meta_schedule {
    meta_for (int i = 0; i < dim; i++)
      meta_for (int u = 0; u < B; u++)
        if (i * B + u < n)
          for (int k = 1; k < m; k++) a[i * B + u][k] = a[i * B + u][k] - a[i * B + u][k - 1];
  }
}
"""
PROGRAMS = {"staged": STAGED, "in place": IN_PLACE, "turned": TURNED}
SIZES = {"n": 203, "m": 37, "B": 16, "B0": 4, "B1": 8, "rows": 51, "columns": 5, "dim": 12}


@cache
def _made(name: str, directory: Path) -> tuple[Kernel, CompiledKernels, tuple[str, ...]]:
    """The leaf with the most in shared memory, all kernels, and the symbols of its versions: first the original's."""
    source = directory / "f.mf"
    source.write_text(PROGRAMS[name], encoding="utf-8")
    plan = compile_file(source, compiled_specs.OPTIONS).plan
    (function,) = plan.functions
    leaves = [leaf.kernel for leaf in function.regions[0].leaves]
    leaf = max(leaves, key=lambda each: each.shared_words.evaluate(SIZES))
    assert (leaf.shared_words.evaluate(SIZES) > 0) == (name != "in place")
    versions = (ORIGINAL, *(Version.of(pipeline, [(leaf.name, ())]) for pipeline in (CAP, PERSISTENT)))
    tried = replace(
        function, versions=versions, adaptation=Adaptation((Candidate(0), Candidate(1), Candidate(2)), 1)
    )
    compiler = KernelCompiler.find("", None)
    plain = compiler.compile(program_unit(plan), "sm_90")
    subjects = {
        symbol: of_one_size(subject)
        for symbol, subject in subjects_of(plan, plain, compiler.assembler, load_device("h200")).items()
    }
    found = in_parts(tried, subjects, dict.fromkeys(subjects, ""))
    assert found.adaptation is not None
    assert [version.name for version in found.versions] == ["", f"{CAP},{NUMBERED}", PERSISTENT, NUMBERED]
    assert found.adaptation.parts == 3
    compiled = compiler.compile(program_unit(plan), "sm_90", versions=found.versions)
    symbols = tuple(version_symbol(number, leaf.name) for number in (3, 1, 2))
    assert all(compiled.has_numbers(symbol) for symbol in symbols)
    return leaf, compiled, symbols


def _arguments(kernel: Kernel, draw: np.random.Generator) -> list[Any]:
    values: Mapping[str, int] = {
        **SIZES,
        "a_stride0": SIZES["m"],
        "b_stride0": SIZES["n"],
        "c_stride0": SIZES["n"],
    }
    elements = SIZES["n"] * SIZES["m"]
    return [
        draw.integers(0, 1 << 10, elements).astype(np.int32 if parameter.type.value == "int" else np.float32)
        if parameter.pointer
        else values[parameter.name]
        for parameter in kernel.parameters
    ]


@pytest.mark.parametrize("name", quick_of(PROGRAMS, {"staged", "turned"}))
def test_parts_of_several_versions_compute_what_one_launch_does(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    leaf, compiled, symbols = _made(name, tmp_path_factory.mktemp("computed"))
    module: Module = parse(SourceFile("f.ptx", compiled.ptx))
    block, extents = (
        ((8, 4), (5, 51, 1)) if name == "turned" else ((16,), (12 if name == "staged" else 13, 1, 1))
    )
    bytes_of_block = 4 * int(leaf.shared_words.evaluate(SIZES))
    whole = _arguments(leaf, np.random.default_rng(1))
    interpret(module, leaf.name, extents, block, whole, shared_bytes=bytes_of_block)
    before = _arguments(leaf, np.random.default_rng(1))
    assert any(not np.array_equal(one, other) for one, other in zip(whole, before, strict=True))
    blocks = extents[0] * extents[1]
    for seed in range(3):
        draw = random.Random(seed)
        cuts = sorted(draw.sample(range(1, blocks), 4))
        found = _arguments(leaf, np.random.default_rng(1))
        for first, end, version in zip((0, *cuts), (*cuts, blocks), (0, 0, 1, 2, 1), strict=True):
            numbers = [first, end, *extents]
            at_a_time = draw.randrange(1, end - first + 1)
            interpret(
                module, symbols[version], at_a_time, block, [*found, *numbers], shared_bytes=bytes_of_block
            )
        for one, other in zip(found, whole, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.slow
def test_kernels_that_are_tried_have_numbers_and_blocks_of_one_size(tmp_path: Path) -> None:
    source = tmp_path / "f.mf"
    source.write_text(WALKING, encoding="utf-8")
    plan = compile_file(source, compiled_specs.OPTIONS).plan
    (function,) = plan.functions
    # Each instance of a tile would be compiled and predicted: leaves show the same.
    leaves = replace(function, regions=tuple(replace(region, tilings=()) for region in function.regions))
    plan = replace(plan, functions=(leaves,))
    compiler, device = KernelCompiler.find("", None), load_device("h200")
    (function,) = adaptive(plan, compiler, device, parts=True).functions
    adaptation = function.adaptation
    assert adaptation is not None
    assert function.versions[adaptation.parts].name == NUMBERED
    assert {candidate.threads for candidate in adaptation.candidates} == {0}
    for candidate in adaptation.candidates[1:]:
        assert all(NUMBERED in pipeline for _, pipeline in function.versions[candidate.version].pipelines)
    (whole,) = adaptive(plan, compiler, device).functions
    assert whole.adaptation is not None
    assert whole.adaptation.parts == 0
