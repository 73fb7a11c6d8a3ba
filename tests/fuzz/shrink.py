"""A failing program cut down: the smallest text found on which the same finding comes up.

In: a text and a test.  Out: a text on which the test holds.  Cuts are made in brackets and statements, so that nearly
every candidate is a program:

- a statement goes, from the longest to the shortest;
- `if`, `for`, `while`, `do` and blocks make way for what is in them, `else` branches go;
- parameters and names in clauses go;
- an expression in brackets makes way for one of its operands, a call for an argument, `?:` for a branch;
- numbers become 0, 1 or 2.
"""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Iterator, Sequence

from tests.fuzz.nodes import Group, Node, is_group, parse, split, statement_end, statements, text_of

Test = Callable[[str], bool]
_NUMBER = re.compile(r"\d[\w.]*\Z")
_BINARY = frozenset(
    ["+", "-", "*", "/", "%", "&", "|", "^", "&&", "||", "<", "<=", ">", ">=", "==", "!=", "<<", ">>"]
)
_ASSIGN = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])


def shrink(text: str, holds: Test, seconds: float) -> str:
    """The smallest text found in so many seconds of processor time; ``holds`` is true of ``text``."""
    deadline = _processor_s() + seconds
    nodes = parse(text)
    tried: set[str] = {text_of(nodes)}
    changed = True
    while changed and _processor_s() < deadline:
        changed = False
        for candidate in sorted(_smaller(nodes), key=_size):
            written = text_of(candidate)
            if written in tried:
                continue
            if _processor_s() > deadline:
                break
            tried.add(written)
            if holds(written):
                nodes, changed = candidate, True
                break
    return text_of(nodes)


def _processor_s() -> float:
    """Return the seconds of processor time of this process and of the children that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _size(nodes: Sequence[Node]) -> int:
    return sum(2 + _size(n.items) if isinstance(n, Group) else 1 + (n not in ("0", "1")) for n in nodes)


def _smaller(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """All texts that are one cut away."""
    for k, node in enumerate(nodes):
        if isinstance(node, str) and node.startswith("#"):
            yield (*nodes[:k], *nodes[k + 1 :])
        if isinstance(node, Group):
            for items in (*_cuts(node), *_smaller(node.items)):
                yield (*nodes[:k], Group(node.opening, items), *nodes[k + 1 :])
        elif _NUMBER.match(node):
            for number in ("0", "1", "2"):
                if node != number and (len(node) > 1 or node > number):
                    yield (*nodes[:k], number, *nodes[k + 1 :])


def _cuts(group: Group) -> Iterator[tuple[Node, ...]]:
    """The items of a group, made fewer."""
    items = group.items
    if group.opening == "{":
        yield from _fewer_statements(items)
        return
    if ";" in items:  # the header of a loop
        for k, part in enumerate(split(items, ";")):
            parts: list[tuple[Node, ...]] = split(items, ";")
            for less in _operands(part):
                parts[k] = less
                yield _joined(parts, ";")
        return
    if "," in items:
        parts = split(items, ",")
        for k in range(len(parts)):
            yield _joined([*parts[:k], *parts[k + 1 :]], ",")
    yield from _operands(items)


def _fewer_statements(items: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    for start, end in statements(items):
        before, statement, behind = items[:start], items[start:end], items[end:]
        yield (*before, *behind)
        for other in _instead(statement):
            yield (*before, *other, *behind)


def _instead(statement: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """Yield the smaller statements that can replace a statement."""
    first = statement[0]
    if isinstance(first, Group):
        yield first.items
    elif first == "if":
        then = statement_end(statement, 2)
        yield _opened(statement[2:then])
        if then < len(statement):
            yield _opened(statement[then + 1 :])
            yield statement[:then]
        for other in _instead(statement[2:then]):
            yield (*statement[:2], Group("{", other), *statement[then:])
    elif first in ("for", "while"):
        yield _opened(statement[2:])
        header = statement[1]
        if first == "for" and isinstance(header, Group) and len(parts := split(header.items, ";")) == 3:
            yield (*parts[0], ";", *_opened(statement[2:]))
        for other in _instead(statement[2:]):
            yield (*statement[:2], Group("{", other))
    elif first in ("meta_for", "meta_schedule"):
        at = 2 if first == "meta_for" else 1
        if first == "meta_schedule":
            while is_group(statement[at + 1] if at + 1 < len(statement) else None, "("):
                yield (*statement[:at], *statement[at + 2 :])
                at += 2
        else:
            yield _opened(statement[2:])
        for other in _instead(statement[at:]):
            yield (*statement[:at], Group("{", other))
    elif first == "do":
        yield _opened(statement[1:-3])
    else:
        if first in ("const", "meta_atomic"):
            yield statement[1:]
        at = next((k for k, n in enumerate(statement) if n in _ASSIGN), None)
        if at is not None:
            if statement[at] != "=":
                yield (*statement[:at], "=", *statement[at + 1 :])
            for less in _operands(statement[at + 1 : -1]):
                yield (*statement[: at + 1], *less, ";")


def _opened(body: tuple[Node, ...]) -> tuple[Node, ...]:
    return body[0].items if len(body) == 1 and isinstance(body[0], Group) and body[0].opening == "{" else body


def _operands(items: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """The parts of an expression, each by itself."""
    if "?" in items:
        at = items.index("?")
        yield items[:at]
        if ":" in items:
            middle = items.index(":")
            yield items[at + 1 : middle]
            yield items[middle + 1 :]
        return
    for k, node in enumerate(items):
        if isinstance(node, str) and node in _BINARY and 0 < k < len(items) - 1:
            yield items[:k]
            yield items[k + 1 :]
    if items and items[0] in ("-", "!", "~", "+"):
        yield items[1:]
    if len(items) == 1 and isinstance(items[0], Group) and items[0].opening == "(":
        yield items[0].items
    if len(items) >= 2 and is_group(items[0], "("):
        yield items[1:]  # a cast
    if (
        len(items) == 2
        and isinstance(items[0], str)
        and isinstance(items[1], Group)
        and items[1].opening == "("
    ):
        yield from split(items[1].items, ",")
    if len(items) > 1 and items[-1] != ";":
        yield ("1",)
        yield ("0",)


def _joined(parts: Sequence[tuple[Node, ...]], by: str) -> tuple[Node, ...]:
    joined: list[Node] = []
    for k, part in enumerate(parts):
        joined += [by, *part] if k else part
    return tuple(joined)
