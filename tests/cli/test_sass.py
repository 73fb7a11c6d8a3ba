"""`comprehensive sass`: text, JSON, predictions, and what it refuses."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli
from comprehensive.toolchain.nvcc import Tool, compile_cubin
from tests.schemas import schema_faults

SOURCE = Path(__file__).resolve().parents[1] / "sass" / "kernels.cu"


def _sass(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["sass", *map(str, arguments)])


@pytest.fixture(scope="module")
def cubin(nvcc: Tool, nvdisasm: Tool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sass") / "kernels.cubin"
    path.write_bytes(compile_cubin(nvcc, SOURCE, "sm_90").output)
    return path


@pytest.mark.toolchain
def test_blocks_are_printed_with_loops_stalls_and_pressure(cubin: Path) -> None:
    result = _sass(cubin, "--function", "nested")
    assert result.exit_code == 0, result.output
    title, *lines = result.stdout.splitlines()
    assert title.startswith("nested: sm_90, ")
    assert title.endswith(" registers, 512 bytes of shared memory, 0 of local memory")
    blocks = [line for line in lines if line.startswith("  block ")]
    assert any(" in L1 (depth 2) -> " in line for line in blocks)
    assert blocks[-1].split(":")[0].endswith("-> end")
    assert any(re.search(r"wait [-0-5]{6}  write \d .* LDG\.", line) for line in lines)
    assert "mixed" not in result.stdout


@pytest.mark.toolchain
def test_json_holds_to_its_schema_with_and_without_predictions(cubin: Path) -> None:
    for more in ((), ("--predict", "--function", "nested", "--trip", "L1=64", "--blocks", "1000")):
        result = _sass(cubin, "--json", *more)
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        assert schema_faults("sass", document) == []
        assert document["schema"] == 1
        assert [f["prediction"] is None for f in document["functions"]] == [not more] * len(
            document["functions"]
        )
    (function,) = document["functions"]
    assert function["prediction"]["launch"]["trips"] == {"L1": 64}
    assert function["prediction"]["cycles"] > 0


@pytest.mark.toolchain
def test_predictions_name_what_binds_and_the_count_of_the_paper(cubin: Path) -> None:
    result = _sass(cubin, "--function", "nested", "--predict", "--trip", "L1=64", "--threads", "128")
    assert result.exit_code == 0, result.output
    assert "  loop L0 at 0x" in result.stdout
    assert ", depth 1: is taken to run 10 times\n" in result.stdout
    assert ", depth 2: runs 64 times\n" in result.stdout
    assert ", bound by " in result.stdout
    assert "  stalls of the paper " in result.stdout


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--function", "other"), 1, "no function 'other' [CF1204]"),
        (("--predict", "--trip", "L9=4"), 1, "[CF1205]"),
        (("--predict", "--threads", "4096"), 1, "[CF1206]"),
        (("--predict", "--device", "sm_80"), 1, "[CF1207]"),
        (("--predict", "--device", "sm_1"), 2, "[CF0801]"),
        (("--predict", "--trip", "L0"), 2, "--trip L0"),
        (("--predict", "--trip", "L0=1", "--trip", "L0=2"), 2, "twice"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    cubin: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = _sass(cubin, *arguments)
    assert result.exit_code == code
    assert said in result.output


def volta() -> bytes:
    start = b"\x7fELF\x02\x01\x01\x33\x07" + bytes(7)
    return start + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 0, 0x460546, 64, 0, 0, 64, 0, 0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"//\n.version 9.0\n.target sm_90\n", "PTX"),
        (b"\x50\xed\x55\xba" + bytes(60), "a fat binary"),
        (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e" + bytes(60), "an object or library of the host"),
        (b"", "no ELF file"),
    ],
)
def test_what_is_no_cubin_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "kernels.cubin"
    file.write_bytes(content)
    result = _sass(file)
    assert result.exit_code == 1
    assert said in result.output
    assert "[CF1201]" in result.output


def test_an_older_architecture_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "kernels.cubin"
    file.write_bytes(volta() + bytes(64))
    result = _sass(file)
    assert result.exit_code == 1
    assert "sm_70" in result.output
    assert "[CF1202]" in result.output


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    result = _sass(tmp_path / "none.cubin")
    assert result.exit_code == 1
    assert "No such file" in result.output


@pytest.mark.toolchain
def test_without_nvdisasm_the_places_where_it_was_looked_for_are_named(cubin: Path, tmp_path: Path) -> None:
    result = _sass(cubin, "--cuda-path", tmp_path)
    assert result.exit_code == 3
    assert "reading SASS needs nvdisasm" in result.output
    assert "comprehensive[cuda]" in result.output
