"""`demo` shows the whole job, and what it says to do next can be done."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.data import spec_directory
from comprehensive.soundness.state import State
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler

needs_compilers = pytest.mark.skipif(
    find_c_compiler() is None or find_cxx_compiler() is None, reason="no C and C++ compilers on the PATH"
)


def shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(folder)
    (folder / "reverse.mf").write_bytes((spec_directory() / "reverse.mf").read_bytes())
    command = ["demo", "reverse.mf", "-o", "out/demo", "--registers", "estimate"]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    return result.stdout


@needs_compilers
def test_the_demonstration_ends_with_what_can_be_done_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(tmp_path, monkeypatch)
    assert "all results equal the serial C" in text
    _, _, end = text.partition("In out/demo:\n")
    files = re.findall(r"^  ((?:reverse|cf_)\S+)  ", end, re.MULTILINE)
    assert len(files) == 6
    assert all(list(Path("out/demo").glob(name)) for name in files)
    assert {path.name for path in Path("out/demo").iterdir()} == {
        path.name for name in files for path in Path("out/demo").glob(name)
    }
    (call,) = re.findall(r"int status = (reverse_launch\(.*\));", end)
    caller = f"int f(int n, const float *in, float *out) {{ return {call}; }}"
    unit = f'#include <stddef.h>\n#include "reverse.h"\n{caller}\n'
    Path("unit.c").write_text(unit)
    compiler = find_c_compiler()
    assert compiler is not None
    subprocess.run([*compiler.command, "-Iout/demo", "-Werror", "-fsyntax-only", "unit.c"], check=True)
    explain, python = (shlex.split(line) for line in end.splitlines()[-2:])
    assert explain[0].endswith("comprehensive")
    assert CliRunner().invoke(cli, [*explain[1:], "--registers", "estimate"]).exit_code == 0
    answer = subprocess.run([sys.executable, *python[1:]], capture_output=True, text=True, check=True)
    assert "reverse(" in answer.stdout


def test_without_a_compiler_everything_else_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/g++")
    text = shown(tmp_path, monkeypatch)
    assert "the kernels were not run on the CPU: install g++" in text
    assert "In out/demo:" in text


def test_where_a_result_differs_nothing_is_recommended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("comprehensive.demonstration._run", lambda *_: [State.FAILS])
    command = ["demo", str(spec_directory() / "reverse.mf"), "-o", "out", "--registers", "estimate"]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 1
    assert "include this" not in result.stdout
