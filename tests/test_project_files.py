"""The files that speak of the project as a whole agree with it: version, citation, hooks, release, contributing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from comprehensive import __version__

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SECTION = re.compile(r"^## Add an? (.+?)\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
CONTRIBUTING = {kind: text for kind, text in SECTION.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))}
ROWS = [
    pytest.param(row, id=f"{kind}: {row.split('`')[1]}")
    for kind, text in CONTRIBUTING.items()
    for row in text.splitlines()
    if row.startswith("| `")
]


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_all_files_have_the_version_of_the_tool() -> None:
    assert PROJECT["version"] == __version__
    assert loaded("CITATION.cff")["version"] == __version__
    assert f"\n## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_citation_has_what_its_format_demands_and_names_the_five_papers() -> None:
    citation = loaded("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation)
    assert citation["license"] == PROJECT["license"]
    papers = [citation["preferred-citation"], *citation["references"]]
    assert len(papers) == 5
    shown = (ROOT / "docs/about/papers.md").read_text(encoding="utf-8")
    for paper in papers:
        assert {"type", "title", "authors"} <= set(paper)
        assert {frozenset(author) for author in paper["authors"]} == {
            frozenset({"family-names", "given-names"})
        }
        assert all(author["family-names"] in shown for author in paper["authors"])
        assert paper["title"].lower() in " ".join(shown.lower().split())


def test_hooks_for_developers_run_what_is_there() -> None:
    (repository,) = loaded(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        program, *arguments = hook["entry"].split()
        assert program == ".venv/bin/python"
        assert [word for word in arguments if word.endswith(".py") and not (ROOT / word).is_file()] == []


def test_a_tag_is_built_and_published_without_a_secret() -> None:
    workflow = loaded(".github/workflows/release.yml")
    # YAML reads the word `on` as a truth value.
    assert workflow[True] == {"push": {"tags": ["v*"]}}
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    assert "permissions" not in build
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    run = "\n".join(step.get("run", "") for step in build["steps"])
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"make ([\w-]+)", run)) <= set(targets)
    assert ".ci/run" in run


def test_contributing_says_how_to_add_each_kind() -> None:
    assert list(CONTRIBUTING) == ["strategy", "counter", "PTX pass", "recipe", "command"]


@pytest.mark.parametrize("row", ROWS)
def test_a_file_to_touch_is_there_with_what_it_is_said_to_have(row: str) -> None:
    paths = [word for word in re.findall(r"`([\w./<>-]+)`", row) if "/" in word or word == "CHANGELOG.md"]
    assert paths
    found = [list(ROOT.glob(path.replace("<name>", "*"))) for path in paths]
    assert all(found)
    text = "".join(path.read_text("utf-8") for each in found for path in each if path.is_file())
    assert [name for name in re.findall(r"`(_?[A-Z]{2}[A-Z_]+)`", row) if name not in text] == []


@pytest.mark.parametrize("kind", CONTRIBUTING)
def test_the_last_one_that_was_added_is_there(kind: str) -> None:
    before, _, _ = CONTRIBUTING[kind].partition("\n| file")
    paths = re.findall(r"`(comprehensive/[\w/]+\.py)`", before)
    assert [path for path in paths if not (ROOT / path).is_file()] == []
