"""The end of a statement of C, by its tokens alone.

``for (;;) if (c) a = 1; else b = 2; d = 3;``: the statement at ``for`` ends before ``d``.  What is not well formed ends
somewhere, at the latest where the text does.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.metafork.tokens import CLOSING, OPENING, Token


def statement_end(tokens: Sequence[Token], position: int) -> int:
    """The position after the statement at ``position``."""
    # What waits for the end of the statement that it governs: "if" for an else, "do" for its while.
    waiting: list[str] = []
    while position < len(tokens):
        kind = tokens[position].type
        if kind == "DIRECTIVE":
            position += 1
            continue
        if kind in ("FOR", "WHILE", "SWITCH", "META_FOR", "IF"):
            waiting.append("if" if kind == "IF" else "")
            position = group_end(tokens, position + 1)
            continue
        if kind in ("DO", "ELSE"):
            waiting.append("do" if kind == "DO" else "")
            position += 1
            continue
        position = group_end(tokens, position) if kind == "LBRACE" else _semicolon(tokens, position)
        while waiting:
            word = waiting.pop()
            if word == "if" and _is(tokens, position, "ELSE"):
                break
            if word == "do" and _is(tokens, position, "WHILE"):
                position = _semicolon(tokens, position)
        else:
            return position
    return len(tokens)


def group_end(tokens: Sequence[Token], position: int) -> int:
    """The position after the group in parentheses or braces that opens at ``position``; itself where none does."""
    depth = 0
    while position < len(tokens):
        depth += (tokens[position].type in OPENING) - (tokens[position].type in CLOSING)
        if depth <= 0 and tokens[position].type not in CLOSING:
            return position
        position += 1
        if depth <= 0:
            return position
    return position


def _semicolon(tokens: Sequence[Token], position: int) -> int:
    """The position after the next semicolon outside of parentheses and braces, or before a brace that closes more."""
    depth = 0
    while position < len(tokens):
        kind = tokens[position].type
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth < 0:
            return position
        position += 1
        if depth == 0 and kind == "SEMI":
            return position
    return position


def _is(tokens: Sequence[Token], position: int, kind: str) -> bool:
    return position < len(tokens) and tokens[position].type == kind
