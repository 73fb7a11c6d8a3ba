"""Speeds of a machine file are in the launcher, for devices of its name and no other ones."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.codegen.machines import with_machines
from comprehensive.data import spec_directory
from comprehensive.diagnostics import CommandLineError
from comprehensive.driver import Compilation
from comprehensive.generate import source_texts
from comprehensive.machine.device import Device, load_device
from comprehensive.plan.interface import interface
from comprehensive.runtime.cpu import build
from comprehensive.toolchain.host import find_cxx_compiler
from comprehensive.toolchain.nvcc import Tool, compile_cubin
from tests.compiled_specs import compiled

needs_compiler = pytest.mark.skipif(find_cxx_compiler() is None, reason="no C++ compiler")
TOLD = """extern "C" __attribute__((visibility("default"))) int told()
{
  cf_device device;
  return cf_read_device(0, &device) == cudaSuccess ? static_cast<int>(device.machine.kept_bytes) : -1;
}
"""


@pytest.fixture(scope="module")
def compilation() -> Compilation:
    return compiled("matadd")


def machine(folder: Path, name: str, speeds: str = "kept_bytes = 12345\n") -> Device:
    path = folder / f"{name}.toml"
    path.write_text(f'name = "{name}"\nbase = "sm_90"\n[speeds]\n{speeds}')
    return load_device(path)


@needs_compiler
@pytest.mark.parametrize(("name", "kept"), [("cpu", 12345), ("cpu 2", 62914560 // 4 * 3)])
def test_a_device_of_that_name_has_these_speeds(
    tmp_path: Path, compilation: Compilation, name: str, kept: int
) -> None:
    plan = with_machines(compilation.plan, [machine(tmp_path, name)])
    for file, text in source_texts(plan).items():
        (tmp_path / file).write_text(text + (TOLD if file.endswith(".cu") else ""))
    compiler = find_cxx_compiler()
    assert compiler is not None
    hosts = [interface(function) for function in plan.functions]
    library = build(tmp_path / "matadd.cu", tmp_path, hosts, sanitize=False, compiler=compiler)
    assert ctypes.CDLL(str(library.path)).told() == kept


def test_without_a_machine_nothing_changes(compilation: Compilation) -> None:
    assert with_machines(compilation.plan, []) == compilation.plan
    assert "cf_set_measured" not in source_texts(compilation.plan)["matadd.cu"]


@pytest.mark.toolchain
def test_nvcc_compiles_two_machines(tmp_path: Path, compilation: Compilation, nvcc: Tool) -> None:
    devices = [load_device("h200"), machine(tmp_path, "GPU ?? one", "issued_per_cycle = 2\n")]
    for file, text in source_texts(with_machines(compilation.plan, devices)).items():
        (tmp_path / file).write_text(text)
    assert compile_cubin(nvcc, tmp_path / "matadd.cu", "sm_90").warnings == ()


def test_an_architecture_and_two_of_one_name_are_refused(tmp_path: Path, compilation: Compilation) -> None:
    with pytest.raises(CommandLineError, match="'sm_90' is an architecture"):
        with_machines(compilation.plan, [load_device("sm_90")])
    with pytest.raises(CommandLineError, match="two machines of the name 'cpu'"):
        with_machines(compilation.plan, [machine(tmp_path, "cpu"), machine(tmp_path, "cpu")])


@pytest.mark.parametrize(
    ("text", "exit_code", "code"),
    [("sm_90", 2, "CF0621"), ("nowhere.toml", 1, "CF0802"), ("h900", 2, "CF0801")],
)
def test_gen_says_what_is_wrong_with_a_machine(tmp_path: Path, text: str, exit_code: int, code: str) -> None:
    spec = str(spec_directory() / "matadd.mf")
    words = ["gen", spec, "--registers", "estimate", "-o", str(tmp_path / "out"), "--machine", text]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == exit_code, done.output
    assert code in done.output
    assert not (tmp_path / "out").exists()
