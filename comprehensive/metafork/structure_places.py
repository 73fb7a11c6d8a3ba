"""Places in variables of structures: the elements of which a text speaks.

In: a position of a text, and the variables that are structures there.  Out: the elements, and where the text goes on::

    p[i].v[k].x = ...       p[i][2 + (k)*3]
    p[i] = ...              p[i][0], p[i][1], ...
    f(p[i].v)               &p[i][2]
    {.y = 1, .x = 2}        2, 1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TypeAlias

from msgspec import Struct

from comprehensive.metafork.brackets import closing_of
from comprehensive.metafork.limits import MAXIMUM_TOKENS
from comprehensive.metafork.structure_types import Layout, Structures, integer
from comprehensive.metafork.tokens import CLOSING, END, OPENING, Token
from comprehensive.records import replace

Text: TypeAlias = list[Token]
_SIGNS = {
    "+": "PLUS", "&": "AND", "*": "STAR", "=": "ASSIGN", ",": "COMMA", ";": "SEMI", "(": "LPAR", ")": "RPAR",
    "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE",
}  # fmt: skip
_BETWEEN_POINTERS = frozenset(("=", "-", "<", "<=", ">", ">=", "==", "!="))


def number(at: Token, value: int) -> Token:
    """A number at the place of a token."""
    return at._replace(type="INT_LITERAL", text=str(value))


def sign(at: Token, text: str) -> Token:
    """A sign at the place of a token."""
    return at._replace(type=_SIGNS[text], text=text)


def subscript(at: Token, inside: Text) -> Text:
    """A subscript at the place of a token."""
    return [sign(at, "["), *inside, sign(at, "]")]


def typed(layout: Layout, at: Token) -> Text:
    """The words of the type of all elements at the place of a token."""
    return [at._replace(type="TYPE_WORD", text=word) for word in layout.words]


def between(parts: Iterable[Text], separator: Token) -> Text:
    """The parts with a separator between them."""
    result: Text = []
    for part in parts:
        result += [separator, *part] if result else part
    return result


def joined(subscripts: Iterable[Text], at: Token) -> Text:
    """The text between the first bracket of several subscripts and the last one: ``y][x``."""
    result: Text = []
    for each in subscripts:
        result += [sign(at, "]"), sign(at, "["), *each] if result else each
    return result


def is_steady(text: Iterable[Token]) -> bool:
    """Whether a text does nothing but compute a value, so that it may stand several times."""
    return all(token.type not in ("INCDEC", "ASSIGN", "COMPOUND") for token in text)


class Variable(Struct, frozen=True):
    """A variable of a structure, or a pointer to structures or an array of them.

    A pointer that moves ``counts`` the structures of another one; the elements of a parameter are ``scalars``.  Of an
    array ``p[h][w]`` so many ``further`` subscripts are behind the first one; a pointer into it has a variable for each
    of ``rows``, the subscripts before the one that it counts.
    """

    layout: Layout
    name: str
    is_pointer: bool = False
    counts: Variable | None = None
    scalars: tuple[str, ...] = ()
    further: int = 0
    rows: tuple[str, ...] = ()

    @property
    def spoken(self) -> frozenset[str]:
        """The names by which a text speaks of its elements."""
        further = frozenset[str]() if self.counts is None else self.counts.spoken
        return further | {self.name, *self.scalars}

    def element(self, at: Token, row: Text, place: Text) -> Text:
        """The element at a place of a structure."""
        if self.scalars:
            return [at._replace(type="NAME", text=self.scalars[int(place[0].text)])]
        whole = self.whole(at, row) if self.is_pointer else [at._replace(type="NAME", text=self.name)]
        return [*whole, *subscript(at, place)]

    def whole(self, at: Token, row: Text) -> Text:
        """The structure of a number at which a pointer points."""
        own = at._replace(type="NAME", text=self.name)
        if self.counts is None:
            return [own, *subscript(at, row)]
        is_first = [token.text for token in row] == ["0"]
        place = [own] if is_first else [own, sign(at, "+"), sign(at, "("), *row, sign(at, ")")]
        rows = [[at._replace(type="NAME", text=name)] for name in self.rows]
        return self.counts.whole(at, joined([*rows, place], at))


class Function(Struct, frozen=True):
    """A function that returns a structure: there is one for each element in its place."""

    layout: Layout
    names: tuple[str, ...]


class Place(Struct, frozen=True):
    """A part of a variable: the elements from ``offset`` and ``terms`` on, of a structure, of one number or, as a place
    to point at, of an array.

    ``row`` is what stands between the first bracket and the last one, of ``p[y][x]`` the text ``y][x``.
    """

    variable: Variable
    row: Text
    offset: int
    terms: Text
    layout: Layout | None
    is_array: bool = False

    @property
    def is_steady(self) -> bool:
        """Whether it is the same place each time that it is written: ``p[i++]`` is not."""
        return is_steady((*self.row, *self.terms))

    @property
    def is_whole(self) -> bool:
        """Whether it is a structure at which a pointer points, and no part of one."""
        return (
            self.variable.is_pointer
            and self.layout is self.variable.layout
            and not self.offset
            and not self.terms
        )

    def elements(self, at: Token) -> list[Text]:
        """All elements of a structure, or the one that is no structure."""
        numbers = range(1 if self.layout is None else self.layout.size)
        return [self.variable.element(at, self.row, self._number(at, k)) for k in numbers]

    def _number(self, at: Token, k: int) -> Text:
        if not self.terms:
            return [number(at, self.offset + k)]
        first = [number(at, self.offset + k), sign(at, "+")] if self.offset + k else []
        return [*first, *self.terms]


class Address(Struct, frozen=True):
    """An address: the pointer ``target`` in which it counts, the number, and where it ends in the text.

    Of an array of rows it is in one of ``rows``, or in the one that variables have ``held`` since another address.
    """

    target: Variable
    rows: list[Text]
    held: tuple[str, ...]
    counted: Text
    end: int


class Places:
    """The places of a text; ``scopes`` are the variables that can be seen, None for a name that is another one."""

    def __init__(self, tokens: Sequence[Token], structures: Structures) -> None:
        self._tokens = tokens
        self._structures = structures
        self.scopes: list[dict[str, Variable | None]] = []
        self.functions: dict[str, Function] = {}
        """The functions so far that return structures."""

    def part(self, position: int) -> tuple[Text | None, int]:
        """A number of a structure that is at a position, or all numbers of one that a function is passed; None for
        what is neither."""
        called = self._call(position)
        if called is not None:
            elements, end, is_number = called
        else:
            found = self.place(position)
            if found is None:
                return self._as_address(position), position + 1
            place, end = found
            elements, is_number = place.elements(self._tokens[position]), place.layout is None
            if place.is_array:
                is_pointed_at = self._tokens[position - 1].type == "ASSIGN" or self._is_argument(
                    position, end
                )
                address = [sign(self._tokens[position], "&"), *elements[0]]
                return (address, end) if is_pointed_at else (None, position)
            if not is_number and self._is(position - 1, "AND") and place.is_whole:
                return place.variable.whole(self._tokens[position], place.row), end
            if not is_number and not place.is_steady:
                return None, position
        if is_number:
            return elements[0], end
        if self._is_argument(position, end):
            return between(elements, sign(self._tokens[position], ",")), end
        return None, position

    def expression(self, position: int, end: int) -> Text:
        """The text between two positions."""
        result: Text = []
        while position < end:
            changed, after = (
                self.part(position) if self._tokens[position].type in ("NAME", "LPAR") else (None, 0)
            )
            if changed is None:
                changed, after = [self._tokens[position]], position + 1
            result += changed
            position = after
        return result

    def place(self, position: int) -> tuple[Place, int] | None:
        """The place of which a text speaks at a position, and where it ends."""
        begin = self._base(position)
        if begin is None:
            return None
        place, end = begin
        layout, offset, terms = place.layout, place.offset, place.terms
        while layout is not None and self._is(end, "DOT") and self._tokens[end + 1].text in layout.members:
            member = layout.members[self._tokens[end + 1].text]
            end += 2
            offset, layout = offset + member.offset, member.layout
            for number_of_dims in range(len(member.dims)):
                if not self._is(end, "LSQB"):
                    is_row = len(member.dims) == 1 and member.layout is None and not place.variable.scalars
                    return (
                        (Place(place.variable, place.row, offset, terms, None, True), end) if is_row else None
                    )
                closing = closing_of(self._tokens, end)
                inside = self.expression(end + 1, closing)
                stride = prod(member.dims[number_of_dims + 1 :]) * member.stride
                if len(inside) == 1 and (known := integer(inside[0])) is not None:
                    offset += known * stride
                else:
                    at = self._tokens[end]
                    times = [sign(at, "*"), number(at, stride)] if stride > 1 else []
                    more = [sign(at, "("), *inside, sign(at, ")"), *times]
                    terms = [*terms, sign(at, "+"), *more] if terms else more
                end = closing + 1
        behind = offset + (1 if layout is None else layout.size)
        if place.variable.scalars and (terms or behind > len(place.variable.scalars)):
            return None
        return Place(place.variable, place.row, offset, terms, layout), end

    def address(self, position: int) -> Address | None:
        """The address at a position: ``&p[i]``, ``p + i`` or ``p``, of rows ``&p[i][j]`` or ``p[i] + j``."""
        at = self._tokens[position]
        if self._is(position, "AND"):
            variable = self._variable(position + 1)
            if variable is not None and variable.further:
                subscripts, end = self._subscripts(position + 2)
                if len(subscripts) != variable.further + 1:
                    return None
                return Address(
                    variable, subscripts[:-1], (), [sign(at, "("), *subscripts[-1], sign(at, ")")], end
                )
            found = self._base(position + 1)
            if found is None or not found[0].variable.is_pointer or found[0].offset or found[0].terms:
                return None
            return self._counted(found[0].variable, at, found[0].row, found[1])
        pointer = self._variable(position)
        if pointer is None or not pointer.is_pointer:
            return None
        rows, end = self._subscripts(position + 1)
        if len(rows) != pointer.further:
            return None
        row = [number(at, 0)]
        if self._is(end, "PLUS"):
            first = end + 1
            while self._tokens[end].type not in ("COMMA", "SEMI", END):
                end = closing_of(self._tokens, end) + 1 if self._tokens[end].type in OPENING else end + 1
            row = self.expression(first, end)
        return replace(self._counted(pointer, at, row, end), rows=rows)

    def value(self, position: int, layout: Layout) -> tuple[list[Text], int] | None:
        """The elements of a whole structure: of a place, or of values in braces."""
        at = self._tokens[position]
        if self._is(position, "LPAR"):
            named = self._structures.at(self._tokens, position + 1)
            if named is not None and self._is(named[1], "RPAR") and self._is(named[1] + 1, "LBRACE"):
                position = named[1] + 1
        if self._is(position, "LBRACE"):
            closing = closing_of(self._tokens, position)
            listed = self._listed(position + 1, closing, layout)
            return None if listed is None else (listed, closing + 1)
        if self._is(position, "STAR") and (pointer := self._pointer(position + 1)) is not None:
            behind = Place(pointer, [number(at, 0)], 0, [], pointer.layout)
            return (behind.elements(at), position + 2) if pointer.layout is layout else None
        called = self._call(position)
        if called is not None:
            return called[:2] if self.functions[at.text].layout is layout and not called[2] else None
        found = self.place(position)
        if found is None or found[0].layout is not layout or not found[0].is_steady:
            return None
        return found[0].elements(at), found[1]

    def _call(self, position: int) -> tuple[list[Text], int, bool] | None:
        """The elements of what a function returns, where its call ends, and whether that is a number: the member of a
        structure.  None for what is no such call, and where doing it several times is not the same as once."""
        function = self.functions.get(self._tokens[position].text)
        if function is None or not self._is(position, "NAME") or not self._is(position + 1, "LPAR"):
            return None
        if any(self._tokens[position].text in scope for scope in self.scopes):
            return None
        end = closing_of(self._tokens, position + 1) + 1
        given = self.expression(position + 2, end - 1)
        if len(given) * len(function.names) > MAXIMUM_TOKENS or not is_steady(given):
            return None
        at = self._tokens[position]
        elements = [[at._replace(text=name), sign(at, "("), *given, sign(at, ")")] for name in function.names]
        layout: Layout | None = function.layout
        while layout is not None and self._is(end, "DOT"):
            member = layout.members.get(self._tokens[end + 1].text)
            if member is None or member.dims:
                return None
            elements, layout = elements[member.offset : member.offset + member.stride], member.layout
            end += 2
        return elements, end, layout is None

    def _listed(self, position: int, end: int, layout: Layout) -> list[Text] | None:
        """The elements that values between braces give, 0 for those that these leave out."""
        zero = number(self._tokens[position - 1], 0)
        result: list[Text] = [[zero] for _ in range(layout.size)]
        offset = 0
        while position < end:
            after = position
            while after < end and self._tokens[after].type != "COMMA":
                after = (
                    closing_of(self._tokens, after) + 1 if self._tokens[after].type in OPENING else after + 1
                )
            if self._is(position, "DOT"):
                member = layout.members.get(self._tokens[position + 1].text)
                if member is None or not self._is(position + 2, "ASSIGN"):
                    return None
                offset, position = member.offset, position + 3
            values = self._values(position, after, layout, offset)
            if values is None or offset + len(values) > layout.size:
                return None
            result[offset : offset + len(values)] = values
            offset += len(values)
            position = after + 1
        return result

    def _values(self, position: int, end: int, layout: Layout, offset: int) -> list[Text] | None:
        """The values that one part between commas gives to the members from one on."""
        member = next((m for m in layout.members.values() if m.offset == offset), None)
        if self._is(position, "LBRACE"):
            if member is None or len(member.dims) > 1 or (member.layout is not None and member.dims):
                return None
            inner = member.layout or Layout(layout.words, prod(member.dims), {})
            return self._listed(position + 1, end - 1, inner)
        if member is not None and member.layout is not None and not member.dims:
            whole = self.value(position, member.layout)
            if whole is not None and whole[1] == end:
                return whole[0]
        return [self.expression(position, end)]

    def _base(self, position: int) -> tuple[Place, int] | None:
        """The whole structure with which a place begins, or one in parentheses."""
        tokens = self._tokens
        if self._is(position, "LPAR"):
            return self._in_parentheses(position)
        if position and tokens[position - 1].type == "DOT":
            return None
        variable = self._variable(position)
        if variable is None:
            return None
        if not variable.is_pointer:
            return Place(variable, [], 0, [], variable.layout), position + 1
        if self._is(position + 1, "LSQB"):
            subscripts, end = self._subscripts(position + 1)
            if len(subscripts) == variable.further and tokens[end].text == "->":
                subscripts.append([number(tokens[position], 0)])
            if len(subscripts) != variable.further + 1:
                return None
            return Place(variable, joined(subscripts, tokens[position]), 0, [], variable.layout), end
        if self._is(position + 1, "DOT") and tokens[position + 1].text == "->" and not variable.further:
            return Place(variable, [number(tokens[position], 0)], 0, [], variable.layout), position + 1
        return None

    def _subscripts(self, position: int) -> tuple[list[Text], int]:
        """The subscripts that stand at a position, one after the other, and where they end."""
        found: list[Text] = []
        while self._is(position, "LSQB"):
            closing = closing_of(self._tokens, position)
            found.append(self.expression(position + 1, closing))
            position = closing + 1
        return found, position

    def _in_parentheses(self, position: int) -> tuple[Place, int] | None:
        """``(p[i]).x``, ``(*p).x``, ``(p + i)->x`` and ``(&p[i])->x``: a structure of which a member follows."""
        closing = closing_of(self._tokens, position)
        if not self._is(closing + 1, "DOT"):
            return None
        first, at = position + 1, self._tokens[position]
        if self._tokens[closing + 1].text == "->":
            pointer = self._pointer(first)
            if pointer is not None and self._is(first + 1, "PLUS"):
                row = self.expression(first + 2, closing)
            elif pointer is not None and first + 1 == closing:
                row = [number(at, 0)]
            elif (
                self._is(first, "AND")
                and (found := self._base(first + 1)) is not None
                and found[1] == closing
            ):
                return found[0], closing + 1
            else:
                return None
            return Place(pointer, row, 0, [], pointer.layout), closing + 1
        if (
            self._is(first, "STAR")
            and first + 2 == closing
            and (pointer := self._pointer(first + 1)) is not None
        ):
            return Place(pointer, [number(at, 0)], 0, [], pointer.layout), closing + 1
        inner = self.place(first)
        return (inner[0], closing + 1) if inner is not None and inner[1] == closing else None

    def _counted(self, pointer: Variable, at: Token, row: Text, end: int) -> Address:
        """The address of a structure among those of the pointer that counts in no other one."""
        counted = [sign(at, "("), *row, sign(at, ")")]
        if pointer.counts is None:
            return Address(pointer, [], (), counted, end)
        begins = [at._replace(type="NAME", text=pointer.name), sign(at, "+"), *counted]
        return Address(pointer.counts, [], pointer.rows, begins, end)

    def _variable(self, position: int) -> Variable | None:
        if not self._is(position, "NAME"):
            return None
        name = self._tokens[position].text
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def _pointer(self, position: int) -> Variable | None:
        found = self._variable(position)
        return found if found is not None and found.is_pointer and not found.further else None

    def _as_address(self, position: int) -> Text | None:
        """The address in a pointer that stands for more than its number; None for what is no such pointer."""
        pointer = self._pointer(position)
        if (
            pointer is None
            or pointer.counts is None
            or self._is_number(position, pointer.counts, pointer.rows)
        ):
            return None
        at = self._tokens[position]
        return [sign(at, "&"), *pointer.whole(at, [number(at, 0)])]

    def _is_number(self, position: int, target: Variable, rows: tuple[str, ...]) -> bool:
        """Whether a pointer is moved there, or beside one that counts in the same ``target``, of the same ``rows``."""
        if self._is(position - 1, "DOT") or self._is(position - 1, "INCDEC"):
            return True
        if self._tokens[position + 1].type in ("INCDEC", "COMPOUND"):
            return True
        sides = ((position - 1, position - 2), (position + 1, position + 2))
        others = [self._pointer(other) for by, other in sides if self._tokens[by].text in _BETWEEN_POINTERS]
        return any(other is not None and (other.counts, other.rows) == (target, rows) for other in others)

    def _is(self, position: int, kind: str) -> bool:
        return self._tokens[position].type == kind

    def _is_argument(self, position: int, end: int) -> bool:
        """Whether what stands there is an argument of a call."""
        if self._tokens[position - 1].type not in ("LPAR", "COMMA") or self._tokens[end].type not in (
            "COMMA",
            "RPAR",
        ):
            return False
        depth = 1
        while depth and position:
            position -= 1
            depth += (self._tokens[position].type in CLOSING) - (self._tokens[position].type in OPENING)
        return self._is(position, "LPAR") and self._is(position - 1, "NAME")
