"""Winners in generated code: taken where device and sizes are the same, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.codegen.interface import interface
from comprehensive.data import spec_directory
from comprehensive.diagnostics import CommandLineError
from comprehensive.driver import Compilation
from comprehensive.generate import source_texts
from comprehensive.runtime.cpu import CpuLibrary, build
from comprehensive.toolchain.host import find_cxx_compiler
from comprehensive.tuning.baked import baked
from comprehensive.tuning.winners import Winner
from tests.compiled_specs import compiled

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
        "register_cap": None,
        "leaf": 0,
        "median_us": 12.5,
        "runs": 9,
        "verified": "equal to the serial C",
        "candidates": 3,
    }
    return Winner(**{**known, **changes})


def library(compilation: Compilation, winners: tuple[Winner, ...], folder: Path) -> CpuLibrary:
    found = baked(compilation.plan, winners)
    for name, text in source_texts(found.plan).items():
        (folder / name).write_text(text)
    compiler = find_cxx_compiler()
    assert compiler is not None
    hosts = [interface(function) for function in found.plan.functions]
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


def test_a_winner_with_fewer_registers_is_left_out_with_a_warning(compilation: Compilation) -> None:
    found = baked(compilation.plan, (winner(register_cap=64),))
    assert found.plan.functions[0].tuned == ()
    assert [d.code for d in found.diagnostics] == ["CF0917"]


@pytest.mark.parametrize(
    "changes",
    [
        {"function": "other"},
        {"sizes": (("n", 48),)},
        {"parameters": (("B0", 4), ("tile", 0))},
        {"parameters": (("B0", 4), ("B1", 8), ("tile", 99))},
    ],
)
def test_winners_of_another_program_are_refused(compilation: Compilation, changes: dict[str, Any]) -> None:
    with pytest.raises(CommandLineError) as raised:
        baked(compilation.plan, (winner(**changes),))
    assert [d.code for d in raised.value.diagnostics] == ["CF0916"]


def test_gen_bakes_a_file_of_winners(compilation: Compilation, tmp_path: Path) -> None:
    w = winner()
    document = {
        "schema": 1,
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
