"""Every stable code has a page, and the example of a page shows its code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.diagnostic_pages import codes, page_of
from comprehensive.diagnostics import CompileError, DiagnosticSink, SourceFile
from comprehensive.driver import Options, understood

PACKAGE = Path(__file__).resolve().parent.parent / "comprehensive"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(code: str) -> list[tuple[str, str, str]]:
    return BLOCK.findall(page_of(code) or "")


WITH_PROGRAM = [code for code in codes() if any(kind == "c" for kind, _, _ in blocks(code))]
WITH_COMMAND = [code for code in codes() if any(kind == "sh" for kind, _, _ in blocks(code))]


def test_every_code_that_the_tool_can_emit_has_a_page_and_no_other_has() -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))]
    assert set(codes()) == {code for text in sources for code in re.findall(r'"(CF\d{4})"', text)}


def test_no_code_stands_for_two_things() -> None:
    rows = {
        row
        for path in sorted(PACKAGE.rglob("README.md"))
        for row in re.findall(r"^\| (CF\d{4}) \| (.*) \|$", path.read_text(), re.MULTILINE)
    }
    # What several packages say of the same thing stands in the table of each, in the same words.
    assert len(rows) == len({code for code, _ in rows})


@pytest.mark.parametrize("code", codes())
def test_a_page_says_what_the_code_means_and_what_to_write(code: str) -> None:
    page = page_of(code) or ""
    assert page.startswith(f"# {code}: ")
    assert "\n## What to write instead\n" in page
    assert code in WITH_PROGRAM or code in WITH_COMMAND or "\n## When\n" in page


@pytest.mark.parametrize("code", WITH_PROGRAM)
def test_the_program_of_a_page_shows_its_code(code: str) -> None:
    ((_, model, text),) = (block for block in blocks(code) if block[0] == "c")
    pragma = {"omp": "omp", "acc": "acc"}.get(model)
    sink = DiagnosticSink()
    try:
        understood(SourceFile("f.mf", text), sink, Options("estimate", pragma=pragma))  # type: ignore[arg-type]
        found = {each.code for each in sink.diagnostics}
    except CompileError as error:
        found = {each.code for each in error.diagnostics}
    assert code in found


@pytest.mark.parametrize("code", WITH_COMMAND)
def test_the_command_of_a_page_shows_its_code(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = ""
    for kind, name, text in blocks(code):
        if kind == "sh":
            for line in text.splitlines():
                output += CliRunner().invoke(cli, line.removeprefix("comprehensive ").split()).output
        else:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
    assert f"[{code}]" in output


def test_explain_prints_the_page_of_a_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(cli, ["explain", "CF0402"])
    assert (shown.exit_code, shown.stdout) == (0, page_of("CF0402"))
    document = json.loads(CliRunner().invoke(cli, ["explain", "CF0402", "--json"]).stdout)
    assert document == {"schema": 1, "code": "CF0402", "page": page_of("CF0402")}
    unknown = CliRunner().invoke(cli, ["explain", "CF9999"])
    assert unknown.exit_code == 2
    assert "CF9999" in unknown.output
