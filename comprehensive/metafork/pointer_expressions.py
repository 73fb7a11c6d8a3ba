"""Expressions of host code whose values are pointers to data: tokens in, small trees and what they mean out.

::

    even ? a : &buf[n]     -->  Choice(Variable(a), Moved(Variable(buf), n))
    float (*p)[n] = u[1];  -->  p is "u + (long long)(1)*(n)*(n)" where all data is behind plain pointers

What such trees are worth is said by :mod:`pointer_values`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from comprehensive.metafork.ast import Binary, Expr, IntLiteral, ScalarType
from comprehensive.metafork.brackets import closing_of
from comprehensive.metafork.literals import scalar_type
from comprehensive.metafork.pointer_values import (
    UNKNOWN,
    Choice,
    Condition,
    Constant,
    Moved,
    Read,
    Reference,
    Tree,
    Variable,
)
from comprehensive.metafork.tokens import Token
from comprehensive.records import replace


class Pointer(Struct, frozen=True):
    """A tree with the type of what it points to, and its text where all data is behind plain pointers."""

    tree: Tree
    type: ScalarType | None
    rows: tuple[Expr | None, ...]
    row_texts: tuple[str, ...]
    levels: int
    text: str
    is_flattened: bool = False
    """Whether the text counts elements where the source counts rows."""


_NULL = frozenset(("NULL", "0"))
_EQUALITY = frozenset(("==", "!="))
_BEGINS = frozenset(("(", "!", "&&", "||", "=", "?", ":", ",", "return", ";", "{", "}", ""))
_ENDS = frozenset((")", "&&", "||", "?", ":", ",", ";", ""))
"""The tokens that may stand behind an operand of these operators; those of ``_BEGINS`` may stand before it."""


class PointerExpressions:
    """Reads expressions in one sequence of tokens.

    ``variable`` says what a name stands for, ``number`` reads an expression of scalars whose changes are seen.
    """

    def __init__(
        self,
        tokens: Sequence[Token],
        variable: Callable[[str], Variable | None],
        number: Callable[[Sequence[Token]], Expr | None],
    ) -> None:
        self._tokens = tokens
        self._variable = variable
        self._number = number

    def mentions(self, first: int, last: int) -> Iterator[tuple[int, Variable]]:
        """Yield the positions where variables are spoken of, with the variables; see :meth:`questions`."""
        return ((p, v) for p, v in self._named(first, last) if not self._is_question(p))

    def questions(self, first: int, last: int) -> Iterator[Variable]:
        """Yield the variables of which is asked whether they are null: ``p == NULL``, ``!p``, ``p && n > 3``."""
        return (v for p, v in self._named(first, last) if self._is_question(p))

    def _named(self, first: int, last: int) -> Iterator[tuple[int, Variable]]:
        for position in range(first, last):
            token = self._tokens[position]
            is_member = position > 0 and self._tokens[position - 1].type == "DOT"
            if token.type == "NAME" and not is_member:
                variable = self._variable(token.text)
                if variable is not None:
                    yield position, variable

    def _is_question(self, position: int) -> bool:
        """Whether the operators beside a name ask only whether it is null."""
        around = [t.text for t in self._tokens[max(0, position - 3) : position + 4]]
        before, after = (
            ["", "", "", *around[: min(3, position)]][-3:],
            [*around[min(3, position) + 1 :], "", ""],
        )
        if after[0] in _EQUALITY and after[1] in _NULL:
            return before[2] in _BEGINS and after[2] in _ENDS
        if after[0] not in _ENDS:
            return False
        if before[2] in _EQUALITY and before[1] in _NULL:
            return before[0] in _BEGINS
        is_governed = before[2] == "(" and before[1] in ("if", "while") and after[0] == ")"
        is_operand = before[2] in ("!", "&&", "||") or after[0] in ("&&", "||", "?")
        return is_governed or (before[2] in _BEGINS and is_operand)

    def pointer(self, first: int, last: int) -> Pointer | None:
        """The pointer that these tokens compute; None where they are something else."""
        first, last = self._bare(first, last)
        if first >= last:
            return None
        question = self._outside("QUESTION", first, last)
        if question is not None:
            return self._choice(first, question, last)
        sign = self._last_sign(first, last)
        if sign is not None:
            return self._sum(first, sign, last)
        return self._primary(first, last)

    def comparison(self, first: int, last: int) -> tuple[str, Tree, Tree] | None:
        """``==`` or ``!=`` and what it compares, where these are pointers."""
        first, last = self._bare(first, last)
        places = [p for p in range(first, last) if self._tokens[p].text in ("==", "!=")]
        if len(places) != 1:
            return None
        left, right = self.pointer(first, places[0]), self.pointer(places[0] + 1, last)
        if left is None or right is None or (left.type is None and right.type is None):
            return None
        return self._tokens[places[0]].text, left.tree, right.tree

    def rows(self, first: int, last: int) -> tuple[tuple[Expr | None, ...], tuple[str, ...]]:
        """Return the contents of the brackets, as expressions and as texts."""
        found: list[Expr | None] = []
        texts: list[str] = []
        for begin, end in self._brackets(first, last):
            found.append(self._number(self._tokens[begin:end]))
            texts.append(self.text(begin, end))
        return tuple(found), tuple(texts)

    def text(self, first: int, last: int) -> str:
        """The tokens as a text."""
        return " ".join(token.text for token in self._tokens[first:last])

    # --- parts -------------------------------------------------------------------------------------------

    def _bare(self, first: int, last: int) -> tuple[int, int]:
        """Return the range of tokens without parentheses around all of it."""
        while (
            last - first >= 2
            and self._tokens[first].type == "LPAR"
            and closing_of(self._tokens, first, last) == last - 1
            and not self._is_type(first + 1, last - 1)
        ):
            first, last = first + 1, last - 1
        return first, last

    def _outside(self, kind: str, first: int, last: int) -> int | None:
        """The first token of a kind outside all groups."""
        position = first
        while position < last:
            if self._tokens[position].type == kind:
                return position
            is_open = self._tokens[position].type in ("LPAR", "LSQB", "LBRACE")
            position = closing_of(self._tokens, position, last) + 1 if is_open else position + 1
        return None

    def _last_sign(self, first: int, last: int) -> int | None:
        """The last ``+`` or ``-`` between two operands outside all groups."""
        found, position = None, first
        while position < last:
            kind = self._tokens[position].type
            if kind in ("LPAR", "LSQB"):
                position = closing_of(self._tokens, position, last)
            elif kind in ("PLUS", "MINUS") and position > first:
                before = self._tokens[position - 1].type
                if before in ("NAME", "RPAR", "RSQB", "INT_LITERAL"):
                    found = position
            position += 1
        return found

    def _choice(self, first: int, question: int, last: int) -> Pointer | None:
        colon = self._outside("COLON", question, last)
        if colon is None or any(self.mentions(first, question)):
            return None
        then, otherwise = self.pointer(question + 1, colon), self.pointer(colon + 1, last)
        if then is None or otherwise is None:
            return None
        return replace(
            otherwise if then.type is None else then,
            tree=Choice(self._condition(first, question), then.tree, otherwise.tree),
            text=f"(({self.text(first, question)}) ? {then.text} : {otherwise.text})",
            is_flattened=then.is_flattened or otherwise.is_flattened,
        )

    def _condition(self, first: int, last: int) -> Condition:
        """A condition over scalars; one that calls, changes or reads other things is no other one's."""
        first, last = self._bare(first, last)
        inside = self._tokens[first:last]
        is_plain = self._number(inside) is not None
        text = f"?{self.text(first, last)}" if is_plain else f"?{first} {len(self._tokens)}"
        return Condition(text, frozenset(token.text for token in inside if token.type == "NAME"))

    def _sum(self, first: int, sign: int, last: int) -> Pointer | None:
        is_minus = self._tokens[sign].type == "MINUS"
        left, begin, end = self.pointer(first, sign), sign + 1, last
        if left is None and not is_minus:
            left, begin, end = self.pointer(sign + 1, last), first, sign
        if left is None or left.type is None or left.levels > 1 or any(self.mentions(begin, end)):
            return None
        return self.moved(left, begin, end, "-" if is_minus else "+")

    def moved(self, pointer: Pointer, first: int, last: int, sign: str) -> Pointer:
        """A pointer so many rows further on."""
        number = self._number(self._tokens[first:last])
        offset = _times(number, pointer.rows)
        if offset is not None and sign == "-":
            offset = Binary("-", IntLiteral(0), offset)
        text = self.text(first, last)
        factors = "".join(f" * ({extent})" for extent in pointer.row_texts)
        text = f"(long long)({text}){factors}" if factors else f"({text})"
        return replace(
            pointer,
            tree=Moved(pointer.tree, offset),
            levels=1,
            text=f"({pointer.text} {sign} {text})",
            is_flattened=pointer.is_flattened or bool(pointer.rows),
        )

    def _primary(self, first: int, last: int) -> Pointer | None:
        token = self._tokens[first]
        match token.type:
            case "LPAR":
                return self._cast(first, last)
            case "AND":
                return self._address(*self._bare(first + 1, last))
            case "STAR":
                inner = self.pointer(first + 1, last)
                if inner is None or inner.levels != 2 or not isinstance(inner.tree, Read):
                    return None
                through = Read(inner.tree.variable, through=True)
                return replace(inner, tree=through, levels=1, text=f"(*{inner.text})")
            case "NAME" | "INT_LITERAL" if last == first + 1 and token.text in ("NULL", "0"):
                return Pointer(Constant(UNKNOWN), None, (), (), 1, token.text)
            case "NAME":
                return self._part(first, last, is_address=False)
            case _:
                return None

    def _address(self, first: int, last: int) -> Pointer | None:
        """Return the pointer that the operand of ``&`` gives; None where it is not understood."""
        if last == first + 1:
            variable = self._variable(self._tokens[first].text)
            if variable is None or variable.levels != 1:
                return None
            tree, text = Constant(Reference(variable.key)), f"(&{variable.name})"
            return replace(pointer_of(variable), tree=tree, levels=2, text=text)
        return self._part(first, last, is_address=True)

    def _part(self, first: int, last: int, *, is_address: bool) -> Pointer | None:
        """``a``, or ``u[p]``, which is a pointer to the first of its rows; ``&u[p][i]`` where the address is taken."""
        variable = self._variable(self._tokens[first].text)
        if variable is None:
            return None
        found = pointer_of(variable)
        groups = self._brackets(first + 1, last)
        ends = [first + 1, *(end + 1 for _, end in groups)]
        if ends[-1] != last or (groups and variable.levels > 1):
            return None
        for number, (begin, end) in enumerate(groups):
            is_last = number == len(groups) - 1
            if any(self.mentions(begin, end)):
                return None
            found = self.moved(found, begin, end, "+")
            if is_address and is_last:
                return found
            if not found.rows:
                return None  # an element
            found = _first_row(found)
        return found

    def _brackets(self, first: int, last: int) -> list[tuple[int, int]]:
        """The insides of groups in brackets that stand one after the other."""
        found: list[tuple[int, int]] = []
        while first < last and self._tokens[first].type == "LSQB":
            closing = closing_of(self._tokens, first, last)
            found.append((first + 1, closing))
            first = closing + 1
        return found

    def _cast(self, first: int, last: int) -> Pointer | None:
        """``(float *)p`` and ``(float (*)[n])p``, to elements of the type that they have."""
        closing = closing_of(self._tokens, first, last)
        if not self._is_type(first + 1, closing):
            return None
        inner = self.pointer(closing + 1, last)
        words = [t for t in self._tokens[first + 1 : closing] if t.type in ("TYPE_WORD", "QUALIFIER")]
        kind = scalar_type(token.text for token in words if token.type == "TYPE_WORD")
        star = self._outside("STAR", first + 1, closing)
        group = self._outside("LPAR", first + 1, closing)
        if inner is None or inner.levels > 1 or (inner.type is not None and inner.type is not kind):
            return None
        qualifiers = "".join(f"{token.text} " for token in words if token.text == "const")
        assert kind is not None, "what is no pointer to a scalar type is no cast here"
        text = f"({qualifiers}{kind.value} *){inner.text}"
        if star is not None and star == closing - 1:
            return Pointer(inner.tree, kind, (), (), 1, text, inner.is_flattened)
        if group is not None and self._tokens[group + 1].type == "STAR":
            rows, texts = self.rows(closing_of(self._tokens, group, closing) + 1, closing)
            return Pointer(inner.tree, kind, rows, texts, 1, text, is_flattened=True)
        return None

    def _is_type(self, first: int, last: int) -> bool:
        """Whether this is the name of a type of pointers to scalars."""
        words = [t.text for t in self._tokens[first:last] if t.type == "TYPE_WORD"]
        begins = first < last and self._tokens[first].type in ("TYPE_WORD", "QUALIFIER")
        is_pointer = any(t.type == "STAR" for t in self._tokens[first:last])
        return begins and is_pointer and scalar_type(words) is not None


def pointer_of(variable: Variable) -> Pointer:
    """The pointer that a variable is."""
    return Pointer(
        Read(variable), variable.type, variable.rows, variable.row_texts, variable.levels, variable.name
    )


def _first_row(pointer: Pointer) -> Pointer:
    """Return the pointer to the elements, or shorter rows, of the first row that ``pointer`` points to."""
    return replace(pointer, rows=pointer.rows[1:], row_texts=pointer.row_texts[1:])


def _times(number: Expr | None, rows: Sequence[Expr | None]) -> Expr | None:
    for extent in rows:
        if number is None or extent is None:
            return None
        number = number if number == IntLiteral(0) else Binary("*", number, extent)
    return number
