"""A decision tree for Graphviz: outlines of regions in, one directed graph in the DOT language out.

    digraph "matmul.mf" { n0 -> n1 [label="2*s*B + 2 <= Z_B"]; ... }

Source: Graphviz, *DOT Language*.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.report.tree_outline import Arrow, Item, Kind

_LOOKS: dict[Kind, str] = {
    "root": "",
    "recipe": ', style="rounded"',
    "not applied": ', style="rounded,dotted"',
    "branch": "",
    "leaf": ', style="filled", fillcolor="#5ec96250"',
    "dead end": ', style="filled", fillcolor="#9c9c9c50"',
    "pruned": ', style="dotted"',
}


def trees_dot(regions: Sequence[tuple[Item, ...]], title: str) -> str:
    """A graph with a component for each region, ending in a newline."""
    lines = [
        f"digraph {_quoted(title)} {{",
        "  rankdir=LR;",
        '  node [shape=box, fontname="monospace", fontsize=11];',
        '  edge [fontname="monospace", fontsize=10];',
    ]
    first = 0
    for items in regions:
        for number, item in enumerate(items, first):
            told = f", tooltip={_quoted(*item.more)}" if item.more else ""
            lines.append(f"  n{number} [label={_left(item.words)}{_LOOKS[item.kind]}{told}];")
            if item.above is not None:
                lines.append(f"  n{first + item.above.start} -> n{number}{_edge(item.above)};")
        first += len(items)
    return "\n".join([*lines, "}\n"])


def _edge(arrow: Arrow) -> str:
    words = (*arrow.words, *filter(None, (arrow.consequence,)))
    looks = [f"label={_left(words)}"] if words else []
    looks += [f"tooltip={_quoted(*arrow.more)}"] if arrow.more else []
    looks += ['style="dashed"'] if arrow.kind == "refuse" else []
    return f" [{', '.join(looks)}]" if looks else ""


def _left(words: Sequence[str]) -> str:
    """A label whose lines begin on the left."""
    return '"' + "".join(_escaped(each) + "\\l" for each in words) + '"'


def _quoted(*words: str) -> str:
    return '"' + "\\n".join(map(_escaped, words)) + '"'


def _escaped(words: str) -> str:
    return words.replace("\\", "\\\\").replace('"', '\\"')
