"""Local variables whose address is taken, as arrays of one element.

In: the tokens of a region, or of the body of a function that a region calls.  Out: the same where such a variable is an
array, which a pointer can point into::

    float lo, hi = 0;  minmax(x, &lo, &hi);   -->   float lo[1], hi[1] = {0};  minmax(x, &lo[0], &hi[0]);

Behind this the address of a variable is that of an element.  Where a loop declares a variable of that name in its
header, or the name stands for something else than a scalar as well, all of the name stay as they are, and the parser
reports the address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from comprehensive.metafork.brackets import depths
from comprehensive.metafork.named_constants import declared_at
from comprehensive.metafork.structure_places import number, sign, subscript
from comprehensive.metafork.tokens import Token

_OPERANDS = frozenset(("NAME", "RPAR", "RSQB", "INT_LITERAL", "FLOAT_LITERAL", "INCDEC"))
"""The tokens behind which ``&`` is the operator between two integers."""
_BEHIND_OTHERS = frozenset(("LSQB", "LPAR", "DOT"))
"""The tokens that make of a name before them something else than a variable."""
_BEHIND_SCALARS = frozenset(("COMMA", "SEMI", "ASSIGN"))
"""The tokens behind a declared scalar."""


def with_addressed_as_arrays(text: Sequence[Token]) -> Sequence[Token]:
    """The text in which every local scalar whose address is taken is an array of one element."""
    addressed = [position for position in range(1, len(text)) if _is_addressed(text, position)]
    if not addressed:
        return text
    levels = tuple(depths(text))[1:]
    declared = [p for p in declared_at(text) if p > 0]
    others = {text[p].text for p in declared if not _is_scalar(text, levels, p)}
    ends = {p: _end(levels, p) for p in declared if text[p].text not in others}
    arrays = {p for use in addressed if (p := _declaration(text, use, ends)) is not None}
    uses = {
        position
        for position, token in enumerate(text)
        if token.type == "NAME"
        and position not in ends
        and text[position - 1].type != "DOT"
        and _declaration(text, position, ends) in arrays
    }
    given = (p for p in arrays if text[p + 1].type == "ASSIGN")
    return _written(text, arrays, uses, {_behind(text, levels, p) for p in given})


def _written(text: Sequence[Token], arrays: Set[int], uses: Set[int], closings: Set[int]) -> Sequence[Token]:
    """Return the text with subscripts behind the names, and braces around the values of the arrays."""
    result: list[Token] = []
    for position, token in enumerate(text):
        if position in closings:
            result.append(sign(token, "}"))
        result.append(token)
        if position in arrays:
            result += subscript(token, [number(token, 1)])
        elif position in uses:
            result += subscript(token, [number(token, 0)])
        elif token.type == "ASSIGN" and position - 1 in arrays:
            result.append(sign(token, "{"))
    return tuple(result)


def _is_addressed(text: Sequence[Token], position: int) -> bool:
    """Whether the address of a variable is taken at a name."""
    return (
        text[position].type == "NAME"
        and text[position - 1].type == "AND"
        and (position < 2 or text[position - 2].type not in _OPERANDS)
        and (position + 1 == len(text) or text[position + 1].type not in _BEHIND_OTHERS)
    )


def _is_scalar(text: Sequence[Token], levels: Sequence[int], position: int) -> bool:
    """Whether a declared name is that of a scalar, in a declaration that is a statement."""
    around = next((p for p in range(position, 0, -1) if levels[p - 1] < levels[position]), 0)
    behind = text[position + 1].type if position + 1 < len(text) else "SEMI"
    return text[around].type != "LPAR" and text[position - 1].type != "STAR" and behind in _BEHIND_SCALARS


def _end(levels: Sequence[int], position: int) -> int:
    """Return where the block ends in which a name is declared."""
    inside = levels[position]
    return next((p for p in range(position, len(levels)) if levels[p] < inside), len(levels))


def _declaration(text: Sequence[Token], use: int, ends: Mapping[int, int]) -> int | None:
    """Return the innermost declaration of a name that is seen where it is used; None where there is none here."""
    seen = (p for p, end in ends.items() if p < use < end and text[p].text == text[use].text)
    return max(seen, default=None)


def _behind(text: Sequence[Token], levels: Sequence[int], position: int) -> int:
    """Return the comma or the semicolon behind a declared name and its value."""
    places = range(position, len(text))
    ends = (p for p in places if text[p].type in ("COMMA", "SEMI") and levels[p] == levels[position])
    return next(ends, len(text))
