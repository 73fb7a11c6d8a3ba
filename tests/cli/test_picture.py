"""`picture access`, `picture tile` and `explain --accesses`, and what is said to those who ask wrongly."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive import cli
from comprehensive.data import spec_directory
from comprehensive.driver import Compilation, Options
from comprehensive.records import replace
from tests.compiled_specs import OPTIONS as ESTIMATED
from tests.compiled_specs import compiled
from tests.schemas import schema_faults

TRANSPOSE = str(spec_directory() / "transpose.mf")
ESTIMATE = ("--registers", "estimate")
NUMBERS = ("-D", "N=1024", "-D", "B0=4", "-D", "B1=32", "-D", "s=2")


@pytest.fixture(autouse=True)
def _each_source_is_compiled_once() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    def once(source: Path, options: Options) -> Compilation:
        assert replace(options, arch=ESTIMATED.arch) == ESTIMATED
        return compiled(source.stem)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("comprehensive.cli.picture.compile_source", once)
        patch.setattr("comprehensive.cli.explain.compile_source", once)
        yield


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, [*arguments, *ESTIMATE])


def words(picture: str) -> list[str]:
    return [str(text.text) for text in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


def test_a_line_is_drawn_with_its_sectors_and_bank_conflicts() -> None:
    shown = words(run("picture", "access", TRANSPOSE, "16", *NUMBERS).stdout)
    assert "transpose.mf:16: c[j*N + i] = a[i][j];" in shown
    assert "stride 1: 4 sectors of 32 bytes; the first of 2 times" in shown
    assert "stride B0: 4 turns of the banks, 1 would do; the first of 2 times" in shown


def test_numbers_of_a_picture_are_a_document() -> None:
    result = run(
        "picture", "access", TRANSPOSE, "16", *NUMBERS, "--format", "json", "--block", "2,1", "--warp", "1"
    )
    document = json.loads(result.stdout)
    assert schema_faults("accesses", document) == []
    (kernel,) = document["kernels"]
    assert (kernel["block"], kernel["warp"], kernel["missing"]) == ([2, 1, 0], 1, [])
    read = kernel["accesses"][0]
    assert read["lanes"][:2] == [4 * (5 * 1024 + 128), 4 * (5 * 1024 + 129)]


def test_a_block_is_drawn_with_its_warps_and_its_shared_memory(tmp_path: Path) -> None:
    target = tmp_path / "tile.svg"
    result = run("picture", "tile", TRANSPOSE, *NUMBERS, "-o", str(target))
    assert (result.exit_code, result.stdout) == (0, "")
    shown = words(target.read_text(encoding="utf-8"))
    assert "4 x 32 threads, 4 warps" in shown
    assert "shared memory: s*B0*B1 = 256 words of 4 bytes" in shown


def test_a_block_is_a_document_with_the_addresses_of_its_copies(tmp_path: Path) -> None:
    matmul, target = str(spec_directory() / "matmul.mf"), tmp_path / "tile.json"
    numbers = ("-D", "n=1024", "-D", "B0=16", "-D", "ub1=16", "-D", "s=4", "--leaf", "5")
    result = run("picture", "tile", matmul, *numbers, "--format", "json", "-o", str(target))
    assert (result.exit_code, result.stdout) == (0, "")
    document = json.loads(target.read_text(encoding="utf-8"))
    assert schema_faults("tiles", document) == []
    (kernel,) = document["kernels"]
    assert kernel["kernel"] == "register tile 1"
    assert kernel["threads"] == {"extents": ["T0", "T1"], "numbers": [16, 16], "warps": 8}
    turned, straight = sorted(kernel["copies"], key=lambda copy: copy["array"])
    assert (turned["array"], turned["kind"]) == ("a", "turned piece")
    assert (straight["array"], straight["kind"]) == ("b", "piece")
    first, second = straight["copies"]
    tiles = {tile["name"]: tile["number"] for tile in kernel["shared_memory"]["tiles"]}
    assert first["global"] == [16 * lane for lane in range(32)]
    assert first["shared"] == [4 * tiles["shared_b"] + 16 * lane for lane in range(32)]
    assert {first["bytes"], second["bytes"]} == {16}
    loads = [copy for copy in turned["copies"] if copy["global"][0] is not None]
    assert all(copy["shared"] == [None] * 32 for copy in loads)
    picture = run("picture", "tile", matmul, *numbers).stdout
    assert "b to shared_b: the first piece, 2 times 16 bytes a lane" in words(picture)
    assert f"lane 3, copy 1: 16 bytes from byte 48 of b to byte {first['shared'][3]}" in picture
    assert "4 bytes from registers to byte" in picture


def test_without_numbers_a_block_carries_symbols() -> None:
    shown = words(run("picture", "tile", TRANSPOSE).stdout)
    assert "B0 x B1 threads" in shown
    assert "s*B1" in shown


def test_explain_lists_accesses_by_lines() -> None:
    table = run("explain", TRANSPOSE, *NUMBERS, "--accesses").stdout.partition("\naccesses of ")[2]
    heading, columns, first, *_ = table.splitlines()
    assert heading.startswith("transpose leaf 0, N = 1024, B0 = 4, B1 = 32, s = 2, dim0 = 256, dim1 = 16; ")
    assert heading.endswith("; warp 0 of block (0, 0, 0)")
    assert columns.split() == [
        "line",
        "array",
        "memory",
        "access",
        "stride",
        "sectors",
        "turns",
        "words",
        "reference",
    ]
    assert first.split()[:7] == ["16", "a", "global", "read", "1", "4", "256"]
    document = json.loads(run("explain", TRANSPOSE, *NUMBERS, "--accesses", "--json").stdout)
    assert schema_faults("explain", document) == []
    assert document["accesses"]["kernels"][0]["kernel"] == "leaf 0"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("access", TRANSPOSE, "3"), 2, "line 3 of"),
        (("access", TRANSPOSE, "0"), 2, "Invalid value for 'LINE'"),
        (("access", TRANSPOSE, "16", "--block", "a"), 2, "--block a: expected numbers"),
        (("access", TRANSPOSE, "16", "--block", "1,2,3,4"), 2, "expected numbers X[,Y[,Z]]"),
        (("access", TRANSPOSE, "16", *NUMBERS, "--block", "16"), 2, "[CF0741]"),
        (("access", TRANSPOSE, "16", *NUMBERS, "--warp", "4"), 2, "no warp 4 [CF0741]"),
        (("access", TRANSPOSE, "16", "--leaf", "99"), 2, "[CF0703]"),
        (("tile", TRANSPOSE, "-D", "M=3"), 2, "[CF0701]"),
        (("tile", TRANSPOSE, "-D", "N=1", "-D", "dim0=7", "-D", "B0=1"), 2, "[CF0705]"),
        (("tile", TRANSPOSE, "-D", "N=4096", "-D", "B0=64", "-D", "B1=64", "-D", "s=1"), 2, "[CF0740]"),
        (("tile", TRANSPOSE, "-o", "/nowhere/at/all.svg"), 1, "[CF1027]"),
    ],
)
def test_those_who_ask_wrongly_are_told_so(arguments: tuple[str, ...], code: int, told: str) -> None:
    result = run("picture", *arguments)
    assert result.exit_code == code, result.output
    assert told in result.output
