"""Preprocessor lines to their parts.

In: a token of type ``DIRECTIVE``.  Out: its name and the tokens behind that, at their places in the file::

    #define SQR(x) ((x)*(x))   -->   Directive("define", [SQR, (, x, ), (, (, x, ), *, (, x, ), )])

Here ``#`` and ``##`` are tokens of their own, of the types ``HASH`` and ``PASTE``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from comprehensive.metafork.tokens import Token, tokens

_NAME = re.compile(r"#(?:[ \t]|\\\r?\n|/\*[\s\S]*?\*/)*([A-Za-z_]\w*)?")

CONDITIONALS = ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif")


class Directive(Struct, frozen=True):
    """``line`` is the whole of it; ``name`` is empty for a lone ``#``."""

    name: str
    line: Token
    words: tuple[Token, ...]


def name_of(line: Token) -> str:
    """The word after the ``#``."""
    found = _NAME.match(line.text)
    return "" if found is None else found[1] or ""


def directive(line: Token) -> Directive:
    """The parts of a preprocessor line."""
    found = _NAME.match(line.text)
    assert found is not None, "a token of type DIRECTIVE begins with #"
    return Directive(found[1] or "", line, tuple(_words(line, line.start + found.end())))


def _words(line: Token, start: int) -> Iterator[Token]:
    """The tokens from ``start`` to the end of the line."""
    position = start
    while position < line.end:
        restart = line.end
        for token in tokens(line.origin, position, line.end):
            if token.type != "DIRECTIVE":
                yield token
                continue
            # The lexer takes any # for the beginning of a line of its own.
            text = "##" if token.text.startswith("##") else "#"
            restart = token.start + len(text)
            yield Token("PASTE" if text == "##" else "HASH", text, token.start, restart, token.origin)
            break
        position = restart
