"""Loops of host code whose turns their header alone decides: the text of a loop in, a :class:`HostLoop` or None out.

for (int t = 0; t < n; t += 2) { ... }   -->   HostLoop("t", 0, "<", n, 2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from msgspec import Struct

from comprehensive.metafork.ast import Binary, Expr, HostLoop, IntLiteral, Name
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.walk import names

ReadExpression: TypeAlias = Callable[[int, int], Expr | None]
"""The expression between two positions, None where it is none of visible scalars."""
Loses: TypeAlias = Callable[[AbstractSet[str], int, int], bool]
"""Whether one of the names may get another value between two positions."""
Exchange: TypeAlias = tuple[tuple[str, str], ...]
"""As in :class:`HostLoop`."""


class LoopText(Struct, frozen=True):
    """Positions in ``for (int name = ...; ...; ...) ...``, with or without the type: of ``for``, both ``;``, after the
    ``)`` and after all."""

    name: str
    start: int
    first: int
    second: int
    body: int
    end: int


def host_loop(
    tokens: Sequence[Token],
    regions: Mapping[int, int],
    text: LoopText,
    expression: ReadExpression,
    loses: Loses,
    exchange: Exchange | None,
) -> HostLoop | None:
    """The loop, None where another header stands there or where what it reads or its turns are not the header's alone.

    ``regions`` maps the position of each region's keyword to its last one: a ``break`` in there is not the loop's.
    ``exchange`` is what a turn does to pointers, where it does nothing else beside its regions.
    """
    equals = [p for p in range(text.start + 2, text.first) if tokens[p].type == "ASSIGN"]
    if len(equals) != 1:
        return None
    start = expression(equals[0] + 1, text.first)
    condition = expression(text.first + 1, text.second)
    step = _step(tokens, text, expression)
    match condition:
        case Binary(operator="<" | "<=" | ">" | ">=" as relation, left=Name(identifier), right=bound):
            pass
        case _:
            return None
    if start is None or step is None or identifier != text.name or (step > 0) != (relation in ("<", "<=")):
        return None
    read = {*names(start), *names(bound)}
    if text.name in read or loses(read, text.start, text.end):
        return None
    if loses({text.name}, text.first, text.second) or loses({text.name}, text.body, text.end):
        return None
    if _leaves_early(tokens, regions, text):
        return None
    count = 0 if exchange is None else _regions_first(tokens, regions, text)
    return HostLoop(text.name, start, relation, bound, step, count, exchange or () if count else ())


def _step(tokens: Sequence[Token], text: LoopText, expression: ReadExpression) -> int | None:
    """Return the step by which ``t++``, ``--t`` or ``t += 2`` changes ``t``."""
    last = text.body - 1
    texts = [token.text for token in tokens[text.second + 1 : last]]
    if texts in ([text.name, "++"], ["++", text.name]):
        return 1
    if texts in ([text.name, "--"], ["--", text.name]):
        return -1
    if len(texts) == 3 and texts[0] == text.name and texts[1] in ("+=", "-="):
        match expression(last - 1, last):
            case IntLiteral(value) if value > 0:
                return value if texts[1] == "+=" else -value
            case _:
                return None
    return None


def _leaves_early(tokens: Sequence[Token], regions: Mapping[int, int], text: LoopText) -> bool:
    """Whether a ``break`` or ``continue`` of host code may cut turns short."""
    position = text.body
    while position < text.end:
        if position in regions:
            position = regions[position]
        elif tokens[position].text in ("break", "continue"):
            return True
        position += 1
    return False


def _regions_first(tokens: Sequence[Token], regions: Mapping[int, int], text: LoopText) -> int:
    """Return the number of regions in the body of the loop; 0 where anything but braces stands before one of them."""
    position, found, is_behind = text.body, 0, False
    while position < text.end:
        if position in regions:
            if is_behind:
                return 0
            position = regions[position]
            found += 1
        elif tokens[position].type not in ("LBRACE", "RBRACE", "SEMI"):
            if found == 0:
                return 0
            is_behind = True
        position += 1
    return found
