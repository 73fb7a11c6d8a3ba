"""The limits of nesting: later stages walk trees by recursion and must never run out of stack.

In: tokens before parsing, statements after it.  Out: a place that is nested too deeply, or None.
"""

from __future__ import annotations

from collections.abc import Iterable

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import Expr, Stmt
from comprehensive.metafork.tokens import CLOSING, OPENING, Token
from comprehensive.metafork.walk import too_deep

MAXIMUM_DEPTH = 200
"""Levels of parentheses, brackets and braces in the text, and of operations and statements in the tree."""

MAXIMUM_TOKENS = 20_000
"""Tokens of one region; parsing takes a few microseconds each."""


def too_deep_in_text(tokens: Iterable[Token]) -> Span | None:
    """The first bracket, of any kind, inside MAXIMUM_DEPTH others."""
    depth = 0
    for token in tokens:
        if token.type in OPENING:
            depth += 1
            if depth > MAXIMUM_DEPTH:
                return token.span
        elif token.type in CLOSING:
            depth = max(0, depth - 1)
    return None


def too_deep_in_tree(roots: tuple[Stmt, ...] | tuple[Expr, ...]) -> Span | None:
    """The place of a node more than MAXIMUM_DEPTH levels down (a sum of n terms has n levels)."""
    node = too_deep(roots, MAXIMUM_DEPTH)
    return None if node is None else node.span
