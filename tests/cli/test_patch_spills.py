"""`comprehensive patch-spills`: what it writes and says, and that nothing is written where it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli
from comprehensive.toolchain.cubin import code_of
from comprehensive.toolchain.nvcc import Tool, compile_cubin

SOURCE = Path(__file__).resolve().parents[1] / "sass" / "spilling.cu"


def patch(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["patch-spills", *map(str, arguments)])


@pytest.fixture(scope="module")
def cubin(nvcc: Tool, nvdisasm: Tool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("patch") / "kernels.cubin"
    path.write_bytes(compile_cubin(nvcc, SOURCE, "sm_90").output)
    return path


@pytest.mark.toolchain
def test_a_cubin_is_written_and_what_a_launch_states_is_said(cubin: Path, tmp_path: Path) -> None:
    output = tmp_path / "patched.cubin"
    result = patch(cubin, "-o", output, "--function", "words", "--threads", "64", "--shared", "512")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("words: ")
    assert "at most 64 threads in a block" in result.stdout
    assert code_of(output.read_bytes())["words"].frame_bytes == 0
    assert [path.name for path in tmp_path.iterdir()] == ["patched.cubin"]
    result = patch(cubin, "-o", output, "--function", "words", "--threads", "64", "--shared", "512", "--json")
    (kernel,) = json.loads(result.stdout)["kernels"]
    assert (kernel["name"], kernel["threads"]) == ("words", 64)
    assert kernel["dynamic_bytes"] == kernel["slot_bytes"] + 512


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--threads", "64"), 1, "[CF1211]"),  # one of all that have local memory is an array
        (("--function", "nothing"), 1, "[CF1211]"),
        (("--function", "unbounded"), 1, "[CF1212]"),
        (("--function", "words"), 1, "[CF1213]"),
        (("--function", "other"), 1, "[CF1204]"),
        (("--function", "words", "--threads", "many"), 2, "--threads"),
    ],
)
def test_nothing_is_written_where_a_kernel_has_to_stay(
    cubin: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = patch(cubin, "-o", tmp_path / "patched.cubin", *arguments)
    assert result.exit_code == code
    assert said in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.toolchain
def test_a_place_that_cannot_be_written_is_an_error(cubin: Path, tmp_path: Path) -> None:
    chosen = ("--function", "words", "--threads", "64")
    for place in (tmp_path / "none" / "patched.cubin", tmp_path):
        result = patch(cubin, "-o", place, *chosen)
        assert result.exit_code == 1
        assert "cannot write" in result.output
        assert "[CF1201]" in result.output
    assert list(tmp_path.iterdir()) == []
    assert patch(cubin, "-o", "/dev/null", *chosen).exit_code == 0
    assert Path("/dev/null").is_char_device()


def test_what_is_no_cubin_is_named(tmp_path: Path) -> None:
    file = tmp_path / "kernels.cubin"
    file.write_bytes(b"//\n.version 9.0\n.target sm_90\n")
    result = patch(file, "-o", tmp_path / "patched.cubin")
    assert result.exit_code == 1
    assert "PTX" in result.output
    assert not (tmp_path / "patched.cubin").exists()


def test_where_the_cubin_goes_has_to_be_said(tmp_path: Path) -> None:
    assert patch(tmp_path / "kernels.cubin").exit_code == 2
