"""The links of a site: a folder of HTML in, what is wrong with them out.

A link inside of the site must lead to a file that is there, and to an anchor that the file has. A link to another site
must have the right form only, because a build may be without a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass(slots=True)
class _Page:
    links: list[str] = field(default_factory=list[str])
    anchors: set[str] = field(default_factory=set[str])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = _Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.page.anchors.add(value)
            elif name in ("href", "src"):
                self.page.links.append(value)


def faults(site: Path) -> list[str]:
    """The links that are wrong, a line each."""
    pages = {path.resolve(): _read(path) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site.resolve())}: {link}: {fault}"
        for path, page in pages.items()
        for link in dict.fromkeys(page.links)
        for fault in _faults_of(link, path, pages)
    ]


def _read(path: Path) -> _Page:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def _faults_of(link: str, path: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    parts = urlsplit(link)
    if parts.scheme == "data":
        return
    if parts.scheme or parts.netloc:
        if parts.scheme not in ("https", "mailto") or (parts.scheme == "https" and "." not in parts.netloc):
            yield "no address of the form https://host/..."
        return
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target = target / "index.html"
    if not target.is_file():
        yield "there is no such file"
    elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        yield "the page has no such anchor"
