"""Brackets in a text of C: how many are open, where one closes, and what stands between commas outside of them.

In: tokens.  Out: numbers and positions::

    a [ i , j ] , b     depths 0 0 1 1 1 1 0 0,  closing_of 1 is 5,  parts  a [ i , j ]  and  b

What is not well formed ends somewhere, at the latest where the text does.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import accumulate

from comprehensive.metafork.tokens import CLOSING, END, OPENING, Token


def depths(text: Sequence[Token]) -> Iterator[int]:
    """Yield how many brackets are open before each token, and behind the last one."""
    return accumulate(((token.type in OPENING) - (token.type in CLOSING) for token in text), initial=0)


def closing_of(tokens: Sequence[Token], opening: int, end: int | None = None) -> int:
    """Return the position of the bracket that closes one; ``end``, or that of the text, where there is none."""
    last = len(tokens) if end is None else end
    depth = 0
    for position in range(opening, last):
        kind = tokens[position].type
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth == 0 or kind == END:
            return position
    return last


def end_of_group(
    tokens: Sequence[Token], opening: int, stops: Container[str] = ("LBRACE", "RBRACE", "SEMI")
) -> int:
    """The position after the parenthesis that closes the one at ``opening``, or of what comes first of ``stops``.

    ``opening`` itself where there is no parenthesis.
    """
    depth = 0
    for position in range(opening, len(tokens)):
        kind = tokens[position].type
        depth += (kind == "LPAR") - (kind == "RPAR")
        if kind in stops:
            return position
        if depth == 0:
            return position + (kind == "RPAR")
    return len(tokens)


def between_commas(tokens: Sequence[Token], start: int, end: int) -> list[tuple[int, int]]:
    """The ranges between the commas from ``start`` to ``end`` that are outside all brackets."""
    ranges: list[tuple[int, int]] = []
    first = start
    for position, depth in zip(range(start, end), depths(tokens[start:end]), strict=False):
        if tokens[position].type == "COMMA" and depth == 0:
            ranges.append((first, position))
            first = position + 1
    return [*ranges, (first, end)]


def parts(words: Sequence[Token]) -> list[Sequence[Token]]:
    """The parts of a list between the commas outside all brackets."""
    return [words[first:last] for first, last in between_commas(words, 0, len(words))]
