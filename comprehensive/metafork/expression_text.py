"""A text that is one expression: C text in, its tree out.

expression("2 * m + 1")      # Binary("+", ...)
"""

from __future__ import annotations

from functools import cache

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.ast import Expr
from comprehensive.metafork.grammar import parse
from comprehensive.metafork.tokens import Origin, Token, tokens


@cache
def expression(text: str) -> Expr:
    """The expression. ValueError where the text is none."""
    origin = Origin(SourceFile("<expression>", text), DiagnosticSink())
    found = parse("condition", list(tokens(origin)), Token("$END", "", len(text), len(text), origin))
    if found is None or origin.sink.has_errors:
        raise ValueError(f"'{text}' is no expression")
    return found
