"""Returns of host code: the launcher has a status of its own, so that values are computed and dropped.

In: a piece of host code.  Out: its text, in which every return leaves a function without a result::

    if (n == 0) return 0;   -->   if (n == 0) return (void)( 0);
"""

from __future__ import annotations

from itertools import pairwise

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.tokens import Origin, tokens


def without_values(host: Span) -> str:
    """The text of a piece of host code, on the same lines."""
    text = host.text
    found = list(tokens(Origin(host.file, DiagnosticSink()), host.start, host.end))
    pieces: list[str] = []
    copied, opened = host.start, False
    for token, after in pairwise(found):
        if token.type == "RETURN" and after.type != "SEMI":
            pieces += [text[copied - host.start : token.end - host.start], " (void)("]
            copied, opened = token.end, True
        elif after.type == "SEMI" and opened:
            pieces += [text[copied - host.start : token.end - host.start], ")"]
            copied, opened = token.end, False
    return "".join((*pieces, text[copied - host.start :]))
