"""README and the pages of `docs` show what the tool prints, and what they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from comprehensive.cli import cli
from comprehensive.registry import default_strategies
from tests.sessions import Command, NotRun, Session, Written, agrees, played, steps

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
SMOOTH = ROOT / "docs/guides/case-discussion.md"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


WITH_COMMANDS = [page for page in PAGES if any(isinstance(step, Session) for step in steps(text_of(page)))]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_what_a_page_shows_is_what_is_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, wrong, _ = played(text_of(page), tmp_path)
    assert wrong == []


def test_a_page_that_shows_something_else_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = "`a.txt`:\n\n```text\none\ntwo\nthree\n```\n\nThen\n\n```console\n$ cat a.txt\none\n...\n$ false\n```\n"
    same, wrong, _ = played(page, tmp_path)
    assert wrong == ["$ false\nends with 1 instead of 0:\n"]
    assert same == page
    other = page.replace("\none\n...\n$ false", "\ntwo\n$ false  # exit code 1")
    corrected, wrong, printed = played(other, tmp_path)
    assert wrong == ["$ cat a.txt\nprints\none\ntwo\nthree\n\ninstead of\ntwo\n"]
    assert corrected == page.replace("...", "two\nthree").replace("$ false", "$ false  # exit code 1")
    assert printed == ["one\ntwo\nthree\n", ""]


def test_steps_are_files_commands_and_what_is_shown_only() -> None:
    page = (
        "`a.c`:\n\n```c\nint a;\n```\n\n<!-- not run: needs a GPU -->\n```console\n$ tune\n```\n\n"
        "```console\n$ one \\\n    two\n1\n$ three  # exit code 2\n```\n\n```sh\nfour\n```\n"
    )
    assert steps(page) == [
        Written("a.c", "int a;\n"),
        NotRun("needs a GPU", "$ tune\n"),
        Session((one := Command("one \\\n    two", "1\n"), three := Command("three  # exit code 2", ""))),
    ]
    assert (one.line, one.exit_code) == ("one two", 0)
    assert (three.line, three.exit_code) == ("three", 2)


def test_three_points_stand_for_any_lines_and_nothing_else_does() -> None:
    assert agrees("a\n...\nd\n", "a\nb\nc\nd\n")
    assert agrees("a\n...\n", "a\n")
    assert not agrees("a\n...\nd\n", "a\nb\nc\n")
    assert not agrees("a.\n", "ab\n")


@pytest.mark.parametrize("page", TUTORIALS, ids=name_of)
def test_every_command_of_a_tutorial_is_run_or_says_why_not(page: Path) -> None:
    text = text_of(page)
    assert re.findall(r"^```(?:sh|bash|shell)$", text, re.MULTILINE) == []
    shown = len(re.findall(r"^```console$", text, re.MULTILINE))
    unrun = [step for step in steps(text) if isinstance(step, NotRun)]
    assert text.count("<!-- not run: ") == len(unrun) < shown
    named = [path for step in unrun for path in re.findall(r"tests/[\w/]+\.py", step.reason)]
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_readme_is_short() -> None:
    assert len(text_of(README).splitlines()) < 200


def test_the_guide_to_python_shows_python_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = (step for step in steps(text_of(SMOOTH)) if isinstance(step, Written))
    Path(program.name).write_text(program.text, encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text_of(ROOT / "docs/guides/python.md"), re.DOTALL)
    assert found is not None
    # What follows needs a GPU; it is in tests/gpu/from_python.py and, on the processor, in the notebook.
    without_gpu, _, _ = found[1].partition("module = ")
    names: dict[str, object] = {}
    exec(without_gpu, names)
    said = capsys.readouterr().out
    assert "leaf 0 where B <= T_B, B + 2 <= Z_B" in said
    assert "smooth on NVIDIA H200, B = 256, n = 1000000" in said
    assert Path("out/smooth.json").is_file()


def test_the_guide_to_trees_explains_every_decision() -> None:
    codes = {code for strategy in default_strategies() for code in strategy.decision if code}
    ends = {"1-2"}  # "(1-1) to (1-3)"
    explained = text_of(SMOOTH).split("The decisions of")[1]
    assert [code for code in sorted(codes - ends) if f"({code})" not in explained] == []


def test_the_page_of_commands_names_every_command() -> None:
    page = text_of(ROOT / "docs/reference/commands.md")
    for name in cli.commands:
        assert f"| `{name} " in page or f"| `{name}`" in page or f"make {name}" in page, name


MADE = {"build", "dist", "out"}
"""Folders that commands make, which a page may name before they are there."""


def test_paths_that_pages_name_are_there() -> None:
    """Paths of the repository in backticks, and links; what a page says of a path of the reader's is no such path."""
    here = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}
    folders = "|".join(sorted(here - MADE))
    missing: list[str] = []
    for page in [*PAGES, *(path for path in ROOT.glob("*.md") if path != README)]:
        text = text_of(page)
        named = re.findall(rf"`((?:{folders})/[\w./-]+?)/?`", text)
        links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if ":" not in link]
        missing += [f"{name_of(page)}: {path}" for path in named if not (ROOT / path).exists()]
        missing += [
            f"{name_of(page)}: {link}" for link in links if link and not (page.parent / link).exists()
        ]
    assert missing == []
