"""The page of each diagnostic code: a code in, a text in Markdown out.

    page_of(code)       # "# CF0402: a subscript leaves its array ...", with an example and what to write instead

Pages are files in `specs/diagnostics`.  The example of a page is a block of C and what is said of it, or a session of
files and commands, that shows the code; a page without one says why.
"""

from __future__ import annotations

import re

from comprehensive.data import spec_directory

_CODE = re.compile(r"CF\d{4}\Z")


def is_code(text: str) -> bool:
    """Whether the text has the form of a code."""
    return _CODE.match(text) is not None


def page_of(code: str) -> str | None:
    """The page; None for what is no code, or none that there is."""
    path = spec_directory() / "diagnostics" / f"{code}.md"
    return path.read_text(encoding="utf-8") if is_code(code) and path.is_file() else None


def codes() -> tuple[str, ...]:
    """All codes with a page, sorted."""
    return tuple(sorted(path.stem for path in (spec_directory() / "diagnostics").glob("CF*.md")))
