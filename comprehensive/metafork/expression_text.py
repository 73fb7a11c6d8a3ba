"""A text that is one expression: C text in, its tree out.

expression("2 * m + 1")      # Binary("+", ...)
"""

from __future__ import annotations

from functools import cache

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.ast import Expr
from comprehensive.metafork.attempt import attempt
from comprehensive.metafork.tokens import Origin, tokens


@cache
def expression(text: str) -> Expr:
    """The expression. ValueError where the text is none."""
    words = list(tokens(Origin(SourceFile("<expression>", text), DiagnosticSink())))
    found: Expr | None = attempt("condition", words).tree if words else None
    if found is None:
        raise ValueError(f"'{text}' is no expression")
    return found
