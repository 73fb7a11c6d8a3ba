"""Which scalars of a function keep their value: the condition under which a definition reaches a region.

In: the host tokens of a function and the macros of its file.  Out: the names that may change after they are
defined; the answer errs on that side (``f(&n)``, ``n++``, ``SET(n)`` and ``#define STEP n++`` all count).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from comprehensive.metafork.tokens import Token

_DEFINE = re.compile(r"#\s*define\s+(\w+)(\([^)]*\))?([\s\S]*)")
_DEEPEST_CALL = 50
"""Parentheses around a name that are looked at; what is deeper counts as changed."""
_WORD = re.compile(r"[^\W\d]\w*")


def changed_names(
    tokens: Sequence[Token], definitions: frozenset[int], macros: frozenset[str]
) -> frozenset[str]:
    """Names that are assigned, stepped, of which the address is taken, or that are handed to a macro.

    ``definitions`` are the positions of names that a declaration defines: their ``=`` changes nothing.
    """
    around = _around(tokens)
    changed: set[str] = set()
    for position, token in enumerate(tokens):
        if token.type != "NAME" or position in definitions:
            continue
        if _is_changed(tokens, position) or _in_macro_call(tokens, position, around, macros):
            changed.add(token.text)
    return frozenset(changed)


def _is_changed(tokens: Sequence[Token], position: int) -> bool:
    first, last = position - 1, position + 1
    while first >= 0 and last < len(tokens) and (tokens[first].type, tokens[last].type) == ("LPAR", "RPAR"):
        first, last = first - 1, last + 1
    if last < len(tokens) and tokens[last].type in ("ASSIGN", "COMPOUND", "INCDEC"):
        return True
    return first >= 0 and tokens[first].type in ("INCDEC", "AND")


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
