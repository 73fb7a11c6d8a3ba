"""A page of the repository as a page of the site: its text in, the same with links that hold in the site out.

rewritten("see `comprehensive/poly/README.md`", PurePosixPath("docs/about/limits.md"), places, root)
# see [`comprehensive/poly/README.md`](../packages/comprehensive/poly/index.md)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import TypeAlias

Places: TypeAlias = Mapping[str, str]
"""Paths of the repository to pages of the site."""

_KEPT = re.compile(r"^(```.*?^```|#[^\n]*)$", re.MULTILINE | re.DOTALL)
"""A fence or a heading."""
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_NAMED = re.compile(r"(?<![\[`])`([\w.-]+(?:/[\w.-]+)*/?)`(?![\]`])")


def rewritten(text: str, name: PurePosixPath, places: Places, root: Path) -> str:
    """The page; ``name`` is its path in the repository.  Code in fences and headings stay as they are."""
    here = places.get(str(name)) or str(name.relative_to("docs"))

    def to(path: str) -> str | None:
        place = places.get(path.rstrip("/"))
        return None if place is None else relpath(place, str(PurePosixPath(here).parent))

    def linked(found: re.Match[str]) -> str:
        image, label, target = found.groups()
        if ":" in target or target.startswith("#"):
            return found[0]
        path, _, anchor = target.partition("#")
        repository = normpath(str(name.parent / path))
        page = to(repository)
        if page is not None:
            return f"{image}[{label}]({page}{f'#{anchor}' if anchor else ''})"
        if (root / repository).exists():
            # A file that is no page: its name has to do.
            return f"`{repository}`" if label in (path, f"`{path}`") else f"{label} (`{repository}`)"
        return found[0]

    def named(found: re.Match[str]) -> str:
        page = to(found[1])
        return found[0] if page is None or page == PurePosixPath(here).name else f"[`{found[1]}`]({page})"

    parts = _KEPT.split(text)
    # Every second part is kept; links of the others may go over the end of a line.
    parts[::2] = [_NAMED.sub(named, _LINK.sub(linked, part)) for part in parts[::2]]
    return "".join(parts)
