"""The parts of the file outside the functions with regions that their host code needs.

In: a file and its functions.  Out: pieces in the order of the text: every preprocessor line, and the helper functions,
types and constants that host code names, directly or through one another::

    static int tiles(int n) {...}   int main(void) {...}   void f(int n) { int dim = tiles(n); meta_schedule ... }
        -->  the definition of tiles

Found by tokens, as regions are: a declaration ends at its semicolon, a function at its brace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from comprehensive.closure import reached
from comprehensive.diagnostics import GENERATED, DiagnosticSink, SourceFile, Span
from comprehensive.metafork.ast import Function, MetaSchedule
from comprehensive.metafork.brackets import depths
from comprehensive.metafork.items import Item, items
from comprehensive.metafork.stability import names_in_macros
from comprehensive.metafork.tokens import Origin, Token, tokens

_DEFINE = re.compile(r"#\s*define\s+(\w+)")


class Kind(Enum):
    DIRECTIVE = "directive"
    OWN = "own"
    """Defined in this file."""
    FOREIGN = "foreign"
    """Declared here and defined elsewhere."""


class Piece(Struct, frozen=True):
    kind: Kind
    span: Span
    is_linked: bool = False
    """Whether it defines or declares functions or variables that other files see."""


def file_scope(functions: Sequence[Function]) -> tuple[Piece, ...]:
    """The pieces that the host code of these functions of one file needs; none for functions without a text."""
    written = _written(functions)
    if not written:
        return ()
    file = written[0].span.file
    found = _needed(written)
    bodies = {name for item in found if item.has_body for name in item.declared}
    pieces = [
        Piece(_kind(item, bodies), item.tokens[0].span.to(item.tokens[-1].span), _is_linked(item))
        for item in found
        if not item.is_prototype or not item.declared & {f.name for f in written}
    ]
    covered = [piece.span for piece in pieces] + [function.span for function in written]
    pieces += [
        Piece(Kind.DIRECTIVE, token.span)
        for token in _tokens(file)
        if token.type == "DIRECTIVE" and not any(s.start <= token.start < s.end for s in covered)
    ]
    return tuple(sorted(pieces, key=lambda piece: piece.span.start))


def functions_besides(functions: Sequence[Function]) -> tuple[Span, ...]:
    """The definitions of functions that neither have regions nor are needed by the host code of those that have."""
    written = _written(functions)
    if not written:
        return ()
    needed = {item.tokens[0].start for item in _needed(written)}
    return tuple(
        item.tokens[0].span.to(item.tokens[-1].span)
        for item in items(_outside(_tokens(written[0].span.file), written))
        if item.has_body and item.tokens[0].start not in needed
    )


def calls_of_regions(functions: Sequence[Function]) -> tuple[Token, ...]:
    """Return the tokens where host code, or a helper of it, calls a function that has regions itself."""
    names = {function.name for function in functions}
    texts = [_host_tokens(function) for function in functions]
    texts += [item.tokens for item in _needed(functions) if item.has_body]
    return tuple(
        token
        for text in texts
        for before, token, after in zip((None, *text), text, text[1:], strict=False)
        if token.text in names and after.type == "LPAR" and (before is None or before.type != "DOT")
    )


def names_written(functions: Sequence[Function]) -> Iterator[tuple[str, Span]]:
    """Every name that host code and what it needs of its file mention, members of structures excepted, and every macro
    that the file defines, each with its place."""
    written = _written(functions)
    if not written:
        return
    file = written[0].span.file
    texts = [_host_tokens(function) for function in written]
    texts += [item.tokens for item in _needed(written)]
    for text in texts:
        for before, token in zip((None, *text), text, strict=False):
            if token.type == "NAME" and (before is None or before.type != "DOT"):
                yield token.text, token.span
    for token in _tokens(file):
        defined = _DEFINE.match(token.text) if token.type == "DIRECTIVE" else None
        if defined is not None:
            start = token.start + defined.start(1)
            yield defined[1], Span(file, start, start + len(defined[1]))


def mutable_variables(functions: Sequence[Function]) -> tuple[Token, ...]:
    """Variables of the file, not constant, that host code needs: a copy of one is another variable."""
    return tuple(token for item in _needed(_written(functions)) for token in _variables(item))


def _variables(item: Item) -> Iterator[Token]:
    """The variables that an item defines, unless they are constant or defined elsewhere."""
    words = {token.text for token in item.tokens}
    if item.has_body or item.is_prototype or words & {"typedef", "const", "extern"}:
        return
    words, initialising = item.tokens, False
    for before, token, after, depth in zip((None, *words), words, words[1:], depths(words), strict=False):
        if depth == 0 and token.type in ("ASSIGN", "COMMA"):
            initialising = token.type == "ASSIGN"
        is_tag = before is not None and before.type == "STRUCT"
        is_declarator = depth == 0 and after.type in ("ASSIGN", "COMMA", "SEMI", "LSQB")
        if token.type == "NAME" and is_declarator and not initialising and not is_tag:
            yield token


def _kind(item: Item, bodies: set[str]) -> Kind:
    declares_only = item.is_prototype or (
        item.tokens[0].text == "extern" and all(t.type != "ASSIGN" for t in item.tokens)
    )
    return Kind.FOREIGN if declares_only and not item.has_body and not item.declared & bodies else Kind.OWN


def _is_linked(item: Item) -> bool:
    """Whether an item names a function or a variable, and keeps neither from other files."""
    kinds = [token.type for token in item.tokens]
    first = kinds.index("LBRACE") if "LBRACE" in kinds else len(kinds)
    # `enum { A, B = 2 };` names no variable, `struct pair origin = { 0, 0 };` does.
    is_type_alone = kinds[-2:] == ["RBRACE", "SEMI"] and "ASSIGN" not in kinds[:first] and not item.has_body
    words = {token.text for token in item.tokens[:4]}
    return not is_type_alone and not words & {"typedef", "static"}


@lru_cache(maxsize=128)
def _tokens(file: SourceFile, start: int = 0, end: int | None = None) -> tuple[Token, ...]:
    """The tokens of a part of a file; several checks ask for the same ones."""
    return tuple(tokens(Origin(file, DiagnosticSink()), start, end))


def _host_tokens(function: Function) -> tuple[Token, ...]:
    """The tokens of a body without its regions."""
    host = [part for part in function.parts if not isinstance(part, MetaSchedule)]
    spans = [part if isinstance(part, Span) else part.span for part in host]
    return tuple(
        t for span in spans if span is not GENERATED for t in _tokens(span.file, span.start, span.end)
    )


def _written(functions: Sequence[Function]) -> list[Function]:
    """The functions that have a text."""
    return [function for function in functions if function.span is not GENERATED]


def _needed(functions: Sequence[Function]) -> list[Item]:
    """The items of their file that declare a name that host code reads, or an item that it needs."""
    if not functions:
        return []
    all_tokens = _tokens(functions[0].span.file)
    found = list(items(_outside(all_tokens, functions)))
    waiting = list(names_in_macros([token for token in all_tokens if token.type == "DIRECTIVE"]))
    for function in functions:
        waiting += names_spoken(_host_tokens(function)) - {p.name for p in function.parameters}
    declaring: dict[str, list[int]] = {}
    for number, item in enumerate(found):
        for name in item.declared:
            declaring.setdefault(name, []).append(number)

    def declared(names: Iterable[str]) -> Iterator[int]:
        return (number for name in names for number in declaring.get(name, ()))

    needed = reached(declared(waiting), lambda number: declared(names_spoken(found[number].tokens)))
    return [found[number] for number in sorted(needed)]


def names_spoken(text: Sequence[Token]) -> set[str]:
    """The names in a text, members of structures excepted."""
    return {
        token.text
        for before, token in zip((None, *text), text, strict=False)
        if token.type == "NAME" and (before is None or before.type != "DOT")
    }


def _outside(all_tokens: Sequence[Token], functions: Sequence[Function]) -> Iterator[Token | None]:
    """The tokens outside functions with regions; None where one of these was, and for a preprocessor line."""
    spans = sorted((function.span.start, function.span.end) for function in functions)
    position = 0
    for token in all_tokens:
        while position < len(spans) and token.start >= spans[position][1]:
            position += 1
        inside = position < len(spans) and token.start >= spans[position][0]
        yield None if inside or token.type == "DIRECTIVE" else token
