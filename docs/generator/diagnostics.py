"""Diagnostic codes as pages: `specs/diagnostics`, a hundred codes a page, and an index with the title of each."""

from __future__ import annotations

from itertools import groupby

from comprehensive.diagnostic_pages import codes, page_of


def diagnostic_pages() -> dict[str, str]:
    hundreds = {name: tuple(group) for name, group in groupby(codes(), key=lambda code: code[:4])}
    rows = "".join(
        f"| [{code}]({name}.md#{code.lower()}) | {_title(code)} |\n"
        for name, group in hundreds.items()
        for code in group
    )
    index = (
        "# Diagnostics\n\nEvery error, warning and note has a stable code. `comprehensive explain CF0402` prints the "
        "page of one.\n\n"
        f"| code | title |\n|---|---|\n{rows}\n"
        "```{toctree}\n:hidden:\n\n" + "\n".join(hundreds) + "\n```\n"
    )
    pages = {
        f"reference/diagnostics/{name}.md": f"# {name}xx\n\n" + "\n".join(_section(code) for code in group)
        for name, group in hundreds.items()
    }
    return {"reference/diagnostics/index.md": index, **pages}


def _title(code: str) -> str:
    title, _, _ = (page_of(code) or "").partition("\n")
    return title.removeprefix(f"# {code}: ").replace("|", "\\|")


def _section(code: str) -> str:
    """The page of a code as a section: headings a level lower, and a target for links to the code."""
    lines: list[str] = []
    fenced = False
    for line in (page_of(code) or "").splitlines():
        if line.startswith("```"):
            fenced = not fenced
            # A second word behind the language is the model of the directives, which the tests of the pages read.
            line = line.split(" ")[0]
        elif line.startswith("#") and not fenced:
            line = f"#{line}"
        lines.append(line)
    return f"({code.lower()})=\n" + "\n".join(lines) + "\n"
