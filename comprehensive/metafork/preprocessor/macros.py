"""Definitions of macros.

In: the tokens of a ``#define`` line, or a name and a text of the command line.  Out: a :class:`Macro`, or an error
(CF0131)::

    #define MAX(a, b) ((a) > (b) ? (a) : (b))   -->   Macro("MAX", ("a", "b"), False, ...)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from msgspec import Struct

from comprehensive.diagnostics import Span
from comprehensive.metafork.literals import shorten
from comprehensive.metafork.preprocessor.directives import Directive
from comprehensive.metafork.tokens import Token

ANNOTATIONS = frozenset(("META_SCHEDULE", "META_FOR", "META_ATOMIC"))
"""The types of tokens that are words of MetaFork."""
_MAY_BE_MACROS = frozenset(("NAME", "QUALIFIER"))
REST = "__VA_ARGS__"


class Macro(Struct, frozen=True):
    """``parameters`` is None for a macro without parentheses; ``variadic``: the last parameter takes the rest."""

    name: str
    parameters: tuple[str, ...] | None
    variadic: bool
    body: tuple[Token, ...]
    span: Span
    """The place of its name in its definition."""


def macro(line: Directive) -> Macro | None:
    """The macro that a line defines; None after an error, and for the words of MetaFork.

    A program that is to compile as plain C as well defines ``meta_for`` as ``for``: that says nothing to this tool.
    """
    if not line.words:
        return _wrong(line.line, "#define without a name", "write '#define NAME text'")
    name, rest = line.words[0], line.words[1:]
    if name.type in ANNOTATIONS:
        return None
    if not name.text.isidentifier() or name.text == "defined":
        return _wrong(name, f"'{shorten(name.text)}' cannot be the name of a macro", "give it another name")
    if name.type not in _MAY_BE_MACROS:
        return _wrong(
            name,
            f"the macro '{name.text}' has the name of a keyword of C",
            "give it a name of its own: with this one the program means another one than it says",
        )
    if not rest or rest[0].type != "LPAR" or rest[0].start > name.end:
        return _checked(Macro(name.text, None, False, rest, name.span))
    closing = next((k for k, token in enumerate(rest) if token.type == "RPAR"), None)
    if closing is None:
        return _wrong(name, f"the parameters of macro '{name.text}' are never closed", "add the missing ')'")
    return _with_parameters(name, rest[1:closing], rest[closing + 1 :])


def _with_parameters(name: Token, inside: Sequence[Token], body: tuple[Token, ...]) -> Macro | None:
    names = [token.text for token in inside[::2]]
    separated = all(token.type == "COMMA" for token in inside[1::2]) and (not inside or len(inside) % 2 == 1)
    variadic = bool(names) and names[-1] == "..."
    if variadic:
        names[-1] = REST
    if len(inside) > 1 and inside[-1].text == "..." and inside[-2].type == "NAME" and not separated:
        # GNU: a name for the rest, as in '#define LOG(args...)'.
        names, variadic = [token.text for token in inside[:-1:2]], True
        separated = all(token.type == "COMMA" for token in inside[1:-1:2])
    if not separated or not all(word.isidentifier() for word in names) or len(set(names)) < len(names):
        return _wrong(
            name,
            f"the parameters of macro '{name.text}' are not understood",
            f"write names with commas between them: #define {name.text}(a, b) ...",
        )
    return _checked(Macro(name.text, tuple(names), variadic, body, name.span))


def _checked(found: Macro) -> Macro | None:
    """The macro, unless ``#`` or ``##`` stands where it has nothing to work on."""
    body = found.body
    for place in (0, -1):
        if body and body[place].type == "PASTE":
            return _wrong(
                body[place],
                f"'##' at an end of macro '{found.name}' joins nothing",
                "remove it, or write what it joins on both sides",
            )
    if found.parameters is None:
        return found
    for token, after in zip_longest(body, body[1:]):
        if token.type == "HASH" and (after is None or after.text not in found.parameters):
            return _wrong(
                token,
                f"'#' in macro '{found.name}' has no parameter behind it",
                "write the name of a parameter, whose text becomes a string",
            )
    return found


def _wrong(token: Token, message: str, help: str) -> None:
    token.origin.sink.error("CF0131", message, token.span, help=help)
