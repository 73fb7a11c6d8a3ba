"""A decision tree for Mermaid, which Markdown pages show as a picture: outlines of regions in, a flowchart out.

    flowchart LR
      n0["words = 2*s*B + 2<br/>exact"]
      n0 -->|"2*s*B + 2 #lt;= Z_B"| n1

Source: Mermaid, *Flowcharts - Basic Syntax*.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.report.tree_outline import Arrow, Item, Kind

_CLASSES: dict[Kind, str] = {
    "root": "",
    "recipe": "",
    "not applied": ":::dotted",
    "branch": "",
    "leaf": ":::leaf",
    "dead end": ":::deadEnd",
    "pruned": ":::dotted",
}
_DEFINITIONS = (
    "  classDef leaf fill:#5ec96250,stroke:#5ec962",
    "  classDef deadEnd fill:#9c9c9c50,stroke:#9c9c9c",
    "  classDef dotted stroke-dasharray:2 3",
)
# In quoted text these end it, begin an entity, or are read as HTML or as Markdown.
_ENTITIES = {"#": "#35;", '"': "#quot;", "&": "#amp;", "<": "#lt;", ">": "#gt;", "`": "#96;"}


def trees_mermaid(regions: Sequence[tuple[Item, ...]], title: str) -> str:
    """A flowchart with a component for each region, ending in a newline."""
    lines = ["flowchart LR", f"  accTitle: {_line(title)}", *_DEFINITIONS]
    first = 0
    for items in regions:
        for number, item in enumerate(items, first):
            lines.append(f"  n{number}[{_quoted(item.words)}]{_CLASSES[item.kind]}")
            if item.above is not None:
                lines.append(f"  n{first + item.above.start} {_edge(item.above)} n{number}")
        first += len(items)
    return "\n".join([*lines, ""])


def _edge(arrow: Arrow) -> str:
    drawn = "-.->" if arrow.kind == "refuse" else "-->"
    words = (*arrow.words, *filter(None, (arrow.consequence,)))
    return f"{drawn}|{_quoted(words)}|" if words else drawn


def _quoted(words: Sequence[str]) -> str:
    return '"' + "<br/>".join("".join(_ENTITIES.get(c, c) for c in each) for each in words) + '"'


def _line(words: str) -> str:
    return " ".join(words.split())
