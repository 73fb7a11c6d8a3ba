"""`gen --check` compares outputs with what would be written, and writes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from comprehensive.cli import cli

PROGRAM = """void scale(int n, float x[n], int B)
{
  meta_schedule block(B) {
    meta_for (int i = 0; i < n; i++)
      x[i] = 2.0f * x[i];
  }
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "scale.mf"
    path.write_text(PROGRAM)
    return path


def gen(source: Path, *arguments: str) -> Result:
    options = ["gen", str(source), "-o", str(source.parent / "out"), "--registers", "estimate", "--no-verify"]
    return CliRunner().invoke(cli, [*options, *arguments])


def test_outputs_that_are_not_there_are_listed_and_not_written(source: Path) -> None:
    result = gen(source, "--check")
    assert result.exit_code == 1
    assert f"{source.parent / 'out' / 'scale.h'}: is missing\n" in result.stdout
    assert "gen" in result.stderr
    assert not (source.parent / "out").exists()


def test_fresh_outputs_are_fine_and_changed_ones_are_listed_with_what_is_wrong(source: Path) -> None:
    out = source.parent / "out"
    assert gen(source).exit_code == 0
    fresh = gen(source, "--check")
    assert (fresh.exit_code, fresh.stdout) == (0, "")
    (out / "scale.cu").write_text((out / "scale.cu").read_text() + "// edited\n")
    (out / "scale.leaf0.mf").unlink()
    leaf, manifest = out / "scale.leaf9.mf", json.loads((out / "scale.json").read_text())
    leaf.write_text((out / "scale.h").read_text())
    manifest["outputs"].append(leaf.name)
    (out / "scale.json").write_text(json.dumps(manifest))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    result = gen(source, "--check", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["stale"] == [
        {"file": "scale.cu", "because": "differs"},
        {"file": "scale.json", "because": "differs"},
        {"file": "scale.leaf0.mf", "because": "is missing"},
        {"file": "scale.leaf9.mf", "because": "is no output any more"},
    ]
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_changed_source_makes_outputs_stale(source: Path) -> None:
    assert gen(source).exit_code == 0
    source.write_text(PROGRAM.replace("2.0f", "3.0f"))
    result = gen(source, "--check")
    assert result.exit_code == 1
    assert "scale.cu: differs" in result.stdout


def test_what_writes_does_not_go_with_check(source: Path) -> None:
    assert gen(source, "--check", "--stamp", str(source.parent / "stamp")).exit_code == 2


def test_each_checks_every_file_and_ends_with_the_worst_exit_code(source: Path) -> None:
    other = source.with_name("other.mf")
    other.write_text(PROGRAM.replace("scale", "other"))
    assert gen(source).exit_code == 0
    out = str(source.parent / "out")
    arguments = ["each", "gen", "--check", "-o", out, "--registers", "estimate", str(source), str(other)]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 1
    assert "other.h: is missing" in result.stdout
    assert "scale.h" not in result.stdout
    assert CliRunner().invoke(cli, arguments[:-1]).exit_code == 0


@pytest.mark.parametrize("arguments", [["frob", "a.mf"], ["gen", "--check"]])
def test_each_needs_a_command_and_files(arguments: list[str]) -> None:
    assert CliRunner().invoke(cli, ["each", *arguments]).exit_code == 2


def test_the_hooks_of_pre_commit_are_commands_of_the_tool() -> None:
    text = (Path(__file__).resolve().parents[2] / ".pre-commit-hooks.yaml").read_text()
    entries = re.findall(r"^  entry: comprehensive each (.*)$", text, re.MULTILINE)
    assert len(entries) == text.count("- id: ") == 2
    for entry in entries:
        command, *options = entry.split()
        known = {name for parameter in cli.commands[command].params for name in parameter.opts}
        assert {option for option in options if option.startswith("-")} <= known
