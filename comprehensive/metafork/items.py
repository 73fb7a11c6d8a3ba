"""Declarations and definitions at file level, found by tokens: a declaration ends at its semicolon, a function at its
brace.

In: tokens, None for what is no part of a declaration.  Out: an :class:`Item` each::

    enum { N = 10, M }; static int twice(int n) { return 2 * n; }
        -->  Item(declared {N, M}), Item(declared {twice}, has_body)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.brackets import depths, parts
from comprehensive.metafork.literals import scalar_type
from comprehensive.metafork.tokens import CLOSING, OPENING, Token


class Item(Struct, frozen=True):
    """A declaration or definition at file level, with the names that it declares."""

    tokens: tuple[Token, ...]
    declared: frozenset[str]
    has_body: bool
    is_prototype: bool


def items(outside: Iterable[Token | None]) -> Iterator[Item]:
    """Yield the declarations and definitions at file level, in order."""
    current: list[Token] = []
    depth, is_body = 0, False
    for token in outside:
        if token is None:
            if depth == 0:
                current = []
            continue
        if not current and token.type in ("SEMI", "RBRACE"):
            continue
        current.append(token)
        opens, closes = token.type in OPENING, token.type in CLOSING
        if opens and len(current) == 3 and [t.type for t in current[:2]] == ["QUALIFIER", "STRING"]:
            current = []  # extern "C" {
            continue
        if token.type == "LBRACE" and depth == 0:
            is_body = is_head(current[:-1])
        depth = max(0, depth + opens - closes)
        if depth == 0 and (token.type == "SEMI" or (token.type == "RBRACE" and is_body)):
            has_body = token.type == "RBRACE"
            yield Item(tuple(current), _declared(current), has_body, not has_body and is_head(current[:-1]))
            current, is_body = [], False


def declarators(
    item: Sequence[Token],
) -> tuple[frozenset[str], ScalarType, list[Sequence[Token]]] | None:
    """The words before ``n = 4, w[2];``, the type that they name, and the parts between the commas; None for others."""
    first = 0
    while first < len(item) and item[first].type in ("TYPE_WORD", "QUALIFIER"):
        first += 1
    head = item[:first]
    kind = scalar_type(token.text for token in head if token.type == "TYPE_WORD")
    return None if kind is None else (frozenset(token.text for token in head), kind, parts(item[first:-1]))


def is_head(text: Sequence[Token]) -> bool:
    """Whether this is the head of a function: a name and a group in parentheses, outside all others."""
    found = False
    for before, token, depth in zip((None, *text), text, depths(text), strict=False):
        if depth == 0 and (token.type == "ASSIGN" or token.text == "typedef"):
            return False
        found |= depth == 0 and token.type == "LPAR" and before is not None and before.type == "NAME"
    return found


def _declared(item: Sequence[Token]) -> frozenset[str]:
    """Tags, variables, functions, names of types, and constants of enumerations."""
    found: set[str] = set()
    initialising = False
    is_enum = any(token.text == "enum" for token in item)
    for before, token, after, depth in zip((None, *item), item, item[1:], depths(item), strict=False):
        if depth == 0 and token.type in ("ASSIGN", "COMMA"):
            initialising = token.type == "ASSIGN"
        if token.type == "NAME" and not initialising:
            kind = before.type if before is not None else ""
            is_declarator = depth == 0 and after.type in ("ASSIGN", "COMMA", "SEMI", "LSQB", "LPAR")
            is_pointer = depth == 1 and kind == "STAR" and after.type == "RPAR"
            is_constant = is_enum and depth == 1 and kind in ("LBRACE", "COMMA")
            if is_declarator or is_pointer or is_constant or (depth == 0 and kind == "STRUCT"):
                found.add(token.text)
    return frozenset(found)
