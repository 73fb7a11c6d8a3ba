"""Constants of the file by name: those of enumerations, and scalars that are const.

In: declarations at file level, and the functions of the file.  Out: the same tokens with numbers for the names, in
functions with regions; ``true`` and ``false`` are 1 and 0, as in ``stdbool.h``::

    enum { N = 10, M }; static const float scale = 0.5;   -->   N: 10, M: 11, scale: ((float)(0.5))

A function that declares such a name itself means its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.ast import ScalarType
from comprehensive.metafork.brackets import parts
from comprehensive.metafork.items import Item, declarators
from comprehensive.metafork.locate import FoundFunction
from comprehensive.metafork.preprocessor.conditions import NoValueError, value_of
from comprehensive.metafork.tokens import CLOSING, OPENING, Origin, Token, tokens

Constants: TypeAlias = Mapping[str, tuple[Token, ...]]
"""Names with the tokens that stand for them; these have the place of the definition."""
_SUFFIXES = {ScalarType.UNSIGNED: "u", ScalarType.LONG: "L"}
_IN_VALUES = frozenset(
    (
        "INT_LITERAL",
        "FLOAT_LITERAL",
        "PLUS",
        "MINUS",
        "STAR",
        "OPERATOR",
        "LPAR",
        "RPAR",
        "NOT",
        "QUESTION",
        "COLON",
        "AND",
    )
) | {"TYPE_WORD"}


def named_constants(declarations: Iterable[Item]) -> Constants:
    """The constants that declarations define, each in terms of numbers."""
    found = {name: _tokens(number) for name, number in (("true", "1"), ("false", "0"))}
    for item in declarations:
        if item.has_body or item.is_prototype:
            continue
        _enumerations(item.tokens, found)
        _scalars(item.tokens, found)
    return found


def with_constants(
    text: Sequence[Token], skipped: frozenset[int], functions: Iterable[FoundFunction], constants: Constants
) -> tuple[list[Token], frozenset[int]]:
    """The text with constants in place of their names in the functions, and the new positions of what is skipped."""
    made: list[Token] = []
    still_skipped: set[int] = set()
    inside = _constants_by_place(text, functions, constants)
    for position, token in enumerate(text):
        first = len(made)
        value = inside.get(position)
        if value is None:
            made.append(token)
        else:
            made += [t._replace(start=token.start, end=token.end, origin=token.origin) for t in value]
        if position in skipped:
            still_skipped |= set(range(first, len(made)))
    return made, frozenset(still_skipped)


def _constants_by_place(
    text: Sequence[Token], functions: Iterable[FoundFunction], constants: Constants
) -> dict[int, tuple[Token, ...]]:
    found: dict[int, tuple[Token, ...]] = {}
    for function in functions:
        own = declared_names(text[function.parameters.start : function.closing])
        for position in range(function.parameters.start, function.closing):
            token = text[position]
            is_member = text[position - 1].type == "DOT"
            if token.type == "NAME" and token.text in constants and token.text not in own and not is_member:
                found[position] = constants[token.text]
    return found


def declared_names(text: Sequence[Token]) -> frozenset[str]:
    """Names that a text of C declares: those after a type, and those behind commas after them."""
    return frozenset(declarations(text))


def declarations(text: Sequence[Token]) -> Iterator[str]:
    """The same, each as often as it is declared."""
    return (text[position].text for position in declared_at(text))


def declared_at(text: Sequence[Token]) -> Iterator[int]:
    """The positions of the names that a text of C declares."""
    depths: list[int] = []
    depth = 0
    for position, token in enumerate(text):
        depth += (token.type in OPENING) - (token.type in CLOSING)
        while depths and depth < depths[-1]:
            depths.pop()
        if token.type == "SEMI" and depths and depth == depths[-1]:
            depths.pop()
        if token.type != "NAME":
            continue
        if _after_type(text, position):
            yield position
            depths.append(depth)
        elif depths and depth == depths[-1] and _after_comma(text, position):
            yield position


def _after_type(text: Sequence[Token], position: int) -> bool:
    before = position - 1
    while before >= 0 and text[before].type in ("STAR", "QUALIFIER"):
        before -= 1
    if before < 0:
        return False
    is_pointer = text[before + 1].type == "STAR"
    kind = text[before].type
    if kind == "LPAR" and before > 0 and is_pointer:
        return text[before - 1].type == "TYPE_WORD"  # float (*a)[n]
    return kind == "TYPE_WORD" or (kind == "NAME" and not is_pointer)


def _after_comma(text: Sequence[Token], position: int) -> bool:
    before = position - 1
    while before >= 0 and text[before].type == "STAR":
        before -= 1
    return before >= 0 and text[before].type == "COMMA"


# --- definitions ---------------------------------------------------------------------------------------------


def _enumerations(item: Sequence[Token], found: dict[str, tuple[Token, ...]]) -> None:
    for position, token in enumerate(item):
        if token.text != "enum":
            continue
        opening = position + 1
        while opening < len(item) and item[opening].type == "NAME":
            opening += 1
        if opening >= len(item) or item[opening].type != "LBRACE":
            continue
        closing = next((k for k in range(opening, len(item)) if item[k].type == "RBRACE"), len(item))
        _members(item[opening + 1 : closing], found)


def _members(inside: Sequence[Token], found: dict[str, tuple[Token, ...]]) -> None:
    """``A, B = 4, C`` are 0, 4 and 5; after a value that is not understood nothing is known."""
    following: int | None = 0
    for words in parts(inside):
        if not words:
            continue
        if len(words) > 2 and words[1].type == "ASSIGN":
            following = _integer(words[2:], found)
        if following is None:
            continue
        if -(2**31) <= following < 2**31:
            found[words[0].text] = _literal(following, ScalarType.INT, words[0])
        following += 1


def _scalars(item: Sequence[Token], found: dict[str, tuple[Token, ...]]) -> None:
    """``static const int n = 4, m = 2 * n;``"""
    declared = declarators(item)
    if declared is None or "const" not in declared[0]:
        return
    for words in declared[2]:
        if len(words) < 3 or words[0].type != "NAME" or words[1].type != "ASSIGN":
            continue
        value = _value(words[2:], declared[1], found)
        if value is not None:
            found[words[0].text] = value


def _value(words: Sequence[Token], kind: ScalarType, known: Constants) -> tuple[Token, ...] | None:
    number = _integer(words, known) if kind.is_integer else None
    if number is not None:
        return _literal(kind.wrapped(number), kind, words[0])
    plain = _replaced(words, known)
    if any(token.type not in _IN_VALUES for token in plain):
        return None
    if len(plain) == 1 and plain[0].type == "FLOAT_LITERAL" and _has_type(plain[0].text, kind):
        return tuple(plain)
    return (*_lexed(f"(({kind.value})(", words[0]), *plain, *_lexed("))", words[0]))


def _has_type(literal: str, kind: ScalarType) -> bool:
    """Whether a floating constant has the type already."""
    is_hexadecimal = literal.lower().startswith("0x")
    is_single = literal[-1] in "fF" and ("p" in literal.lower() or not is_hexadecimal)
    return kind is (ScalarType.FLOAT if is_single else ScalarType.DOUBLE)


def _integer(words: Sequence[Token], known: Constants) -> int | None:
    plain = _replaced(words, known)
    if not plain or any(token.type == "NAME" for token in plain):
        return None
    try:
        return value_of(plain)
    except NoValueError:
        return None


def _replaced(words: Sequence[Token], known: Constants) -> list[Token]:
    return [token for word in words for token in known.get(word.text, (word,))]


def _literal(value: int, kind: ScalarType, place: Token) -> tuple[Token, ...]:
    suffix = _SUFFIXES.get(kind, "")
    least = -(2**63) if kind is ScalarType.LONG else -(2**31)
    if value == least and kind in (ScalarType.INT, ScalarType.LONG):
        return _lexed(f"(-{-value - 1}{suffix}-1)", place)
    return _lexed(f"{value}{suffix}" if value >= 0 else f"(-{-value}{suffix})", place)


def _lexed(text: str, place: Token) -> tuple[Token, ...]:
    return tuple(t._replace(start=place.start, end=place.end, origin=place.origin) for t in _tokens(text))


def _tokens(text: str) -> tuple[Token, ...]:
    return tuple(tokens(Origin(SourceFile("<constant>", text), DiagnosticSink())))
