"""The documentation site: what is put together for it is complete, and wrong links are found."""

from __future__ import annotations

import ast
import re
from pathlib import Path, PurePosixPath

import pytest

import comprehensive
from comprehensive import registry
from comprehensive.cli import cli
from comprehensive.diagnostic_pages import codes
from comprehensive.ptx.passes.registry import PASSES
from comprehensive.schedule.recipes import registry as recipes
from docs.generator.docstrings import first_paragraph, markdown
from docs.generator.links import faults
from docs.generator.registries import primitives
from docs.generator.rewritten import rewritten
from docs.generator.sources import write_sources

ROOT = Path(__file__).resolve().parent.parent
SCHEDULE = ROOT / "comprehensive/schedule"
PLACES = {
    "docs/guides/ptx.md": "guides/ptx.md",
    "comprehensive/poly": "packages/comprehensive/poly/index.md",
    "comprehensive/poly/README.md": "packages/comprehensive/poly/index.md",
    "picture.svg": "picture.svg",
}
GUIDE = PurePosixPath("docs/guides/ptx.md")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "sources"
    write_sources(ROOT, folder)
    return folder


def test_every_primitive_of_the_schedule_has_a_section(sources: Path) -> None:
    text = page(sources, "reference/recipes.md")
    assert [name for name in primitives() if f"\n### {name}\n" not in text] == []


def test_primitives_are_those_of_the_table_and_those_that_stages_of_kernels_name() -> None:
    readme = (SCHEDULE / "README.md").read_text(encoding="utf-8")
    table = readme.partition("\n| primitive |")[2].partition("\n\n")[0]
    assert re.findall(r"\b(\w+)\.py\b", table) == list(primitives())
    calls = [
        node
        for path in sorted(SCHEDULE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "commented"
    ]
    named = {word.value for call in calls if isinstance(word := call.args[1], ast.Constant)}
    assert len(named) > 3
    assert named - {"stage"} <= set(primitives())  # copies to shared memory belong to several of them


def page(sources: Path, name: str) -> str:
    return (sources / name).read_text(encoding="utf-8")


def test_the_reference_has_all_that_can_be_named(sources: Path) -> None:
    def missing(name: str, words: list[str]) -> list[str]:
        text = page(sources, name)
        return [word for word in words if word not in text]

    index = page(sources, "reference/diagnostics/index.md")
    assert [code for code in codes() if f"[{code}]({code[:4]}.md#{code.lower()})" not in index] == []
    assert missing("reference/counters.md", [f"| `{name}` |" for name in registry.counters().names]) == []
    assert missing("reference/strategies.md", [f"| `{name}` |" for name in registry.strategies().names]) == []
    assert missing("reference/passes.md", [f"\n## {name}\n" for name in PASSES]) == []
    names = [recipe.name for recipe in recipes.every()]
    assert missing("reference/recipes.md", [f"\n## {name}\n" for name in (*names, "Primitives")]) == []
    exported = [name for name in comprehensive.__all__ if name != "__version__"]
    assert missing("reference/python.md", [f".{name}\n" for name in exported]) == []
    assert [name for name in cli.commands if not (sources / f"reference/options/{name}.md").is_file()] == []
    schemas = {path.stem for path in (ROOT / "specs/schema").glob("*.json")}
    assert schemas <= {path.stem for path in (sources / "reference/schemas").glob("*.md")}


def test_every_option_of_a_command_is_on_its_page(sources: Path) -> None:
    text = page(sources, "reference/options/gen.md")
    options = [
        option for parameter in cli.commands["gen"].params for option in parameter.opts if option[0] == "-"
    ]
    assert len(options) > 20
    assert [option for option in options if option not in text] == []


def test_the_fields_of_a_document_say_what_they_are(sources: Path) -> None:
    text = page(sources, "reference/schemas/explain.md")
    assert "| `schema` | 1 | yes |  |\n" in text
    assert "| `occupancy` | array | no | with --occupancy |\n" in text
    assert "| `regions[].ranking` | null or list of ranked | yes |  |\n" in text


def test_every_page_is_in_the_navigation_or_in_a_list(sources: Path) -> None:
    pages = {path.relative_to(sources).as_posix().removesuffix(".md"): path for path in sources.rglob("*.md")}
    reached: set[str] = {"index"}
    for name, path in pages.items():
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            reached |= {str(PurePosixPath(name).parent / entry) for entry in entries}
    orphans = {
        name for name, path in pages.items() if path.read_text("utf-8").startswith("---\norphan: true\n")
    }
    assert set(pages) == reached | orphans
    assert all(name.startswith(("measurements/", "packages/")) for name in orphans)


def test_links_between_pages_lead_to_pages(sources: Path) -> None:
    wrong: list[str] = []
    for path in sorted(sources.rglob("*.md")):
        prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", prose):
            if ":" not in link and not (path.parent / link).exists():
                wrong.append(f"{path.relative_to(sources)}: {link}")
    assert wrong == []


def test_paths_that_are_pages_become_links() -> None:
    text = "see `comprehensive/poly/README.md`, `comprehensive/poly/` and `comprehensive/loops`\n"
    place = "../packages/comprehensive/poly/index.md"
    assert rewritten(text, GUIDE, PLACES, ROOT) == (
        f"see [`comprehensive/poly/README.md`]({place}), [`comprehensive/poly/`]({place}) and `comprehensive/loops`\n"
    )


def test_links_of_the_repository_become_links_of_the_site() -> None:
    text = "[a\nb](../../comprehensive/poly/README.md#laws) ![b](../../picture.svg) [c](https://d.org/e) [f](#g)\n"
    assert rewritten(text, GUIDE, PLACES, ROOT) == (
        "[a\nb](../packages/comprehensive/poly/index.md#laws) ![b](../picture.svg) [c](https://d.org/e) [f](#g)\n"
    )
    assert rewritten("[the pipeline](../../comprehensive/driver.py)", GUIDE, PLACES, ROOT) == (
        "the pipeline (`comprehensive/driver.py`)"
    )


def test_code_and_headings_stay_as_they_are() -> None:
    text = "# `comprehensive/poly`\n\n```sh\ncat `comprehensive/poly`\n```\n"
    assert rewritten(text, GUIDE, PLACES, ROOT) == text


def test_wrong_links_of_a_site_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1> <a href="b.html#there">1</a> <a href="b.html#gone">2</a> <a href="c.html">3</a>'
        '<a href="#top">4</a> <a href="https://example.org/x">5</a> <a href="http:/x">6</a> <img src="d.svg">'
    )
    (tmp_path / "b.html").write_text('<p id="there">B</p>')
    assert faults(tmp_path) == [
        "a.html: b.html#gone: the page has no such anchor",
        "a.html: c.html: there is no such file",
        "a.html: http:/x: no address of the form https://host/...",
        "a.html: d.svg: there is no such file",
    ]


def test_docstrings_become_markdown() -> None:
    class Documented:
        """One paragraph with ``code`` and :func:`a.b`
        in two lines.

        ::

            x  -->  y

        And::

            z
        """

    assert first_paragraph(Documented) == "One paragraph with `code` and `a.b` in two lines."
    assert markdown(Documented) == (
        "One paragraph with `code` and `a.b`\nin two lines.\n\n```text\nx  -->  y\n```\n\nAnd:\n\n```text\nz\n```\n"
    )
