"""The sources of the site: the repository in, a folder of Markdown out.

What stands in the repository (pages, READMEs, results) is taken as it is, with its links and the paths that it names in
backticks turned to pages of the site. What follows from the code is generated.
"""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from docs.generator.commands import command_pages
from docs.generator.diagnostics import diagnostic_pages
from docs.generator.notebook import notebook_page
from docs.generator.python import python_page
from docs.generator.registries import registry_pages
from docs.generator.rewritten import Places, rewritten
from docs.generator.schemas import schema_pages

_ROOT_PAGES = {
    "ARCHITECTURE.md": "developing/architecture.md",
    "CONTRIBUTING.md": "developing/contributing.md",
    "CHANGELOG.md": "about/changelog.md",
    "SECURITY.md": "about/security.md",
    "docs/tutorial.ipynb": "tutorials/notebook.md",
    "specs/paper/README.md": "about/figures.md",
    "specs/diagnostics": "reference/diagnostics/index.md",
    "specs/schema": "reference/schemas/index.md",
    "specs/machines": "reference/devices.md",
    "benchmarks/results": "measurements/index.md",
}
_FOLDERS_WITH_READMES = ("benchmarks", "comprehensive", "tests")
_IMAGES = (".svg", ".png")
_LISTED = ("measurements/", "packages/")
"""Folders with an index that lists their pages: in the navigation, which every page has, they would be too many."""


def write_sources(root: Path, folder: Path) -> None:
    """Write all pages; ``folder`` must not be there."""
    places = _places(root)
    generated = _generated(root)
    for name, page in places.items():
        source = root / name
        if source.suffix == ".md":
            text = rewritten(source.read_text(encoding="utf-8"), PurePosixPath(name), places, root)
            _write(folder, page, _listed(text, source.stem) if page.startswith(_LISTED) else text)
        elif source.suffix in _IMAGES:
            (folder / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / page)
    for page, text in generated.items():
        _write(folder, page, rewritten(text, PurePosixPath("docs") / page, places, root))


def _places(root: Path) -> Places:
    """The places in the site of files and folders of the repository."""
    places: dict[str, str] = dict(_ROOT_PAGES)
    for path in sorted((root / "docs").rglob("*.md")):
        places[_name(path, root)] = path.relative_to(root / "docs").as_posix()
    for top in _FOLDERS_WITH_READMES:
        for path in sorted((root / top).rglob("README.md")):
            inner = path.parent.relative_to(root).as_posix()
            places[_name(path, root)] = places[inner] = f"packages/{inner}/index.md"
    for path in sorted((root / "benchmarks/results").iterdir()):
        if path.suffix in (".md", *_IMAGES):
            places[_name(path, root)] = f"measurements/{path.name}"
    return places


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _generated(root: Path) -> dict[str, str]:
    """Pages that follow from the code, by their places."""
    return {
        "tutorials/notebook.md": notebook_page(root / "docs/tutorial.ipynb"),
        **command_pages(),
        **diagnostic_pages(),
        **registry_pages(),
        **schema_pages(root / "specs/schema"),
        "reference/python.md": python_page(),
        "measurements/index.md": _measurements(root),
        "packages/index.md": _packages(root),
    }


def _measurements(root: Path) -> str:
    names = sorted(path.stem for path in (root / "benchmarks/results").glob("*.md"))
    return (
        "# Measurements\n\nEvery measured figure that a page cites, as the benchmark printed it, with the day in "
        f"its name.\n\n{_list({name: f'{name}.md' for name in names})}"
    )


def _packages(root: Path) -> str:
    names = [
        path.parent.relative_to(root).as_posix()
        for top in _FOLDERS_WITH_READMES
        for path in sorted((root / top).rglob("README.md"))
    ]
    return (
        "# Packages\n\nThe READMEs of all folders: their files, laws, recipes for what can be added, traps and "
        f"diagnostics.\n\n{_list({f'`{name}`': f'{name}/index.md' for name in names})}"
    )


def _list(links: dict[str, str]) -> str:
    return "".join(f"- [{label}]({page})\n" for label, page in links.items())


def _listed(text: str, name: str) -> str:
    """A page that stands in a list of its folder only, with a title where it has none."""
    title = "" if text.startswith("# ") else f"# {name}\n\n"
    return f"---\norphan: true\n---\n\n{title}{text}"


def _write(folder: Path, page: str, text: str) -> None:
    path = folder / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
