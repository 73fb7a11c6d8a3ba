"""Macros in a text, expanded by the rules of C (C11, 6.10.3; the algorithm of hide sets by Prosser, X3J11/86-196).

In: tokens and the macros that are defined there.  Out: tokens, where those of a macro have the place of its use::

    SQR(n + 1)   -->   ((n + 1) * (n + 1))

What a user wrote in an argument keeps its own place.  Errors (CF0132 to CF0134, CF0138) name the macro, and show where
it is defined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

from comprehensive.diagnostics import DiagnosticSink, Note, SourceFile, Span
from comprehensive.metafork.literals import shorten
from comprehensive.metafork.locate import CLAUSES
from comprehensive.metafork.preprocessor.macros import ANNOTATIONS, Macro
from comprehensive.metafork.tokens import Origin, Token, tokens

MAXIMUM_TOKENS = 50_000
"""Tokens that the macros of one file may become."""
MAXIMUM_DEPTH = 60
"""Calls of macros in arguments of each other."""


class _Piece(NamedTuple):
    """A token, and the macros that are not expanded in it again."""

    token: Token
    hidden: frozenset[str]


_Argument: TypeAlias = list[_Piece]
_NOTHING: frozenset[str] = frozenset()


class Expander(Struct):
    """Expands texts of one file, and keeps count of what comes out of them."""

    macros: Mapping[str, Macro]
    sink: DiagnosticSink
    _produced: int = 0
    _reported: set[str] = field(default_factory=lambda: set[str]())

    def expand(self, text: Sequence[Token]) -> list[Token]:
        """The tokens with all macros in them expanded."""
        if not any(token.text in self.macros for token in text):
            return list(text)
        return [piece.token for piece in self._expanded([_Piece(token, _NOTHING) for token in text], 0)]

    def _expanded(self, text: Sequence[_Piece], depth: int) -> list[_Piece]:
        waiting = list(reversed(text))
        found: list[_Piece] = []
        in_clauses = False
        while waiting:
            piece = waiting.pop()
            macro = self.macros.get(piece.token.text)
            in_clauses = piece.token.type == "META_SCHEDULE" or (in_clauses and piece.token.type != "LBRACE")
            if macro is None or self._stays(macro, piece, in_clauses):
                found.append(piece)
            elif macro.parameters is None:
                self._push(waiting, macro, self._substituted(macro, [], piece.token, depth), piece.hidden)
            elif not waiting or waiting[-1].token.type != "LPAR":
                found.append(piece)
            else:
                self._call(macro, piece, waiting, depth)
        return found

    def _stays(self, macro: Macro, piece: _Piece, in_clauses: bool) -> bool:
        is_hidden = macro.name in piece.hidden or (in_clauses and macro.name in CLAUSES)
        return is_hidden or self._produced > MAXIMUM_TOKENS

    def _call(self, macro: Macro, name: _Piece, waiting: list[_Piece], depth: int) -> None:
        """Replaces a call, whose name has been taken from the end of ``waiting``, by what it stands for."""
        taken = _arguments(waiting)
        if taken is None:
            what = f"the call of macro '{macro.name}' is never closed"
            self._error("CF0132", what, name.token.span, macro, "add the missing ')', before the next '#'")
            return
        arguments, closing = taken
        given = _bound(macro, arguments)
        place = _place(name.token, closing.token)
        if given is None or depth >= MAXIMUM_DEPTH:
            if given is None:
                what, wanted = _wrong_number(macro, arguments)
                self._error("CF0132", what, place.span, macro, wanted)
            else:
                what = f"calls of macro '{macro.name}' are nested too deeply"
                self._error("CF0138", what, place.span, macro, "compute parts of it into variables")
            waiting.append(_Piece(place._replace(type="INT_LITERAL", text="0"), _NOTHING))
            return
        body = self._substituted(macro, given, place, depth)
        self._push(waiting, macro, body, name.hidden & closing.hidden)

    def _push(self, waiting: list[_Piece], macro: Macro, body: list[_Piece], hidden: frozenset[str]) -> None:
        self._produced += len(body)
        if self._produced > MAXIMUM_TOKENS:
            place = body[0].token.span if body else macro.span
            what = f"the macros of this file become more than {MAXIMUM_TOKENS} tokens"
            self._error("CF0138", what, place, macro, "write what it stands for as a function")
            return
        hidden |= {macro.name}
        waiting += [_Piece(piece.token, piece.hidden | hidden) for piece in reversed(body)]

    # --- bodies ------------------------------------------------------------------------------------------

    def _substituted(
        self, macro: Macro, given: Sequence[_Argument], place: Token, depth: int
    ) -> list[_Piece]:
        """The body with arguments in it, its own tokens at ``place``."""
        values = dict(zip(macro.parameters or (), given, strict=True))
        expanded: dict[str, _Argument] = {}
        found: list[_Piece] = []
        body, position = macro.body, 0
        while position < len(body):
            token = body[position]
            joins_next = position + 1 < len(body) and body[position + 1].type == "PASTE"
            if token.type == "HASH" and macro.parameters is not None:
                position += 1
                found.append(_Piece(_string(values[body[position].text], place), _NOTHING))
            elif token.type == "PASTE" and position + 1 < len(body):
                position += 1
                self._join(macro, found, body[position], values, place)
            elif token.text in values:
                if not joins_next and token.text not in expanded:
                    expanded[token.text] = self._expanded(values[token.text], depth + 1)
                argument = values[token.text] if joins_next else expanded[token.text]
                # An empty argument joined with something leaves that alone.
                found += argument or ([_Piece(_empty(place), _NOTHING)] if joins_next else [])
            else:
                if token.type in ANNOTATIONS:
                    self._annotation(macro, token, place)
                found.append(_Piece(_at(token, place), _NOTHING))
            position += 1
        return [piece for piece in found if piece.token.text]

    def _annotation(self, macro: Macro, token: Token, place: Token) -> None:
        text = f"the macro '{macro.name}' expands to '{token.text}'"
        self._error("CF0134", text, place.span, macro, f"write '{token.text}' where the macro is used")

    def _join(
        self, macro: Macro, found: list[_Piece], after: Token, values: Mapping[str, _Argument], place: Token
    ) -> None:
        """Joins the last token found and the first one of ``after`` (``##``)."""
        right = values[after.text] if after.text in values else [_Piece(_at(after, place), _NOTHING)]
        last = found.pop() if found else _Piece(_empty(place), _NOTHING)
        if not right:
            # GNU: the comma before an empty rest goes, as in 'f(a, ##__VA_ARGS__)'.
            dropped = (
                last.token.type == "COMMA"
                and macro.variadic
                and after.text == (macro.parameters or ("",))[-1]
            )
            found += [] if dropped else [last]
            return
        if last.token.type == "COMMA" and macro.variadic and after.text == (macro.parameters or ("",))[-1]:
            found += [last, *right]
            return
        text = last.token.text + right[0].token.text
        joined = _only_token(text)
        if joined is None:
            what = f"'##' in macro '{macro.name}' makes '{shorten(text)}', which is no token"
            self._error("CF0133", what, place.span, macro, "join names and numbers, or leave the '##' out")
            found += [last, *right]
            return
        made = _at(joined, place) if joined.text else _empty(place)
        found += [_Piece(made, last.hidden & right[0].hidden), *right[1:]]

    def _error(self, code: str, message: str, span: Span, macro: Macro, help: str) -> None:
        if message in self._reported:
            return
        self._reported.add(message)
        notes = (Note(f"'{macro.name}' is defined here", macro.span),)
        self.sink.error(code, message, span, notes=notes, help=help)


def _arguments(waiting: list[_Piece]) -> tuple[list[_Argument], _Piece] | None:
    """Takes a group in parentheses from the end; its parts and the closing one. None, and nothing, for an open one."""
    depth, position = 0, len(waiting) - 1
    arguments: list[_Argument] = [[]]
    while position >= 0:
        piece = waiting[position]
        kind = piece.token.type
        if kind == "DIRECTIVE":
            return None
        depth += (kind == "LPAR") - (kind == "RPAR")
        if depth == 0:
            del waiting[position:]
            return arguments, piece
        if kind == "COMMA" and depth == 1:
            arguments.append([])
        elif depth > 1 or kind != "LPAR":
            arguments[-1].append(piece)
        position -= 1
    return None


def _bound(macro: Macro, arguments: list[_Argument]) -> list[_Argument] | None:
    """An argument for each parameter; None where there are too many or too few."""
    wanted = len(macro.parameters or ())
    if wanted == 0:
        return [] if arguments == [[]] else None
    if not macro.variadic:
        return arguments if len(arguments) == wanted else None
    if len(arguments) < wanted - 1:
        return None
    first, rest = arguments[: wanted - 1], arguments[wanted - 1 :]
    joined: _Argument = []
    for number, argument in enumerate(rest):
        if number:
            comma = argument[0].token if argument else rest[0][0].token if rest[0] else None
            if comma is not None:
                joined.append(_Piece(comma._replace(type="COMMA", text=","), _NOTHING))
        joined += argument
    return [*first, joined]


def _wrong_number(macro: Macro, arguments: list[_Argument]) -> tuple[str, str]:
    names = macro.parameters or ()
    given = 0 if arguments == [[]] else len(arguments)
    count = f"{len(names)} argument{'s' * (len(names) != 1)}"
    return f"the macro '{macro.name}' takes {count}, not {given}", f"write {macro.name}({', '.join(names)})"


def _place(name: Token, closing: Token) -> Token:
    """The name with the place of its whole call, where that is in one piece of a file."""
    same = name.origin.file is closing.origin.file and closing.end > name.start
    return name._replace(end=max(name.end, closing.end)) if same else name


def _at(token: Token, place: Token) -> Token:
    return token._replace(start=place.start, end=place.end, origin=place.origin)


def _empty(place: Token) -> Token:
    """Return the token of an empty argument until it is joined with something."""
    return place._replace(type="NAME", text="")


def _string(argument: _Argument, place: Token) -> Token:
    """The words of an argument as a string; no region has strings, so that space which a macro lost is no loss."""
    words: list[str] = []
    for before, piece in zip((None, *argument), argument, strict=False):
        token = piece.token
        apart = before is not None and token.start > before.token.end
        text = token.text
        if token.type in ("STRING", "CHARACTER"):
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        words.append(" " * apart + text)
    return place._replace(type="STRING", text=f'"{"".join(words)}"')


def _only_token(text: str) -> Token | None:
    """The token that a text is; None where it is none, or several. The empty text is an empty token."""
    origin = Origin(SourceFile("<joined>", text), DiagnosticSink())
    if not text:
        return Token("NAME", "", 0, 0, origin)
    found = list(tokens(origin))
    alone = len(found) == 1 and found[0].text == text and found[0].type not in ("DIRECTIVE", "UNKNOWN")
    return found[0] if alone else None
