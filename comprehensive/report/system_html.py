"""A semi-algebraic system as a table in HTML: conditions with what their limits mean in, one row each out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_CELL = 'style="text-align: left"'


def system_html(rows: Sequence[tuple[str, str]]) -> str:
    """A table of conditions and of what is said of each; a system without conditions always holds."""
    body = "\n".join(
        f"<tr><td {_CELL}><code>{escape(condition)}</code></td><td {_CELL}>{escape(meaning)}</td></tr>"
        for condition, meaning in rows or (("always", ""),)
    )
    head = f"<tr><th {_CELL}>condition</th><th {_CELL}>limit</th></tr>"
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
