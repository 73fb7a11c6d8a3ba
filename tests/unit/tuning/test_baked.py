"""Winners in generated code: taken where device and sizes are the same, and nowhere else."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.data import spec_directory
from comprehensive.diagnostics import CommandLineError
from comprehensive.driver import Compilation, compile_file
from comprehensive.generate import source_texts
from comprehensive.plan.interface import interface
from comprehensive.plan.plan import ProgramPlan
from comprehensive.plan.versions import ORIGINAL, PLAIN, Adaptation, Version
from comprehensive.records import replace
from comprehensive.runtime.cpu import CpuLibrary, build
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from comprehensive.tuning.baked import baked
from comprehensive.tuning.winners import Winner
from tests.compiled_specs import OPTIONS, compiled

needs_compiler = pytest.mark.skipif(find_cxx_compiler() is None, reason="no C++ compiler")
DEVICE = "cpu"


@pytest.fixture(scope="module")
def compilation() -> Compilation:
    return compiled("gemm")


def winner(**changes: Any) -> Winner:
    known: dict[str, Any] = {
        "function": "gemm",
        "device": DEVICE,
        "compute_capability": "9.0",
        "driver": "1",
        "sizes": (("m", 600), ("n", 600), ("k", 64)),
        "parameters": (("B0", 4), ("B1", 8), ("tile", 0)),
        "pipeline": "",
        "leaf": 0,
        "median_us": 12.5,
        "runs": 9,
        "verified": "equal to the serial C",
        "candidates": 3,
    }
    return Winner(**{**known, **changes})


def library(compilation: Compilation, winners: tuple[Winner, ...], folder: Path) -> CpuLibrary:
    return written(baked(compilation.plan, winners).plan, folder)


def written(plan: ProgramPlan, folder: Path) -> CpuLibrary:
    for name, text in source_texts(plan).items():
        (folder / name).write_text(text)
    compiler = find_cxx_compiler()
    assert compiler is not None
    hosts = [interface(function) for function in plan.functions]
    return build(folder / "gemm.cu", folder, hosts, sanitize=False, compiler=compiler)


def leaf_at(built: CpuLibrary, m: int, n: int, k: int) -> int:
    a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    c = np.zeros((m, n), np.float32)
    outcome = built.call("gemm", {"m": m, "n": n, "k": k, "a": a, "b": b, "c": c}, None)
    assert outcome.status == 0
    assert np.all(c == k)
    return outcome.leaf


@needs_compiler
def test_launcher_takes_what_was_measured_at_these_sizes_on_this_device(
    compilation: Compilation, tmp_path: Path
) -> None:
    built = library(compilation, (winner(),), tmp_path)
    assert leaf_at(built, 600, 600, 64) == 0
    tiles = len(compilation.plan.functions[0].regions[0].leaves)
    assert leaf_at(built, 600, 600, 65) >= tiles  # its own choice is a tile


@needs_compiler
def test_winners_of_another_device_change_nothing(compilation: Compilation, tmp_path: Path) -> None:
    built = library(compilation, (winner(device="another"),), tmp_path)
    assert leaf_at(built, 600, 600, 64) > 0


def test_sizes_may_be_called_as_functions_of_the_library_are(tmp_path: Path) -> None:
    compiler = find_c_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "gemm.mf"
    text = (spec_directory() / "gemm.mf").read_text(encoding="utf-8")
    source.write_text(re.sub(r"\bm\b", "strcmp", text), encoding="utf-8")
    sizes = (("strcmp", 600), ("n", 600), ("k", 64))
    plan = baked(compile_file(source, OPTIONS).plan, (winner(sizes=sizes),)).plan
    header = tmp_path / "gemm.h"
    header.write_text(source_texts(replace(plan, single_file=True))["gemm.h"], encoding="utf-8")
    command = (*compiler.command, "-x", "c", "-fsyntax-only", header)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


CAP, SHUFFLES = "register-cap{registers=64}", "synthesize-shuffles"


def test_without_embedded_kernels_a_winner_with_passes_is_left_out_with_a_warning(
    compilation: Compilation,
) -> None:
    found = baked(compilation.plan, (winner(pipeline=CAP),))
    (function,) = found.plan.functions
    assert function == compilation.plan.functions[0]
    assert [d.code for d in found.diagnostics] == ["CF0917"]
    assert CAP in found.diagnostics[0].message
    assert "--embed" in (found.diagnostics[0].help or "")


def sized(m: int, tile: int, pipeline: str = "") -> Winner:
    parameters = (("B0", 4), ("B1", 8), ("tile", tile))
    return winner(sizes=(("m", m), ("n", 600), ("k", 64)), parameters=parameters, pipeline=pipeline)


def test_embedded_kernels_have_a_version_for_each_pipeline_that_a_winner_asks_for(
    compilation: Compilation,
) -> None:
    (before,) = compilation.plan.functions
    winners = (sized(1, 0), sized(2, 0, CAP), sized(3, 1, CAP), sized(4, 2, SHUFFLES))
    found = baked(compilation.plan, winners, embeds=True)
    assert found.diagnostics == ()
    (function,) = found.plan.functions
    assert [version.name for version in function.versions] == ["", CAP, SHUFFLES]
    own = [{kernel for kernel, _ in version.pipelines} for version in function.versions]
    assert own == [set(), {*before.kernels_of(0), *before.kernels_of(1)}, {*before.kernels_of(2)}]
    assert [dict(row.parameters)["version"] for row in function.tuned] == [0, 1, 1, 2]


def test_rows_have_a_value_for_each_member_that_comes_behind_theirs(compilation: Compilation) -> None:
    plan = baked(compilation.plan, (sized(1, 0),)).plan
    (function,) = plan.functions
    later = replace(function, versions=(ORIGINAL, Version.of(CAP, ())), adaptation=Adaptation((), 0))
    header = source_texts(replace(plan, functions=(later,)))["gemm.h"]
    assert '{ "cpu", { 1, 600, 64 }, { 4, 8, 0, 0, 0 } }' in header


def test_winners_without_passes_have_a_version_where_all_kernels_go_through_some(
    compilation: Compilation,
) -> None:
    winners = (sized(1, 0), sized(2, 0, CAP))
    (function,) = baked(compilation.plan, winners, embeds=True, plain=False).plan.functions
    assert [version.name for version in function.versions] == ["", PLAIN, CAP]
    assert {pipeline for _, pipeline in function.versions[1].pipelines} == {""}
    assert [dict(row.parameters)["version"] for row in function.tuned] == [1, 2]


@needs_compiler
def test_the_source_without_versions_runs_the_same_kernels_for_all_of_them(
    compilation: Compilation, tmp_path: Path
) -> None:
    plan = baked(compilation.plan, (winner(pipeline=CAP),), embeds=True).plan
    built = written(plan, tmp_path)
    assert leaf_at(built, 600, 600, 64) == 0
    sizes = {"m": 8, "n": 8, "k": 4}
    data = {
        "a": np.ones((8, 4), np.float32),
        "b": np.ones((4, 8), np.float32),
        "c": np.zeros((8, 8), np.float32),
    }
    for version, status in ((0, 0), (1, 0), (2, 2), (-1, 2)):
        asked = {"B0": 4, "B1": 8, "tile": 0, "version": version}
        assert built.call("gemm", {**sizes, **data}, asked).status == status


@pytest.mark.parametrize(
    "changes",
    [
        {"function": "other"},
        {"sizes": (("n", 48),)},
        {"parameters": (("B0", 4), ("tile", 0))},
        {"parameters": (("B0", 4), ("B1", 8), ("tile", 99))},
        {"parameters": (("B0", 4), ("B1", 8), ("tile", -1)), "pipeline": CAP},
    ],
)
def test_winners_of_another_program_are_refused(compilation: Compilation, changes: dict[str, Any]) -> None:
    with pytest.raises(CommandLineError) as raised:
        baked(compilation.plan, (winner(**changes),), embeds=True)
    assert [d.code for d in raised.value.diagnostics] == ["CF0916"]


def test_gen_bakes_a_file_of_winners(compilation: Compilation, tmp_path: Path) -> None:
    w = winner()
    document = {
        "schema": 2,
        "tool": "comprehensive",
        "source": {"name": "gemm.mf", "sha256": compilation.plan.source_digest},
        "winners": [
            {
                **{name: getattr(w, name) for name in Winner.__dataclass_fields__},
                "sizes": dict(w.sizes),
                "parameters": dict(w.parameters),
            }
        ],
    }
    path = tmp_path / "gemm.tuned.json"
    path.write_text(json.dumps(document))
    spec = spec_directory() / "gemm.mf"
    arguments = ("gen", spec, "--registers", "estimate", "--tuned", path, "-o", tmp_path / "out")
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    header = (tmp_path / "out" / "gemm.h").read_text()
    assert '{ "cpu", { 600, 600, 64 }, { 4, 8, 0 } }, /* 12.50 us */' in header
    manifest = json.loads((tmp_path / "out" / "gemm.json").read_text())
    assert manifest["functions"][0]["tuned"][0]["microseconds"] == 12.5
