"""Every stable code has a page, the example of a page shows its code and no other, and what it says to write is right.

An example is a program of C with all that is said of it, or a session (`tests/sessions.py`) of files and commands.
Where there is none, the section "No example" says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli
from comprehensive.diagnostic_pages import codes, page_of
from comprehensive.diagnostics import CompileError, Diagnostic, DiagnosticSink, SourceFile, render
from comprehensive.driver import Options, understood
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.sessions import Session, played, steps

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "comprehensive"
WITHOUT_EXAMPLE = {"CF0630", "CF1402"}
"""The codes that no short input is known for: a bug of the tool, and a difference that ptxas makes or not."""
NOTHING_TO_CORRECT = {*WITHOUT_EXAMPLE, "CF0955", "CF1025", "CF1211"}
"""Nor is there anything to write where tools do not fit each other, a pass is wrong, or a cubin is fine as it is."""
TOOLS = {
    "nvcc": "ptxas --install (?!.*grid-stride)|nvcc ",
    "ptxas": "^ptxas |--assemble|occupancy k.ptx",
    "nvdisasm": "comprehensive sass k|patch-spills",
}
"""Patterns of commands of a session that need a tool."""
COMPILERS = "comprehensive check|--measure|gen (?!.*--no-verify)"
SLOW = {"CF0631", "CF1212", "CF1213"}
"""The codes whose sessions run the C++ compiler or nvcc over what they write."""
FIX = "\n## What to write instead\n"
PROGRAM = re.compile(r"^```c ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEAD = r"^(?:.*: )?(error|warning|note): .* \[(CF\d{4})\]$"
"""The first line that `render` makes of a diagnostic."""
SEVERITIES = {"An error": "error", "A warning": "warning", "A note": "note", "A bug of the tool": "error"}


def halves(code: str) -> tuple[str, str]:
    """The example of a page, and what to write instead."""
    page = page_of(code) or ""
    before, _, after = page.partition(FIX)
    _, _, example = before.partition("\n## Example\n")
    return example, after


def sessions(text: str) -> list[Session]:
    return [step for step in steps(text) if isinstance(step, Session)]


WITH_SESSION = [code for code in codes() if sessions(halves(code)[0])]
WITH_PROGRAM = [code for code in codes() if code not in WITH_SESSION and PROGRAM.search(halves(code)[0])]


def said_of(model: str, text: str) -> tuple[Diagnostic, ...]:
    sink = DiagnosticSink()
    pragma = {"omp": "omp", "acc": "acc"}.get(model)
    try:
        understood(SourceFile("f.mf", text), sink, Options("estimate", pragma=pragma))  # type: ignore[arg-type]
    except CompileError as error:
        return error.diagnostics
    return sink.diagnostics


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
    assert page.count(FIX) == 1
    assert any(f"\n\n{words}" in page for words in SEVERITIES)
    why = re.search(r"\n## No example\n\n(\S.*)\n", page)
    assert (why is not None) == (code in WITHOUT_EXAMPLE)
    assert (code in WITH_PROGRAM or code in WITH_SESSION) == (code not in WITHOUT_EXAMPLE)
    assert ("\n```" in halves(code)[1]) == (code not in NOTHING_TO_CORRECT)


@pytest.mark.parametrize("code", WITH_PROGRAM)
def test_the_program_of_a_page_shows_its_code_and_no_other(code: str) -> None:
    example, after = halves(code)
    ((model, text),) = PROGRAM.findall(example)
    (shown,) = SAID.findall(example)
    found = said_of(model, text)
    assert shown == "\n".join(map(render, found)) + "\n"
    assert {(each.code, each.severity.value) for each in found} == {(code, severity(code))}
    corrected = PROGRAM.findall(after)
    assert len(corrected) <= 1
    assert [each for model, text in corrected for each in said_of(model, text)] == []


def severity(code: str) -> str:
    return next(word for words, word in SEVERITIES.items() if f"\n\n{words}" in (page_of(code) or ""))


def missing_tools(page: str) -> Iterator[str]:
    """Yield the tools that the sessions of a page need and this machine lacks."""
    lines = "\n".join(command.line for session in sessions(page) for command in session.commands)
    for tool, words in TOOLS.items():
        if re.search(words, lines, re.MULTILINE) and isinstance(find_tool(tool), Missing):
            yield tool
    if re.search(COMPILERS, lines):
        yield from (
            name for name, found in (("C", find_c_compiler()), ("C++", find_cxx_compiler())) if not found
        )


@pytest.mark.parametrize(
    "code", [pytest.param(code, marks=[pytest.mark.slow] if code in SLOW else []) for code in WITH_SESSION]
)
def test_the_session_of_a_page_shows_its_code_and_no_other(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(code) or ""
    if missing := [*missing_tools(page)]:
        pytest.skip(f"the session needs {' and '.join(missing)}")
    monkeypatch.chdir(tmp_path)
    done = played(page, tmp_path)
    assert done.wrong == []
    until = sum(len(session.commands) for session in sessions(halves(code)[0]))
    heads = re.findall(HEAD, "".join(done.printed[:until]), re.MULTILINE)
    assert set(heads) == {(severity(code), code)}
    assert re.findall(r"\[CF\d{4}\]", "".join(done.printed[until:])) == []
    for session in sessions(halves(code)[1]):
        assert [command.exit_code for command in session.commands if command.exit_code] == []


def test_explain_prints_the_page_of_a_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(cli, ["explain", "CF0402"])
    assert (shown.exit_code, shown.stdout) == (0, page_of("CF0402"))
    document = json.loads(CliRunner().invoke(cli, ["explain", "CF0402", "--json"]).stdout)
    assert document == {"schema": 1, "code": "CF0402", "page": page_of("CF0402")}
    unknown = CliRunner().invoke(cli, ["explain", "CF9999"])
    assert unknown.exit_code == 2
    assert "CF9999" in unknown.output
