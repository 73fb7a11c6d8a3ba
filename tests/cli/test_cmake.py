"""The CMake package: a project that finds it builds, and builds again just what has changed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive import __version__
from comprehensive.cli import cli
from comprehensive.data import template_directory
from comprehensive.toolchain.find import Found, find_tool
from tests.examples import quick_of

PROGRAM = """void scale(int n, float x[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[i] = 2.0f * x[i];
  }
}
"""
MAIN = """#include "scale.h"
int main(void) { return CF_OK; }
"""
OTHER = "int other(void) { return 1; }\n"
LISTS = """cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
%s
find_package(Comprehensive 1.0 REQUIRED)
comprehensive_add_library(scale SOURCE scale.mf OPTIONS --registers estimate --no-verify)
add_executable(app main.c other.c)
target_link_libraries(app PRIVATE scale)
"""
GENERATORS = {"Ninja": "ninja", "Unix Makefiles": "make"}


def run(*command: object) -> str:
    answer = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, f"{command}\n{answer.stdout}{answer.stderr}"
    return answer.stdout


def project(folder: Path, generator: str, before: str = "", *options: str, lists: str = LISTS) -> None:
    missing = [tool for tool in ("cmake", GENERATORS[generator], "cc") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    for name, text in {
        "scale.mf": PROGRAM,
        "main.c": MAIN,
        "other.c": OTHER,
        "CMakeLists.txt": lists % before,
    }.items():
        (folder / name).write_text(text)
    executable = Path(sys.executable).with_name("comprehensive")
    run(
        *("cmake", "-S", folder, "-B", folder / "build", "-G", generator),
        f"-DComprehensive_DIR={CliRunner().invoke(cli, ['config', '--cmake-dir']).stdout.strip()}",
        f"-DCOMPREHENSIVE_EXECUTABLE={executable}",
        *options,
    )


def built(folder: Path) -> set[str]:
    """The steps that a build did: generated outputs and compiled sources."""
    output = run("cmake", "--build", folder / "build", "--verbose")
    compiled = set(re.findall(r" -c \S*?([\w.]+\.(?:c|cu))\b", output))
    return compiled | ({"scale.mf"} if re.search(r"comprehensive\S* gen ", output) else set())


@pytest.mark.parametrize("generator", quick_of(GENERATORS, {"Ninja"}))
def test_a_build_does_again_what_has_changed_and_no_more(tmp_path: Path, generator: str) -> None:
    project(tmp_path, generator)
    assert built(tmp_path) == {"scale.mf", "main.c", "other.c"}
    run(tmp_path / "build" / "app")
    assert built(tmp_path) == set()
    program = tmp_path / "scale.mf"
    program.write_text(PROGRAM + "/* a comment */\n")
    assert built(tmp_path) == {"scale.mf"}, "the header is the same"
    assert built(tmp_path) == set()
    program.write_text(PROGRAM.replace("float x", "double x"))
    assert built(tmp_path) == {"scale.mf", "main.c"}
    assert built(tmp_path) == set()


@pytest.mark.slow
@pytest.mark.toolchain
def test_a_project_with_cuda_compiles_the_kernels(tmp_path: Path) -> None:
    nvcc = find_tool("nvcc", None)
    if not isinstance(nvcc, Found):
        pytest.skip("no nvcc on this machine")
    compiler = f"-DCMAKE_CUDA_COMPILER={Path(nvcc.path).resolve()}"
    project(tmp_path, "Ninja", "enable_language(CUDA)", compiler, "-DCMAKE_CUDA_ARCHITECTURES=90")
    assert built(tmp_path) == {"scale.mf", "scale.cu", "main.c", "other.c"}
    assert built(tmp_path) == set()


@pytest.mark.slow
@pytest.mark.toolchain
def test_a_project_without_cuda_links_kernels_that_are_embedded(tmp_path: Path) -> None:
    nvcc = find_tool("nvcc", None)
    if not isinstance(nvcc, Found):
        pytest.skip("no nvcc on this machine")
    if shutil.which("nvcc") is None:
        pytest.skip("no toolkit with a runtime library on this machine: nvcc alone, from a package")
    embedding = LISTS.replace("SOURCE scale.mf", "SOURCE scale.mf EMBED sm_90 ptx")
    project(tmp_path, "Ninja", lists=embedding)
    assert built(tmp_path) == {"scale.mf", "scale_embedded.c", "main.c", "other.c"}
    run(tmp_path / "build" / "app")
    assert built(tmp_path) == set()


def test_a_mistake_in_a_call_is_told_when_the_project_is_configured(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("not on this machine: cmake")
    package = template_directory() / "cmake" / "ComprehensiveConfig.cmake"
    lists = tmp_path / "script.cmake"
    lists.write_text(
        f'set(COMPREHENSIVE_EXECUTABLE true)\ninclude("{package}")\ncomprehensive_add_library(x)\n'
    )
    answer = subprocess.run(["cmake", "-P", lists], capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    assert "SOURCE x.mf" in answer.stderr


def test_build_systems_find_the_version_of_the_tool() -> None:
    folder = template_directory()
    version = (folder / "cmake" / "ComprehensiveConfigVersion.cmake").read_text()
    assert f'set(PACKAGE_VERSION "{__version__}")' in version
    assert f"Version: {__version__}\n" in (folder / "pkgconfig" / "comprehensive.pc").read_text()


def test_pkg_config_says_where_the_cmake_package_is(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("not on this machine: pkg-config")
    found = CliRunner().invoke(cli, ["config", "--pkg-config-dir"]).stdout.strip()
    monkeypatch.setenv("PKG_CONFIG_PATH", found)
    folder = Path(run("pkg-config", "--variable=cmakedir", "comprehensive").strip())
    assert folder.resolve() == (template_directory() / "cmake").resolve()
    assert run("pkg-config", "--modversion", "comprehensive").strip() == __version__
    assert CliRunner().invoke(cli, ["config"]).exit_code == 2
