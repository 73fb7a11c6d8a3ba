"""The C source with compiled kernels: compiled as strictly as C can be, and linked with a runtime that writes down."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.codegen.acceptance import accepts_image
from comprehensive.data import spec_directory
from comprehensive.diagnostics import GeneratedCodeError
from comprehensive.driver import compile_file
from comprehensive.embedding.compiled import KernelCompiler
from comprehensive.embedding.embedded import Embedded, embedded
from comprehensive.embedding.targets import targets_of
from comprehensive.generate import source_texts
from comprehensive.plan.plan import ProgramPlan
from comprehensive.toolchain.nvcc import Tool
from tests import compiled_specs
from tests.compiled_specs import OPTIONS
from tests.unit.embedding.programs import HELPERS, TABLE
from tests.unit.embedding.recorded import launches

JACOBI = spec_directory() / "jacobi1d.mf"


def _source(plan: ProgramPlan, passes: str = "") -> tuple[Embedded, dict[str, str]]:
    compiler = KernelCompiler.find(passes, None)
    return embedded(plan, targets_of("sm_90,ptx"), compiler, "0"), source_texts(plan)


@cache
def _jacobi() -> tuple[Embedded, dict[str, str]]:
    return _source(compiled_specs.compiled("jacobi1d").plan)


@pytest.mark.toolchain
def test_each_leaf_and_tile_is_launched_from_the_image(nvcc: Tool, tmp_path: Path) -> None:
    call = "jacobi1d_launch_explained(0, 2, 1026, 0, &(jacobi1d_params){{ 2, 64, {} }}, 0, &why)"
    lines = launches(_jacobi(), nvcc, tmp_path, [call.format(tile) for tile in (0, 1, 2)])
    # The container is loaded once, whatever is launched.
    assert [line for line in lines if line.startswith("load")] == ["load ba55ed50"]
    assert [line for line in lines if line.startswith("status")] == ["status 0"] * 3
    launched = [line.split()[1:] for line in lines if line.startswith("launch")]
    assert launched[:2] == [["jacobi1d_leaf0", "8,1,1", "64,1,1", "1032"]] * 2
    sizes = [symbol for symbol, *_ in launched[2:]]
    assert all("jacobi1d_tileILi256ELi4ELi8E" in symbol for symbol in sizes[:2])
    assert all("jacobi1d_tileILi128ELi1ELi16E" in symbol for symbol in sizes[2:])
    symbols = {usage for kernels in _jacobi()[0].kernels for usage in kernels.usages}
    assert {symbol for symbol, *_ in launched} <= symbols


@pytest.mark.toolchain
def test_refusals_are_those_of_the_header(nvcc: Tool, tmp_path: Path) -> None:
    lines = launches(
        _jacobi(),
        nvcc,
        tmp_path,
        [
            "jacobi1d_launch(2, 1026, 0, &(jacobi1d_params){ 0, 64, 0 }, 0)",  # CF_EPARAMETER
            "jacobi1d_launch(2, 10000, 0, &(jacobi1d_params){ 1, 2048, 0 }, 0)",  # CF_ELIMIT or no variant
            "jacobi1d_launch(0, 1026, 0, 0, 0)",  # nothing to do
        ],
    )
    assert lines[0] == "status 2"
    assert lines[1] in ("status 1", "status 5")
    assert lines[2:] == ["status 0"]


@pytest.mark.toolchain
def test_host_code_is_c_with_helpers_that_no_other_file_sees(nvcc: Tool, tmp_path: Path) -> None:
    source = tmp_path / "helpers.mf"
    source.write_text(HELPERS)
    folder = tmp_path / "run"
    folder.mkdir()
    made = _source(compile_file(source, OPTIONS).plan)
    lines = launches(made, nvcc, folder, ["helpers_launch(10, 0, &(helpers_params){ 4, 0 }, 0)"])
    assert lines[-1] == "status 0"
    assert any("launch helpers_leaf" in line for line in lines)
    # Its host code leaves the loop early: 10 / 4 rounded up is 3 turns, of which it does two.
    assert sum(line.startswith("launch") for line in lines) == 2
    text = made[0].text
    assert "static int rounded" in text
    assert "static int limits[2]" in text
    assert "static struct pair" not in text
    assert "static enum" not in text
    assert "namespace" not in text


@pytest.mark.toolchain
def test_constant_arrays_are_found_in_the_image(nvcc: Tool, tmp_path: Path) -> None:
    source = tmp_path / "table.mf"
    source.write_text(TABLE)
    folder = tmp_path / "run"
    folder.mkdir()
    made = _source(compile_file(source, OPTIONS).plan)
    lines = launches(made, nvcc, folder, ["table_launch(10, 0, 0, &(table_params){ 32, 0 }, 0)"])
    assert "table cf_table_weight" in lines
    assert lines[-1] == "status 0"
    assert b"cf_table_weight" in made[0].kernels[0].cubin


@pytest.mark.toolchain
def test_the_same_bytes_each_time(nvcc: Tool) -> None:
    assert nvcc.path
    assert _source(compile_file(JACOBI, OPTIONS).plan)[0].text == _jacobi()[0].text


@pytest.mark.toolchain
def test_counters_and_manifest_are_those_behind_the_passes(nvcc: Tool, tmp_path: Path) -> None:
    assert nvcc.path
    passes = "synthesize-shuffles{always=true}"
    words = ["gen", str(JACOBI), "-o", str(tmp_path), "--no-verify", "--passes", passes]
    assert CliRunner().invoke(cli, words).exit_code == 0
    document = json.loads((tmp_path / "jacobi1d.json").read_text())
    compiled = document["embedded"]
    assert (compiled["targets"], compiled["passes"]) == (["sm_90", "ptx"], passes)
    assert f"passes {passes}" in document["resources"]["from"]
    registers = {kernel["symbol"]: kernel["registers_per_thread"] for kernel in compiled["kernels"]}
    leaves = document["functions"][0]["regions"][0]["leaves"]
    for leaf in leaves:
        assert leaf["resources"]["registers_per_thread"] == registers[leaf["kernel"]["name"]]
    applied = [r for k in compiled["kernels"] for r in k["remarks"] if r["kind"] == "applied"]
    assert applied
    assert "shfl" in _source(compiled_specs.compiled("jacobi1d").plan, passes)[0].kernels[0].ptx
    assert "jacobi1d_embedded.c" in document["outputs"]


@pytest.mark.toolchain
def test_a_c_compiler_reads_what_is_embedded(nvcc: Tool, tmp_path: Path) -> None:
    image, texts = _jacobi()
    header = {name: text for name, text in texts.items() if name.endswith(".h")}
    assert accepts_image(image.name, {**header, image.name: image.text}, tmp_path, nvcc)
    spoilt = image.text.replace("static int jacobi1d_leaf0_run(", "static int jacobi1d_leaf0_run(int, ", 1)
    assert spoilt != image.text
    with pytest.raises(GeneratedCodeError) as raised:
        accepts_image(image.name, {**header, image.name: spoilt}, tmp_path, nvcc)
    assert [d.code for d in raised.value.diagnostics] == ["CF0630"]
    # What the user's own lines do is nothing that can be said here.
    users = f'{image.text}\n#line 1 "jacobi1d.mf"\nint *own = (int *)1.5;\n'
    assert not accepts_image(image.name, {**header, image.name: users}, tmp_path, nvcc)
