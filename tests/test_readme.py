"""What README shows is what the tool prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.registry import default_strategies

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def block_after(text: str, language: str) -> str:
    start = README.index(text)
    found = re.compile(rf"```{language}\n(.*?)```", re.DOTALL).search(README, start)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("command", ["tree", "explain", "tree [^`]*--region", "explain [^`]*--counters"])
def test_readme_shows_the_real_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("smooth.mf").write_text(block_after("`smooth.mf`:", "c"), encoding="utf-8")
    name, _, option = command.partition(" ")
    found = re.search(rf"`comprehensive ({name} smooth\.mf{option}[^`]*)`", README)
    assert found is not None
    result = CliRunner().invoke(cli, found[1].split())
    assert result.exit_code == 0, result.output
    assert result.stdout == block_after(found[0], "text")


def test_readme_shows_the_region_of_a_loop_with_a_directive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.c").write_text(block_after("`scale.c`:", "c"), encoding="utf-8")
    found = re.search(r"`comprehensive (gen scale\.c [^`]*)`", README)
    assert found is not None
    result = CliRunner().invoke(cli, [*found[1].split(), "--registers", "estimate"])
    assert result.exit_code == 0, result.output
    assert result.stdout.rstrip("\n") == block_after(found[0], "text").rstrip("\n")
    text = Path("scale.c").read_text(encoding="utf-8")
    Path("scale.c").write_text(text.replace(" private(j)", ""), encoding="utf-8")
    refused = CliRunner().invoke(cli, found[1].split())
    assert refused.exit_code == 1
    assert "share 'j'" in refused.output


def test_readme_shows_python_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("smooth.mf").write_text(block_after("`smooth.mf`:", "c"), encoding="utf-8")
    # What follows needs a GPU; it is in tests/gpu/from_python.py and, on the processor, in the tutorial.
    without_gpu, _, _ = block_after("## From Python", "python").partition("module = ")
    names: dict[str, object] = {}
    exec(without_gpu, names)
    said = capsys.readouterr().out
    assert "leaf 0 where B <= T_B, B + 2 <= Z_B" in said
    assert "smooth on NVIDIA H200, B = 256, n = 1000000" in said
    assert Path("out/smooth.json").is_file()


def test_readme_explains_every_decision() -> None:
    codes = {code for strategy in default_strategies() for code in strategy.decision if code}
    ends = {"1-2"}  # "(1-1) to (1-3)"
    assert [
        code for code in sorted(codes - ends) if f"({code})" not in README.split("The decisions of")[1]
    ] == []


def test_readme_names_every_command() -> None:
    for name in cli.commands:
        assert f"`{name} " in README or f"`{name}`" in README or f"make {name}" in README, name
