"""C text as tokens in matching brackets: what the recorder rewrites and the shrinker cuts.

In: the text of a `.mf` file.  Out: a tuple of nodes, each a token or a :class:`Group`, and text again::

    parse("a[i] = (b + 1);")  -->  ("a", Group("[", ("i",)), "=", Group("(", ("b", "+", "1")), ";")

It knows nothing of the tool under test.  Comments are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

CLOSING = {"(": ")", "[": "]", "{": "}"}

_TOKEN = re.compile(
    r"""(?P<line>^[ \t]*\#[^\n]*)
    |(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<space>\s+)
    |(?P<token>[A-Za-z_]\w*
      |(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)[uUlLfF]*
      |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
      |<<=|>>=|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^=!<>]=|.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Group:
    """The items between two matching brackets."""

    opening: str
    items: tuple[Node, ...]


Node: TypeAlias = "str | Group"


class UnbalancedError(Exception):
    """A bracket without its partner."""


def parse(text: str) -> tuple[Node, ...]:
    """The nodes of a text. UnbalancedError where brackets do not match."""
    tokens = [m["line"] or m["token"] for m in _TOKEN.finditer(text) if m["line"] or m["token"]]
    stack: list[tuple[str, list[Node]]] = [("", [])]
    for token in tokens:
        if token in CLOSING:
            stack.append((token, []))
        elif token in CLOSING.values():
            opening, items = stack.pop()
            if not stack or CLOSING[opening] != token:
                raise UnbalancedError(token)
            stack[-1][1].append(Group(opening, tuple(items)))
        else:
            stack[-1][1].append(token)
    if len(stack) != 1:
        raise UnbalancedError(stack[-1][0])
    return tuple(stack[0][1])


def text_of(nodes: Sequence[Node]) -> str:
    """The nodes as text, a statement a line."""
    written: list[str] = []
    depth, parentheses, at_start = 0, 0, True

    def line() -> None:
        nonlocal at_start
        written.append("\n")
        at_start = True

    for token, last in _with_ends(tokens_of(nodes)):
        if token.lstrip().startswith("#"):
            if not at_start:
                line()
            written.append(token)
            line()
            continue
        if token == "}":
            depth -= 1
        if token == "{" and not parentheses and not at_start:
            written.append(" ")
        elif at_start:
            written.append("  " * depth)
        elif _needs_space(last, token):
            written.append(" ")
        at_start = False
        written.append(token)
        parentheses += (token in "([") - (token in ")]")
        if token == "{":
            depth += 1
        if token in ("{", "}") or (token == ";" and not parentheses):
            line()
    return "".join(written)


def _with_ends(tokens: Iterator[str]) -> Iterator[tuple[str, str]]:
    last = ""
    for token in tokens:
        yield token, last
        last = token


def _needs_space(last: str, token: str) -> bool:
    if token in ("[", "]", ")", ",", ";", "++", "--") or last in ("(", "[", "", "!", "~"):
        return False
    if token == "(":
        return not (last[-1].isalnum() or last[-1] == "_") or last in (
            "for",
            "if",
            "while",
            "meta_for",
            "return",
        )
    return True


def tokens_of(nodes: Sequence[Node]) -> Iterator[str]:
    """All tokens in order, brackets included."""
    for node in nodes:
        if isinstance(node, Group):
            yield node.opening
            yield from tokens_of(node.items)
            yield CLOSING[node.opening]
        else:
            yield node


def split(nodes: Sequence[Node], at: str) -> list[tuple[Node, ...]]:
    """The parts between the tokens ``at`` of this level."""
    parts: list[list[Node]] = [[]]
    for node in nodes:
        if node == at:
            parts.append([])
        else:
            parts[-1].append(node)
    return [tuple(part) for part in parts]


def is_group(node: Node | None, opening: str) -> bool:
    """Whether the node is a group of such brackets."""
    return isinstance(node, Group) and node.opening == opening


def statement_end(items: Sequence[Node], start: int) -> int:
    """Return where the statement that begins at ``start`` ends: the number of the node behind it."""
    if start >= len(items):
        return start
    first = items[start]
    if is_group(first, "{"):
        return start + 1
    if first in ("for", "while", "meta_for"):
        return statement_end(items, start + 2)
    if first == "if":
        end = statement_end(items, start + 2)
        return statement_end(items, end + 1) if end < len(items) and items[end] == "else" else end
    if first == "do":
        return statement_end(items, start + 1) + 3
    if first == "meta_schedule":
        return statement_end(items, clauses_end(items, start))
    end = start
    while end < len(items) and items[end] != ";":
        end += 1
    return end + 1


def clauses_end(items: Sequence[Node], start: int) -> int:
    """Return the number of the node behind ``meta_schedule`` and its clauses."""
    end = start + 1
    while end + 1 < len(items) and isinstance(items[end], str) and is_group(items[end + 1], "("):
        end += 2
    return end


def statements(items: Sequence[Node]) -> list[tuple[int, int]]:
    """The first and the last number of every statement of a body."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(items):
        end = min(statement_end(items, at), len(items))
        found.append((at, end))
        at = end
    return found
