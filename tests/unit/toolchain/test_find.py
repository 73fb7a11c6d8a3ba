"""The order in which CUDA tools are looked for, on trees made for the purpose."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from comprehensive.toolchain.find import Found, Missing, find_tool
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler


def _executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def tree(tmp_path: Path) -> dict[str, Path]:
    """Every place of the search, each with an nvcc of its own."""
    return {
        "--cuda-path": _executable(tmp_path / "given/bin/nvcc"),
        "CUDA_HOME": _executable(tmp_path / "home/bin/nvcc"),
        "CUDA_PATH": _executable(tmp_path / "path/bin/nvcc"),
        "wheels in site-packages": _executable(tmp_path / "site/nvidia/cu13/bin/nvcc"),
        "PATH": _executable(tmp_path / "bin/nvcc"),
    }


def _find(tree: dict[str, Path], name: str = "nvcc"):
    root = tree["PATH"].parent.parent
    return find_tool(
        name,
        environment={"CUDA_HOME": f"{root}/home", "CUDA_PATH": f"{root}/path", "PATH": f"{root}/bin"},
        wheel_directories=[root / "site/nvidia"],
    )


def test_places_are_searched_in_the_documented_order(tree):
    given = tree.pop("--cuda-path")
    found = find_tool("nvcc", given.parent.parent, environment={}, wheel_directories=[])
    assert isinstance(found, Found)
    assert (found.path, found.origin) == (given, "--cuda-path")
    for place, path in tree.items():
        found = _find(tree)
        assert isinstance(found, Found)
        assert (found.path, found.origin) == (path, place)
        path.unlink()
    missing = _find(tree)
    assert isinstance(missing, Missing)
    assert [step.origin for step in missing.steps] == list(tree)


def test_every_failed_step_names_the_files_that_were_not_there(tree):
    tree["CUDA_HOME"].unlink()
    found = _find(tree)
    assert found.steps[0].origin == "CUDA_HOME"
    assert str(tree["CUDA_HOME"]) in found.steps[0].outcome
    assert found.explain().splitlines()[-1] == f"CUDA_PATH: found {tree['CUDA_PATH']}"


def test_a_mistyped_cuda_path_does_not_select_another_version(tree, tmp_path):
    environment = {"PATH": str(tree["PATH"].parent)}
    missing = find_tool("nvcc", tmp_path / "nowhere", environment=environment, wheel_directories=[])
    assert isinstance(missing, Missing)
    assert [step.origin for step in missing.steps] == ["--cuda-path"]
    assert "CUDA_HOME" in missing.help


def test_a_file_without_execute_permission_is_passed_over(tree):
    tree["CUDA_HOME"].chmod(0o644)
    assert _find(tree).path == tree["CUDA_PATH"]


def test_cicc_is_found_where_nvvm_lives(tree, tmp_path):
    cicc = _executable(tmp_path / "home/nvvm/bin/cicc")
    assert _find(tree, "cicc").path == cicc


def test_the_newest_wheel_wins(tmp_path):
    for version in ("cu13", "cu14", "cu9"):
        _executable(tmp_path / f"nvidia/{version}/bin/ptxas")
    found = find_tool("ptxas", environment={}, wheel_directories=[tmp_path / "nvidia"])
    assert found.path == tmp_path / "nvidia/cu14/bin/ptxas"


def test_wheels_of_cuda_12_have_a_directory_each(tmp_path):
    ptxas = _executable(tmp_path / "nvidia/cuda_nvcc/bin/ptxas")
    assert find_tool("ptxas", environment={}, wheel_directories=[tmp_path / "nvidia"]).path == ptxas


def test_an_empty_environment_is_explained_step_by_step():
    missing = find_tool("ptxas", environment={}, wheel_directories=[])
    assert isinstance(missing, Missing)
    assert missing.explain().splitlines() == [
        "CUDA_HOME: not set",
        "CUDA_PATH: not set",
        "wheels in site-packages: none installed (extra 'cuda')",
        "PATH: no 'ptxas' in any of its directories",
    ]


@pytest.mark.parametrize(("name", "code"), [("nvcc", 0), ("no-such-tool", 3)])
def test_the_search_is_a_command_that_says_whether_a_tool_is_there(tree, name, code):
    environment = {"PATH": str(tree["PATH"].parent)}
    command = [sys.executable, "-m", "comprehensive.toolchain.find", name]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == code, answer.stderr
    assert answer.stdout.startswith(f"{name}:\n  CUDA_HOME: not set\n")


def test_a_host_compiler_is_taken_from_the_variable_then_by_its_usual_names(tmp_path):
    for name in ("ccache", "g++", "clang++", "clang"):
        _executable(tmp_path / name)
    path = {"PATH": str(tmp_path)}
    named = find_cxx_compiler(path | {"CXX": "ccache 'g++' -m64"})
    assert named is not None
    assert named.command == (f"{tmp_path}/ccache", "g++", "-m64")
    assert named.origin == "CXX"
    usual = find_cxx_compiler(path | {"CXX": ""})
    assert usual is not None
    assert usual.command == (f"{tmp_path}/g++",)
    c = find_c_compiler(path)
    assert c is not None
    assert c.command == (f"{tmp_path}/clang",)


@pytest.mark.parametrize("named", ["no-such-compiler", "'unbalanced"])
def test_a_named_host_compiler_that_is_absent_is_not_replaced(tmp_path, named):
    _executable(tmp_path / "g++")
    assert find_cxx_compiler({"PATH": str(tmp_path), "CXX": named}) is None
