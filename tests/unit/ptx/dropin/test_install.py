"""The mini toolkit: what is written, what is refused, and what the command makes of its arguments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli
from comprehensive.diagnostics import CommandLineError
from comprehensive.ptx.dropin.install import Toolkit, install, real_ptxas, real_toolkit
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import Tool
from comprehensive.toolchain.process import ToolError


@pytest.fixture
def real(tmp_path: Path) -> Toolkit:
    """A toolkit whose programs say which they are."""
    binaries = tmp_path / "a toolkit/bin"
    (binaries / "crt").mkdir(parents=True)
    (tmp_path / "a toolkit/include").mkdir()
    for name in ("nvcc", "ptxas"):
        (binaries / name).write_text(
            f"#!/bin/sh\necho '#$ TOP={binaries}/..' >&2\necho the real {name} \"$@\"\n"
        )
        (binaries / name).chmod(0o755)
    (binaries / "nvcc.profile").write_text("TOP = $(_HERE_)/..\nPATH += $(TOP)/nvvm/bin:$(_HERE_):\n")
    return Toolkit(tmp_path / "a toolkit")


def tree(directory: Path) -> dict[str, str]:
    """Every file by name, with its contents or the place to which it is a link."""
    return {
        str(path.relative_to(directory)): str(path.readlink()) if path.is_symlink() else path.read_text()
        for path in sorted(directory.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_a_mini_toolkit_is_links_a_profile_and_a_wrapper(real: Toolkit, tmp_path: Path) -> None:
    install(tmp_path / "new/mini", real, "two passes")
    found = tree(tmp_path / "new/mini")
    assert list(found) == [
        "bin/crt",
        "bin/nvcc",
        "bin/nvcc.profile",
        "bin/ptxas",
        "comprehensive-dropin.json",
        "include",
    ]
    assert found["bin/nvcc"] == str(real.root / "bin/nvcc")
    assert found["include"] == str(real.root / "include")
    assert found["bin/nvcc.profile"].splitlines()[:2] == [
        f"TOP = {real.root}/bin/..",
        f"PATH += $(TOP)/nvvm/bin:{real.root}/bin:",
    ]
    assert "PATH += $(_HERE_):" in found["bin/nvcc.profile"].splitlines()
    assert sys.executable in found["bin/ptxas"]
    assert json.loads(found["comprehensive-dropin.json"])["passes"] == "two passes"
    answer = subprocess.run(
        [tmp_path / "new/mini/bin/ptxas", "--version"], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "the real ptxas --version\n"
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new/mini"]


def test_an_installation_is_renewed_and_what_others_put_there_stays(real: Toolkit, tmp_path: Path) -> None:
    mini = tmp_path / "mini"
    install(mini, real, "old")
    (mini / "notes").write_text("mine")
    before = tree(mini)
    install(mini, real, "new")
    after = tree(mini)
    assert {name for name in after if after[name] != before[name]} == {
        "bin/nvcc.profile",
        "bin/ptxas",
        "comprehensive-dropin.json",
    }
    assert after["notes"] == "mine"
    assert set(after) == set(before)


def test_an_empty_directory_is_taken(real: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "mini").mkdir()
    install(tmp_path / "mini", real, "")
    assert (tmp_path / "mini/bin/ptxas").exists()


@pytest.mark.parametrize("there", ["bin/ptxas", "bin/nvcc", "include", "README"])
def test_what_was_not_written_here_is_not_overwritten(real: Toolkit, tmp_path: Path, there: str) -> None:
    mini = tmp_path / "mini"
    (mini / there).parent.mkdir(parents=True)
    (mini / there).write_text("mine")
    with pytest.raises(CommandLineError, match="which comprehensive has not written"):
        install(mini, real, "")
    assert tree(mini) == {there: "mine"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a toolkit", "mini"]


def test_a_file_in_the_place_of_the_directory_is_not_overwritten(real: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "mini").write_text("mine")
    with pytest.raises(CommandLineError, match="is there"):
        install(tmp_path / "mini", real, "")
    assert (tmp_path / "mini").read_text() == "mine"


def test_the_toolkit_behind_a_script_is_found_by_asking_nvcc(real: Toolkit, tmp_path: Path) -> None:
    script = tmp_path / "bin/nvcc"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nexec '{real.root}/bin/nvcc' \"$@\"\n")
    script.chmod(0o755)
    assert real_toolkit(Found("nvcc", script, ())) == real
    (real.root / "bin/nvcc.profile").unlink()
    with pytest.raises(ToolError, match=r"has no bin/nvcc\.profile"):
        real_toolkit(Found("nvcc", script, ()))
    script.write_text("#!/bin/sh\n")
    with pytest.raises(ToolError, match="does not say where"):
        real_toolkit(Found("nvcc", script, ()))


def test_a_wrapper_is_not_taken_for_ptxas(real: Toolkit, tmp_path: Path) -> None:
    install(tmp_path / "mini", real, "")
    found = find_tool("ptxas", tmp_path / "mini")
    assert isinstance(found, Found)
    assert real_ptxas(found) == real.ptxas
    assert real_ptxas(Found("ptxas", real.ptxas, ())) == real.ptxas


@pytest.mark.toolchain
def test_a_mini_toolkit_of_a_mini_toolkit_is_one_of_the_real_one(nvcc: Tool, tmp_path: Path) -> None:
    real = real_toolkit(Found("nvcc", nvcc.path, ()))
    install(tmp_path / "mini", real, "")
    assert real_toolkit(find_tool("nvcc", tmp_path / "mini")) == real


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["ptxas", *map(str, arguments)])


def test_the_command_installs(real: Toolkit, tmp_path: Path) -> None:
    result = command("--install", tmp_path / "mini", "-p", "memory-space,dce", "--cuda-path", real.root)
    assert result.exit_code == 0, result.output
    assert f"call {tmp_path}/mini/bin/nvcc" in result.stderr
    assert "default=memory-space,dce" in (tmp_path / "mini/bin/ptxas").read_text()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").touch()
    result = command("--install", tmp_path / "mine", "--cuda-path", real.root)
    assert result.exit_code == 2
    assert "[CF1091]" in result.stderr


def test_a_directory_that_cannot_be_written_is_named(real: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = command("--install", tmp_path / "file/mini", "--cuda-path", real.root)
    assert result.exit_code == 2
    assert "[CF1092]" in result.stderr


@pytest.mark.parametrize(
    ("passes", "code"), [("dce,,", "CF1021"), ("dcf", "CF1022"), ("vectorize-accesses{with=4}", "CF1023")]
)
def test_the_command_installs_no_passes_that_there_are_not(
    real: Toolkit, tmp_path: Path, passes: str, code: str
) -> None:
    result = command("--install", tmp_path / "mini", "-p", passes, "--cuda-path", real.root)
    assert result.exit_code == 2
    assert f"[{code}]" in result.stderr
    assert not (tmp_path / "mini").exists()


def test_the_command_says_where_it_looked_for_nvcc(tmp_path: Path) -> None:
    result = command("--install", tmp_path / "mini", "--cuda-path", tmp_path)
    assert result.exit_code == 3
    assert str(tmp_path / "bin/nvcc") in result.stderr
    assert not (tmp_path / "mini").exists()


def test_help_is_that_of_ptxas_and_the_installation_has_its_own(
    real: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "COMPREHENSIVE_PTXAS_REMARKS" in command("--install", "--help").stdout
    program = "from comprehensive.cli import main; main()"
    monkeypatch.setenv("CUDA_HOME", str(real.root))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[4]))
    # Every option is one of ptxas, in its order, those that other commands have included.
    words = ["--help", "-h", "-p", "-split-compile=2", "k.ptx", "--install", "-o", "k.cubin"]
    said = subprocess.run(
        [sys.executable, "-c", program, "ptxas", *words], capture_output=True, text=True, check=True
    )
    assert said.stdout == f"the real ptxas {' '.join(words)}\n"
