"""Host code as the launcher has it: it returns no value, and all data is behind plain pointers.

In: a piece of host code.  Out: its text, in which every return leaves a function without a result, and what is said of
pointers to rows is said of pointers to elements::

    if (n == 0) return 0;       -->   if (n == 0) return (void)( 0);
    float (*row)[n] = u[1];     -->   float *row = (u + (long long)(1) * (n));
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from comprehensive.diagnostics import DiagnosticSink, Span
from comprehensive.metafork.tokens import Origin, tokens


def without_values(host: Span, rewritten: Sequence[tuple[Span, str]]) -> str:
    """The text of a piece of host code, on the same lines; some of the spans that are ``rewritten`` are in it."""
    changes = [(span.start, span.end, text) for span, text in rewritten if _is_within(span, host)]
    found = list(tokens(Origin(host.file, DiagnosticSink()), host.start, host.end))
    opened = False
    for token, after in pairwise(found):
        if token.type == "RETURN" and after.type != "SEMI":
            changes.append((token.end, token.end, " (void)("))
            opened = True
        elif after.type == "SEMI" and opened:
            changes.append((token.end, token.end, ")"))
            opened = False
    pieces: list[str] = []
    copied = host.start
    for start, end, text in sorted(changes):
        lines = host.file.text.count("\n", start, end)
        pieces += [host.file.text[copied:start], text, "\n" * lines]
        copied = end
    return "".join((*pieces, host.file.text[copied : host.end]))


def _is_within(span: Span, host: Span) -> bool:
    return span.file == host.file and host.start <= span.start and span.end <= host.end
