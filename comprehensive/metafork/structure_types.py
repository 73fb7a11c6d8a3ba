"""Structures whose members all have one scalar type: where each member lies among their elements.

In: the tokens of a preprocessed file, whose names of scalar types are resolved.  Out: layouts by the words that name
the structure, and what keeps others from having one::

    typedef struct { float x, y; float v[3]; } body;    -->   body: 5 elements of float, x at 0, y at 1, v at 2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from msgspec import Struct

from comprehensive.metafork.ast import IntLiteral
from comprehensive.metafork.brackets import closing_of
from comprehensive.metafork.literals import integer_literal, scalar_type
from comprehensive.metafork.tokens import Token

"""The type of what stands behind the last token of a text, several times: nobody needs to ask whether it is over."""


class Layout(Struct, frozen=True):
    """``words`` name the type of all elements, of which there are ``size``."""

    words: tuple[str, ...]
    size: int
    members: Mapping[str, Member]

    @property
    def has_arrays(self) -> bool:
        """Whether a member is an array, so that a variable may number elements."""
        return any(m.dims or (m.layout is not None and m.layout.has_arrays) for m in self.members.values())

    def names(self, variable: str) -> tuple[str, ...]:
        """Return a name for each element of a variable: ``q_x``, ``q_v_0``."""
        found: list[str] = []
        for name, member in self.members.items():
            numbers = [f"_{k}" for k in range(prod(member.dims))] if member.dims else [""]
            for part in (f"{variable}_{name}{number}" for number in numbers):
                found += [part] if member.layout is None else member.layout.names(part)
        return tuple(found)


class Member(Struct, frozen=True):
    """A member from the element ``offset`` on; ``layout`` is that of a member that is a structure itself."""

    offset: int
    dims: tuple[int, ...]
    layout: Layout | None

    @property
    def stride(self) -> int:
        """The elements of one element of it."""
        return 1 if self.layout is None else self.layout.size


class Structures(Struct, frozen=True):
    """Layouts by tag and by the name of a type; of other structures the member that differs, by the name of a type."""

    tags: dict[str, Layout]
    names: dict[str, Layout]
    differing: dict[str, Token]

    def at(self, tokens: Sequence[Token], position: int) -> tuple[Layout, int] | None:
        """Return the layout that words at a position name, and where these end."""
        token, after = tokens[position], tokens[position + 1 : position + 2]
        if token.type == "NAME" and token.text in self.names:
            return self.names[token.text], position + 1
        if token.text == "struct" and after and after[0].text in self.tags:
            return self.tags[after[0].text], position + 2
        return None


def structures_of(tokens: Sequence[Token]) -> Structures:
    """Return the structures that a text defines."""
    found = Structures({}, {}, {})
    for position, token in enumerate(tokens):
        if token.text == "struct":
            _enter(found, tokens, position)
    return found


def integer(token: Token) -> int | None:
    """Return the value of an integer constant, None for what is none."""
    found = integer_literal(token.text, token.span)
    return found.value if isinstance(found, IntLiteral) else None


def _enter(found: Structures, tokens: Sequence[Token], position: int) -> None:
    """Enters the structure that is defined, or named anew, at the word ``struct``."""
    is_typedef = position > 0 and tokens[position - 1].text == "typedef"
    end = position + 1
    tag: str | None = None
    if end < len(tokens) and tokens[end].type == "NAME":
        tag, end = tokens[end].text, end + 1
    layout: Layout | Token | None = None if tag is None else found.tags.get(tag) or found.differing.get(tag)
    if end < len(tokens) and tokens[end].type == "LBRACE":
        closing = closing_of(tokens, end)
        layout = _layout(found, tokens[end + 1 : closing])
        end = closing + 1
        if any(token.text.startswith("__attribute") for token in tokens[end : end + 2]):
            layout = None  # It may be larger than its members.
        if tag is not None:
            _name(found, found.tags, tag, layout)
    is_one_name = [token.type for token in tokens[end : end + 2]] == ["NAME", "SEMI"]
    if is_typedef and is_one_name:
        _name(found, found.names, tokens[end].text, layout)


def _name(found: Structures, names: dict[str, Layout], name: str, layout: Layout | Token | None) -> None:
    if isinstance(layout, Layout):
        names[name] = layout
    elif layout is not None:
        found.differing[name] = layout


def _layout(found: Structures, inside: Sequence[Token]) -> Layout | Token | None:
    """The layout of members; the first one of another type where they differ, None where they are not understood."""
    members: dict[str, Member] = {}
    words: tuple[str, ...] | None = None
    size, position = 0, 0
    while position < len(inside):
        start = position
        while position < len(inside) and inside[position].type == "QUALIFIER":
            position += 1
        of_member = found.at(inside, position) if position < len(inside) else None
        layout = None
        if of_member is not None:
            layout, position = of_member
            own = layout.words
        else:
            first = position
            while position < len(inside) and inside[position].type == "TYPE_WORD":
                position += 1
            own = tuple(token.text for token in inside[first:position])
        if not own or scalar_type(own) is None:
            return inside[start] if start < len(inside) and words else None
        if words is not None and scalar_type(own) is not scalar_type(words):
            return inside[start]
        words = own
        while position < len(inside) and inside[position].type == "NAME":
            name, position = inside[position].text, position + 1
            dims: list[int] = []
            while [token.type for token in inside[position : position + 3]] == [
                "LSQB",
                "INT_LITERAL",
                "RSQB",
            ]:
                extent = integer(inside[position + 1])
                if extent is None:
                    return None
                dims.append(extent)
                position += 3
            if name in members:
                return None
            members[name] = Member(size, tuple(dims), layout)
            size += prod(dims) * members[name].stride
            if position < len(inside) and inside[position].type == "COMMA":
                position += 1
        if position >= len(inside) or inside[position].type != "SEMI":
            return None
        position += 1
    return None if words is None or size == 0 else Layout(words, size, members)
