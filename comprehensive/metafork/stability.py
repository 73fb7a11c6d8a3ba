"""The scalars of a function that keep their value: the condition under which a definition reaches a region.

In: the host tokens of a function and the macros of its file.  Out: the names that may change after they are
defined, and where; the answer errs on that side (``f(&n)``, ``n++``, ``SET(n)`` and ``#define STEP n++`` all count).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from comprehensive.metafork.tokens import Token

_DEFINE = re.compile(r"#\s*define\s+(\w+)(\([^)]*\))?([\s\S]*)")
_DEEPEST_CALL = 50
"""Parentheses around a name that are looked at; what is deeper counts as changed."""
_WORD = re.compile(r"[^\W\d]\w*")


class Changes(Struct, frozen=True):
    """``at`` are assignments as positions and names; what is in ``anywhere`` changes where no text shows it."""

    at: tuple[tuple[int, str], ...] = ()
    anywhere: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All names that may change after they are defined."""
        return self.anywhere | {name for _, name in self.at}

    def within(self, names: AbstractSet[str], first: int, last: int) -> bool:
        """Whether one of the names may change at a position from ``first`` to ``last`` (excluded)."""
        if names & self.anywhere:
            return True
        return any(first <= position < last and name in names for position, name in self.at)


def changes(
    tokens: Sequence[Token], definitions: frozenset[int], macros: frozenset[str], in_macros: frozenset[str]
) -> Changes:
    """Names that are assigned, stepped, of which the address is taken, or that a macro may change.

    ``definitions`` are the positions of names that a declaration defines: their ``=`` changes nothing;
    ``in_macros`` the names that macros mention.
    """
    around = _around(tokens)
    at: list[tuple[int, str]] = []
    anywhere = set(in_macros)
    for position, token in enumerate(tokens):
        if token.type != "NAME" or position in definitions:
            continue
        before, after = _beside(tokens, position)
        if after in ("ASSIGN", "COMPOUND", "INCDEC") or before == "INCDEC":
            at.append((position, token.text))
        if before == "AND" or _in_macro_call(tokens, position, around, macros):
            anywhere.add(token.text)
    return Changes(tuple(at), frozenset(anywhere))


def _beside(tokens: Sequence[Token], position: int) -> tuple[str, str]:
    """The types of the tokens before and after a name, parentheses around it left out."""
    first, last = position - 1, position + 1
    while first >= 0 and last < len(tokens) and (tokens[first].type, tokens[last].type) == ("LPAR", "RPAR"):
        first, last = first - 1, last + 1
    return tokens[first].type if first >= 0 else "", tokens[last].type if last < len(tokens) else ""


def _around(tokens: Sequence[Token]) -> list[int]:
    """For each token the position of the innermost open parenthesis around it, or -1."""
    around: list[int] = []
    stack: list[int] = []
    for position, token in enumerate(tokens):
        around.append(stack[-1] if stack else -1)
        if token.type == "LPAR":
            stack.append(position)
        elif token.type == "RPAR" and stack:
            stack.pop()
    return around


def _in_macro_call(tokens: Sequence[Token], position: int, around: list[int], macros: frozenset[str]) -> bool:
    """Whether a name stands in the arguments of a macro, or of what is spelled like one."""
    opening = around[position]
    for _ in range(_DEEPEST_CALL):
        if opening < 0:
            return False
        before = tokens[opening - 1] if opening else None
        name = before.text if before is not None and before.type == "NAME" else ""
        if name and (name.upper() == name or name in macros):
            return True
        opening = around[opening]
    return True


def names_in_macros(directives: Iterable[Token]) -> frozenset[str]:
    """The names that the bodies of macros mention, their own parameters excepted."""
    mentioned: set[str] = set()
    for token in directives:
        match = _DEFINE.match(token.text.replace("\\\r\n", " ").replace("\\\n", " "))
        if match is not None:
            own = set(_WORD.findall(match.group(2) or ""))
            mentioned |= set(_WORD.findall(match.group(3))) - own
    return frozenset(mentioned)


def macro_names(directives: Iterable[Token]) -> frozenset[str]:
    """The names that the file defines as macros."""
    matches = (_DEFINE.match(token.text) for token in directives)
    return frozenset(match.group(1) for match in matches if match is not None)
