"""Names of array types: what ``typedef`` calls an array of constant length, as the array that it stands for.

In: the tokens of a preprocessed file and of the files that it includes.  Out: the same without such names::

    typedef double real3[3];
    const real3 *r, real3 f[n]     -->   const double (*r)[3], double f[n][3]
    real3 d, e[2];                 -->   double d[3], e[2][3];

The words have the span of the name, so that text and places stay those of the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from comprehensive.metafork.brackets import closing_of
from comprehensive.metafork.preprocessor.stream import Preprocessed
from comprehensive.metafork.structure_places import sign
from comprehensive.metafork.tokens import CLOSING, END, OPENING, Token
from comprehensive.records import replace


class ArrayType(Struct, frozen=True):
    """The words of the type of the elements, and the extents with their brackets."""

    words: tuple[Token, ...]
    dims: tuple[Token, ...]


def with_array_types(text: Preprocessed) -> Preprocessed:
    """The text with arrays in the places of the names of array types."""
    together = (*text.included, *text.tokens)
    if all(token.text != "typedef" for token in together):
        return text
    reader = _Reader((*together, together[-1]._replace(type=END, text="")))
    before = len(text.included)
    included = reader.until(before)
    tokens = reader.until(len(together))
    if not reader.types:
        return text
    skipped = {(text.tokens[k].start, text.tokens[k].end) for k in text.skipped}
    still = frozenset(k for k, token in enumerate(tokens) if (token.start, token.end) in skipped)
    return replace(text, tokens=tuple(tokens), included=tuple(included), skipped=still)


class _Reader:
    """Goes through a text from its beginning to its end; ``types`` are those that have been named so far."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._open: list[str] = []
        """The brackets around the position."""
        self.types: dict[str, ArrayType] = {}
        behind_types = (after for before, after in pairwise(tokens) if before.type == "TYPE_WORD")
        self._variables = Counter(token.text for token in behind_types if token.type == "NAME")

    def until(self, end: int) -> list[Token]:
        """Return what comes of the tokens from here to a position."""
        result: list[Token] = []
        while self._position < end:
            token = self._tokens[self._position]
            if token.text == "typedef":
                self._define(self._position + 1)
            kind = self.types.get(token.text)
            if kind is not None and self._is_type():
                self._position += 1
                result += [token._replace(type=word.type, text=word.text) for word in kind.words]
                result += self._declarators(kind)
                continue
            if token.type in OPENING:
                self._open.append(token.type)
            elif token.type in CLOSING and self._open:
                self._open.pop()
            result.append(token)
            self._position += 1
        return result

    def _define(self, first: int) -> None:
        """Enters what stands behind ``typedef``, if it is an array of numbers."""
        name = first
        while self._tokens[name].type in ("TYPE_WORD", "QUALIFIER", "NAME"):
            name += 1
        name, end = name - 1, name
        while self._tokens[end].type == "LSQB" and self._tokens[end + 1].type != "RSQB":
            end = closing_of(self._tokens, end) + 1
        if name <= first or end == name + 1 or self._tokens[end].type != "SEMI":
            return
        if self._variables[self._tokens[name].text] > (self._tokens[name - 1].type == "TYPE_WORD"):
            return  # a variable has the name somewhere: what it says would have to be looked up each time
        words, dims = tuple(self._tokens[first:name]), tuple(self._tokens[name + 1 : end])
        inner = self.types.get(words[-1].text)
        if inner is not None:
            words, dims = (*words[:-1], *inner.words), (*dims, *inner.dims)
        self.types[self._tokens[name].text] = ArrayType(words, dims)

    def _is_type(self) -> bool:
        """Whether the name at the position stands before what it declares."""
        before, after = self._tokens[self._position - 1], self._tokens[self._position + 1]
        is_other = before.type in ("DOT", "STRUCT", "TYPE_WORD", "STAR")
        return not is_other and after.type in ("NAME", "STAR", "QUALIFIER")

    def _declarators(self, kind: ArrayType) -> list[Token]:
        """Return what is declared: one parameter between parentheses, else all up to the semicolon."""
        is_parameter = bool(self._open) and self._open[-1] == "LPAR"
        result = self._declarator(kind)
        while not is_parameter and self._tokens[self._position].type == "COMMA":
            result.append(self._tokens[self._position])
            self._position += 1
            result += self._declarator(kind)
        return result

    def _declarator(self, kind: ArrayType) -> list[Token]:
        """``*r`` as ``(*r)[3]``, ``f[n] = {0}`` as ``f[n][3] = {0}``; as it is where it is neither."""
        tokens, first = self._tokens, self._position
        name = first
        while tokens[name].type in ("STAR", "QUALIFIER"):
            name += 1
        end = name + 1
        while tokens[end].type == "LSQB":
            end = closing_of(tokens, end) + 1
        last = end
        while tokens[last].type not in ("COMMA", "SEMI", END) and tokens[last].type not in CLOSING:
            last = closing_of(tokens, last) + 1 if tokens[last].type in OPENING else last + 1
        self._position = last
        at, stars = tokens[name], sum(token.type == "STAR" for token in tokens[first:name])
        dims = [at._replace(type=token.type, text=token.text) for token in kind.dims]
        if at.type != "NAME" or stars > 1 or (stars == 1 and end > name + 1):
            return list(tokens[first:last])
        if stars == 0:
            return [*tokens[first:end], *dims, *tokens[end:last]]
        return [sign(at, "("), *tokens[first:end], sign(at, ")"), *dims, *tokens[end:last]]
