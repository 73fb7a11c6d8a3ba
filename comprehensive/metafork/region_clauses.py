"""The clauses of a region, between ``meta_schedule`` and its brace.

In: the tokens of the file and the place of a region.  Out: what its clauses say; errors go to the sink of the tokens::

    meta_schedule block(16, B1) cache(a, b) { ... }  -->  Clauses(cache=("a", "b"), block=(16, B1))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from comprehensive.metafork.ast import IntLiteral, Name
from comprehensive.metafork.attempt import expression_of
from comprehensive.metafork.brackets import between_commas, end_of_group
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.locate import FoundRegion
from comprehensive.metafork.tokens import Token


class Clauses(NamedTuple):
    """The names of the cache clause, None where there is none, and the extents of the block clause."""

    cache: tuple[str, ...] | None
    block: tuple[Name | IntLiteral, ...]


def region_clauses(text: Sequence[Token], found: FoundRegion) -> Clauses:
    """Read each clause of a region; nothing after an error in it."""
    cache: tuple[str, ...] | None = None
    block: tuple[Name | IntLiteral, ...] = ()
    seen: set[str] = set()
    position = found.keyword + 1
    while position < found.opening:
        word = text[position]
        end = end_of_group(text, position + 1)
        if word.text in seen:
            word.origin.sink.error(
                "CF0110", f"there are two {word.text} clauses", word.span, help="write one with all names"
            )
        seen.add(word.text)
        if word.text == "cache":
            cache = _names_in(text, position, end)
        else:
            block = _extents_in(text, position, end)
        position = end
    return Clauses(cache, block)


def _names_in(text: Sequence[Token], word: int, end: int) -> tuple[str, ...] | None:
    inner = text[word + 2 : end - 1]
    if _is_group(text, word + 1, end) and len(inner) % 2 == 1:
        is_list = all(t.type == ("COMMA" if k % 2 else "NAME") for k, t in enumerate(inner))
        if is_list:
            return tuple(token.text for token in inner[::2])
    _malformed(text, word, end, "name arrays", "cache(a, b)")
    return None


def _extents_in(text: Sequence[Token], word: int, end: int) -> tuple[Name | IntLiteral, ...]:
    extents: list[Name | IntLiteral] = []
    if _is_group(text, word + 1, end):
        for first, last in between_commas(text, word + 2, end - 1):
            extent = _extent(text[first:last])
            if extent is None:
                break
            extents.append(extent)
        else:
            if extents:
                return tuple(extents)
    _malformed(text, word, end, "name parameters or give numbers", "block(B0, B1)' or 'block(16, 16)")
    return ()


def _malformed(text: Sequence[Token], word: int, end: int, what: str, example: str) -> None:
    clause = text[word]
    clause.origin.sink.error(
        "CF0110",
        f"the {clause.text} clause must {what}, separated by commas",
        clause.span.to(text[end - 1].span),
        help=f"write '{example}'",
    )


def _is_group(all_tokens: Sequence[Token], first: int, end: int) -> bool:
    return end - first >= 2 and all_tokens[first].type == "LPAR" and all_tokens[end - 1].type == "RPAR"


def _extent(words: Sequence[Token]) -> Name | IntLiteral | None:
    """A name or the value of a constant expression; None for anything else."""
    found = expression_of(words)
    if found is None or isinstance(found, Name):
        return found
    value = constant_value(found)
    return None if value is None else IntLiteral(value, span=found.span)
