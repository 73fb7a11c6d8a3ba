"""Trees of text that need not be in the language: host code, conditions, heads of functions.

In: tokens.  Out: their tree, or why there is none; nothing is reported to the sink of the tokens::

    expression_of(tokens("n / B"))         -->  Binary("/", ...)
    expression_of(tokens("p->rows + 1"))   -->  None
    expression("2 * m + 1")                -->  Binary("+", ...), or an error
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from comprehensive.diagnostics import Diagnostic, DiagnosticSink, SourceFile
from comprehensive.metafork.ast import Expr
from comprehensive.metafork.grammar import parse
from comprehensive.metafork.limits import too_deep_in_text, too_deep_in_tree
from comprehensive.metafork.tokens import Origin, Token, tokens


class Attempt(NamedTuple):
    """``tree`` is None where the text is not understood; ``diagnostics`` say why."""

    tree: Any | None
    diagnostics: tuple[Diagnostic, ...]


def attempt(start: str, words: Sequence[Token]) -> Attempt:
    """The tree of one token or more as a ``start`` of the grammar."""
    quiet = Origin(words[0].origin.file, DiagnosticSink())
    own, end = [word._replace(origin=quiet) for word in words], words[-1].end
    tree = parse(start, own, Token("$END", "", end, end, quiet))
    return Attempt(None if quiet.sink.has_errors else tree, tuple(quiet.sink.diagnostics))


def expression_of(words: Sequence[Token]) -> Expr | None:
    """The expression that tokens are; None where they are none, or one that is nested too deeply."""
    if not words or too_deep_in_text(words) is not None:
        return None
    tree: Expr | None = attempt("condition", words).tree
    return None if tree is None or too_deep_in_tree((tree,)) is not None else tree


@cache
def expression(text: str) -> Expr:
    """The expression. ValueError where the text is none."""
    words = list(tokens(Origin(SourceFile("<expression>", text), DiagnosticSink())))
    found: Expr | None = attempt("condition", words).tree if words else None
    if found is None:
        raise ValueError(f"'{text}' is no expression")
    return found
