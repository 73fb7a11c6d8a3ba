"""A decision tree in HTML that a reader opens and closes: the items of an outline in, nested `details` out.

    <details open=""><summary>threads_per_block = B</summary>
      <details open=""><summary><i>accept</i> B &lt;= T_B: shared_words_per_block = B + 2</summary> ...

Leaves and dead ends are closed, and have their reasons inside.  No script and no style sheet: what a notebook keeps of
it is all that there is.  All words are escaped.  :func:`trees_html` makes a page of several trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from comprehensive.report.tree_outline import Arrow, Item, Kind

_COLOURS: dict[Kind, str] = {
    "leaf": "#1a7f37",
    "dead end": "#b35900",
    "pruned": "#8c959f",
    "not applied": "#8c959f",
}
_BOX = "margin: 0 0 0 1.2em; text-align: left"


def tree_html(items: Sequence[Item]) -> str:
    """The items of :func:`tree_outline.outline`, each within the one that its arrow starts from."""
    inner = {item.above.start for item in items if item.above is not None}
    parts: list[str] = []
    opened: list[int] = []
    for position, item in enumerate(items):
        above = None if item.above is None else item.above.start
        while opened and opened[-1] != above:
            opened.pop()
            parts.append("</details>")
        more = _more(item)
        if position in inner:
            opened.append(position)
            parts.append(f'<details open="" style="{_BOX}"><summary>{_words(item)}</summary>{more}')
        elif more:
            parts.append(f'<details style="{_BOX}"><summary>{_words(item)}</summary>{more}</details>')
        else:
            parts.append(f'<div style="{_BOX}">{_words(item)}</div>')
    return "\n".join((*parts, *("</details>" for _ in opened)))


def trees_html(trees: Sequence[Sequence[Item]], title: str) -> str:
    """A page with trees one below the other, which needs nothing else and ends in a newline."""
    name = escape(title)
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            f'<head><meta charset="utf-8"><title>Decision trees of {name}</title>',
            "<style>:root { color-scheme: light dark } body { font-family: system-ui, sans-serif }</style></head>",
            f"<body><h1>Decision trees of {name}</h1>",
            *map(tree_html, trees),
            "</body></html>",
            "",
        )
    )


def _words(item: Item) -> str:
    title, *rest = item.words
    colour = _COLOURS.get(item.kind)
    style = "" if colour is None else f' style="color: {colour}"'
    return f"{_arrow(item.above)}<b{style}>{escape(title)}</b>{''.join(f', {escape(word)}' for word in rest)}"


def _arrow(arrow: Arrow | None) -> str:
    """Return the markup of the arrow that leads to an item: ``accept B <= T_B: ``."""
    if arrow is None or arrow.kind == "alternative":
        return ""
    shown = ", ".join(filter(None, (*arrow.words, arrow.consequence)))
    return f"<i>{arrow.kind}</i> <code>{escape(shown)}</code>: "


def _more(item: Item) -> str:
    """Return the markup of what a reader may ask for: lines below, and those of the arrow that leads here."""
    lines = (*(() if item.above is None else item.above.more), *item.more)
    return "".join(f'<div style="{_BOX}"><small>{escape(line)}</small></div>' for line in lines)
