"""The parser: tokens of one construct to its tree, with recovery from errors.

In: the name of a construct (``region``, ``parameter``, ``condition``) and its tokens.  Out: what the action of its
rule returns, or None after errors that could not be bridged.  This is the only module that imports lark::

    parse("condition", tokens("B0 <= ub1 * s"), end)  -->  Binary("<=", Name("B0"), Binary("*", ...))

After a syntax error in a region the statement at hand is dropped: the stack is cut back to where a statement may
begin, tokens are skipped to the next ``;``, ``{`` or ``}``, and parsing goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

from lark import Lark, UnexpectedToken
from lark.lexer import Lexer

from comprehensive.data import spec_directory
from comprehensive.metafork.brackets import closing_of
from comprehensive.metafork.build import ACTIONS
from comprehensive.metafork.syntax_errors import report_syntax_error
from comprehensive.metafork.tokens import Token

_Interactive: TypeAlias = Any
"""lark's InteractiveParser, whose package has no complete types."""

MAXIMUM_ERRORS = 20
"""Syntax errors of one region after which its parsing stops."""


class _TokensAreGiven(Lexer):
    """lark wants a lexer; the tokens are fed one by one instead."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, *_: Any) -> Iterator[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return iter(())


class _Actions:
    """lark looks actions up as attributes; alternatives of a rule have names of their own."""


for _name, _action in ACTIONS.items():
    setattr(_Actions, _name, staticmethod(_action))


@cache
def _lark() -> Lark:
    text = (spec_directory() / "metafork.lark").read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        lexer=_TokensAreGiven,
        start=["region", "parameter", "condition"],
        transformer=_Actions(),  # pyright: ignore[reportArgumentType]
        keep_all_tokens=True,
        maybe_placeholders=False,
    )


def parse(start: str, tokens: Iterable[Token], end: Token) -> Any | None:
    """The tree of ``tokens`` as a ``start``; ``end`` is a token of type ``$END`` where the construct ends.

    Errors are reported to the sink of the tokens.  Only a ``region`` is continued after an error.
    """
    parser: _Interactive = _lark().parse_interactive(start=start)  # pyright: ignore[reportUnknownMemberType]
    return _parse(parser, [*tokens, end], resume=start == "region")


def _parse(parser: _Interactive, tokens: list[Token], resume: bool) -> Any | None:
    position, errors = 0, 0
    result: Any = None
    while position < len(tokens):
        token = tokens[position]
        try:
            result = parser.feed_token(token)
        except UnexpectedToken:
            if errors and token.type == "ELSE":
                position += 1  # of an if that was dropped
                continue
            previous = tokens[position - 1] if position else None
            report_syntax_error(token, previous, frozenset(parser.accepts()), _open_words(parser))
            errors += 1
            if not resume or errors == MAXIMUM_ERRORS or token.type == "$END":
                return None
            position = _resume(parser, tokens, position)
        else:
            position += 1
    return result


def _at_statement(parser: _Interactive) -> bool:
    choices = parser.choices()
    if "META_FOR" not in choices or "SEMI" not in choices:
        return False
    # The table of an LALR parser merges contexts: after 'do break;' it has an entry for ';' that leads nowhere.
    return "SEMI" in parser.accepts()


def _open_words(parser: _Interactive) -> tuple[str, ...]:
    """The types of the tokens on the stack inside the innermost braces, outermost first."""
    words: list[str] = []
    for value in reversed(parser.parser_state.value_stack):
        if isinstance(value, Token):
            words.append(value.type)
            if value.type == "LBRACE":
                break
    return tuple(reversed(words))


def _resume(parser: _Interactive, tokens: list[Token], position: int) -> int:
    """Cuts the stack back to a place for a statement; the position of the next token to feed."""
    state = parser.parser_state
    if position and tokens[position].type == "LBRACE" and tokens[position - 1].type == "ASSIGN":
        position = min(closing_of(tokens, position) + 1, len(tokens) - 1)
    depth = 0
    in_header = False
    while not _at_statement(parser) and len(state.state_stack) > 1:
        state.state_stack.pop()
        value = state.value_stack.pop()
        if isinstance(value, Token):
            depth += value.type in ("LPAR", "LSQB")
            in_header |= value.type in ("FOR", "META_FOR")
    while tokens[position].type not in ("LBRACE", "RBRACE", "$END"):
        token = tokens[position]
        if token.type in ("LPAR", "LSQB"):
            depth += 1
        elif token.type in ("RPAR", "RSQB"):
            depth = max(0, depth - 1)
        in_header |= token.type in ("FOR", "META_FOR")
        if token.type == "SEMI" and not (in_header and depth):
            parser.feed_token(token)  # the dropped statement becomes an empty one
            return position + 1
        position += 1
    # A brace may follow a broken loop header, whose body it then opens; what closes a block must find
    # the statement that was begun ended.
    if tokens[position].type != "LBRACE":
        if tokens[position].type not in parser.choices():
            parser.feed_token(tokens[position]._replace(type="SEMI", text="", end=tokens[position].start))
        if tokens[position].type == "RBRACE" and "RBRACE" not in parser.accepts():
            return position + 1  # closes nothing that is open
    return position
